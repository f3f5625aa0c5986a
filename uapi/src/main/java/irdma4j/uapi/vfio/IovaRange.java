package irdma4j.uapi.vfio;

/**
 * IOVAs that a device may be given.
 *
 * @param first the lowest
 * @param last the highest, unsigned
 */
public record IovaRange(long first, long last) {
  /** Checks the order. */
  public IovaRange {
    if (Long.compareUnsigned(first, last) > 0) {
      throw new IllegalArgumentException("IOVAs 0x%x to 0x%x".formatted(first, last));
    }
  }
}
