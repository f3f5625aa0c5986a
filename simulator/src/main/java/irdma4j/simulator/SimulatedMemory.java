package irdma4j.simulator;

import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Memory of the process that the simulated function's IOMMU maps while it is open. */
final class SimulatedMemory implements DmaMemory {
  private final SimulatedFunction owner;
  private final Arena arena;
  private final MemorySegment segment;
  private final DmaPlacement placement;
  private final int firstPage;
  private final int @Nullable [] pages;
  private boolean closed;

  /** Either {@code firstPage} says where the run begins, or {@code pages} where each page is. */
  SimulatedMemory(
      SimulatedFunction owner,
      Arena arena,
      MemorySegment segment,
      DmaPlacement placement,
      int firstPage,
      int @Nullable [] pages) {
    this.owner = owner;
    this.arena = arena;
    this.segment = segment;
    this.placement = placement;
    this.firstPage = firstPage;
    this.pages = pages;
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
    Objects.checkIndex(offset, size());
    return owner.iommu().address(page((int) (offset >>> 12))) + (offset & 0xfff);
  }

  /** The IOVA page of the allocation's page. */
  int page(int index) {
    return pages == null ? firstPage + index : pages[index];
  }

  int pageCount() {
    return (int) (segment.byteSize() >>> 12);
  }

  @Override
  public void close() {
    owner.release(this);
  }

  /** Marks it closed; true the first time. */
  boolean markClosed() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Gives the memory back, once the device cannot reach it. */
  void free() {
    arena.close();
  }
}
