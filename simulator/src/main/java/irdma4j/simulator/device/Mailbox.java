package irdma4j.simulator.device;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Posted register writes on their way to the device: a bounded ring that any thread fills and the
 * engine empties, in order, without a lock and without allocation.
 *
 * <pre>
 *   63        62..32      31..0
 *   valid     offset      value
 * </pre>
 */
public final class Mailbox {
  private static final int SLOTS = 4096;
  private static final long VALID = Long.MIN_VALUE;

  private final AtomicLongArray slots = new AtomicLongArray(SLOTS);
  private final AtomicLong tail = new AtomicLong();
  private final AtomicLong consumed = new AtomicLong();

  /** Claims the next place; the write must follow at once. */
  public long claim() {
    return tail.getAndIncrement();
  }

  /** Whether a claimed place is free to be written. */
  public boolean isFree(long place) {
    return slots.getAcquire((int) place & (SLOTS - 1)) == 0
        && place - consumed.getAcquire() < SLOTS;
  }

  /** Puts a write into a claimed and free place. */
  public void put(long place, int offset, int value) {
    slots.setRelease(
        (int) place & (SLOTS - 1), VALID | (long) offset << 32 | Integer.toUnsignedLong(value));
  }

  /** How many writes were ever claimed: a read waits until as many were handled. */
  public long claimed() {
    return tail.get();
  }

  /** How many writes the engine has handled. */
  public long handled() {
    return consumed.getAcquire();
  }

  /** Whether nothing waits. */
  public boolean isEmpty() {
    return slots.getAcquire((int) consumed.getPlain() & (SLOTS - 1)) == 0;
  }

  /** The oldest write, or 0 if none is there. For the engine. */
  long peek() {
    return slots.getAcquire((int) consumed.getPlain() & (SLOTS - 1));
  }

  /** Says that the oldest write was handled. For the engine. */
  void handledOldest() {
    long place = consumed.getPlain();
    slots.setRelease((int) place & (SLOTS - 1), 0);
    consumed.setRelease(place + 1);
  }

  static int offset(long write) {
    return (int) (write >>> 32) & 0x7fff_ffff;
  }

  static int value(long write) {
    return (int) write;
  }
}
