package irdma4j.hwregs;

import org.jspecify.annotations.Nullable;

/**
 * Sizes of the pages that a region's page list may name.
 *
 * <p>Source: Linux enum irdma_page_size in type.h.
 */
public enum PageSize {
  /** 4 KiB. */
  SIZE_4K(0, 12),
  /** 2 MiB. */
  SIZE_2M(1, 21),
  /** 1 GiB. */
  SIZE_1G(2, 30);

  private final int code;
  private final int shift;

  PageSize(int code, int shift) {
    this.code = code;
    this.shift = shift;
  }

  /** The value of the HPAGESIZE field. */
  public int code() {
    return code;
  }

  /** Its size in bytes. */
  public long bytes() {
    return 1L << shift;
  }

  /** Log2 of its size in bytes. */
  public int shift() {
    return shift;
  }

  /** The page size of a value of the HPAGESIZE field, or null if it is none. */
  public static @Nullable PageSize ofCode(int code) {
    return switch (code) {
      case 0 -> SIZE_4K;
      case 1 -> SIZE_2M;
      case 2 -> SIZE_1G;
      default -> null;
    };
  }

  /**
   * The page size of that many bytes.
   *
   * @throws IllegalArgumentException if the device has none
   */
  public static PageSize of(long bytes) {
    for (PageSize size : values()) {
      if (size.bytes() == bytes) {
        return size;
      }
    }
    throw new IllegalArgumentException(
        "page size 0x%x: the device has 4 KiB, 2 MiB and 1 GiB".formatted(bytes));
  }
}
