package irdma4j.simulator.device;

import irdma4j.hwregs.LittleEndian;
import irdma4j.simulator.watch.Watch;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;

/**
 * The IOMMU between a function and host memory: it lets the device reach exactly the pages that are
 * mapped, and refuses, counts and remembers every other access.
 *
 * <p>A lookup is three array reads, whatever is mapped. Pages are 4 KiB.
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

  private final IommuTable table = new IommuTable(PAGES);
  private final DeviceCounters counters;
  private final long base;
  private Watch watch = Watch.NONE;
  private volatile boolean busMaster;
  private long faultAddress;
  private boolean faultWasWrite;

  /** What is copied, in hand. */
  private final Payload whole = new Payload();

  /** Of no meaning; keeps the loads of {@link #prefetch}. */
  private long unusedEntries;

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
    return table.entry(page) != IommuTable.NONE;
  }

  /**
   * Maps one page.
   *
   * @param page number of the page
   * @param memory host memory; it must outlive the mapping
   * @param offset of the page in it, a multiple of {@link #PAGE}
   */
  public void map(int page, MemorySegment memory, long offset) {
    table.map(page, memory, offset);
  }

  /** Takes a page away from the device. */
  public void unmap(int page) {
    table.unmap(page);
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
   * Says where bytes lie in host memory.
   *
   * @param payload the pieces are put behind those that it has
   * @return false if a page is not mapped; the payload is then undefined
   */
  boolean lend(long iova, Payload payload, long bytes) {
    watch.hostRead(iova, bytes);
    long at = iova;
    long left = bytes;
    while (left > 0) {
      int inPage = (int) (at & (PAGE - 1));
      long n = Math.min(left, PAGE - inPage);
      long entry = entryOf(at);
      if (entry == IommuTable.NONE) {
        return fault(at, false);
      }
      payload.add(table.memory(entry), IommuTable.offset(entry) + inPage, n);
      at += n;
      left -= n;
    }
    return true;
  }

  /**
   * Copies from host memory.
   *
   * @return false if a page is not mapped; nothing was copied
   */
  public boolean read(long iova, MemorySegment target, long targetOffset, long bytes) {
    whole.clear();
    if (!lend(iova, whole, bytes)) {
      return false;
    }
    whole.copyTo(0, target, targetOffset, bytes);
    return true;
  }

  /** As the other, from one piece. */
  public boolean write(long iova, MemorySegment source, long sourceOffset, long bytes) {
    whole.clear();
    whole.add(source, sourceOffset, bytes);
    return write(iova, whole, 0, bytes);
  }

  /**
   * Copies into host memory.
   *
   * @return false if a page is not mapped; nothing was written from that page on
   */
  public boolean write(long iova, Payload source, long sourceOffset, long bytes) {
    watch.hostWrite(iova, bytes);
    long at = iova;
    long from = sourceOffset;
    long left = bytes;
    while (left > 0) {
      int inPage = (int) (at & (PAGE - 1));
      long n = Math.min(left, PAGE - inPage);
      long entry = entryOf(at);
      if (entry == IommuTable.NONE) {
        return fault(at, true);
      }
      source.copyTo(from, table.memory(entry), IommuTable.offset(entry) + inPage, n);
      at += n;
      from += n;
      left -= n;
    }
    return true;
  }

  @Override
  public long readWord(long iova) {
    watch.hostRead(iova, Long.BYTES);
    long entry = entryOf(iova);
    if (entry == IommuTable.NONE || (iova & 7) != 0) {
      fault(iova, false);
      return 0;
    }
    return LittleEndian.getLongAcquire(
        table.memory(entry), IommuTable.offset(entry) + (iova & (PAGE - 1)));
  }

  /** Writes an aligned 64-bit word with release order; false after a fault. */
  public boolean writeWord(long iova, long value) {
    watch.hostWrite(iova, Long.BYTES);
    long entry = entryOf(iova);
    if (entry == IommuTable.NONE || (iova & 7) != 0) {
      return fault(iova, true);
    }
    LittleEndian.setLongRelease(
        table.memory(entry), IommuTable.offset(entry) + (iova & (PAGE - 1)), value);
    return true;
  }

  /**
   * Brings the entry of an address that will be used soon into the processor's cache, together with
   * others: one after the other, each at its use, they would be waited for one by one. Nothing that
   * the device could see changes.
   */
  void prefetch(long iova) {
    unusedEntries += entryOf(iova);
  }

  private long entryOf(long iova) {
    long page = (iova - base) >>> 12;
    return busMaster && page < PAGES ? table.entry((int) page) : IommuTable.NONE;
  }

  private boolean fault(long iova, boolean write) {
    counters.dmaFaults++;
    faultAddress = iova;
    faultWasWrite = write;
    watch.hostRefused(iova, write);
    return false;
  }
}
