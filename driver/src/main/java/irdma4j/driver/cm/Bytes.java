package irdma4j.driver.cm;

import irdma4j.driver.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Big-endian fields of packets, at any alignment. */
final class Bytes {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private Bytes() {}

  static int get8(MemorySegment m, long at) {
    return m.get(ValueLayout.JAVA_BYTE, at) & 0xff;
  }

  static void set8(MemorySegment m, long at, int value) {
    m.set(ValueLayout.JAVA_BYTE, at, (byte) value);
  }

  static int get16(MemorySegment m, long at) {
    return m.get(SHORT, at) & 0xffff;
  }

  static void set16(MemorySegment m, long at, int value) {
    m.set(SHORT, at, (short) value);
  }

  /** The upper 24 bits of a word. */
  static int get24(MemorySegment m, long at) {
    return get32(m, at) >>> 8;
  }

  /** Sets the upper 24 bits of a word, and the byte below. */
  static void set24(MemorySegment m, long at, int value, int below) {
    set32(m, at, value << 8 | (below & 0xff));
  }

  static int get32(MemorySegment m, long at) {
    return m.get(INT, at);
  }

  static void set32(MemorySegment m, long at, int value) {
    m.set(INT, at, value);
  }

  static long get48(MemorySegment m, long at) {
    return (long) get16(m, at) << 32 | Integer.toUnsignedLong(get32(m, at + 2));
  }

  static void set48(MemorySegment m, long at, long value) {
    set16(m, at, (int) (value >>> 32));
    set32(m, at + 2, (int) value);
  }

  static long get64(MemorySegment m, long at) {
    return m.get(LONG, at);
  }

  static void set64(MemorySegment m, long at, long value) {
    m.set(LONG, at, value);
  }

  static Gid gid(MemorySegment m, long at) {
    return new Gid(get64(m, at), get64(m, at + 8));
  }

  static void set(MemorySegment m, long at, Gid gid) {
    set64(m, at, gid.high());
    set64(m, at + 8, gid.low());
  }

  /** The Internet checksum's sum over 16-bit words, not yet folded. */
  static long sum(MemorySegment m, long from, long count) {
    long sum = 0;
    for (long i = 0; i + 1 < count; i += 2) {
      sum += get16(m, from + i);
    }
    return (count & 1) == 0 ? sum : sum + ((long) get8(m, from + count - 1) << 8);
  }

  /** Folds a sum to the Internet checksum. */
  static int checksum(long sum) {
    long folded = sum;
    while (folded >>> 16 != 0) {
      folded = (folded & 0xffff) + (folded >>> 16);
    }
    return (int) ~folded & 0xffff;
  }
}
