package irdma4j.driver;

import irdma4j.hwregs.PageSize;
import irdma4j.pble.PageList;
import irdma4j.uapi.DmaMemory;

/**
 * The pages that a region's page list names: as large as the IOVAs of its memory allow, so that it
 * needs as few entries as possible.
 *
 * <p>A page size fits if address and IOVA of every byte have the same place in a page, and IOVAs
 * jump at page borders only. The first page may then begin before the region and the last one end
 * behind it: the region's bounds keep the device out of there.
 *
 * <p>Source: Linux ib_umem_find_best_pgsz in umem.c, which irdma_reg_user_mr calls with the sizes
 * that the device has.
 *
 * @param size of each page
 * @param count pages
 * @param contiguous whether their IOVAs are one run, so that no list is needed
 * @param list their IOVAs
 */
record RegionPages(PageSize size, long count, boolean contiguous, PageList list) {
  private static final long SMALLEST = PageSize.SIZE_4K.bytes();

  /**
   * The pages of a part of memory.
   *
   * @param offset first byte
   * @param length bytes, at least 1
   * @param address what the first byte is called; it has the same place in a 4 KiB page
   */
  static RegionPages of(DmaMemory memory, long offset, long length, long address) {
    long misfit = address ^ memory.iova(offset);
    boolean contiguous = true;
    long before = memory.iova(offset);
    long toNext = SMALLEST - (offset & (SMALLEST - 1));
    for (long at = toNext; at < length; at += SMALLEST) {
      long iova = memory.iova(offset + at);
      if (iova != before + toNext) {
        contiguous = false;
        misfit |= (address + at) | ((address + at) ^ iova);
        if ((misfit & (PageSize.SIZE_2M.bytes() - 1)) != 0) {
          break;
        }
      }
      before = iova;
      toNext = SMALLEST;
    }
    PageSize size = PageSize.SIZE_4K;
    for (PageSize larger : PageSize.values()) {
      if ((misfit & (larger.bytes() - 1)) == 0) {
        size = larger;
      }
    }
    return new RegionPages(
        size, count(length, address, size), contiguous, list(memory, offset, address, size));
  }

  /**
   * Requires that pages of a size fit.
   *
   * @throws IllegalArgumentException if they do not
   */
  static void requireFit(
      DmaMemory memory, long offset, long length, long address, PageSize wanted) {
    // What lies in a page of 4 KiB is one run in any memory.
    boolean fits =
        wanted == PageSize.SIZE_4K
            ? ((address ^ memory.iova(offset)) & (SMALLEST - 1)) == 0
            : of(memory, offset, length, address).size.compareTo(wanted) >= 0;
    if (!fits) {
      throw new IllegalArgumentException(
          "pages of 0x%x bytes do not fit: address 0x%x, IOVA 0x%x, %d bytes"
              .formatted(wanted.bytes(), address, memory.iova(offset), length));
    }
  }

  /** How many pages of a size a region has. */
  static long count(long length, long address, PageSize size) {
    return (inPage(address, size) + length + size.bytes() - 1) / size.bytes();
  }

  /** The IOVAs of pages of a size that fits. */
  static PageList list(DmaMemory memory, long offset, long address, PageSize size) {
    long start = offset - inPage(address, size);
    return page ->
        page == 0
            ? memory.iova(offset) - inPage(address, size)
            : memory.iova(start + page * size.bytes());
  }

  private static long inPage(long address, PageSize size) {
    return address & (size.bytes() - 1);
  }
}
