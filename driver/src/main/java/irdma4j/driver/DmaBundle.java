package irdma4j.driver;

import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.util.ArrayDeque;
import java.util.Deque;

/** DMA memory that is given back together, also if the next allocation of it fails. */
final class DmaBundle implements AutoCloseable {
  private final PciFunction function;
  private final Deque<DmaMemory> memories = new ArrayDeque<>();

  DmaBundle(PciFunction function) {
    this.function = function;
  }

  DmaMemory allocate(long bytes, long alignment) {
    try {
      DmaMemory memory = function.allocateDma(bytes, alignment);
      memories.push(memory);
      return memory;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public void close() {
    while (!memories.isEmpty()) {
      memories.pop().close();
    }
  }
}
