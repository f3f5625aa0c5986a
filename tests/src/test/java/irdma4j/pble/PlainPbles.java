package irdma4j.pble;

import irdma4j.hmc.Extent;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentProgrammer;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.tests.PbleSubject;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Another way to hand out PBLEs: everything backed from the start, one bitmap, the lowest run that
 * fits. Slow, short, and with a fault if one is wanted: what a user of the kit might bring.
 */
final class PlainPbles implements PbleSubject {
  /** What can be wrong with it. */
  enum Fault {
    NONE,
    /** A list of whole leaves gets a leaf too many. */
    LEAF_COUNT,
    /** A root whose leaves find no room is not given back. */
    LEAK_ON_FAILED_LEVEL_2,
    /** Indices count from the first page of the area and not from its base. */
    WRONG_INDEX_BASE,
    /** The root names its leaves by unit and not by index. */
    WRONG_ROOT,
    /** What was given back may be given back again. */
    DOUBLE_FREE
  }

  private static final int PAGE = 4096;
  private static final int UNIT = 8;

  private record Run(int unit, int count) {
    int units() {
      return (count + UNIT - 1) / UNIT;
    }
  }

  private record List2(Run root, List<Run> leaves) {}

  private final HostMemoryCache cache;
  private final Fault fault;
  private final long skipped;
  private final int units;
  private final BitSet used = new BitSet();
  private final List<Extent> extents = new ArrayList<>();
  private final Set<Object> live = new HashSet<>();

  PlainPbles(
      PciFunction function,
      SegmentProgrammer device,
      HmcLayout layout,
      SegmentType type,
      Fault fault) {
    this.fault = fault;
    cache = new HostMemoryCache(function, device, layout, type);
    HmcLayout.Area area = layout.of(HmcObject.PBLE);
    long from = (area.base() + PAGE - 1) / PAGE * PAGE;
    long to = area.end() / PAGE * PAGE;
    skipped = (from - area.base()) / 8;
    units = (int) ((to - from) / 8 / UNIT);
    long segment = HostMemoryCache.SEGMENT_SIZE;
    for (long at = from; at < to; at = (at / segment + 1) * segment) {
      extents.add(
          cache.extend(at, (int) ((Math.min(to, (at / segment + 1) * segment) - at) / PAGE)));
    }
  }

  @Override
  public Grant allocate(int count, PbleLevels levels) {
    if (levels != PbleLevels.LEVEL_2_ONLY) {
      Run run = take(count);
      if (run != null) {
        return grant(new List2(run, List.of()));
      }
      if (levels == PbleLevels.LEVEL_1_ONLY || count <= PbleAllocation.LEAF) {
        throw new PbleException("no room");
      }
    }
    int leafCount = count / PbleAllocation.LEAF + 1;
    if (count % PbleAllocation.LEAF == 0 && fault != Fault.LEAF_COUNT) {
      leafCount--;
    }
    Run root = take(leafCount);
    if (root == null) {
      throw new PbleException("no room");
    }
    List<Run> leaves = new ArrayList<>();
    for (int leaf = 0; leaf < leafCount; leaf++) {
      int left = Math.max(1, count - leaf * PbleAllocation.LEAF);
      Run run = take(Math.min(PbleAllocation.LEAF, left));
      if (run == null) {
        leaves.forEach(this::give);
        if (fault != Fault.LEAK_ON_FAILED_LEVEL_2) {
          give(root);
        }
        throw new PbleException("no room");
      }
      leaves.add(run);
      write(root.unit * UNIT + leaf, fault == Fault.WRONG_ROOT ? run.unit : index(run));
    }
    return grant(new List2(root, leaves));
  }

  private Grant grant(List2 list) {
    live.add(list);
    return new Grant(
        list,
        list.leaves.isEmpty() ? 1 : 2,
        index(list.root),
        list.leaves.stream().map(this::index).toList());
  }

  private long index(Run run) {
    return (fault == Fault.WRONG_INDEX_BASE ? 0 : skipped) + (long) run.unit * UNIT;
  }

  private Run take(int count) {
    int needed = (count + UNIT - 1) / UNIT;
    for (int unit = used.nextClearBit(0); unit + needed <= units; ) {
      int end = used.nextSetBit(unit);
      if ((end < 0 || end - unit >= needed) && isWhole(unit, needed)) {
        used.set(unit, unit + needed);
        return new Run(unit, count);
      }
      unit = used.nextClearBit(unit + 1);
    }
    return null;
  }

  /** Whether the run's memory is in one piece. */
  private boolean isWhole(int unit, int needed) {
    return extentOf(unit * UNIT) == extentOf((unit + needed) * UNIT - 1);
  }

  private void give(Run run) {
    used.clear(run.unit, run.unit + run.units());
  }

  @Override
  public void free(Grant grant) {
    if (!live.remove(grant.handle())) {
      if (fault == Fault.DOUBLE_FREE) {
        return;
      }
      throw new PbleException("not in use");
    }
    List2 list = (List2) grant.handle();
    give(list.root);
    list.leaves.forEach(this::give);
  }

  @Override
  public void fill(Grant grant, PageList pages) {
    List2 list = (List2) grant.handle();
    List<Run> runs = list.leaves.isEmpty() ? List.of(list.root) : list.leaves;
    long page = 0;
    for (Run run : runs) {
      for (int entry = 0; entry < run.count; entry++) {
        write(run.unit * UNIT + entry, pages.iova(page++));
      }
    }
  }

  private int extentOf(int entry) {
    int rest = entry;
    for (int i = 0; i < extents.size(); i++) {
      int entries = extents.get(i).pages() * PAGE / 8;
      if (rest < entries) {
        return i;
      }
      rest -= entries;
    }
    throw new IndexOutOfBoundsException(entry);
  }

  private void write(int entry, long value) {
    int rest = entry;
    for (int i = 0; i < extentOf(entry); i++) {
      rest -= extents.get(i).pages() * PAGE / 8;
    }
    LittleEndian.setLong(extents.get(extentOf(entry)).segmentView(), rest * 8L, value);
  }

  @Override
  public long backed() {
    return (long) units * UNIT;
  }

  @Override
  public long free() {
    return (long) (units - used.cardinality()) * UNIT;
  }

  @Override
  public void close() {
    extents.forEach(cache::release);
    cache.close();
  }
}
