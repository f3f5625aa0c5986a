package irdma4j.simulator.device;

import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Host memory behind an IOMMU for tests of the device alone: pages where the test wants them. */
final class HostPages {
  final DeviceCounters counters = new DeviceCounters();
  final Iommu iommu = new Iommu(counters);
  private final Arena arena;

  HostPages(Arena arena) {
    this.arena = arena;
    iommu.setBusMaster(true);
  }

  /** Maps zeroed memory at IOVAs from the given one on. */
  MemorySegment map(long iova, long bytes) {
    long pages = (bytes + Iommu.PAGE - 1) / Iommu.PAGE;
    MemorySegment memory = arena.allocate(pages * Iommu.PAGE, Iommu.PAGE);
    int first = (int) ((iova - Iommu.BASE) >>> 12);
    for (int i = 0; i < pages; i++) {
      iommu.map(first + i, memory, (long) i * Iommu.PAGE);
    }
    return memory;
  }

  /** Writes a word without going through the IOMMU's checks of the device. */
  static void word(MemorySegment memory, long offset, long value) {
    LittleEndian.setLong(memory, offset, value);
  }
}
