package irdma4j.uapi.trace;

import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A line of a trace: something that the driver did, or bytes that changed in between. */
public sealed interface TraceLine {
  /** The line's number in the file, from 1. */
  int number();

  /** Index of the function. */
  int function();

  /** Something that the driver asked of the function, and how the function answered. */
  sealed interface Action extends TraceLine {
    /** The function's clock just before, in nanoseconds since an arbitrary start. */
    long nanos();
  }

  /**
   * DMA memory was allocated, all zero.
   *
   * @param id names it in the lines that follow, until it is unmapped
   * @param bytes its size, whole 4 KiB pages
   * @param pages the IOVA of each page
   */
  record Map(int number, int function, int id, long bytes, DmaPlacement placement, List<Long> pages)
      implements TraceLine {
    /** Keeps a copy of the list. */
    public Map {
      pages = List.copyOf(pages);
    }
  }

  /** DMA memory was given back. */
  record Unmap(int number, int function, int id) implements TraceLine {}

  /**
   * Bytes of DMA memory that the driver has changed since its last action.
   *
   * @param offset in the memory
   */
  record HostBytes(int number, int function, int id, long offset, MemorySegment bytes)
      implements TraceLine {}

  /**
   * Bytes of DMA memory that changed during the action before: the device wrote them.
   *
   * @param offset in the memory
   */
  record DeviceBytes(int number, int function, int id, long offset, MemorySegment bytes)
      implements TraceLine {}

  /**
   * A register of BAR 0 was written.
   *
   * @param width 32 or 64 bits
   */
  record Write(int number, long nanos, int function, int width, long offset, long value)
      implements Action {}

  /**
   * A register of BAR 0 was read.
   *
   * @param width 32 or 64 bits
   */
  record Read(int number, long nanos, int function, int width, long offset, long value)
      implements Action {}

  /** The driver waited. */
  record Pause(int number, long nanos, int function, long duration) implements Action {}

  /** The driver looked whether a vector had fired, or waited for it. */
  record Await(int number, long nanos, int function, int vector, long timeout, boolean fired)
      implements Action {}

  /** The driver asked how often a vector had fired. */
  record Fired(int number, long nanos, int function, int vector, long count) implements Action {}

  /** The driver enabled this many vectors, or with 0 disabled all. */
  record Vectors(int number, long nanos, int function, int count) implements Action {}

  /** The driver let the device start accesses of its own, or forbade it. */
  record BusMaster(int number, long nanos, int function, boolean enabled) implements Action {}

  /** The driver reset the function. */
  record Reset(int number, long nanos, int function) implements Action {}

  /** The driver closed the function, and with it all memory. */
  record Close(int number, long nanos, int function) implements Action {}
}
