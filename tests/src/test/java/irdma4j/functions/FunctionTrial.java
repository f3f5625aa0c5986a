package irdma4j.functions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.BackedFunction;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.Extent;
import irdma4j.hmc.HmcException;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.HmcView;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SegmentUse;
import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Fault;
import irdma4j.simulator.FpmWalk;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.Simulation;
import irdma4j.tests.WatchedFunction;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Virtual functions come and go behind a physical one that works meanwhile. After each action the
 * simulated device's own walk is asked about every page of every function:
 *
 * <ul>
 *   <li>behind each page in which an object or an extent lies is a page that was allocated for this
 *       function, and no other page of any function has it;
 *   <li>behind any other page of a paged segment, and of what is not backed, is nothing;
 *   <li>an HMC function that nobody has finds nothing anywhere;
 *   <li>a virtual function has exactly the memory for its segments and pages;
 *   <li>what fails, or is refused, changes none of this; but a close that fails may have taken part
 *       of its function away, and succeeds when it is tried again;
 *   <li>after the last close nothing is allocated.
 * </ul>
 */
final class FunctionTrial {
  static final int MOST = 4;
  private static final int PAGE = 4096;
  private static final int PAGES = 512;
  private static final long SEGMENT = 2L << 20;
  private static final int FIRST_ID = 8;
  private static final int PHYSICAL = 1000;

  private final Simulation simulation;
  private final OwnedMemory memory;
  private final RdmaDevice device;
  private final ProtectionDomain domain;
  private final Map<Integer, Backed> backed = new TreeMap<>();
  private final List<Registered> registered = new ArrayList<>();
  private int failEverywhere;
  private int failAllocation;
  private int failOperation;

  private record Backed(BackedFunction function, List<Extent> extents) {}

  private record Registered(MemoryRegion region, DmaMemory memory) {}

  private FunctionTrial(Simulation simulation, SegmentType type) {
    this.simulation = simulation;
    this.memory = new OwnedMemory();
    memory.belongTo(PHYSICAL);
    this.device =
        RdmaDevice.open(
            new WatchedFunction(simulation.function(0), memory),
            DeviceConfig.defaults()
                .withSeed(1)
                .withQueuePairs(8)
                .withPbleChunkPages(3)
                .withProfile(HmcProfile.EQUAL)
                .withVirtualFunctions(MOST)
                .withSegmentType(type),
            StageListener.none());
    this.domain = device.allocateProtectionDomain();
  }

  /** A card on which each of five functions has a few segments. */
  static CardProfile card() {
    return CardProfile.small()
        .withMaxSegments(80)
        .withLimit(HmcObject.MR, 0x40000)
        .withLimit(HmcObject.PBLE, 0x60000);
  }

