package irdma4j.hwregs;

import java.lang.foreign.MemorySegment;

/**
 * A run of bits in one little-endian word of a {@link Layout} or {@link Register}.
 *
 * <p>Kept in a {@code static final} constant, a field costs one shift and one mask: the JIT treats
 * record components as constants.
 *
 * @param name the hardware's name for the field, in upper case
 * @param offset byte offset of the 64-bit word that holds the field, a multiple of 8; 0 in a
 *     register
 * @param shift position of the lowest bit, 0 to 63
 * @param width number of bits, 1 to 64
 * @param meaning what the field says, in one line
 * @param when the case in which these bits carry this field, or empty if they always do; two fields
 *     of one layout share bits only if both name a case
 */
public record Field(String name, int offset, int shift, int width, String meaning, String when) {

  /** Checks that the bits lie inside one word. */
  public Field {
    if (name.isEmpty() || offset < 0 || (offset & 7) != 0) {
      throw new IllegalArgumentException("field " + name + " at byte " + offset);
    }
    if (shift < 0 || width < 1 || shift + width > 64) {
      throw new IllegalArgumentException("field " + name + ": bits " + shift + "+" + width);
    }
  }

  /** A field that spans bits {@code high} down to {@code low} of the word at {@code offset}. */
  public static Field bits(String name, int offset, int high, int low, String meaning) {
    return new Field(name, offset, low, high - low + 1, meaning, "");
  }

  /** A field of one bit. */
  public static Field bit(String name, int offset, int bit, String meaning) {
    return new Field(name, offset, bit, 1, meaning, "");
  }

  /** A field that fills the whole 64-bit word at {@code offset}. */
  public static Field word(String name, int offset, String meaning) {
    return new Field(name, offset, 0, 64, meaning, "");
  }

  /** This field, present only in the case that {@code condition} describes. */
  public Field when(String condition) {
    return new Field(name, offset, shift, width, meaning, condition);
  }

  /** The same bits in the word at another byte offset. */
  public Field at(int newOffset) {
    return new Field(name, newOffset, shift, width, meaning, when);
  }

  /** The largest value, as an unsigned 64-bit number. */
  public long max() {
    return width == 64 ? -1L : (1L << width) - 1;
  }

  /** The bits that this field occupies in its word. */
  public long mask() {
    return max() << shift;
  }

  /**
   * The value in its place, all other bits zero.
   *
   * @throws FieldRangeException if the value has bits beyond the field's width
   */
  public long encode(long value) {
    if ((value & ~max()) != 0) {
      throw new FieldRangeException(this, value);
    }
    return value << shift;
  }

  /** One or zero in its place. */
  public long encode(boolean value) {
    return encode(value ? 1L : 0L);
  }

  /** The value of this field in a word. */
  public long decode(long word) {
    return (word >>> shift) & max();
  }

  /** Whether any bit of this field is set in a word. */
  public boolean isSet(long word) {
    return (word & mask()) != 0;
  }

  /**
   * The word with this field replaced.
   *
   * @throws FieldRangeException if the value has bits beyond the field's width
   */
  public long insert(long word, long value) {
    return (word & ~mask()) | encode(value);
  }

  /** Reads this field of the layout that starts at byte {@code base} of {@code memory}. */
  public long get(MemorySegment memory, long base) {
    return decode(LittleEndian.getLong(memory, base + offset));
  }

  /**
   * Replaces this field of the layout that starts at byte {@code base} of {@code memory}; the rest
   * of its word stays.
   *
   * @throws FieldRangeException if the value has bits beyond the field's width
   */
  public void set(MemorySegment memory, long base, long value) {
    long at = base + offset;
    LittleEndian.setLong(memory, at, insert(LittleEndian.getLong(memory, at), value));
  }
}
