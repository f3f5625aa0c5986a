package irdma4j.hwregs;

import irdma4j.hwregs.cqp.CqpOpcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A structure or register taken apart: the value of each of its fields.
 *
 * @param kind the layout's name or the register's
 * @param meaning what it is, in one line
 * @param values in the order of their places
 */
public record Decoded(String kind, String meaning, List<Value> values) {
  private static final Field WHOLE = Field.bits("VALUE", 0, 31, 0, "The whole register");
  private static final List<Field> FRAGMENT =
      List.of(SqWqe.FRAG_TO, SqWqe.FRAG_STAG, SqWqe.FRAG_LEN, SqWqe.FRAG_VALID);
  private static final int FRAGMENT_BYTES = 16;

  /** Keeps a copy of the values. */
  public Decoded {
    values = List.copyOf(values);
  }

  /**
   * The value of a field.
   *
   * @param field the field
   * @param offset byte offset of its word in the structure
   * @param value unsigned, without the other bits of the word
   * @param says the name that the value stands for, or empty
   */
  public record Value(Field field, int offset, long value, String says) {}

  /**
   * A structure of known layout.
   *
   * @param bytes how many there are; those beyond the layout's size are the further entries of a
   *     WQE's list of fragments, except that inline data has none
   */
  public static Decoded of(Layout layout, MemorySegment memory, int bytes) {
    List<Value> values = new ArrayList<>();
    for (Field field : layout.fields()) {
      values.add(value(layout.name(), field, 0, memory));
    }
    if (!layout.equals(SqWqe.INLINE)) {
      for (int at = layout.size(); at + FRAGMENT_BYTES <= bytes; at += FRAGMENT_BYTES) {
        for (Field field : FRAGMENT) {
          values.add(value(layout.name(), field, at, memory));
        }
      }
    }
    values.sort(
        Comparator.comparingInt(Value::offset).thenComparingInt(value -> value.field.shift()));
    return new Decoded(layout.name(), layout.meaning(), values);
  }

  /** A send-queue WQE, whose opcode says its layout; null if the opcode is unknown. */
  public static @Nullable Decoded sendWqe(MemorySegment wqe, int bytes) {
    Layout layout = Layouts.sqWqe(LittleEndian.getLong(wqe, SqWqe.OPCODE.offset()));
    return layout == null ? null : of(layout, wqe, bytes);
  }

  /** A WQE of the control queue pair, whose opcode says its layout; null if it is unknown. */
  public static @Nullable Decoded controlWqe(MemorySegment wqe) {
    Layout layout = Layouts.cqpWqe(wqe);
    return layout == null ? null : of(layout, wqe, layout.size());
  }

  /**
   * The value of a register.
   *
   * @param name the register's name, with an index if it is one of an array
   */
  public static Decoded of(Register register, String name, int value) {
    List<Field> fields = register.fields().isEmpty() ? List.of(WHOLE) : register.fields();
    List<Value> values =
        fields.stream()
            .map(field -> new Value(field, 0, field.decode(Integer.toUnsignedLong(value)), ""))
            .sorted(Comparator.comparingInt(one -> one.field.shift()))
            .toList();
    return new Decoded(name, register.meaning(), values);
  }

  private static Value value(String kind, Field field, int base, MemorySegment memory) {
    long value = field.decode(LittleEndian.getLong(memory, base + field.offset()));
    return new Value(field, base + field.offset(), value, says(kind, field.name(), (int) value));
  }

  private static String says(String kind, String field, int value) {
    Object named =
        switch (field) {
          case "OPCODE" -> kind.startsWith("cqp") ? CqpOpcode.of(value) : SqOpcode.of(value);
          case "OP" -> kind.startsWith("cqe") ? SqOpcode.of(value) : null;
          case "AECODE" -> AeCode.of(value);
          case "AESRC" -> AeSource.of(value);
          default -> null;
        };
    return named == null ? "" : named.toString();
  }

  /** The fields that are not 0 in one line, such as {@code OPCODE=0x3 (SEND) VALID=0x1}. */
  public String line() {
    StringBuilder text = new StringBuilder();
    for (Value value : values) {
      if (value.value != 0) {
        if (!text.isEmpty()) {
          text.append(' ');
        }
        text.append(value.field.name());
        text.append(String.format(Locale.ROOT, "=0x%x", value.value));
        if (!value.says.isEmpty()) {
          text.append(" (").append(value.says).append(')');
        }
      }
    }
    return text.toString();
  }
}
