package irdma4j.hmc;

import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.tests.HmcSubject;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Another way to back HMC objects: it counts nothing, and looks after each change at which pages
 * objects lie. Slow, short, and with a fault if one is wanted: what a user of the kit might bring.
 */
final class PlainHmc implements HmcSubject {
  /** What can be wrong with it. */
  enum Fault {
    NONE,
    /** The device is not told that a page descriptor has changed. */
    NO_INVALIDATION,
    /** The last page of what is deleted goes, though another object lies in it. */
    SHARED_FREED_EARLY,
    /** What was allocated for an operation that failed stays. */
    LEAK_ON_FAILURE,
    /**
     * The last object of a range is backed only if it begins on the same page as the one before.
     */
    SHORT_BY_ONE
  }

  private static final int PAGE = 4096;

  private record Root(SegmentType type, DmaMemory memory) {}

  private record Range(HmcObject kind, long first, long count) {}

  private final PciFunction function;
  private final SegmentProgrammer device;
  private final HmcLayout layout;
  private final Fault fault;
  private final List<Range> ranges = new ArrayList<>();
  private final Map<Integer, Root> roots = new HashMap<>();
  private final Map<Long, DmaMemory> pages = new HashMap<>();

  PlainHmc(PciFunction function, SegmentProgrammer device, HmcLayout layout, Fault fault) {
    this.function = function;
    this.device = device;
    this.layout = layout;
    this.fault = fault;
  }

  @Override
  public void create(HmcObject kind, long first, long count, SegmentType type) {
    Range range = new Range(kind, first, count);
    List<Long> addedPages = new ArrayList<>();
    List<Integer> addedRoots = new ArrayList<>();
    try {
      for (long page : pagesOf(range, fault == Fault.SHORT_BY_ONE)) {
        int segment = (int) (page / 512);
        if (!roots.containsKey(segment)) {
          long size = type == SegmentType.PAGED ? PAGE : 512L * PAGE;
          roots.put(segment, new Root(type, function.allocateDma(size, size)));
          addedRoots.add(segment);
        }
        if (isPaged(page) && !pages.containsKey(page)) {
          DmaMemory memory = function.allocateDma(PAGE, PAGE);
          pages.put(page, memory);
          addedPages.add(page);
          writeDescriptor(page, memory.iova() | 1);
          invalidate(page);
        }
      }
      program(addedRoots, true);
    } catch (RuntimeException e) {
      if (fault != Fault.LEAK_ON_FAILURE) {
        withdraw(addedPages, addedRoots);
      }
      throw e;
    }
    ranges.add(range);
  }

  @Override
  public void delete(HmcObject kind, long first, long count) {
    List<Range> before = List.copyOf(ranges);
    List<Range> after = new ArrayList<>();
    for (Range range : before) {
      if (range.kind == kind) {
        long end = range.first + range.count;
        addIfAny(after, kind, range.first, Math.min(end, first));
        addIfAny(after, kind, Math.max(range.first, first + count), end);
      } else {
        after.add(range);
      }
    }
    TreeSet<Long> used = new TreeSet<>();
    for (Range range : after) {
      used.addAll(pagesOf(range, false));
    }
    Set<Long> mine = pagesOf(new Range(kind, first, count), false);
    if (fault == Fault.SHARED_FREED_EARLY) {
      used.remove(Collections.max(mine));
    }
    List<Long> gonePages = pages.keySet().stream().filter(page -> !used.contains(page)).toList();
    List<Integer> goneRoots =
        roots.keySet().stream()
            .filter(root -> used.subSet(root * 512L, (root + 1) * 512L).isEmpty())
            .toList();
    program(goneRoots, false);
    for (long page : gonePages) {
      writeDescriptor(page, 0);
      invalidate(page);
      pages.remove(page).close();
    }
    goneRoots.forEach(root -> roots.remove(root).memory.close());
    ranges.clear();
    ranges.addAll(after);
  }

  private static void addIfAny(List<Range> list, HmcObject kind, long first, long end) {
    if (first < end) {
      list.add(new Range(kind, first, end - first));
    }
  }

  private void withdraw(List<Long> addedPages, List<Integer> addedRoots) {
    for (long page : addedPages) {
      writeDescriptor(page, 0);
      invalidate(page);
      pages.remove(page).close();
    }
    program(addedRoots, false);
    addedRoots.forEach(root -> roots.remove(root).memory.close());
  }

  private void invalidate(long page) {
    if (fault != Fault.NO_INVALIDATION) {
      device.invalidatePage((int) (page / 512), (int) (page % 512));
    }
  }

  private boolean isPaged(long page) {
    return roots.get((int) (page / 512)).type == SegmentType.PAGED;
  }

  private void writeDescriptor(long page, long value) {
    MemorySegment table = roots.get((int) (page / 512)).memory.segment();
    LittleEndian.setLong(table, page % 512 * 8, value);
  }

  private SegmentUpdate update(int index, boolean valid) {
    Root root = roots.get(index);
    return new SegmentUpdate(index, root.type, root.memory.iova(), valid);
  }

  private void program(List<Integer> which, boolean valid) {
    if (!which.isEmpty()) {
      device.updateSegments(which.stream().map(root -> update(root, valid)).toList());
    }
  }

  private Set<Long> pagesOf(Range range, boolean shortByOne) {
    HmcLayout.Area area = layout.of(range.kind);
    long from = area.base() + range.first * area.size();
    long to = from + (range.count - (shortByOne && range.count > 1 ? 1 : 0)) * area.size();
    Set<Long> found = new HashSet<>();
    for (long page = from / PAGE; page <= (to - 1) / PAGE; page++) {
      found.add(page);
    }
    return found;
  }

  @Override
  public void close() {
    pages.values().forEach(DmaMemory::close);
    roots.values().forEach(root -> root.memory.close());
  }
}
