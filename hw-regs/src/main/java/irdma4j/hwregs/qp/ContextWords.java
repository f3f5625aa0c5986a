package irdma4j.hwregs.qp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;

/** Gathers the fields of a context, and then writes the words that hold any of them. */
final class ContextWords {
  private final long[] words = new long[RoceContext.SIZE / 8];
  private final boolean[] present = new boolean[words.length];

  ContextWords put(Field field, long value) {
    int index = field.offset() / 8;
    words[index] |= field.encode(value);
    present[index] = true;
    return this;
  }

  ContextWords put(Field field, int value) {
    return put(field, Integer.toUnsignedLong(value));
  }

  ContextWords put(Field field, boolean value) {
    return put(field, value ? 1L : 0L);
  }

  /** Writes the word of a field even if no field of it is put. */
  ContextWords clear(Field field) {
    present[field.offset() / 8] = true;
    return this;
  }

  /** The first word of the address is in {@code word0}, and so on. */
  ContextWords put(Field word0, Field word1, Field word2, Field word3, IpAddress address) {
    return put(word0, address.word0())
        .put(word1, address.word1())
        .put(word2, address.word2())
        .put(word3, address.word3());
  }

  /** A protection domain has its upper bits in another word. */
  ContextWords putPd(int pdId) {
    long pd = Integer.toUnsignedLong(pdId);
    return put(RoceContext.PDIDX, pd & RoceContext.PDIDX.max())
        .put(RoceContext.PDIDXHI, pd >>> RoceContext.PDIDX.width());
  }

  static int pd(MemorySegment context, long base) {
    return integer(RoceContext.PDIDXHI, context, base) << RoceContext.PDIDX.width()
        | integer(RoceContext.PDIDX, context, base);
  }

  void store(MemorySegment context, long base) {
    for (int i = 0; i < words.length; i++) {
      if (present[i]) {
        LittleEndian.setLong(context, base + 8L * i, words[i]);
      }
    }
  }

  static int integer(Field field, MemorySegment context, long base) {
    return (int) field.get(context, base);
  }

  static boolean flag(Field field, MemorySegment context, long base) {
    return field.get(context, base) != 0;
  }

  static IpAddress address(
      Field word0, Field word1, Field word2, Field word3, MemorySegment context, long base) {
    return new IpAddress(
        flag(RoceContext.IPV4, context, base),
        integer(word0, context, base),
        integer(word1, context, base),
        integer(word2, context, base),
        integer(word3, context, base));
  }
}
