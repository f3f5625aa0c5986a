package irdma4j.uapi.vfio;

import java.nio.file.Path;

/**
 * How a card is opened.
 *
 * @param access which of VFIO's interfaces is used
 * @param pageSize pages that DMA memory is made of
 * @param root the file system's root, which is another one only in tests
 */
public record VfioOptions(Access access, PageSize pageSize, Path root) {
  /** Which of VFIO's interfaces. */
  public enum Access {
    /** The character device if the kernel has it and iommufd, otherwise group and container. */
    AUTO,
    /** IOMMU group and container, which every kernel with VFIO has. */
    GROUP,
    /** The device's own character device with iommufd, Linux 6.6 and later. */
    CDEV
  }

  /** Pages of DMA memory. */
  public enum PageSize {
    /** 4 KiB. */
    SMALL(12),
    /** Huge pages of 2 MiB, for allocations of at least that. */
    HUGE_2M(21),
    /** Huge pages of 1 GiB, for allocations of at least that. */
    HUGE_1G(30);

    private final int shift;

    PageSize(int shift) {
      this.shift = shift;
    }

    /** Log2 of its bytes. */
    public int shift() {
      return shift;
    }

    /** Its bytes. */
    public long bytes() {
      return 1L << shift;
    }
  }

  /** Whatever the kernel has, and small pages. */
  public static VfioOptions defaults() {
    return new VfioOptions(Access.AUTO, PageSize.SMALL, Path.of("/"));
  }

  /** The same with another interface. */
  public VfioOptions withAccess(Access value) {
    return new VfioOptions(value, pageSize, root);
  }

  /** The same with other pages. */
  public VfioOptions withPageSize(PageSize value) {
    return new VfioOptions(access, value, root);
  }
}
