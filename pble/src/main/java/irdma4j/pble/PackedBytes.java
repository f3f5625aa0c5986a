package irdma4j.pble;

/** Eight numbers from 0 to 127 in a long, compared with another at once; the first is lowest. */
final class PackedBytes {
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH = 0x8080808080808080L;

  private PackedBytes() {}

  /** A number in all eight places. */
  static long all(int value) {
    return value * ONES;
  }

  /** The top bit of each place whose number is at least that of {@code threshold}. */
  static long atLeast(long bytes, long threshold) {
    return ((bytes | HIGH) - threshold) & HIGH;
  }

  /** The first place in the answer of {@link #atLeast}, or 8. */
  static int first(long places) {
    return Long.numberOfTrailingZeros(places) >>> 3;
  }

  /** The last place in the answer of {@link #atLeast}, which has one. */
  static int last(long places) {
    return 7 - (Long.numberOfLeadingZeros(places) >>> 3);
  }

  static int get(long bytes, int place) {
    return (int) (bytes >>> (place * 8)) & 0x7f;
  }

  static long with(long bytes, int place, int value) {
    int shift = place * 8;
    return (bytes & ~(0xffL << shift)) | ((long) value << shift);
  }

  static int max(long bytes) {
    int max = 0;
    for (long rest = bytes; rest != 0; rest >>>= 8) {
      max = Math.max(max, (int) rest & 0x7f);
    }
    return max;
  }
}
