package irdma4j.pble;

import irdma4j.hmc.Extent;
import java.lang.foreign.MemorySegment;

/** A backed part of the PBLE area. */
final class Chunk {
  private final Extent extent;
  private final int firstIndex;
  private final FreeRuns runs;

  Chunk(Extent extent, int firstIndex) {
    this.extent = extent;
    this.firstIndex = firstIndex;
    this.runs = new FreeRuns(extent.pages() * 512 / Run.UNIT);
  }

  Extent extent() {
    return extent;
  }

  /** Index, in the PBLE area, of the chunk's first PBLE. */
  int firstIndex() {
    return firstIndex;
  }

  FreeRuns runs() {
    return runs;
  }

  MemorySegment memory() {
    return extent.segmentView();
  }
}
