package irdma4j.hwregs;

import java.util.List;

/**
 * A structure that the device reads or writes in host memory: its size and its fields.
 *
 * <p>Fields that share bits each name the case in which they are present ({@link Field#when}); a
 * layout that breaks this rule, or whose field lies outside it, is refused.
 *
 * @param name the structure's name, for example {@code CQP CREATE_QP}
 * @param size bytes, a multiple of 8
 * @param meaning what the structure is for, in one line
 * @param fields its fields, in the order of their positions
 */
public record Layout(String name, int size, String meaning, List<Field> fields) {

  /** Checks the fields against the size and against one another. */
  public Layout {
    fields = List.copyOf(fields);
    if (size <= 0 || (size & 7) != 0) {
      throw new IllegalArgumentException(name + ": " + size + " bytes");
    }
    for (int i = 0; i < fields.size(); i++) {
      Field a = fields.get(i);
      if (a.offset() + 8 > size) {
        throw new IllegalArgumentException(name + ": " + a.name() + " lies outside");
      }
      for (Field b : fields.subList(0, i)) {
        boolean exclusive =
            !a.when().isEmpty() && !b.when().isEmpty() && !a.when().equals(b.when());
        if (a.offset() == b.offset() && (a.mask() & b.mask()) != 0 && !exclusive) {
          throw new IllegalArgumentException(name + ": " + a.name() + " overlaps " + b.name());
        }
      }
    }
  }

  /** A layout of the given fields. */
  public static Layout of(String name, int size, String meaning, Field... fields) {
    return new Layout(name, size, meaning, List.of(fields));
  }
}
