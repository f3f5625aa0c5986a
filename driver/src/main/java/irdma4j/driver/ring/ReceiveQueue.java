package irdma4j.driver.ring;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RqWqe;
import java.lang.foreign.MemorySegment;

/**
 * The driver's end of a receive queue: WQEs of a fixed number of quanta.
 *
 * <pre>
 *   WQE: | 0 fragment 0 | 16 zero | 24 header, valid bit | 32 fragment 1 | 48 fragment 2 | ...
 * </pre>
 *
 * <p>It has no doorbell: the device looks at the next WQE's valid bit when a message needs one.
 *
 * <p>Posting allocates nothing and takes no lock; one thread at a time, as for {@link SendQueue}. A
 * request that is refused or does not fit writes nothing.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/uk.c.
 */
public final class ReceiveQueue {
  private final MemorySegment memory;
  private final int size;
  private final int multiplier;
  private final int maxFragments;
  private final long[] wrIds;

  private int head;
  private int tail;
  private int polarity;
  private long posted;

  /**
   * An empty queue over zeroed memory.
   *
   * @param memory the ring
   * @param quanta quanta in the ring, a power of two
   * @param shift log2 of the quanta of a WQE, 0 to 3, large enough for the fragments
   * @param maxFragments most fragments of a WQE, 1 to 13
   */
  public ReceiveQueue(MemorySegment memory, int quanta, int shift, int maxFragments) {
    if (Integer.bitCount(quanta) != 1 || shift < 0 || shift > 3 || quanta >> shift < 2) {
      throw new IllegalArgumentException(
          "receive queue of %d quanta, %d a WQE".formatted(quanta, 1 << shift));
    }
    if (maxFragments < 1
        || maxFragments > RingSizes.MAX_FRAGMENTS
        || RingSizes.quanta(maxFragments) > 1 << shift) {
      throw new IllegalArgumentException(
          "%d fragments in WQEs of %d quanta".formatted(maxFragments, 1 << shift));
    }
    this.memory = memory;
    this.size = quanta >> shift;
    this.multiplier = 1 << shift;
    this.maxFragments = maxFragments;
    wrIds = new long[size];
  }

  /** Sets where the ring stands. */
  void place(int newHead, int newTail, int newPolarity) {
    head = newHead;
    tail = newTail;
    polarity = newPolarity;
  }

  /**
   * Posts a receive.
   *
   * @param wrId returned with the completion
   * @param sges where the message goes
   * @return false if the queue is full; nothing was written then
   * @throws IllegalArgumentException if there are too many entries
   */
  public boolean receive(long wrId, SgeList sges) {
    int count = sges.count();
    if (count > maxFragments) {
      throw new IllegalArgumentException(
          count + " entries: this queue pair was created for " + maxFragments);
    }
    if (used() == size - 1) {
      return false;
    }
    int index = head;
    head = (head + 1) & (size - 1);
    if (index == 0) {
      polarity ^= 1;
    }
    wrIds[index] = wrId;
    long base = (long) index * multiplier * RingSizes.QUANTUM;
    if (count == 0) {
      fragment(base, 0, 0);
    } else {
      fragment(base, sges.address(0), sges.word(0));
    }
    long at = base + RingSizes.QUANTUM;
    for (int next = 1; next < count; next++, at += 16) {
      fragment(at, sges.address(next), sges.word(next));
    }
    // The device takes the fragments beyond the first in pairs: an even count is filled up.
    int additional = count & ~1;
    if (additional == count && count != 0) {
      fragment(at, 0, 0);
    }
    LittleEndian.setLong(memory, base + 16, 0);
    // The valid bit gives the WQE to the device, so everything else must be in memory before it.
    LittleEndian.setLongRelease(
        memory, base + 24, RqWqe.ADDFRAGCNT.encode(additional) | RqWqe.VALID.encode(polarity));
    posted++;
    return true;
  }

  /** WQEs posted and not yet completed. */
  public int used() {
    return (head - tail) & (size - 1);
  }

  /** WQEs in the ring; one of them stays free. */
  public int size() {
    return size;
  }

  /** Work requests posted. */
  public long posted() {
    return posted;
  }

  int head() {
    return head;
  }

  int tail() {
    return tail;
  }

  int polarity() {
    return polarity;
  }

  long wrId(int index) {
    return wrIds[index];
  }

  /** Quanta of a WQE. */
  int multiplier() {
    return multiplier;
  }

  /** The WQE at an index, and all before it, are done. */
  void complete(int index) {
    tail = (index + 1) & (size - 1);
  }

  private void fragment(long at, long address, long word) {
    LittleEndian.setLong(memory, at, address);
    LittleEndian.setLong(memory, at + 8, word | RqWqe.FRAG_VALID.encode(polarity));
  }
}
