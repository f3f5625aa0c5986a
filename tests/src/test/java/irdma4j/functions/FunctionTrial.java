package irdma4j.functions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import irdma4j.driver.BackedFunction;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.RdmaException;
import irdma4j.hmc.Extent;
import irdma4j.hmc.HmcException;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcRequest;
import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.FpmWalk;
import irdma4j.uapi.PciException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Virtual functions come and go behind a physical one that works meanwhile. The simulated device's
 * own walk is asked about every page: after each action of the function that acted, and in the end
 * of all functions. {@link FunctionPages} says what is held against the answers. Besides,
 *
 * <ul>
 *   <li>an HMC function that nobody has finds nothing anywhere;
 *   <li>what fails, or is refused, changes nothing; but a close that fails may have taken part of
 *       its function away, and succeeds when it is tried again;
 *   <li>what can't even be undone, since a second thing fails then, is in the way until the device
 *       is closed;
 *   <li>after the last close no virtual function has memory, and after the device's nobody has.
 * </ul>
 */
final class FunctionTrial {
  private static final int FIRST_ID = 8;

  private final FunctionBench bench;
  private final FunctionPages physical;
  private final Map<Integer, Backed> backed = new TreeMap<>();
  private final List<MemoryRegion> regions = new ArrayList<>();
  private int failEverywhere;
  private int failAllocation;
  private int failOperation;
  private boolean isInTheWay;

  // The undoing of a function failed, too: it is in the way if memory is left, and may be if not.
  private boolean isDoubtful;
  private boolean isLeftOver;

  private record Backed(BackedFunction function, FunctionPages pages, List<Extent> extents) {}

  private FunctionTrial(FunctionBench bench) {
    this.bench = bench;
    this.physical = FunctionPages.ofPhysical(bench);
  }

  /**
   * Runs the actions, then closes everything.
   *
   * @return whether the bench can be used again; it is closed otherwise
   */
  static boolean run(FunctionBench bench, List<FunctionAction> actions) {
    try {
      FunctionTrial trial = new FunctionTrial(bench);
      for (FunctionAction action : actions) {
        trial.step(action);
        if (trial.isInTheWay) {
          bench.close();
          return false;
        }
        trial.checkUnknown();
      }
      trial.backed.values().forEach(each -> each.pages.check());
      trial.physical.check();
      if (bench.isLast()) {
        bench.close();
        return false;
      }
      trial.closeAll();
      bench.ended();
      return true;
    } catch (RuntimeException | Error e) {
      bench.abandon();
      throw e;
    }
  }

  private void closeAll() {
    regions.forEach(MemoryRegion::close);
    List.copyOf(backed.values()).forEach(this::unback);
    checkUnknown();
  }

  private void step(FunctionAction action) {
    switch (action) {
      case FunctionAction.Back(int which, int log) -> back(which, 1 << log);
      case FunctionAction.Unback(int which) -> {
        if (!backed.isEmpty()) {
          unback(some(which));
        }
      }
      case FunctionAction.Extend(int which, int page, int pages) -> {
        if (!backed.isEmpty()) {
          extend(some(which), page, pages);
        }
      }
      case FunctionAction.Release(int which, int extent) -> {
        if (!backed.isEmpty()) {
          release(some(which), extent);
        }
      }
      case FunctionAction.Register(int pages) -> {
        perform(FunctionBench.PHYSICAL, null, () -> regions.add(bench.register(pages)));
        physical.check();
      }
      case FunctionAction.Deregister(int which) -> {
        if (!regions.isEmpty()) {
          regions.remove(Math.floorMod(which, regions.size())).close();
          physical.check();
        }
      }
      case FunctionAction.FailEverywhere(int most) -> failEverywhere = most;
      case FunctionAction.FailAllocation(int n) -> failAllocation = n;
      case FunctionAction.FailOperation(int n) -> failOperation = n;
    }
  }

  private Backed some(int which) {
    return List.copyOf(backed.values()).get(Math.floorMod(which, backed.size()));
  }

  private void back(int which, int queuePairs) {
    HmcRequest request = new HmcRequest(queuePairs, HmcProfile.EQUAL, false);
    boolean room = backed.size() < FunctionBench.MOST && !backed.containsKey(which);
    perform(
        which,
        null,
        () -> {
          BackedFunction function = bench.device.backFunction(which, request);
          assertTrue(room, "backed one too many, or twice");
          assertEquals(which, function.virtualFunction());
          for (Backed other : backed.values()) {
            assertTrue(function.hmcFunction() != other.function.hmcFunction(), "one id twice");
          }
          backed.put(
              which,
              new Backed(function, FunctionPages.ofVirtual(bench, function), new ArrayList<>()));
        });
    Backed one = backed.get(which);
    if (one != null) {
      assertTrue(!isLeftOver, "left or took memory, and was not in the way");
      one.pages.check();
    } else if (room) {
      assertTrue(isDoubtful, "not backed");
      isInTheWay = true;
    }
    isDoubtful = false;
    isLeftOver = false;
  }