  /** Runs the actions, then closes everything. */
  static void run(SegmentType type, List<FunctionAction> actions) {
    try (Simulation simulation =
        Simulation.builder().functions(1).seed(1).stepped().profile(card()).build()) {
      FunctionTrial trial = new FunctionTrial(simulation, type);
      for (FunctionAction action : actions) {
        trial.step(action);
        trial.check();
      }
      trial.device.close();
      trial.registered.forEach(each -> each.memory.close());
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes(), "memory is left");
      assertEquals(0, simulation.statistics(0).dmaFaults());
    }
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
      case FunctionAction.Register(int pages) -> register(pages);
      case FunctionAction.Deregister(int which) -> {
        if (!registered.isEmpty()) {
          Registered one = registered.remove(Math.floorMod(which, registered.size()));
          one.region.close();
          one.memory.close();
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
    boolean room = backed.size() < MOST && !backed.containsKey(which);
    perform(
        which,
        () -> {
          BackedFunction function = device.backFunction(which, request);
          assertTrue(room, "backed one too many, or twice");
          assertEquals(which, function.virtualFunction());
          backed.put(which, new Backed(function, new ArrayList<>()));
        });
  }

  private void unback(Backed one) {
    int which = one.function.virtualFunction();
    memory.belongTo(which);
    arm(failAllocation, failOperation);
    failAllocation = 0;
    failOperation = 0;
    try {
      one.function.close();
    } catch (RdmaException | PciException wanted) {
      arm(0, 0);
      one.function.close();
    }
    arm(0, 0);
    one.function.close();
    memory.belongTo(PHYSICAL);
    backed.remove(which);
    assertEquals(0, memory.bytesOf(which), "a closed function has memory");
  }

  private void extend(Backed one, int page, int pages) {
    HmcLayout.Area area = one.function.hmcView().layout().of(HmcObject.PBLE);
    long first = (area.base() + PAGE - 1) / PAGE;
    int whole = (int) (area.end() / PAGE - first);
    long address = (first + Math.floorMod(page, whole)) * PAGE;
    int most = (int) Math.min(area.end() - address, SEGMENT - address % SEGMENT) / PAGE;
    int count = Math.min(pages, most);
    perform(
        one.function.virtualFunction(), () -> one.extents.add(one.function.extend(address, count)));
  }

  private void release(Backed one, int extent) {
    if (!one.extents.isEmpty()) {
      int index = Math.floorMod(extent, one.extents.size());
      perform(
          one.function.virtualFunction(),
          () -> {
            one.function.release(one.extents.get(index));
            one.extents.remove(index);
          });
    }
  }

  private void register(int pages) {
    DmaMemory buffer = device.allocateMemory((long) pages * PAGE, DmaPlacement.SCATTERED);
    perform(
        PHYSICAL,
        () ->
            registered.add(
                new Registered(domain.registerMemory(buffer, Access.LOCAL_WRITE), buffer)));
    if (registered.isEmpty() || registered.getLast().memory != buffer) {
      buffer.close();
    }
  }

  /** Does it for an owner, with the failures that were asked for. */
  private void perform(int owner, Runnable action) {
    int most = failEverywhere;
    int allocation = failAllocation;
    int operation = failOperation;
    failEverywhere = 0;
    failAllocation = 0;
    failOperation = 0;
    for (int n = 1; n <= most; n++) {
      if (attempt(owner, n, 0, action)) {
        return;
      }
    }
    for (int n = 1; n <= most; n++) {
      if (attempt(owner, 0, n, action)) {
        return;
      }
    }
    attempt(owner, allocation, operation, action);
  }

  /** Whether it was done; if not, nothing has changed. */
  private boolean attempt(int owner, int allocation, int operation, Runnable action) {
    boolean fails = allocation != 0 || operation != 0;
    Map<Long, Integer> before = fails ? memory.snapshot() : Map.of();
    Map<Integer, Map<Long, Long>> pages = fails ? translations() : Map.of();
    memory.belongTo(owner);
    arm(allocation, operation);
    try {
      action.run();
      return true;
    } catch (RdmaException | PciException | HmcException | IllegalStateException refused) {
      arm(0, 0);
      if (fails && owner != PHYSICAL) {
        assertEquals(before, memory.snapshot(), () -> "left or took memory: " + refused);
        assertEquals(pages, translations(), () -> "changed the device: " + refused);
      }
      return !fails;
    } finally {
      arm(0, 0);
      memory.belongTo(PHYSICAL);
    }
  }

  private void arm(int allocation, int operation) {
    memory.fail(allocation);
    simulation.clearFaults(0);
    if (operation != 0) {
      simulation.inject(
          0,
          new Fault.FailControlOperation(
              new Moment(Occasion.CONTROL_OPERATION, null, operation), 0xffff, 0x0105));
    }
  }

  /** What the device finds, by function and page. */
  private Map<Integer, Map<Long, Long>> translations() {
    Map<Integer, Map<Long, Long>> found = new HashMap<>();
    for (int id = 0; id < FIRST_ID + MOST; id++) {
      Map<Long, Long> pages = new HashMap<>();
      for (long address = 0; address < SEGMENT * 16; address += PAGE) {
        long iova = simulation.translate(0, id, address);
        if (iova != FpmWalk.FAULT) {
          pages.put(address, iova);
        }
      }
      found.put(id, pages);
    }
    return found;
  }

  private void check() {
    Set<Long> seen = new HashSet<>();
    Set<Integer> ids = new HashSet<>();
    for (Backed one : backed.values()) {
      BackedFunction function = one.function;
      assertTrue(ids.add(function.hmcFunction()), "two functions of one id");
      BitSet used = usedPages(function.hmcView().layout());
      for (Extent extent : one.extents) {
        int first = (int) (extent.address() / PAGE);
        used.set(first, first + extent.pages());
      }
      long bytes =
          check(function.hmcFunction(), function.virtualFunction(), function.hmcView(), used, seen);
      assertEquals(bytes, memory.bytesOf(function.virtualFunction()), "bytes of a function");
    }
    checkPhysical(seen);
    for (int id = 1; id < FIRST_ID + MOST + 2; id++) {
      if (!ids.contains(id)) {
        for (long address = 0; address < SEGMENT * 16; address += SEGMENT / 2) {
          assertEquals(FpmWalk.FAULT, simulation.translate(0, id, address), "function " + id);
        }
      }
    }
  }

  /** Checks each page; answers how many bytes the function needs. */
  private long check(int id, int owner, HmcView view, BitSet used, Set<Long> seen) {
    Map<Integer, SegmentUse> segments = new HashMap<>();
    view.segments().forEach(segment -> segments.put(segment.index(), segment));
    long bytes = 0;
    for (int number = 0; number < view.layout().segments(); number++) {
      int first = number * PAGES;
      int next = used.nextSetBit(first);
      boolean needed = next >= 0 && next < first + PAGES;
      SegmentUse segment = segments.get(number);
      assertEquals(needed, segment != null, "segment " + number + " of function " + id);
      boolean direct = segment != null && segment.type() == SegmentType.DIRECT;
      bytes += needed ? direct ? SEGMENT : PAGE : 0;
      for (int page = first; page < first + PAGES; page++) {
        long address = (long) page * PAGE;
        long iova = simulation.translate(0, id, address);
        if (direct || used.get(page)) {
          assertEquals(owner, memory.ownerOf(iova), "whose is what is behind page " + page);
          assertTrue(seen.add(iova), "0x%x is behind two pages".formatted(iova));
          bytes += direct ? 0 : PAGE;
        } else {
          assertEquals(FpmWalk.FAULT, iova, "page %d of function %d".formatted(page, id));
        }
        assertEquals(iova, located(view, address, iova), "the view of page " + page);
      }
    }
    long end = view.layout().segments() * SEGMENT;
    assertEquals(FpmWalk.FAULT, simulation.translate(0, id, end));
    return bytes;
  }

  /** What the driver says lies there, or the same if it knows of no object there. */
  private static long located(HmcView view, long address, long iova) {
    var location = view.locate(address);
    return location == null ? iova : location.iova() == 0 ? FpmWalk.FAULT : location.iova();
  }

  private void checkPhysical(Set<Long> seen) {
    HmcView view = device.hmcView();
    for (HmcObject kind : HmcObject.values()) {
      HmcLayout.Area area = view.layout().of(kind);
      for (long address = area.base(); address < area.end(); address += PAGE) {
        long iova = simulation.translate(0, 0, address);
        if (iova != FpmWalk.FAULT) {
          assertEquals(PHYSICAL, memory.ownerOf(iova), kind + " of the physical function");
          assertTrue(!seen.contains(iova & -PAGE), kind + " of the physical function");
          assertEquals(iova, located(view, address, 0));
        } else {
          assertEquals(HmcObject.PBLE, kind);
        }
      }
    }
  }

  private static BitSet usedPages(HmcLayout layout) {
    BitSet used = new BitSet();
    layout
        .areas()
        .forEach(
            (kind, area) -> {
              if (kind != HmcObject.PBLE && area.count() > 0) {
                used.set((int) (area.base() / PAGE), (int) ((area.end() - 1) / PAGE) + 1);
              }
            });
    return used;
  }
}
