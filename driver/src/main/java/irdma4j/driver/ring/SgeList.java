package irdma4j.driver.ring;

/**
 * Scatter-gather entries for one work request, to be filled and used again. Not thread-safe.
 *
 * <p>An entry is a virtual address, a length in bytes (0 to 2^31 - 1) and the lkey of the region
 * that holds them.
 */
public final class SgeList {
  private final long[] addresses = new long[RingSizes.MAX_FRAGMENTS];
  private final int[] lengths = new int[RingSizes.MAX_FRAGMENTS];
  private final int[] keys = new int[RingSizes.MAX_FRAGMENTS];
  private int count;
  private long bytes;

  /** An empty list. */
  public SgeList() {}

  /** Takes all entries out. */
  public SgeList clear() {
    count = 0;
    bytes = 0;
    return this;
  }

  /**
   * Adds an entry.
   *
   * @throws IllegalArgumentException if there are 13 already or the length is negative
   */
  public SgeList add(long address, int length, int key) {
    if (count == RingSizes.MAX_FRAGMENTS) {
      throw new IllegalArgumentException("more than " + RingSizes.MAX_FRAGMENTS + " entries");
    }
    if (length < 0) {
      throw new IllegalArgumentException("length " + Integer.toUnsignedString(length));
    }
    addresses[count] = address;
    lengths[count] = length;
    keys[count] = key;
    count++;
    bytes += length;
    return this;
  }

  /** One entry. */
  public SgeList set(long address, int length, int key) {
    return clear().add(address, length, key);
  }

  /** Number of entries. */
  public int count() {
    return count;
  }

  /** Sum of the lengths. */
  public long bytes() {
    return bytes;
  }

  long address(int entry) {
    return addresses[entry];
  }

  int length(int entry) {
    return lengths[entry];
  }

  int key(int entry) {
    return keys[entry];
  }
}