  private void unback(Backed one) {
    int which = one.function.virtualFunction();
    bench.memory.belongTo(which);
    bench.arm(failAllocation, failOperation);
    failAllocation = 0;
    failOperation = 0;
    try {
      one.function.close();
    } catch (RdmaException | PciException wanted) {
      bench.arm(0, 0);
      one.function.close();
    }
    bench.arm(0, 0);
    one.function.close();
    bench.memory.belongTo(FunctionBench.PHYSICAL);
    backed.remove(which);
    assertEquals(0, bench.memory.bytesOf(which), "a closed function has memory");
  }

  private void extend(Backed one, int page, int pages) {
    HmcLayout.Area area = one.function.hmcView().layout().of(HmcObject.PBLE);
    long first = (area.base() + FunctionBench.PAGE - 1) / FunctionBench.PAGE;
    int whole = (int) (area.end() / FunctionBench.PAGE - first);
    long address = (first + Math.floorMod(page, whole)) * FunctionBench.PAGE;
    long left = FunctionBench.SEGMENT - address % FunctionBench.SEGMENT;
    int most = (int) Math.min(area.end() - address, left) / FunctionBench.PAGE;
    int count = Math.min(pages, most);
    perform(
        one.function.virtualFunction(),
        one.pages,
        () -> {
          Extent extent = one.function.extend(address, count);
          one.extents.add(extent);
          one.pages.came(extent);
        });
    one.pages.check();
  }

  private void release(Backed one, int which) {
    if (!one.extents.isEmpty()) {
      Extent extent = one.extents.get(Math.floorMod(which, one.extents.size()));
      perform(
          one.function.virtualFunction(),
          one.pages,
          () -> {
            one.function.release(extent);
            one.extents.remove(extent);
            one.pages.went(extent);
          });
      one.pages.check();
    }
  }

  /** Does it for an owner, with the failures that were asked for. */
  private void perform(int owner, @Nullable FunctionPages pages, Runnable action) {
    int most = failEverywhere;
    int allocation = failAllocation;
    int operation = failOperation;
    failEverywhere = 0;
    failAllocation = 0;
    failOperation = 0;
    for (int n = 1; n <= most; n++) {
      if (attempt(owner, pages, n, 0, action)) {
        return;
      }
    }
    for (int n = 1; n <= most; n++) {
      if (attempt(owner, pages, 0, n, action)) {
        return;
      }
    }
    if (!attempt(owner, pages, allocation, operation, action)) {
      attempt(owner, pages, 0, 0, action);
    }
  }

  /** Whether it was done, or refused without a failure; if not, nothing has changed. */
  private boolean attempt(
      int owner, @Nullable FunctionPages pages, int allocation, int operation, Runnable action) {
    boolean fails = allocation != 0 || operation != 0;
    bench.memory.belongTo(owner);
    if (fails) {
      bench.memory.mark();
    }
    bench.arm(allocation, operation);
    try {
      action.run();
      return true;
    } catch (RdmaException | PciException | HmcException | IllegalStateException refused) {
      bench.arm(0, 0);
      if (fails && owner != FunctionBench.PHYSICAL) {
        boolean isAsBefore = bench.memory.isAsMarked();
        if (refused.getSuppressed().length > 0) {
          assertTrue(
              pages == null && allocation != 0 && operation != 0, () -> "not undone: " + refused);
          isDoubtful = true;
          isLeftOver = !isAsBefore;
          return false;
        }
        assertTrue(isAsBefore, () -> "left or took memory: " + refused);
        if (pages != null) {
          pages.check();
        }
        checkUnknown();
      }
      return !fails;
    } finally {
      bench.arm(0, 0);
      bench.memory.belongTo(FunctionBench.PHYSICAL);
    }
  }

  /** HMC functions that nobody has find nothing. */
  private void checkUnknown() {
    for (int id = 1; id < FIRST_ID + FunctionBench.MOST + 2; id++) {
      if (!isKnown(id)) {
        for (int half = 0; half < 8; half++) {
          if (bench.simulation.translate(0, id, half * FunctionBench.SEGMENT / 2)
              != FpmWalk.FAULT) {
            fail("function " + id + " finds memory");
          }
        }
      }
    }
  }

  private boolean isKnown(int id) {
    for (Backed one : backed.values()) {
      if (one.function.hmcFunction() == id) {
        return true;
      }
    }
    return false;
  }
}
