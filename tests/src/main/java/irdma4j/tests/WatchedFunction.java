package irdma4j.tests;

import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;

/**
 * A function whose DMA memory, bus mastering and resets are watched, and that otherwise is the
 * function behind it.
 *
 * <p>Threads: as the function behind it.
 */
public final class WatchedFunction implements PciFunction {
  private final PciFunction function;
  private final DmaSource source;
  private final FunctionWatcher watcher;

  /**
   * Wraps a function.
   *
   * @param function the function behind it; closed with this one
   */
  public WatchedFunction(PciFunction function, FunctionWatcher watcher) {
    this(function, function::allocateDma, watcher);
  }

  /**
   * Wraps a function whose memory comes from elsewhere.
   *
   * @param function the function behind it; closed with this one
   * @param source of memory that the function reaches; stays the caller's
   */
  public WatchedFunction(PciFunction function, DmaSource source, FunctionWatcher watcher) {
    this.function = function;
    this.source = source;
    this.watcher = watcher;
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    watcher.allocating();
    DmaMemory memory = source.allocateDma(bytes, alignment, placement);
    watcher.allocated(memory);
    return new Memory(memory);
  }

  private final class Memory implements DmaMemory {
    private final DmaMemory memory;
    private boolean closed;

    Memory(DmaMemory memory) {
      this.memory = memory;
    }

    @Override
    public MemorySegment segment() {
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
        watcher.closing(memory);
      }
      memory.close();
    }
  }

  @Override
  public String address() {
    return function.address();
  }

  @Override
  public ConfigSpace config() {
    return function.config();
  }

  @Override
  public Bar bar(int index) {
    return function.bar(index);
  }

  @Override
  public DmaUsage dmaUsage() {
    return function.dmaUsage();
  }

  @Override
  public Interrupts interrupts() {
    return function.interrupts();
  }

  @Override
  public DeviceClock clock() {
    return function.clock();
  }

  @Override
  public void setBusMaster(boolean enabled) {
    watcher.busMaster(enabled);
    function.setBusMaster(enabled);
  }

  @Override
  public void reset() {
    watcher.reset();
    function.reset();
  }

  @Override
  public void close() {
    function.close();
  }
}
