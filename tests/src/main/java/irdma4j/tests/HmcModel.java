package irdma4j.tests;

import static irdma4j.tests.Violation.unless;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.uapi.PciException;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What must be true of one function's Host Memory Cache, from which objects exist alone. */
final class HmcModel {
  private static final int PAGE = 4096;
  private static final int PAGES = 512;

  private final FakePciFunction function;
  private final HmcDevice device;
  private final HmcLayout layout;
  private final HmcSubject subject;
  private final PagesSeen seen;
  private final List<HmcObject> kinds;
  private final EnumMap<HmcObject, BitSet> existing = new EnumMap<>(HmcObject.class);
  private final @Nullable SegmentType[] types;
  private int mostFailures;

  HmcModel(
      FakePciFunction function,
      HmcDevice device,
      HmcLayout layout,
      HmcSubject subject,
      PagesSeen seen) {
    this.function = function;
    this.device = device;
    this.layout = layout;
    this.subject = subject;
    this.seen = seen;
    kinds = List.copyOf(layout.areas().keySet());
    for (HmcObject kind : kinds) {
      existing.put(kind, new BitSet());
    }
    types = new @Nullable SegmentType[(int) layout.segments()];
  }

  void create(HmcAction.Create action) {
    HmcObject kind = kinds.get(Math.floorMod(action.kind(), kinds.size()));
    long total = layout.of(kind).count();
    BitSet exists = existing.get(kind);
    int first = exists.nextClearBit(share(total, action.first()));
    int limit = exists.nextSetBit(first);
    long room = (limit < 0 ? total : limit) - first;
    int count = (int) Math.min(room, 1 + share(total, action.count()));
    if (count > 0 && perform("create " + kind, kind, first, count, action.type())) {
      exists.set(first, first + count);
      HmcLayout.Area area = layout.of(kind);
      long from = area.base() + first * area.size();
      long last = from + count * area.size() - 1;
      for (int segment = segmentOf(from); segment <= segmentOf(last); segment++) {
        if (types[segment] == null) {
          types[segment] = subject.backing(action.type());
        }
      }
    }
  }

  void delete(HmcAction.Delete action) {
    HmcObject kind = kinds.get(Math.floorMod(action.kind(), kinds.size()));
    long total = layout.of(kind).count();
    BitSet exists = existing.get(kind);
    int first = exists.nextSetBit(share(total, action.first()));
    if (first >= 0) {
      int count = Math.min(exists.nextClearBit(first) - first, 1 + share(total, action.count()));
      if (perform("delete " + kind, kind, first, count, null)) {
        exists.clear(first, first + count);
      }
    }
  }

  void failEverywhere(int most) {
    mostFailures = most;
  }

  void deleteAll() {
    for (HmcObject kind : kinds) {
      BitSet exists = existing.get(kind);
      for (int first = exists.nextSetBit(0); first >= 0; first = exists.nextSetBit(0)) {
        int count = exists.nextClearBit(first) - first;
        subject.delete(kind, first, count);
        exists.clear(first, first + count);
      }
    }
  }

  void close() {
    subject.close();
  }

  private static int share(long total, int share) {
    return (int) ((total * (share & 0xff)) >> 8);
  }

  private static int segmentOf(long address) {
    return (int) (address / HostMemoryCache.SEGMENT_SIZE);
  }

  /** Makes objects, or removes them if there is no type; with the failures that were asked for. */
  private boolean perform(
      String name, HmcObject kind, long first, long count, @Nullable SegmentType type) {
    Runnable operation =
        type == null
            ? () -> subject.delete(kind, first, count)
            : () -> subject.create(kind, first, count, type);
    int most = mostFailures;
    mostFailures = 0;
    for (int n = 1; n <= most; n++) {
      device.failCall(0, false);
      function.failAllocation(n);
      if (attempt(name, operation)) {
        function.failAllocation(0);
        return true;
      }
      check();
    }
    for (int n = 1; n <= most; n++) {
      function.failAllocation(0);
      device.failCall(n, false);
      if (attempt(name, operation)) {
        device.failCall(0, false);
        return true;
      }
      check();
    }
    return attempt(name, operation);
  }

  /** Whether the operation was done; if not, a failure was wanted and nothing has changed. */
  private boolean attempt(String name, Runnable operation) {
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

  /** Holds the device's view to what exists; answers how many bytes of memory that needs. */
  long check() {
    BitSet used = usedPages();
    Map<Integer, Long> table = device.table();
    seen.startCheck();
    long bytes = 0;
    int segments = 0;
    for (int segment = 0; segment < types.length; segment++) {
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
        bytes += checkSegment(segment, used);
      } else {
        types[segment] = null;
      }
    }
    unless(segments == table.size(), "the device has segments %s", table.keySet());
    return bytes;
  }

  /** Checks each page; answers how many bytes the segment needs. */
  private long checkSegment(int segment, BitSet used) {
    boolean paged = types[segment] == SegmentType.PAGED;
    long bytes = paged ? PAGE : HostMemoryCache.SEGMENT_SIZE;
    int first = segment * PAGES;
    for (int page = first; page < first + PAGES; page++) {
      long address = (long) page * PAGE;
      long iova = device.translate(address);
      if (used.get(page)) {
        if (iova == 0 || !function.isMapped(iova, PAGE)) {
          throw new Violation("at 0x%x the device finds 0x%x".formatted(address, iova));
        }
        seen.add(iova, this, address);
        bytes += paged ? PAGE : 0;
      } else if (paged && iova != 0) {
        throw new Violation(
            "nothing lies at 0x%x, and the device still finds 0x%x there".formatted(address, iova));
      }
    }
    return bytes;
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
