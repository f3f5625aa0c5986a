package irdma4j.tests;

import static irdma4j.tests.Violation.unless;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.uapi.PciException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

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
  private final HmcDevice device;
  private final HmcLayout layout;
  private final SegmentType type;
  private final HmcSubject subject;
  private final List<HmcObject> kinds;
  private final EnumMap<HmcObject, BitSet> existing = new EnumMap<>(HmcObject.class);

  /** The number of the current check. */
  private int checks;

  /** For each page of host memory, the check that last found it, and where. */
  private int[] seenIn = new int[1024];

  private long[] seenAt = new long[1024];

  private HmcTrial(HmcLayout layout, SegmentType type, HmcSubject.Factory factory) {
    this.layout = layout;
    this.type = type;
    device = new HmcDevice(function, layout.segments());
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
    long memory = function.fingerprint();
    Map<Integer, Long> table = device.table();
    try {
      operation.run();
      return true;
    } catch (PciException | HmcDevice.Refused wanted) {
      unless(
          memory == function.fingerprint(),
          "%s failed and left or took memory; there is %s",
          name,
          function.allocations());
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
    BitSet used = usedPages();
    Map<Integer, Long> table = device.table();
    checks++;
    long bytes = 0;
    int segments = 0;
    for (int segment = 0; segment < layout.segments(); segment++) {
      int first = segment * PAGES;
      int page = used.nextSetBit(first);
      boolean needed = page >= 0 && page < first + PAGES;
      unless(
          needed == table.containsKey(segment),
          needed
              ? "objects lie in segment %d, and the device has no descriptor of it"
              : "nothing lies in segment %d, and the device has a descriptor of it",
          segment);
      if (needed) {
        segments++;
        bytes += checkSegment(first, used);
      }
    }
    unless(segments == table.size(), "the device has segments %s", table.keySet());
    long allocated = function.dmaUsage().currentBytes();
    unless(bytes == allocated, "%d bytes are allocated, %d are needed", allocated, bytes);
  }

  /** Checks each page; answers how many bytes the segment needs. */
  private long checkSegment(int first, BitSet used) {
    long bytes = type == SegmentType.DIRECT ? HostMemoryCache.SEGMENT_SIZE : PAGE;
    for (int page = first; page < first + PAGES; page++) {
      long address = (long) page * PAGE;
      long iova = device.translate(address);
      if (used.get(page)) {
        checkUsed(address, iova);
        bytes += type == SegmentType.PAGED ? PAGE : 0;
      } else if (type == SegmentType.PAGED && iova != 0) {
        throw new Violation(
            "nothing lies at 0x%x, and the device still finds 0x%x there".formatted(address, iova));
      }
    }
    return bytes;
  }

  private void checkUsed(long address, long iova) {
    if (iova == 0 || !function.isMapped(iova, PAGE)) {
      throw new Violation("at 0x%x the device finds 0x%x".formatted(address, iova));
    }
    int place = (int) ((iova - FakePciFunction.FIRST_IOVA) / PAGE);
    if (place >= seenIn.length) {
      seenIn = Arrays.copyOf(seenIn, 2 * place);
      seenAt = Arrays.copyOf(seenAt, 2 * place);
    }
    if (seenIn[place] == checks) {
      throw new Violation(
          "0x%x is behind both 0x%x and 0x%x".formatted(iova, address, seenAt[place]));
    }
    seenIn[place] = checks;
    seenAt[place] = address;
  }

  /** The pages in which an object lies. */
  private BitSet usedPages() {
    BitSet used = new BitSet();
    existing.forEach(
        (kind, exists) -> {
          HmcLayout.Area area = layout.of(kind);
          for (int from = exists.nextSetBit(0); from >= 0; ) {
            int to = exists.nextClearBit(from);
            long first = (area.base() + from * area.size()) / PAGE;
            long last = (area.base() + to * area.size() - 1) / PAGE;
            used.set((int) first, (int) last + 1);
            from = exists.nextSetBit(to);
          }
        });
    return used;
  }
}
