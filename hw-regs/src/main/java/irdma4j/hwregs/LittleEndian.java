package irdma4j.hwregs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Access to the little-endian words that the device and the driver share. Offsets are in bytes and
 * must be aligned to the size of the access.
 *
 * <p>The ordered forms name the promise they give; the plain ones give none.
 */
public final class LittleEndian {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG_HANDLE = LONG.varHandle();
  private static final VarHandle INT_HANDLE = INT.varHandle();

  private LittleEndian() {}

  /** Reads 64 bits, with no ordering. */
  public static long getLong(MemorySegment memory, long offset) {
    return memory.get(LONG, offset);
  }

  /** Writes 64 bits, with no ordering. */
  public static void setLong(MemorySegment memory, long offset, long value) {
    memory.set(LONG, offset, value);
  }

  /** Reads 64 bits; no later access moves before it. */
  public static long getLongAcquire(MemorySegment memory, long offset) {
    return (long) LONG_HANDLE.getAcquire(memory, offset);
  }

  /** Writes 64 bits; no earlier access moves after it. */
  public static void setLongRelease(MemorySegment memory, long offset, long value) {
    LONG_HANDLE.setRelease(memory, offset, value);
  }

  /** Reads 32 bits, with no ordering. */
  public static int getInt(MemorySegment memory, long offset) {
    return memory.get(INT, offset);
  }

  /** Writes 32 bits, with no ordering. */
  public static void setInt(MemorySegment memory, long offset, int value) {
    memory.set(INT, offset, value);
  }

  /** Reads 32 bits; no later access moves before it. */
  public static int getIntAcquire(MemorySegment memory, long offset) {
    return (int) INT_HANDLE.getAcquire(memory, offset);
  }

  /** Writes 32 bits; no earlier access moves after it. */
  public static void setIntRelease(MemorySegment memory, long offset, int value) {
    INT_HANDLE.setRelease(memory, offset, value);
  }
}
