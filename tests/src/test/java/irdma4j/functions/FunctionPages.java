package irdma4j.functions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import irdma4j.driver.BackedFunction;
import irdma4j.hmc.Extent;
import irdma4j.hmc.HmcView;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SegmentUse;
import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.FpmWalk;
import java.util.Arrays;
import java.util.BitSet;

/**
 * What the device must find in the Host Memory Cache of one function:
 *
 * <ul>
 *   <li>behind each page in which an object or an extent lies a page that was allocated for this
 *       function, which it keeps as long as it is used, and no other page has it;
 *   <li>behind any other page of a paged segment, and of what is not backed, nothing;
 *   <li>a virtual function has exactly the memory for its segments and pages;
 *   <li>the driver says the same of where its pages are.
 * </ul>
 */
final class FunctionPages {
  private static final int PAGES = 512;

  /** The driver is asked about each of so many pages, other ones at each check. */
  private static final int ASKED = 37;

  /** Of a segment without page descriptors, each of so many pages, in turn, and the last. */
  private static final int STEP = 8;

  private final FunctionBench bench;
  private final int id;
  private final int owner;
  private final HmcView view;
  private final BitSet used = new BitSet();
  private final long[] found;
  private int checks;

  private FunctionPages(FunctionBench bench, int id, int owner, HmcView view) {
    this.bench = bench;
    this.id = id;
    this.owner = owner;
    this.view = view;
    this.found = new long[(int) view.layout().segments() * PAGES];
    Arrays.fill(found, FpmWalk.FAULT);
    view.layout()
        .areas()
        .forEach(
            (kind, area) -> {
              if (kind != HmcObject.PBLE && area.count() > 0) {
                used.set(
                    (int) (area.base() / FunctionBench.PAGE),
                    (int) ((area.end() - 1) / FunctionBench.PAGE) + 1);
              }
            });
  }

  static FunctionPages ofVirtual(FunctionBench bench, BackedFunction function) {
    return new FunctionPages(
        bench, function.hmcFunction(), function.virtualFunction(), function.hmcView());
  }

  static FunctionPages ofPhysical(FunctionBench bench) {
    return new FunctionPages(bench, 0, FunctionBench.PHYSICAL, bench.device.hmcView());
  }

  /** PBLEs were backed. */
  void came(Extent extent) {
    int first = (int) (extent.address() / FunctionBench.PAGE);
    used.set(first, first + extent.pages());
  }

  /** PBLEs were taken back. */
  void went(Extent extent) {
    int first = (int) (extent.address() / FunctionBench.PAGE);
    used.clear(first, first + extent.pages());
  }

  /** Asks the device about each page. */
  void check() {
    checks++;
    bench.memory.beginCount();
    SegmentUse[] segments = new SegmentUse[(int) view.layout().segments()];
    view.segments().forEach(segment -> segments[segment.index()] = segment);
    for (int number = 0; number < segments.length; number++) {
      SegmentUse segment = segments[number];
      int first = number * PAGES;
      int next = used.nextSetBit(first);
      boolean needed = next >= 0 && next < first + PAGES;
      // How many PBLEs the physical function has backed is its pool's to say.
      if (needed != (segment != null) && (needed || owner != FunctionBench.PHYSICAL)) {
        fail("segment %d of function %d is %s".formatted(number, id, segment));
      }
      boolean direct = segment != null && segment.type() == SegmentType.DIRECT;
      if (segment == null) {
        Arrays.fill(found, first, first + PAGES, FpmWalk.FAULT);
      }
      // One descriptor leads to all pages of a block, or to nothing.
      int step = direct || segment == null ? STEP : 1;
      int last = first + PAGES - 1;
      for (int page = first + checks % step; page < last; page += step) {
        check(page, direct);
      }
      check(last, direct);
    }
    long end = segments.length * FunctionBench.SEGMENT;
    assertEquals(FpmWalk.FAULT, bench.simulation.translate(0, id, end));
    if (owner != FunctionBench.PHYSICAL) {
      assertEquals(FunctionBench.bytesOf(view), bench.memory.bytesOf(owner), "bytes of a function");
    }
  }

  private void check(int page, boolean direct) {
    long address = (long) page * FunctionBench.PAGE;
    long iova = bench.simulation.translate(0, id, address);
    if (iova != FpmWalk.FAULT) {
      if (!direct && !used.get(page) && owner != FunctionBench.PHYSICAL) {
        fail("page %d of function %d is 0x%x".formatted(page, id, iova));
      }
      if (bench.memory.ownerOf(iova) != owner) {
        fail(
            "behind page %d of function %d is one of %d"
                .formatted(page, id, bench.memory.ownerOf(iova)));
      }
      if (!bench.memory.isFirst(iova)) {
        fail("0x%x is behind two pages of function %d".formatted(iova, id));
      }
      if (found[page] != FpmWalk.FAULT && found[page] != iova) {
        fail("page %d of function %d has moved".formatted(page, id));
      }
    } else if (direct || used.get(page)) {
      fail("page %d of function %d is not there".formatted(page, id));
    }
    found[page] = iova;
    if (page % ASKED == checks % ASKED && located(address, iova) != iova) {
      fail("the driver's view of page %d of function %d".formatted(page, id));
    }
  }

  /** What the driver says lies there, or the same if it knows of no object there. */
  private long located(long address, long iova) {
    var location = view.locate(address);
    return location == null ? iova : location.iova() == 0 ? FpmWalk.FAULT : location.iova();
  }
}
