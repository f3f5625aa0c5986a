package irdma4j.pble;

import irdma4j.hmc.Extent;
import java.lang.foreign.MemorySegment;

/** A backed part of the PBLE area. */
final class Chunk {
  /** PBLEs of a unit, the smallest part that is handed out: 64 bytes. */
  static final int UNIT = 8;

  private static final int WORDS_PER_PAGE = 512 / UNIT / 64;

  /** Its place in the pool; newer chunks come later. */
  final int number;

  /** Index, in the PBLE area, of the chunk's first PBLE. */
  final int firstIndex;

  final Extent extent;
  final MemorySegment memory;
  final FreeRuns runs;

  Chunk(int number, Extent extent, int firstIndex) {
    this.number = number;
    this.extent = extent;
    this.firstIndex = firstIndex;
    memory = extent.segmentView();
    runs = new FreeRuns(extent.pages() * WORDS_PER_PAGE);
  }

  /** PBLEs that it holds. */
  long entries() {
    return extent.pages() * 512L;
  }

  /** Units that a number of PBLEs takes; any number from 1 on. */
  static int units(int count) {
    return (count - 1) / UNIT + 1;
  }
}
