package irdma4j.tests;

import irdma4j.uapi.DmaMemory;

/** Told by a {@link WatchedFunction} what a driver does, before it is done. */
public interface FunctionWatcher {
  /**
   * The driver asks for DMA memory.
   *
   * @throws irdma4j.uapi.PciException if it is to get none
   */
  default void allocating() {}

  /** The driver was given DMA memory. */
  default void allocated(DmaMemory memory) {}

  /** The driver gives DMA memory back, for the first time. */
  default void closing(DmaMemory memory) {}

  /** Bus mastering is given or taken. */
  default void busMaster(boolean enabled) {}

  /** The function is reset. */
  default void reset() {}
}
