package irdma4j.driver.ring;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RqWqe;
import java.lang.foreign.MemorySegment;

/**
 * The driver's end of a receive queue: WQEs of a fixed number of quanta. It has no doorbell; the
 * device looks at the next WQE's valid bit when a message needs one.
 *
 * <p>Posting allocates nothing and takes no lock; one thread at a time, as for {@link SendQueue}.
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
   * @param shift log2 of the quanta of a WQE
   * @param maxFragments most fragments of a WQE, 1 to 13
   */
  public ReceiveQueue(MemorySegment memory, int quanta, int shift, int maxFragments) {
    this.memory = memory;
    this.size = quanta >> shift;
    this.multiplier = 1 << shift;
    this.maxFragments = maxFragments;
    wrIds = new long[size];
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
      emptyFragment(base);
    } else {
      fragment(base, sges, 0);
    }
    long at = base + 32;
    for (int next = 1; next < count; next++, at += 16) {
      fragment(at, sges, next);
    }
    int additional = count > 1 ? count - 1 : 0;
    if (count != 0 && (count & 1) == 0) {
      emptyFragment(at);
      additional++;
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

  /** WQEs in the ring. */
  public int size() {
    return size;
  }

  /** Work requests posted. */
  public long posted() {
    return posted;
  }

  long wrId(int index) {
    return wrIds[index];
  }

  int tail() {
    return tail;
  }

  int multiplier() {
    return multiplier;
  }

  void complete(int index) {
    tail = (index + 1) & (size - 1);
  }

  private void fragment(long at, SgeList sges, int entry) {
    LittleEndian.setLong(memory, at, sges.address(entry));
    LittleEndian.setLong(
        memory,
        at + 8,
        RqWqe.STAG.encode(Integer.toUnsignedLong(sges.key(entry)))
            | RqWqe.FRAG_LEN.encode(sges.length(entry))
            | RqWqe.FRAG_VALID.encode(polarity));
  }

  private void emptyFragment(long at) {
    LittleEndian.setLong(memory, at, 0);
    LittleEndian.setLong(memory, at + 8, RqWqe.FRAG_VALID.encode(polarity));
  }
}
