package irdma4j.hwregs;

/** A value that does not fit the hardware's field; nothing was written. */
public final class FieldRangeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final transient Field field;
  private final long value;

  FieldRangeException(Field field, long value) {
    super(
        "%s is %d bit%s wide: 0x%x does not fit (at most 0x%x)"
            .formatted(
                field.name(), field.width(), field.width() == 1 ? "" : "s", value, field.max()));
    this.field = field;
    this.value = value;
  }

  /** The field that was to hold the value. */
  public Field field() {
    return field;
  }

  /** The value that was refused, as an unsigned 64-bit number. */
  public long value() {
    return value;
  }
}
