package irdma4j.tests;

import static irdma4j.tests.Violation.unless;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.uapi.PciException;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Runs a sequence of actions on a subject and holds it, after each, to a model that knows only
 * which objects exist:
 *
 * <ul>
 *   <li>the device has a segment descriptor for each segment in which an object lies, and for no
 *       other;
 *   <li>it finds memory of the function behind each page of each object, no page behind two, and
 *       behind no page without objects of a paged segment;
 *   <li>exactly the memory for these segments, pages and tables is allocated;
 *   <li>an operation that fails changes none of this;
 *   <li>after the last object nothing is allocated.
 * </ul>
 */
public final class HmcTrial {
  private static final int PAGE = 4096;
  private static final int PAGES = 512;

  private final FakePciFunction function = new FakePciFunction();
  private final HmcDevice device = new HmcDevice(function);
  private final HmcLayout layout;
  private final SegmentType type;
  private final HmcSubject subject;
  private final List<HmcObject> kinds;
  private final EnumMap<HmcObject, BitSet> existing = new EnumMap<>(HmcObject.class);

  private HmcTrial(HmcLayout layout, SegmentType type, HmcSubject.Factory factory) {
    this.layout = layout;
    this.type = type;
    kinds = List.copyOf(layout.areas().keySet());
    for (HmcObject kind : kinds) {
      existing.put(kind, new BitSet());
    }
    subject = factory.open(function, device, layout, type);
  }

  /**
   * Runs the actions, then removes what is left.
   *
   * @throws Violation if the subject breaks its contract
   */
  public static void run(
      HmcLayout layout,
      SegmentType type,
      List<? extends HmcAction> actions,
      HmcSubject.Factory factory) {
    HmcTrial trial = new HmcTrial(layout, type, factory);
    for (HmcAction action : actions) {
      trial.step(action);
      trial.check();
    }
    trial.function.failAllocation(0);
    trial.device.failCall(0, false);
    trial.deleteAll();
    trial.check();
    unless(trial.function.dmaUsage().currentBytes() == 0, "memory is left without an object");
    trial.subject.close();
  }

  private void step(HmcAction action) {
    switch (action) {
      case HmcAction.Create(int which, int start, int share) -> {
        HmcObject kind = kinds.get(Math.floorMod(which, kinds.size()));
        long total = layout.of(kind).count();
        BitSet exists = existing.get(kind);
        int first = exists.nextClearBit((int) ((total * (start & 0xff)) >> 8));
        int limit = exists.nextSetBit(first);
        long room = (limit < 0 ? total : limit) - first;
        int count = (int) Math.min(room, 1 + ((total * (share & 0xff)) >> 8));
        if (count > 0 && attempt(() -> subject.create(kind, first, count), "create " + kind)) {
          exists.set(first, first + count);
        }
      }
      case HmcAction.Delete(int which, int start, int share) -> {
        HmcObject kind = kinds.get(Math.floorMod(which, kinds.size()));
        long total = layout.of(kind).count();
        BitSet exists = existing.get(kind);
        int first = exists.nextSetBit((int) ((total * (start & 0xff)) >> 8));
        if (first >= 0) {
          int count =
              (int)
                  Math.min(exists.nextClearBit(first) - first, 1 + ((total * (share & 0xff)) >> 8));
          if (attempt(() -> subject.delete(kind, first, count), "delete " + kind)) {
            exists.clear(first, first + count);
          }
        }
      }
      case HmcAction.FailAllocation(int n) -> {
        device.failCall(0, false);
        function.failAllocation(n);
      }
      case HmcAction.FailCall(int n) -> {
        function.failAllocation(0);
        device.failCall(n, false);
      }
    }
  }

  /** Whether the operation was done; if not, a failure was wanted and nothing has changed. */
  private boolean attempt(Runnable operation, String name) {
    Map<Long, Long> memory = function.allocations();
    Map<Integer, Long> table = device.table();
    try {
      operation.run();
      return true;
    } catch (PciException | HmcDevice.Refused wanted) {
      unless(
          memory.equals(function.allocations()),
          "%s failed and left %s of %s",
          name,
          function.allocations(),
          memory);
      unless(table.equals(device.table()), "%s failed and changed the table", name);
      return false;
    } catch (RuntimeException e) {
      throw new Violation(name + " threw " + e, e);
    }
  }

  private void deleteAll() {
    for (HmcObject kind : kinds) {
      BitSet exists = existing.get(kind);
      for (int first = exists.nextSetBit(0); first >= 0; first = exists.nextSetBit(0)) {
        int count = exists.nextClearBit(first) - first;
        subject.delete(kind, first, count);
        exists.clear(first, first + count);
      }
    }
  }

  private void check() {
    Map<Integer, BitSet> pages = usedPages();
    unless(
        new TreeSet<>(pages.keySet()).equals(new TreeSet<>(device.table().keySet())),
        "objects lie in segments %s, the device has %s",
        pages.keySet(),
        device.table().keySet());
    long bytes = 0;
    Map<Long, Long> fpmByIova = new HashMap<>();
    for (Map.Entry<Integer, BitSet> entry : pages.entrySet()) {
      long base = entry.getKey() * HostMemoryCache.SEGMENT_SIZE;
      bytes +=
          type == SegmentType.DIRECT
              ? HostMemoryCache.SEGMENT_SIZE
              : (1L + entry.getValue().cardinality()) * PAGE;
      for (int page = 0; page < PAGES; page++) {
        checkPage(base + (long) page * PAGE, entry.getValue().get(page), fpmByIova);
      }
    }
    long allocated = function.dmaUsage().currentBytes();
    unless(bytes == allocated, "%d bytes are allocated, %d are needed", allocated, bytes);
  }

  private void checkPage(long address, boolean used, Map<Long, Long> fpmByIova) {
    long iova = device.translate(address);
    if (!used) {
      unless(
          type == SegmentType.DIRECT || iova == 0,
          "nothing lies at 0x%x, and the device still finds 0x%x there",
          address,
          iova);
      return;
    }
    unless(iova != 0, "the device finds nothing at 0x%x", address);
    try {
      function.deviceView(iova, PAGE);
    } catch (PciException e) {
      throw new Violation("at 0x%x the device finds 0x%x".formatted(address, iova), e);
    }
    Long other = fpmByIova.put(iova, address);
    unless(other == null, "0x%x is behind both 0x%x and 0x%x", iova, address, other);
  }

  /** The pages in which an object lies, by segment. */
  private Map<Integer, BitSet> usedPages() {
    TreeMap<Integer, BitSet> used = new TreeMap<>();
    existing.forEach(
        (kind, exists) -> {
          HmcLayout.Area area = layout.of(kind);
          for (int from = exists.nextSetBit(0); from >= 0; ) {
            int to = exists.nextClearBit(from);
            long first = (area.base() + from * area.size()) / PAGE;
            long last = (area.base() + to * area.size() - 1) / PAGE;
            for (long page = first; page <= last; page++) {
              used.computeIfAbsent((int) (page / PAGES), segment -> new BitSet())
                  .set((int) (page % PAGES));
            }
            from = exists.nextSetBit(to);
          }
        });
    return used;
  }
}
