package irdma4j.tests;

import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;

/** Where a {@link WatchedFunction} takes its DMA memory from. */
@FunctionalInterface
public interface DmaSource {
  /** As {@link irdma4j.uapi.PciFunction#allocateDma(long, long, DmaPlacement)}. */
  DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement);
}
