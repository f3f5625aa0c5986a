package irdma4j.driver.ring;

import irdma4j.hwregs.SqWqe;

/**
 * Scatter-gather entries for one work request, to be filled and used again. Not thread-safe.
 *
 * <p>An entry is a virtual address, a length in bytes (0 to 2^31 - 1) and the lkey of the region
 * that holds them.
 */
public final class SgeList {
  private final long[] addresses = new long[RingSizes.MAX_FRAGMENTS];
  private final long[] words = new long[RingSizes.MAX_FRAGMENTS];
  private int count;
  private long bytes;

  /** No entries. */
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
   * @throws IllegalArgumentException if there are 13 already
   * @throws irdma4j.hwregs.FieldRangeException if the length, taken as unsigned, has 32 bits
   */
  public SgeList add(long address, int length, int key) {
    if (count == RingSizes.MAX_FRAGMENTS) {
      throw new IllegalArgumentException("more than " + RingSizes.MAX_FRAGMENTS + " entries");
    }
    // A fragment of a receive WQE has its fields in the same places; only the valid bit is missing.
    words[count] =
        SqWqe.FRAG_STAG.encode(Integer.toUnsignedLong(key))
            | SqWqe.FRAG_LEN.encode(Integer.toUnsignedLong(length));
    addresses[count] = address;
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

  /** The second word of the entry's fragment, without the valid bit. */
  long word(int entry) {
    return words[entry];
  }
}
