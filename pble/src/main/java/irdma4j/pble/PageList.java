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
}
