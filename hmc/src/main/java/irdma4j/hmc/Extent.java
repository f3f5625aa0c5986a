package irdma4j.hmc;

import irdma4j.uapi.DmaMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Backed pages of the PBLE area. It belongs to the {@link HostMemoryCache} that made it. */
public final class Extent {
  private final long address;
  private final int pages;
  private final SegmentType type;
  private final MemorySegment memory;
  private final Segment segment;
  private final @Nullable DmaMemory owned;

  Extent(
      long address,
      int pages,
      SegmentType type,
      MemorySegment memory,
      Segment segment,
      @Nullable DmaMemory owned) {
    this.address = address;
    this.pages = pages;
    this.type = type;
    this.memory = memory;
    this.segment = segment;
    this.owned = owned;
  }

  /** FPM address of the first byte. */
  public long address() {
    return address;
  }

  /** Number of 4 KiB pages. */
  public int pages() {
    return pages;
  }

  /** How the segment around it is backed. */
  public SegmentType type() {
    return type;
  }

  /** The process's view of the pages, in one run. */
  public MemorySegment segmentView() {
    return memory;
  }

  Segment segment() {
    return segment;
  }

  @Nullable DmaMemory memory() {
    return owned;
  }
}
