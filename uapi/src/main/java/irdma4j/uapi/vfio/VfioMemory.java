package irdma4j.uapi.vfio;

import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of the process that is mapped for a device, in one run of IOVAs. */
final class VfioMemory implements DmaMemory {
  private final VfioDma dma;
  private final Arena arena;
  private final MemorySegment segment;
  private final long iova;
  private final DmaPlacement placement;

  VfioMemory(VfioDma dma, Arena arena, MemorySegment segment, long iova, DmaPlacement placement) {
    this.dma = dma;
    this.arena = arena;
    this.segment = segment;
    this.iova = iova;
    this.placement = placement;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public long size() {
    return segment.byteSize();
  }

  @Override
  public DmaPlacement placement() {
    return placement;
  }

  @Override
  public long iova(long offset) {
    if (offset < 0 || offset >= segment.byteSize()) {
      throw new IndexOutOfBoundsException("offset " + offset + " of " + segment.byteSize());
    }
    return iova + offset;
  }

  /** Takes the memory back; the mapping is gone before. */
  void free() {
    arena.close();
  }

  @Override
  public void close() {
    dma.free(this);
  }
}
