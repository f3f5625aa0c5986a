package irdma4j.functions;

import irdma4j.tests.DmaSource;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * A function's DMA memory that is used again and not given back until this is closed, since to free
 * memory that threads share costs more than all else in a trial. What is given back is filled with
 * ones, so that a page descriptor in it is valid and leads nowhere, and comes again last; blocks of
 * 2 MiB, whose content no trial looks at, are left as they are.
 */
final class RecyclingMemory implements DmaSource, AutoCloseable {
  private static final long PAGE = 4096;
  private static final long LARGE = 2L << 20;

  private record Shape(long bytes, long alignment, DmaPlacement placement) {}

  private final PciFunction function;
  private final Map<Shape, ArrayDeque<DmaMemory>> free = new HashMap<>();

  /** Uses the memory of a function, which stays the caller's. */
  RecyclingMemory(PciFunction function) {
    this.function = function;
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    Shape shape = new Shape((bytes + PAGE - 1) & -PAGE, alignment, placement);
    DmaMemory memory = free.computeIfAbsent(shape, key -> new ArrayDeque<>()).poll();
    if (memory == null) {
      memory = function.allocateDma(bytes, alignment, placement);
    } else if (shape.bytes < LARGE) {
      memory.segment().fill((byte) 0);
    }
    return new Lent(memory, shape);
  }

  private final class Lent implements DmaMemory {
    private final DmaMemory memory;
    private final Shape shape;
    private boolean closed;

    Lent(DmaMemory memory, Shape shape) {
      this.memory = memory;
      this.shape = shape;
    }

    @Override
    public MemorySegment segment() {
      if (closed) {
        throw new IllegalStateException("the memory was given back");
      }
      return memory.segment();
    }

    @Override
    public long size() {
      return memory.size();
    }

    @Override
    public DmaPlacement placement() {
      return memory.placement();
    }

    @Override
    public long iova(long offset) {
      return memory.iova(offset);
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        if (shape.bytes < LARGE) {
          memory.segment().fill((byte) 0xff);
        }
        free.get(shape).add(memory);
      }
    }
  }

  /** Gives back what nobody uses. */
  @Override
  public void close() {
    free.values().forEach(memories -> memories.forEach(DmaMemory::close));
    free.clear();
  }
}
