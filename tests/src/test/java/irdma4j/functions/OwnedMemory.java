package irdma4j.functions;

import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * A function that notes for whom each piece of its DMA memory was allocated, and can have none left
 * at a chosen allocation.
 */
final class OwnedMemory implements PciFunction {
  private static final int PAGE = 4096;

  private final PciFunction function;
  private final Map<Long, Integer> owners = new HashMap<>();
  private final Map<Integer, Long> bytes = new HashMap<>();
  private int owner;
  private int countdown;

  OwnedMemory(PciFunction function) {
    this.function = function;
  }

  /** From now on memory is this owner's. */
  void belongTo(int who) {
    owner = who;
  }

  /**
   * An allocation fails.
   *
   * @param n which one from now on: 1 is the next, 0 none
   */
  void fail(int n) {
    countdown = n;
  }

  /** Bytes that an owner has. */
  long bytesOf(int who) {
    return bytes.getOrDefault(who, 0L);
  }

  /** Whose the page of an address is, or -1 if nobody's. */
  int ownerOf(long iova) {
    return owners.getOrDefault(iova & -PAGE, -1);
  }

  /** Each page's owner, by address. */
  Map<Long, Integer> snapshot() {
    return Map.copyOf(owners);
  }

  @Override
  public DmaMemory allocateDma(long size, long alignment, DmaPlacement placement) {
    if (countdown > 0 && --countdown == 0) {
      throw new PciException("out of DMA memory, as the test wants");
    }
    return new Owned(function.allocateDma(size, alignment, placement), owner);
  }

  private final class Owned implements DmaMemory {
    private final DmaMemory memory;
    private final int who;
    private boolean closed;

    Owned(DmaMemory memory, int who) {
      this.memory = memory;
      this.who = who;
      for (long at = 0; at < memory.size(); at += PAGE) {
        owners.put(memory.iova(at) & -PAGE, who);
      }
      bytes.merge(who, memory.size(), Long::sum);
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
        for (long at = 0; at < memory.size(); at += PAGE) {
          owners.remove(memory.iova(at) & -PAGE);
        }
        bytes.merge(who, -memory.size(), Long::sum);
        memory.close();
      }
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
    function.setBusMaster(enabled);
  }

  @Override
  public void reset() {
    function.reset();
  }

  @Override
  public void close() {
    function.close();
  }
}
