package irdma4j.hwregs;

import java.util.List;

/**
 * A 32-bit register, or an array of them, in BAR 0.
 *
 * @param name the datasheet's name, for example {@code PFPE_CQPTAIL}
 * @param offset byte offset of (the first of) them in the BAR
 * @param count how many there are; 1 for a single register
 * @param stride bytes from one to the next; 0 for a single register
 * @param meaning what it does, in one line
 * @param fields its bit fields; empty if the whole register is one value
 */
public record Register(
    String name, int offset, int count, int stride, String meaning, List<Field> fields) {

  /** Checks that the array has a stride. */
  public Register {
    fields = List.copyOf(fields);
    if (offset < 0 || (offset & 3) != 0 || count < 1 || (count > 1 && stride < 4)) {
      throw new IllegalArgumentException("register " + name);
    }
  }

  /** A single register. */
  public static Register of(String name, int offset, String meaning, Field... fields) {
    return new Register(name, offset, 1, 0, meaning, List.of(fields));
  }

  /** An array of registers, four bytes apart. */
  public static Register array(
      String name, int offset, int count, String meaning, Field... fields) {
    return new Register(name, offset, count, 4, meaning, List.of(fields));
  }

  /**
   * The offset of one register of the array.
   *
   * @throws IndexOutOfBoundsException if the array has no such register
   */
  public int offset(int index) {
    if (index < 0 || index >= count) {
      throw new IndexOutOfBoundsException(name + "(" + index + "): 0 to " + (count - 1));
    }
    return offset + index * stride;
  }
}
