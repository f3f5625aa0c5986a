package irdma4j.tests;

import irdma4j.hwregs.LittleEndian;
import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A PCI function that has DMA memory and nothing else: no registers, no interrupts, no device.
 *
 * <p>IOVAs are the same in each run: they start at {@link #FIRST_IOVA}, go up, and are never used
 * twice. An allocation is aligned to its size, rounded up to a power of two of at most 2 MiB, or to
 * what the caller wants if that is more. Scattered pages lie one after the other.
 *
 * <p>Any allocation can be made to fail ({@link #failAllocation}); what is not given back shows in
 * {@link #dmaUsage()}; memory that was given back can't be touched any more. Bytes are real from
 * the first look at them, so memory that nobody looks at costs nothing. Confined to the thread that
 * allocates.
 */
public final class FakePciFunction implements PciFunction {
  /** Where IOVAs start. */
  public static final long FIRST_IOVA = 0xa5_0000_0000L;

  private static final long PAGE = 4096;
  private static final long MAX_ALIGNMENT = 2L << 20;

  /** A function with no memory in use. */
  public FakePciFunction() {}

  /**
   * A change of the memory.
   *
   * @param allocated whether it came or went
   * @param iova of the first byte
   * @param bytes its size
   */
  public record DmaEvent(boolean allocated, long iova, long bytes) {}

  /** All allocations so far, by IOVA, which only grows; null once given back. */
  private @Nullable Memory[] memories = new @Nullable Memory[16];

  private long[] starts = new long[16];
  private @Nullable Memory lastReached;
  private int count;
  private int open;
  private long fingerprint;
  private final List<DmaEvent> events = new ArrayList<>();
  private long nextIova = FIRST_IOVA;
  private int countdown;
  private long current;
  private long peak;
  private boolean closed;

  private final class Memory implements DmaMemory {
    private final int number;
    private final long bytes;
    private final long iova;
    private final DmaPlacement placement;
    private @Nullable Arena arena;
    private @Nullable MemorySegment segment;
    private boolean freed;

    Memory(int number, long bytes, long iova, DmaPlacement placement) {
      this.number = number;
      this.bytes = bytes;
      this.iova = iova;
      this.placement = placement;
    }

    @Override
    public MemorySegment segment() {
      MemorySegment made = segment;
      if (made == null) {
        if (freed) {
          throw new IllegalStateException("the memory at 0x%x was given back".formatted(iova));
        }
        arena = Arena.ofConfined();
        made = arena.allocate(bytes, PAGE);
        segment = made;
      }
      return made;
    }

    @Override
    public long size() {
      return bytes;
    }

    @Override
    public DmaPlacement placement() {
      return placement;
    }

    @Override
    public long iova(long offset) {
      if (offset < 0 || offset >= size()) {
        throw new IndexOutOfBoundsException("offset " + offset + " of " + size());
      }
      return iova + offset;
    }

    @Override
    public void close() {
      if (!freed) {
        freed = true;
        memories[number] = null;
        open--;
        fingerprint ^= mix(iova);
        current -= bytes;
        events.add(new DmaEvent(false, iova, bytes));
        Arena made = arena;
        if (made != null) {
          made.close();
        }
      }
    }
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    if (closed) {
      throw new PciException("the function is closed");
    }
    if (bytes < 1 || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException(bytes + " bytes aligned to " + alignment);
    }
    if (countdown > 0) {
      countdown--;
      if (countdown == 0) {
        throw new PciException("out of DMA memory, as the test wants");
      }
    }
    long size = (bytes + PAGE - 1) / PAGE * PAGE;
    long natural = placement == DmaPlacement.SCATTERED ? PAGE : powerOfTwo(size);
    long align = Math.max(alignment, Math.min(natural, MAX_ALIGNMENT));
    long iova = (nextIova + align - 1) & -align;
    nextIova = iova + size;
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, 2 * count);
      memories = Arrays.copyOf(memories, 2 * count);
    }
    Memory memory = new Memory(count, size, iova, placement);
    starts[count] = iova;
    memories[count] = memory;
    count++;
    open++;
    fingerprint ^= mix(iova);
    events.add(new DmaEvent(true, iova, size));
    current += size;
    peak = Math.max(peak, current);
    return memory;
  }

  /** Spreads an IOVA over all bits. */
  private static long mix(long iova) {
    long h = iova * 0x9e37_79b9_7f4a_7c15L;
    return (h ^ (h >>> 32)) * 0xd6e8_feb8_6659_fd93L;
  }

  private static long powerOfTwo(long size) {
    long highest = Long.highestOneBit(size);
    return highest == size ? size : highest << 1;
  }

  /**
   * Makes one allocation fail.
   *
   * @param n which one from now on: 1 is the next, 0 none
   */
  public void failAllocation(int n) {
    countdown = n;
  }

  /** The next allocation starts here or above. */
  public void startAt(long iova) {
    if (iova < nextIova) {
      throw new IllegalArgumentException("IOVA 0x%x may be in use".formatted(iova));
    }
    nextIova = iova;
  }

  /** What came and went since the last call. */
  public List<DmaEvent> takeEvents() {
    List<DmaEvent> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  /** IOVA and size of each open allocation, by IOVA. */
  public Map<Long, Long> allocations() {
    Map<Long, Long> sizes = new TreeMap<>();
    for (Memory memory : memories) {
      if (memory != null) {
        sizes.put(memory.iova, memory.bytes);
      }
    }
    return sizes;
  }

  /**
   * A number that is the same as long as the same allocations are open, and another one, but for
   * one case in 2⁶⁴, if they are not.
   */
  public long fingerprint() {
    return fingerprint;
  }

  /** Whether the device may reach all bytes of a range. */
  public boolean isMapped(long iova, long bytes) {
    return covering(iova, bytes) != null;
  }

  /**
   * What the device sees.
   *
   * @throws PciException if the range is not allocated as a whole: the IOMMU would refuse it
   */
  public MemorySegment deviceView(long iova, long bytes) {
    Memory memory = covering(iova, bytes);
    if (memory == null) {
      throw new PciException("the device reached for 0x%x, which is not mapped".formatted(iova));
    }
    return memory.segment().asSlice(iova - memory.iova, bytes);
  }

  /**
   * The little-endian word that the device reads.
   *
   * @throws PciException if it is not allocated
   */
  public long deviceWord(long iova) {
    Memory memory = covering(iova, Long.BYTES);
    if (memory == null) {
      throw new PciException("the device reached for 0x%x, which is not mapped".formatted(iova));
    }
    return LittleEndian.getLong(memory.segment(), iova - memory.iova);
  }

  private @Nullable Memory covering(long iova, long bytes) {
    Memory last = lastReached;
    if (last != null
        && !last.freed
        && iova >= last.iova
        && iova - last.iova <= last.bytes - bytes) {
      return last;
    }
    int found = Arrays.binarySearch(starts, 0, count, iova);
    int number = found >= 0 ? found : -found - 2;
    Memory memory = number < 0 ? null : memories[number];
    if (memory == null || iova - memory.iova > memory.bytes - bytes) {
      return null;
    }
    lastReached = memory;
    return memory;
  }

  @Override
  public DmaUsage dmaUsage() {
    return new DmaUsage(current, peak, open);
  }

  @Override
  public void close() {
    closed = true;
    for (Memory memory : memories.clone()) {
      if (memory != null) {
        memory.close();
      }
    }
  }

  @Override
  public String address() {
    return "fake:0";
  }

  @Override
  public ConfigSpace config() {
    throw new UnsupportedOperationException("a fake function has no configuration space");
  }

  @Override
  public Bar bar(int index) {
    throw new IllegalArgumentException("a fake function has no BAR " + index);
  }

  @Override
  public Interrupts interrupts() {
    throw new UnsupportedOperationException("a fake function has no interrupts");
  }

  @Override
  public DeviceClock clock() {
    throw new UnsupportedOperationException("a fake function has no clock");
  }

  @Override
  public void setBusMaster(boolean enabled) {}

  @Override
  public void reset() {
    throw new PciException("a fake function has no reset");
  }
}
