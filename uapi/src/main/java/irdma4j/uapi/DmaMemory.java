package irdma4j.uapi;

import java.lang.foreign.MemorySegment;

/**
 * Memory that both the process and the device can reach.
 *
 * <p>It belongs to the {@link PciFunction} that allocated it, is counted there, and is gone after
 * {@link #close()}: the device's accesses to its IOVAs are then refused by the IOMMU. The caller
 * makes sure that the device no longer uses it. Closing twice does nothing.
 */
public interface DmaMemory extends AutoCloseable {
  /** The process's view: the whole allocation, in one run, aligned to 4096 bytes or more. */
  MemorySegment segment();

  /** Its size in bytes: a whole number of 4 KiB pages. */
  long size();

  /** How its IOVAs lie. */
  DmaPlacement placement();

  /**
   * The IOVA of a byte. For {@link DmaPlacement#CONTIGUOUS} it is {@code iova(0) + offset}; for
   * {@link DmaPlacement#SCATTERED} that holds inside a 4 KiB page only.
   *
   * @param offset in bytes, 0 to size - 1
   */
  long iova(long offset);

  /** The IOVA of the first byte. */
  default long iova() {
    return iova(0);
  }

  @Override
  void close();
}
