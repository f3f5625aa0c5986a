package irdma4j.simulator;

import irdma4j.uapi.DmaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** DMA memory of a replay, and beside it the bytes that it must hold by the trace. */
final class ReplayedMemory implements AutoCloseable {
  private final int id;
  private final DmaMemory memory;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment known;
  private boolean closed;

  ReplayedMemory(int id, DmaMemory memory) {
    this.id = id;
    this.memory = memory;
    this.known = arena.allocate(memory.size(), 4096);
  }

  int id() {
    return id;
  }

  long bytes() {
    return known.byteSize();
  }

  long iova(long offset) {
    return memory.iova(offset);
  }

  MemorySegment expected(long offset, long bytes) {
    return known.asSlice(offset, bytes);
  }

  MemorySegment got(long offset, long bytes) {
    return memory.segment().asSlice(offset, bytes);
  }

  /** The driver wrote. */
  void hostWrote(long offset, MemorySegment bytes) {
    MemorySegment.copy(bytes, 0, known, offset, bytes.byteSize());
    MemorySegment.copy(bytes, 0, memory.segment(), offset, bytes.byteSize());
  }

  /** The trace's device wrote, and the simulated one must have. */
  void deviceWrote(long offset, MemorySegment bytes) {
    MemorySegment.copy(bytes, 0, known, offset, bytes.byteSize());
  }

  /**
   * One of the two wrote. Where the simulated device has written what the trace did not show yet,
   * it was the device; elsewhere it was the driver.
   *
   * @return the first byte that the simulated device wrote otherwise, or -1
   */
  long hostOrDeviceWrote(long offset, MemorySegment bytes) {
    long wrong = -1;
    for (long i = 0; i < bytes.byteSize(); i++) {
      byte next = bytes.get(ValueLayout.JAVA_BYTE, i);
      byte before = known.get(ValueLayout.JAVA_BYTE, offset + i);
      byte there = memory.segment().get(ValueLayout.JAVA_BYTE, offset + i);
      known.set(ValueLayout.JAVA_BYTE, offset + i, next);
      if (there == before) {
        memory.segment().set(ValueLayout.JAVA_BYTE, offset + i, next);
      } else if (there != next && next != before && wrong < 0) {
        wrong = offset + i;
      }
    }
    return wrong;
  }

  /** The first byte of a range that is not as it must be, or -1. */
  long firstDifference(long offset, long bytes) {
    long end = offset + bytes;
    long found = MemorySegment.mismatch(memory.segment(), offset, end, known, offset, end);
    return found < 0 ? -1 : offset + found;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      memory.close();
      arena.close();
    }
  }
}
