package irdma4j.pble;

/** The pages of a memory region, in order. */
@FunctionalInterface
public interface PageList {
  /**
   * The IOVA of a page.
   *
   * @param page 0 to the number of pages - 1
   */
  long iova(long page);

  /**
   * Whether the pages follow one another without a gap, so that the region needs no PBLEs (level
   * 0).
   *
   * @param count number of pages
   * @param pageSize bytes of a page: 4 KiB, 2 MiB or 1 GiB
   */
  default boolean isContiguous(long count, long pageSize) {
    long start = iova(0);
    for (long page = 1; page < count; page++) {
      if (iova(page) != start + page * pageSize) {
        return false;
      }
    }
    return true;
  }
}
