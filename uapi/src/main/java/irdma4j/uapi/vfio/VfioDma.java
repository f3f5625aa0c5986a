package irdma4j.uapi.vfio;

import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.PciException;
import irdma4j.uapi.linux.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * DMA memory of a VFIO device. Allocating and freeing is for one thread at a time; {@link #usage()}
 * is for any.
 */
final class VfioDma {
  private static final long PAGE = 4096;

  /** A run of at least this size is aligned to it, so that the IOMMU can use a large page. */
  private static final long LARGE = 2L << 20;

  private final SystemCalls calls;
  private final Connection connection;
  private final VfioOptions.PageSize pages;
  private final IovaAllocator iovas;
  private final Set<VfioMemory> open = Collections.newSetFromMap(new IdentityHashMap<>());
  private volatile DmaUsage usage = new DmaUsage(0, 0, 0);

  VfioDma(SystemCalls calls, Connection connection, VfioOptions.PageSize pages) {
    this.calls = calls;
    this.connection = connection;
    this.pages = pages;
    this.iovas = new IovaAllocator(connection.ranges());
  }

  /**
   * Allocates and maps memory. A scattered allocation is one run of IOVAs, too: a mapping for each
   * page would soon be more than the IOMMU takes.
   *
   * @throws PciException if memory, IOVAs or mappings run out; nothing is kept then
   */
  VfioMemory allocate(long bytes, long alignment, DmaPlacement placement) {
    if (bytes < 1 || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException(bytes + " bytes aligned to " + alignment);
    }
    boolean huge = pages != VfioOptions.PageSize.SMALL && bytes >= pages.bytes();
    long page = Math.max(huge ? pages.bytes() : PAGE, connection.pageBytes());
    if (bytes > Long.MAX_VALUE - page) {
      throw new PciException("no memory of " + bytes + " bytes");
    }
    long size = (bytes + page - 1) & -page;
    long align = Math.max(Math.max(alignment, page), size >= LARGE ? LARGE : PAGE);
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = mapped(arena, size, huge);
      long iova = iovas.take(size, align);
      try {
        connection.map(memory, iova);
      } catch (RuntimeException e) {
        iovas.give(iova, size);
        throw e;
      }
      VfioMemory made = new VfioMemory(this, arena, memory, iova, placement);
      open.add(made);
      count(size, 1);
      return made;
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  private MemorySegment mapped(Arena arena, long size, boolean huge) {
    int flags = Linux.MAP_PRIVATE() | Linux.MAP_ANONYMOUS() | Linux.MAP_POPULATE();
    if (huge) {
      flags |= Linux.MAP_HUGETLB() | pages.shift() << Linux.MAP_HUGE_SHIFT();
    }
    return calls
        .mmap(size, Linux.PROT_READ() | Linux.PROT_WRITE(), flags, -1, 0)
        .reinterpret(arena, calls::munmap);
  }

  /** Takes memory back that is open; nothing if it is not. */
  void free(VfioMemory memory) {
    if (!open.remove(memory)) {
      return;
    }
    count(-memory.size(), -1);
    try {
      connection.unmap(memory.iova(0), memory.size());
      // Where the kernel did not unmap, the IOVAs are never used again.
      iovas.give(memory.iova(0), memory.size());
    } finally {
      memory.free();
    }
  }

  private void count(long bytes, int allocations) {
    DmaUsage before = usage;
    long now = before.currentBytes() + bytes;
    usage =
        new DmaUsage(
            now, Math.max(now, before.peakBytes()), before.currentAllocations() + allocations);
  }

  DmaUsage usage() {
    return usage;
  }

  /** What is open. */
  List<VfioMemory> memories() {
    return List.copyOf(open);
  }
}
