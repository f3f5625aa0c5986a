package irdma4j.simulator.device;

import irdma4j.hwregs.LittleEndian;
import irdma4j.simulator.watch.Watch;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The IOMMU between a function and host memory: it lets the device reach exactly the pages that are
 * mapped, and refuses, counts and remembers every other access.
 *
 * <p>A lookup is two array reads, whatever is mapped. Pages are 4 KiB.
 *
 * <p>Threads: accesses belong to the engine. {@link #map} may run on another thread, since the
 * device learns of an address only through memory or a register written after it; {@link #unmap}
 * runs where the engine does not.
 */
public final class Iommu implements HostWords {
  /** The lowest IOVA that can be mapped. */
  public static final long BASE = 0x10_0000_0000L;

  /** Number of pages in the IOVA space: 1 TiB. */
  public static final int PAGES = 1 << 28;

  /** Bytes of a page. */
  public static final int PAGE = 4096;

  private static final int LEAF_BITS = 12;
  private static final int LEAF = 1 << LEAF_BITS;

  private final @Nullable Leaf[] leaves = new @Nullable Leaf[PAGES >>> LEAF_BITS];
  private final DeviceCounters counters;
  private final long base;
  private Watch watch = Watch.NONE;
  private volatile boolean busMaster;
  private long faultAddress;
  private boolean faultWasWrite;

  /** An IOMMU with nothing mapped, whose space begins at {@link #BASE}. */
  public Iommu(DeviceCounters counters) {
    this(counters, BASE);
  }

  /**
   * An IOMMU with nothing mapped.
   *
   * @param base the lowest IOVA that can be mapped, a multiple of {@link #PAGE}
   */
  public Iommu(DeviceCounters counters, long base) {
    this.counters = counters;
    this.base = base;
  }

  /** The IOVA of a page. */
  public long address(int page) {
    return base + ((long) page << 12);
  }

  /**
   * The page of an IOVA.
   *
   * @throws IllegalArgumentException if it lies outside the space
   */
  public int page(long iova) {
    long page = (iova - base) >>> 12;
    if (page >= PAGES) {
      throw new IllegalArgumentException("no IOVA here is 0x" + Long.toHexString(iova));
    }
    return (int) page;
  }

  /** Says where accesses can be watched, before there are any. */
  void watch(Watch places) {
    watch = places;
  }

  /** Lets the device reach memory at all, or forbids it. */
  public void setBusMaster(boolean enabled) {
    busMaster = enabled;
  }

  /** Whether a page is mapped. */
  public boolean isMapped(int page) {
    Leaf leaf = leaves[page >>> LEAF_BITS];
    return leaf != null && leaf.memory[page & (LEAF - 1)] != null;
  }

  /**
   * Maps one page.
   *
   * @param page number of the page
   * @param memory host memory; it must outlive the mapping
   * @param offset of the page in it
   */
  public void map(int page, MemorySegment memory, long offset) {
    Leaf leaf = leaves[page >>> LEAF_BITS];
    if (leaf == null) {
      leaf = new Leaf();
      leaves[page >>> LEAF_BITS] = leaf;
    }
    int index = page & (LEAF - 1);
    if (leaf.memory[index] != null) {
      throw new IllegalStateException("page " + page + " is mapped");
    }
    leaf.offsets[index] = offset;
    leaf.memory[index] = memory;
    leaf.live++;
  }

  /** Takes a page away from the device. */
  public void unmap(int page) {
    Leaf leaf = leaves[page >>> LEAF_BITS];
    int index = page & (LEAF - 1);
    if (leaf == null || leaf.memory[index] == null) {
      throw new IllegalStateException("page " + page + " is not mapped");
    }
    leaf.memory[index] = null;
    if (--leaf.live == 0) {
      leaves[page >>> LEAF_BITS] = null;
    }
  }

  /** The IOVA of the last access refused; 0 if none was. */
  public long faultAddress() {
    return faultAddress;
  }

  /** Whether the last access refused was a write. */
  public boolean faultWasWrite() {
    return faultWasWrite;
  }

  @Override
  public long faults() {
    return counters.dmaFaults;
  }

  /**
   * Copies from host memory.
   *
   * @return false if a page is not mapped; the target is then undefined
   */
  public boolean read(long iova, MemorySegment target, long targetOffset, long bytes) {
    watch.hostRead(iova, bytes);
    long at = iova;
    long to = targetOffset;
    long left = bytes;
    while (left > 0) {
      int inPage = (int) (at & (PAGE - 1));
      long n = Math.min(left, PAGE - inPage);
      Leaf leaf = leafOf(at);
      int index = (int) (at >>> 12) & (LEAF - 1);
      MemorySegment memory = leaf == null ? null : leaf.memory[index];
      if (leaf == null || memory == null) {
        return fault(at, false);
      }
      MemorySegment.copy(memory, leaf.offsets[index] + inPage, target, to, n);
      at += n;
      to += n;
      left -= n;
    }
    return true;
  }

  /**
   * Copies into host memory.
   *
   * @return false if a page is not mapped; nothing was written from that page on
   */
  public boolean write(long iova, MemorySegment source, long sourceOffset, long bytes) {
    watch.hostWrite(iova, bytes);
    long at = iova;
    long from = sourceOffset;
    long left = bytes;
    while (left > 0) {
      int inPage = (int) (at & (PAGE - 1));
      long n = Math.min(left, PAGE - inPage);
      Leaf leaf = leafOf(at);
      int index = (int) (at >>> 12) & (LEAF - 1);
      MemorySegment memory = leaf == null ? null : leaf.memory[index];
      if (leaf == null || memory == null) {
        return fault(at, true);
      }
      MemorySegment.copy(source, from, memory, leaf.offsets[index] + inPage, n);
      at += n;
      from += n;
      left -= n;
    }
    return true;
  }

  @Override
  public long readWord(long iova) {
    watch.hostRead(iova, Long.BYTES);
    Leaf leaf = leafOf(iova);
    int index = (int) (iova >>> 12) & (LEAF - 1);
    MemorySegment memory = leaf == null ? null : leaf.memory[index];
    if (leaf == null || memory == null || (iova & 7) != 0) {
      fault(iova, false);
      return 0;
    }
    return LittleEndian.getLongAcquire(memory, leaf.offsets[index] + (iova & (PAGE - 1)));
  }

  /** Writes an aligned 64-bit word with release order; false after a fault. */
  public boolean writeWord(long iova, long value) {
    watch.hostWrite(iova, Long.BYTES);
    Leaf leaf = leafOf(iova);
    int index = (int) (iova >>> 12) & (LEAF - 1);
    MemorySegment memory = leaf == null ? null : leaf.memory[index];
    if (leaf == null || memory == null || (iova & 7) != 0) {
      return fault(iova, true);
    }
    LittleEndian.setLongRelease(memory, leaf.offsets[index] + (iova & (PAGE - 1)), value);
    return true;
  }

  private @Nullable Leaf leafOf(long iova) {
    long page = (iova - base) >>> 12;
    return busMaster && page < PAGES ? leaves[(int) page >>> LEAF_BITS] : null;
  }

  private boolean fault(long iova, boolean write) {
    counters.dmaFaults++;
    faultAddress = iova;
    faultWasWrite = write;
    watch.hostRefused(iova, write);
    return false;
  }

  private static final class Leaf {
    final @Nullable MemorySegment[] memory = new @Nullable MemorySegment[LEAF];
    final long[] offsets = new long[LEAF];
    int live;
  }
}
