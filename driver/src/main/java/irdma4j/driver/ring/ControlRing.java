package irdma4j.driver.ring;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpWqe;
import java.lang.foreign.MemorySegment;

/**
 * The ring of the control queue pair: WQEs of 64 bytes, one slot each. Not thread-safe.
 *
 * <p>Source: Linux irdma_sc_cqp_get_next_send_wqe_idx in ctrl.c.
 */
public final class ControlRing {
  private static final int MIN_SLOTS = 4;
  private static final int MAX_SLOTS = 2048;

  private final MemorySegment memory;
  private final int size;
  private final long[] cookies;
  private int head;
  private int tail;
  private int polarity;

  /**
   * An empty ring over zeroed memory.
   *
   * @param size slots, a power of two, 4 to 2048
   */
  public ControlRing(MemorySegment memory, int size) {
    requireSize(size);
    this.memory = memory;
    this.size = size;
    this.cookies = new long[size];
  }

  /**
   * Checks a number of slots.
   *
   * @throws IllegalArgumentException if the device has no ring of that size
   */
  public static void requireSize(int slots) {
    if (Integer.bitCount(slots) != 1 || slots < MIN_SLOTS || slots > MAX_SLOTS) {
      throw new IllegalArgumentException(
          "control ring of %d slots: a power of two, %d to %d"
              .formatted(slots, MIN_SLOTS, MAX_SLOTS));
    }
  }

  /** Sets where the ring stands. */
  void place(int newHead, int newTail, int newPolarity) {
    head = newHead;
    tail = newTail;
    polarity = newPolarity;
  }

  /** The slot that the next WQE will take. */
  public int nextSlot() {
    return head;
  }

  /** Whether all slots but one are in use. */
  public boolean isFull() {
    return ((head - tail) & (size - 1)) == size - 1;
  }

  /**
   * Writes a WQE.
   *
   * @return its slot, or -1 if the ring is full
   */
  public int post(CqpCommand command) {
    return post(command, 0);
  }

  /**
   * Writes a WQE.
   *
   * @param cookie returned with the completion
   * @return its slot, or -1 if the ring is full
   * @throws irdma4j.hwregs.FieldRangeException if a value is too wide; the ring has not moved then
   */
  public int post(CqpCommand command, long cookie) {
    if (isFull()) {
      return -1;
    }
    int slot = head;
    long base = (long) slot * CqpWqe.SIZE;
    long header = command.encode(memory, base);
    if (slot == 0) {
      polarity ^= 1;
    }
    cookies[slot] = cookie;
    // The valid bit gives the WQE to the device, so everything else must be in memory before it.
    LittleEndian.setLongRelease(
        memory, base + CqpWqe.HEADER, header | CqpWqe.VALID.encode(polarity));
    head = (head + 1) & (size - 1);
    return slot;
  }

  /** What the doorbell is told: the slot beyond the last WQE. */
  public int head() {
    return head;
  }

  /** The oldest WQE is done. */
  public void complete() {
    tail = (tail + 1) & (size - 1);
  }

  /** Slots in the ring. */
  public int size() {
    return size;
  }

  int tail() {
    return tail;
  }

  /** The opcode of the WQE in a slot, as it stands in the ring. */
  int opcode(int slot) {
    return (int)
        CqpWqe.OPCODE.decode(
            LittleEndian.getLong(memory, (long) slot * CqpWqe.SIZE + CqpWqe.HEADER));
  }

  long cookie(int slot) {
    return cookies[slot];
  }

  void setCookie(int slot, long cookie) {
    cookies[slot] = cookie;
  }
}
