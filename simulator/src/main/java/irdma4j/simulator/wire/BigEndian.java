package irdma4j.simulator.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Access to the unaligned big-endian fields of a frame. */
final class BigEndian {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private BigEndian() {}

  static long get64(MemorySegment memory, long offset) {
    return memory.get(LONG, offset);
  }

  static void set64(MemorySegment memory, long offset, long value) {
    memory.set(LONG, offset, value);
  }

  static long get48(MemorySegment memory, long offset) {
    return (long) get16(memory, offset) << 32 | Integer.toUnsignedLong(get32(memory, offset + 2));
  }

  static int get32(MemorySegment memory, long offset) {
    return memory.get(INT, offset);
  }

  static void set32(MemorySegment memory, long offset, int value) {
    memory.set(INT, offset, value);
  }

  static int get16(MemorySegment memory, long offset) {
    return memory.get(SHORT, offset) & 0xffff;
  }

  static void set16(MemorySegment memory, long offset, int value) {
    memory.set(SHORT, offset, (short) value);
  }

  static int get8(MemorySegment memory, long offset) {
    return memory.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
  }

  static void set8(MemorySegment memory, long offset, int value) {
    memory.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
  }
}
