package irdma4j.hmc;

import irdma4j.hwregs.HmcObject;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
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
 * goes. Every change is done wholly or leaves what was there before. Not thread-safe.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/hmc.c.
 */
public final class HostMemoryCache implements AutoCloseable {
  /** Bytes that a segment descriptor covers. */
  public static final long SEGMENT_SIZE = 2L << 20;

  private final PciFunction function;
  private final SegmentProgrammer programmer;
  private final HmcLayout layout;
  private final SegmentType type;
  private final TreeMap<Integer, Segment> segments = new TreeMap<>();
  private final EnumMap<HmcObject, BitSet> created = new EnumMap<>(HmcObject.class);
  private final List<Extent> extents = new ArrayList<>();

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

  /** Where the objects lie. */
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
   */
  public void create(HmcObject kind, long first, long count) {
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
    List<Segment> added = new ArrayList<>();
    List<int[]> addedPages = new ArrayList<>();
    try {
      for (int index = segmentOf(from);
          index <= segmentOf(from + count * area.size() - 1);
          index++) {
        Segment segment = segments.get(index);
        if (segment == null) {
          segment = addSegment(index, type);
          added.add(segment);
        }
        if (segment.type == SegmentType.PAGED) {
          addPages(segment, from, count * area.size(), addedPages);
        }
      }
      program(added, true);
    } catch (RuntimeException e) {
      for (int[] page : addedPages) {
        removePage(segments.get(page[0]), page[1]);
      }
      dropSegments(added);
      throw e;
    }
    exists.set((int) first, (int) (first + count));
    countUsers(area, first, count, 1);
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
   * Removes objects; segments and pages that nobody uses any more are taken from the device and
   * given back.
   *
   * @param first index of the first
   * @param count how many; none is allowed
   * @throws HmcException if the range leaves the kind's area or one of them does not exist
   */
  public void delete(HmcObject kind, long first, long count) {
    HmcLayout.Area area = requireRange(kind, first, count);
    BitSet exists = created.computeIfAbsent(kind, k -> new BitSet());
    if (exists.nextClearBit((int) first) < first + count) {
      throw new HmcException(kind + " " + exists.nextClearBit((int) first) + " does not exist");
    }
    exists.clear((int) first, (int) (first + count));
    countUsers(area, first, count, -1);
    releaseUnused();
  }

  /**
   * Backs whole pages of the PBLE area and tells the device. A new segment that is covered whole is
   * direct, any other is paged; a segment that is there already stays what it is.
   *
   * @param address FPM address, a multiple of 4096
   * @param pages how many; all in one segment
   * @return the memory, until {@link #release} or {@link #close()}
   */
  public Extent extend(long address, int pages) {
    int offset = (int) (address % SEGMENT_SIZE);
    if (address % Segment.PAGE_SIZE != 0
        || pages < 1
        || offset + (long) pages * Segment.PAGE_SIZE > SEGMENT_SIZE) {
      throw new HmcException("extent of %d pages at 0x%x".formatted(pages, address));
    }
    Segment existing = segments.get(segmentOf(address));
    boolean whole = offset == 0 && pages == Segment.PAGES;
    Segment segment =
        existing != null
            ? existing
            : addSegment(segmentOf(address), whole ? SegmentType.DIRECT : SegmentType.PAGED);
    List<Segment> added = existing == null ? List.of(segment) : List.of();
    DmaMemory memory = null;
    int firstPage = offset / Segment.PAGE_SIZE;
    int mapped = 0;
    try {
      MemorySegment view;
      if (segment.type == SegmentType.DIRECT) {
        view = segment.root.segment().asSlice(offset, (long) pages * Segment.PAGE_SIZE);
      } else {
        for (int page = firstPage; page < firstPage + pages; page++) {
          if (segment.hasPage(page)) {
            throw new HmcException(
                "page %d of segment %d is in use".formatted(page, segment.index));
          }
        }
        memory =
            function.allocateDma(
                (long) pages * Segment.PAGE_SIZE, Segment.PAGE_SIZE, DmaPlacement.SCATTERED);
        for (; mapped < pages; mapped++) {
          segment.setPage(firstPage + mapped, memory.iova((long) mapped * Segment.PAGE_SIZE), null);
          programmer.invalidatePage(segment.index, firstPage + mapped);
        }
        view = memory.segment().asSlice(0, (long) pages * Segment.PAGE_SIZE);
      }
      program(added, true);
      Extent extent = new Extent(address, pages, segment.type, view, segment, memory);
      extents.add(extent);
      segment.users++;
      for (int page = 0; page < pages && segment.type == SegmentType.PAGED; page++) {
        segment.addPageUsers(firstPage + page, 1);
      }
      return extent;
    } catch (RuntimeException e) {
      for (int page = 0; page < mapped; page++) {
        removePage(segment, firstPage + page);
      }
      if (memory != null) {
        memory.close();
      }
      dropSegments(added);
      throw e;
    }
  }

  /** Gives an extent back. */
  public void release(Extent extent) {
    if (!extents.remove(extent)) {
      throw new HmcException("extent at 0x%x was released".formatted(extent.address()));
    }
    Segment segment = extent.segment();
    segment.users--;
    if (segment.type == SegmentType.PAGED) {
      int first = (int) (extent.address() % SEGMENT_SIZE) / Segment.PAGE_SIZE;
      for (int page = first; page < first + extent.pages(); page++) {
        segment.addPageUsers(page, -1);
        removePage(segment, page);
      }
    }
    releaseUnused();
    DmaMemory memory = extent.memory();
    if (memory != null) {
      memory.close();
    }
  }

  /**
   * What lies at an FPM address.
   *
   * @return the location, or null if no object of the layout lies there
   */
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

  /**
   * Gives back all memory without telling the device, which must have been stopped or reset before.
   * To take leave of a device that runs, delete the objects first.
   */
  @Override
  public void close() {
    for (Extent extent : extents) {
      DmaMemory memory = extent.memory();
      if (memory != null) {
        memory.close();
      }
    }
    extents.clear();
    segments.values().forEach(Segment::free);
    segments.clear();
    created.clear();
  }

  private HmcLayout.Area requireRange(HmcObject kind, long first, long count) {
    HmcLayout.Area area = layout.of(kind);
    if (first < 0 || count < 0 || first > area.count() - count) {
      throw new HmcException(
          "%s %d to %d: there are %d".formatted(kind, first, first + count - 1, area.count()));
    }
    return area;
  }

  private static int segmentOf(long address) {
    return (int) (address / SEGMENT_SIZE);
  }

  private Segment addSegment(int index, SegmentType segmentType) {
    if (index >= layout.segments()) {
      throw new HmcException("segment %d of %d".formatted(index, layout.segments()));
    }
    DmaMemory root =
        segmentType == SegmentType.DIRECT
            ? function.allocateDma(SEGMENT_SIZE, SEGMENT_SIZE)
            : function.allocateDma(Segment.PAGE_SIZE, Segment.PAGE_SIZE);
    Segment segment = new Segment(index, segmentType, root);
    segments.put(index, segment);
    return segment;
  }

  private void addPages(Segment segment, long from, long bytes, List<int[]> added) {
    long base = segment.index * SEGMENT_SIZE;
    long start = Math.max(from, base);
    long end = Math.min(from + bytes, base + SEGMENT_SIZE);
    for (int page = (int) ((start - base) / Segment.PAGE_SIZE);
        page <= (end - 1 - base) / Segment.PAGE_SIZE;
        page++) {
      if (!segment.hasPage(page)) {
        DmaMemory memory = function.allocateDma(Segment.PAGE_SIZE, Segment.PAGE_SIZE);
        segment.setPage(page, memory.iova(), memory);
        added.add(new int[] {segment.index, page});
        programmer.invalidatePage(segment.index, page);
      }
    }
  }

  private void removePage(@Nullable Segment segment, int page) {
    if (segment != null && segment.hasPage(page)) {
      segment.clearPage(page);
      programmer.invalidatePage(segment.index, page);
      segment.freePage(page);
    }
  }

  private void program(List<Segment> list, boolean valid) {
    if (!list.isEmpty()) {
      programmer.updateSegments(
          list.stream()
              .map(s -> new SegmentUpdate(s.index, s.type, valid ? s.root.iova() : 0, valid))
              .toList());
    }
  }

  private void dropSegments(List<Segment> list) {
    for (Segment segment : list) {
      segments.remove(segment.index);
      segment.free();
    }
  }

  private void countUsers(HmcLayout.Area area, long first, long count, int sign) {
    long from = area.base() + first * area.size();
    long to = from + count * area.size();
    for (int index = segmentOf(from); index <= segmentOf(to - 1); index++) {
      Segment segment = segments.get(index);
      if (segment == null) {
        throw new IllegalStateException("segment " + index);
      }
      long base = index * SEGMENT_SIZE;
      segment.users += sign * objectsIn(area, first, count, base, base + SEGMENT_SIZE);
      if (segment.type == SegmentType.PAGED) {
        for (int page = 0; page < Segment.PAGES; page++) {
          long pageBase = base + (long) page * Segment.PAGE_SIZE;
          long users = objectsIn(area, first, count, pageBase, pageBase + Segment.PAGE_SIZE);
          if (users != 0 && segment.addPageUsers(page, (int) (sign * users)) == 0) {
            removePage(segment, page);
          }
        }
      }
    }
  }

  /** How many of the objects lie at least partly in an address range. */
  private static long objectsIn(HmcLayout.Area area, long first, long count, long from, long to) {
    long low = Math.max(first, Math.floorDiv(from - area.base(), area.size()));
    long high = Math.min(first + count - 1, Math.floorDiv(to - 1 - area.base(), area.size()));
    return Math.max(0, high - low + 1);
  }

  private void releaseUnused() {
    List<Segment> unused = segments.values().stream().filter(s -> s.users == 0).toList();
    if (!unused.isEmpty()) {
      try {
        program(unused, false);
      } finally {
        dropSegments(unused);
      }
    }
  }
}
