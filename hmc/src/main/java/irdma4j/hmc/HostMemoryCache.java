package irdma4j.hmc;

import irdma4j.hwregs.HmcObject;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The memory behind a function's FPM address space: which objects exist, which segments and pages
 * back them, and what the device was told.
 *
 * <pre>
 *  FPM address   | segment (2 MiB) | page (4 KiB) | byte |
 *  segment descriptor ── direct ──► 2 MiB block
 *                     └─ paged ───► 512 page descriptors ──► 4 KiB page each
 * </pre>
 *
 * <p>A segment that several kinds of objects share is given back exactly when the last object in it
 * goes. Every change is done wholly or leaves what was there before; memory is given back only
 * after the device has been told, and kept until {@link #close()} if it could not be told. Not
 * thread-safe.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/hmc.c.
 */
public final class HostMemoryCache implements HmcView, AutoCloseable {
  /** Bytes that a segment descriptor covers. */
  public static final long SEGMENT_SIZE = 2L << 20;

  private final PciFunction function;
  private final SegmentProgrammer programmer;
  private final HmcLayout layout;
  private final SegmentType type;
  private final TreeMap<Integer, Segment> segments = new TreeMap<>();
  private final EnumMap<HmcObject, BitSet> created = new EnumMap<>(HmcObject.class);
  private final TreeMap<Long, Extent> extents = new TreeMap<>();

  /** Memory that the device could not be made to forget. */
  private final List<DmaMemory> kept = new ArrayList<>();

  /**
   * An empty cache.
   *
   * @param function where the memory comes from
   * @param programmer how the device is told
   * @param layout where the objects lie
   * @param type how segments are backed that hold objects; Linux's driver uses DIRECT
   */
  public HostMemoryCache(
      PciFunction function, SegmentProgrammer programmer, HmcLayout layout, SegmentType type) {
    this.function = function;
    this.programmer = programmer;
    this.layout = layout;
    this.type = type;
  }

  @Override
  public HmcLayout layout() {
    return layout;
  }

  /** Brings all objects of a kind into being. */
  public void create(HmcObject kind) {
    create(kind, 0, layout.of(kind).count());
  }

  /**
   * Brings objects into being: backs them with memory and tells the device.
   *
   * @param first index of the first
   * @param count how many; none is allowed
   * @throws HmcException if the range leaves the kind's area or one of them exists already
   * @throws irdma4j.uapi.PciException if there is no memory; nothing has changed then
   */
  public void create(HmcObject kind, long first, long count) {
    create(kind, first, count, type);
  }

  /**
   * The same with a choice of how segments are backed.
   *
   * @param added how a segment is backed that is not there yet; any other stays what it is
   */
  public void create(HmcObject kind, long first, long count, SegmentType added) {
    HmcLayout.Area area = requireRange(kind, first, count);
    BitSet exists = created.computeIfAbsent(kind, k -> new BitSet());
    int next = exists.nextSetBit((int) first);
    if (next >= 0 && next < first + count) {
      throw new HmcException(kind + " " + next + " exists already");
    }
    if (count == 0) {
      return;
    }
    long from = area.base() + first * area.size();
    long to = from + count * area.size();
    Change change = new Change();
    try {
      for (int number = segmentOf(from); number <= segmentOf(to - 1); number++) {
        Segment segment = segments.get(number);
        if (segment == null) {
          segment = change.addSegment(number, added);
        }
        if (segment.type == SegmentType.PAGED) {
          addPages(change, segment, from, to);
        }
      }
      change.programAdded();
    } catch (RuntimeException e) {
      change.undoAdditions(e);
      throw e;
    }
    exists.set((int) first, (int) (first + count));
    countUsers(area, first, count, 1, change);
  }

  /** Removes all existing objects of a kind. */
  public void delete(HmcObject kind) {
    BitSet exists = created.get(kind);
    if (exists == null) {
      return;
    }
    for (int from = exists.nextSetBit(0); from >= 0; from = exists.nextSetBit(from)) {
      delete(kind, from, exists.nextClearBit(from) - from);
    }
  }

  /**
   * Removes objects; segments and pages that nobody uses any more are taken from the device, then
   * given back.
   *
   * @param first index of the first
   * @param count how many; none is allowed
   * @throws HmcException if the range leaves the kind's area or one of them does not exist
   * @throws RuntimeException what the programmer threw; the objects still exist then
   */
  public void delete(HmcObject kind, long first, long count) {
    HmcLayout.Area area = requireRange(kind, first, count);
    BitSet exists = created.computeIfAbsent(kind, k -> new BitSet());
    if (count == 0) {
      return;
    }
    if (exists.nextClearBit((int) first) < first + count) {
      throw new HmcException(kind + " " + exists.nextClearBit((int) first) + " does not exist");
    }
    Change change = new Change();
    countUsers(area, first, count, -1, change);
    try {
      change.withdraw();
    } catch (RuntimeException e) {
      change.undoWithdrawal(e);
      countUsers(area, first, count, 1, change);
      throw e;
    }
    exists.clear((int) first, (int) (first + count));
    change.free();
  }

  /**
   * Backs whole pages of the PBLE area and tells the device. A new segment that is covered whole is
   * direct if there is memory for it, any other is paged; a segment that is there already stays
   * what it is.
   *
   * @param address FPM address, a multiple of 4096
   * @param pages how many; all in one segment
   * @return the memory, until {@link #release} or {@link #close()}
   * @throws HmcException if the pages are no part of the PBLE area or in use
   * @throws irdma4j.uapi.PciException if there is no memory; nothing has changed then
   */
  public Extent extend(long address, int pages) {
    requireFreePages(address, pages);
    int number = segmentOf(address);
    int offset = (int) (address % SEGMENT_SIZE);
    Segment existing = segments.get(number);
    Change change = new Change();
    DmaMemory memory = null;
    Extent extent;
    try {
      Segment segment = existing;
      if (segment == null && pages == Segment.PAGES) {
        segment = addDirectIfPossible(change, number);
      }
      if (segment != null && segment.type == SegmentType.DIRECT) {
        MemorySegment view =
            segment.root.segment().asSlice(offset, (long) pages * Segment.PAGE_SIZE);
        change.programAdded();
        extent = new Extent(address, pages, segment.type, view, segment, null);
      } else {
        memory =
            function.allocateDma(
                (long) pages * Segment.PAGE_SIZE, Segment.PAGE_SIZE, DmaPlacement.SCATTERED);
        if (segment == null) {
          segment = change.addSegment(number, SegmentType.PAGED);
        }
        for (int page = 0; page < pages; page++) {
          change.addPage(
              segment,
              offset / Segment.PAGE_SIZE + page,
              memory.iova((long) page * Segment.PAGE_SIZE),
              null);
        }
        change.programAdded();
        MemorySegment view = memory.segment().asSlice(0, (long) pages * Segment.PAGE_SIZE);
        extent = new Extent(address, pages, segment.type, view, segment, memory);
      }
    } catch (RuntimeException e) {
      boolean forgotten = change.undoAdditions(e);
      if (memory != null) {
        freeOrKeep(memory, forgotten);
      }
      throw e;
    }
    extents.put(address, extent);
    countExtent(extent, 1, change);
    return extent;
  }

  /**
   * Gives an extent back.
   *
   * @throws HmcException if it was given back before
   * @throws RuntimeException what the programmer threw; the extent is still there then
   */
  public void release(Extent extent) {
    if (extents.get(extent.address()) != extent) {
      throw new HmcException("extent at 0x%x was released".formatted(extent.address()));
    }
    Change change = new Change();
    countExtent(extent, -1, change);
    try {
      change.withdraw();
    } catch (RuntimeException e) {
      change.undoWithdrawal(e);
      countExtent(extent, 1, change);
      throw e;
    }
    extents.remove(extent.address());
    change.free();
    DmaMemory memory = extent.memory();
    if (memory != null) {
      memory.close();
    }
  }

  @Override
  public @Nullable FpmLocation locate(long address) {
    for (Map.Entry<HmcObject, HmcLayout.Area> entry : layout.areas().entrySet()) {
      HmcLayout.Area area = entry.getValue();
      if (address >= area.base() && address < area.end()) {
        int offset = (int) (address % SEGMENT_SIZE);
        Segment segment = segments.get(segmentOf(address));
        return new FpmLocation(
            entry.getKey(),
            (address - area.base()) / area.size(),
            segmentOf(address),
            offset / Segment.PAGE_SIZE,
            segment == null ? 0 : segment.iova(offset));
      }
    }
    return null;
  }

  /** Existing objects of a kind. */
  public int count(HmcObject kind) {
    BitSet exists = created.get(kind);
    return exists == null ? 0 : exists.cardinality();
  }

  /** Number of backed segments. */
  public int segmentCount() {
    return segments.size();
  }

  @Override
  public List<SegmentUse> segments() {
    return segments.values().stream()
        .map(s -> new SegmentUse(s.index, s.type, s.root.iova(), s.backedPages(), s.users))
        .toList();
  }

  @Override
  public List<ObjectUse> objects() {
    List<ObjectUse> uses = new ArrayList<>();
    layout
        .areas()
        .forEach(
            (kind, area) ->
                uses.add(
                    new ObjectUse(
                        kind,
                        area.base(),
                        area.end(),
                        area.count(),
                        count(kind),
                        kind == HmcObject.PBLE ? extentPages() : 0)));
    uses.sort(Comparator.comparingLong(ObjectUse::base));
    return uses;
  }

  private int extentPages() {
    return extents.values().stream().mapToInt(Extent::pages).sum();
  }

  /**
   * Gives back all memory without telling the device, which must have been stopped or reset before.
   * To take leave of a device that runs, delete the objects first.
   */
  @Override
  public void close() {
    for (Extent extent : extents.values()) {
      DmaMemory memory = extent.memory();
      if (memory != null) {
        memory.close();
      }
    }
    extents.clear();
    segments.values().forEach(Segment::free);
    segments.clear();
    kept.forEach(DmaMemory::close);
    kept.clear();
    created.clear();
  }

  private HmcLayout.Area requireRange(HmcObject kind, long first, long count) {
    HmcLayout.Area area = layout.of(kind);
    if (first < 0 || count < 0 || first > area.count() - count) {
      throw new HmcException(
          "%s %d to %d: there are %d".formatted(kind, first, first + count - 1, area.count()));
    }
    if (first + count > Integer.MAX_VALUE) {
      throw new HmcException("%s %d is beyond what can be made".formatted(kind, first + count - 1));
    }
    return area;
  }

  private void requireFreePages(long address, int pages) {
    HmcLayout.Area area = layout.of(HmcObject.PBLE);
    long end = address + (long) pages * Segment.PAGE_SIZE;
    if (address % Segment.PAGE_SIZE != 0
        || pages < 1
        || address < area.base()
        || end > area.end()
        || segmentOf(address) != segmentOf(end - 1)) {
      throw new HmcException("extent of %d pages at 0x%x".formatted(pages, address));
    }
    Map.Entry<Long, Extent> before = extents.lowerEntry(end);
    if (before != null
        && before.getKey() + (long) before.getValue().pages() * Segment.PAGE_SIZE > address) {
      throw new HmcException(
          "extent of %d pages at 0x%x: the one at 0x%x is there"
              .formatted(pages, address, before.getKey()));
    }
    Segment segment = segments.get(segmentOf(address));
    if (segment != null && segment.type == SegmentType.PAGED) {
      int first = (int) (address % SEGMENT_SIZE) / Segment.PAGE_SIZE;
      for (int page = first; page < first + pages; page++) {
        if (segment.hasPage(page)) {
          throw new HmcException("page %d of segment %d is in use".formatted(page, segment.index));
        }
      }
    }
  }

  private static int segmentOf(long address) {
    return (int) (address / SEGMENT_SIZE);
  }

  private @Nullable Segment addDirectIfPossible(Change change, int number) {
    try {
      return change.addSegment(number, SegmentType.DIRECT);
    } catch (PciException noLargeBlock) {
      return null;
    }
  }

  private void addPages(Change change, Segment segment, long from, long to) {
    long base = segment.index * SEGMENT_SIZE;
    int first = (int) ((Math.max(from, base) - base) / Segment.PAGE_SIZE);
    int last = (int) ((Math.min(to, base + SEGMENT_SIZE) - 1 - base) / Segment.PAGE_SIZE);
    for (int page = first; page <= last; page++) {
      if (!segment.hasPage(page)) {
        DmaMemory memory = function.allocateDma(Segment.PAGE_SIZE, Segment.PAGE_SIZE);
        change.addPage(segment, page, memory.iova(), memory);
      }
    }
  }

  /** Counts objects as users of their segments and pages, or no longer; notes who has none left. */
  private void countUsers(HmcLayout.Area area, long first, long count, int sign, Change change) {
    long from = area.base() + first * area.size();
    long to = from + count * area.size();
    for (int number = segmentOf(from); number <= segmentOf(to - 1); number++) {
      Segment segment = backed(number);
      long base = number * SEGMENT_SIZE;
      if (segment.type == SegmentType.PAGED) {
        for (int page = 0; page < Segment.PAGES; page++) {
          long pageBase = base + (long) page * Segment.PAGE_SIZE;
          long users = objectsIn(area, first, count, pageBase, pageBase + Segment.PAGE_SIZE);
          if (users != 0 && segment.addPageUsers(page, (int) (sign * users)) == 0) {
            change.unusedPages.add(new PageOf(segment, page));
          }
        }
      }
      segment.users += sign * objectsIn(area, first, count, base, base + SEGMENT_SIZE);
      if (segment.users == 0) {
        change.unusedSegments.add(segment);
      }
    }
  }

  private static void countExtent(Extent extent, int sign, Change change) {
    Segment segment = extent.segment();
    if (segment.type == SegmentType.PAGED) {
      int first = (int) (extent.address() % SEGMENT_SIZE) / Segment.PAGE_SIZE;
      for (int page = first; page < first + extent.pages(); page++) {
        if (segment.addPageUsers(page, sign) == 0) {
          change.unusedPages.add(new PageOf(segment, page));
        }
      }
    }
    segment.users += sign;
    if (segment.users == 0) {
      change.unusedSegments.add(segment);
    }
  }

  private Segment backed(int number) {
    Segment segment = segments.get(number);
    if (segment == null) {
      throw new IllegalStateException("segment " + number + " is not backed");
    }
    return segment;
  }

  /** How many of the objects lie at least partly in an address range. */
  private static long objectsIn(HmcLayout.Area area, long first, long count, long from, long to) {
    long low = Math.max(first, Math.floorDiv(from - area.base(), area.size()));
    long high = Math.min(first + count - 1, Math.floorDiv(to - 1 - area.base(), area.size()));
    return Math.max(0, high - low + 1);
  }

  /** Memory that the device may still use stays until {@link #close()}. */
  private void freeOrKeep(DmaMemory memory, boolean forgotten) {
    if (forgotten) {
      memory.close();
    } else {
      kept.add(memory);
    }
  }

  /** A page of a paged segment. */
  private record PageOf(Segment segment, int page) {}

  /** What an operation has added, or is about to take away, and how to undo it. */
  private final class Change {
    private final List<Segment> addedSegments = new ArrayList<>();
    private final List<PageOf> addedPages = new ArrayList<>();
    private boolean programmed;

    final List<Segment> unusedSegments = new ArrayList<>();
    final List<PageOf> unusedPages = new ArrayList<>();

    Segment addSegment(int number, SegmentType segmentType) {
      if (number >= layout.segments()) {
        throw new HmcException("segment %d of %d".formatted(number, layout.segments()));
      }
      long size = segmentType == SegmentType.DIRECT ? SEGMENT_SIZE : Segment.PAGE_SIZE;
      Segment segment = new Segment(number, segmentType, function.allocateDma(size, size));
      segments.put(number, segment);
      addedSegments.add(segment);
      return segment;
    }

    void addPage(Segment segment, int page, long iova, @Nullable DmaMemory owned) {
      segment.addPage(page, iova, owned);
      addedPages.add(new PageOf(segment, page));
      // The device may hold the descriptor as it was before.
      programmer.invalidatePage(segment.index, page);
    }

    void programAdded() {
      programmed = true;
      program(addedSegments, true);
    }

    /** Takes back what was added; answers whether the device is sure to have forgotten it. */
    boolean undoAdditions(RuntimeException cause) {
      boolean forgotten = true;
      for (PageOf added : addedPages) {
        added.segment.hidePage(added.page);
        boolean invalidated = attempt(cause, () -> invalidate(added));
        forgotten &= invalidated;
        DmaMemory memory = added.segment.removePage(added.page);
        if (memory != null) {
          freeOrKeep(memory, invalidated);
        }
      }
      boolean cleared = !programmed || attempt(cause, () -> program(addedSegments, false));
      for (Segment segment : addedSegments) {
        segments.remove(segment.index);
        freeOrKeep(segment.root, cleared);
      }
      return forgotten && cleared;
    }

    /** Makes the device forget what nobody uses. */
    void withdraw() {
      for (PageOf unused : unusedPages) {
        unused.segment.hidePage(unused.page);
        invalidate(unused);
      }
      program(unusedSegments, false);
    }

    void undoWithdrawal(RuntimeException cause) {
      for (PageOf unused : unusedPages) {
        unused.segment.showPage(unused.page);
        attempt(cause, () -> invalidate(unused));
      }
      attempt(cause, () -> program(unusedSegments, true));
    }

    /** Frees what the device has forgotten. */
    void free() {
      for (PageOf unused : unusedPages) {
        DmaMemory memory = unused.segment.removePage(unused.page);
        if (memory != null) {
          memory.close();
        }
      }
      for (Segment segment : unusedSegments) {
        segments.remove(segment.index);
        segment.root.close();
      }
    }

    private void invalidate(PageOf page) {
      programmer.invalidatePage(page.segment.index, page.page);
    }

    private void program(List<Segment> list, boolean valid) {
      if (!list.isEmpty()) {
        programmer.updateSegments(
            list.stream()
                .map(s -> new SegmentUpdate(s.index, s.type, valid ? s.root.iova() : 0, valid))
                .toList());
      }
    }

    private static boolean attempt(RuntimeException cause, Runnable action) {
      try {
        action.run();
        return true;
      } catch (RuntimeException e) {
        if (e != cause) {
          cause.addSuppressed(e);
        }
        return false;
      }
    }
  }
}
