package irdma4j.hwregs;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The buffer of COMMIT_FPM: one word for each HMC object, at {@link HmcObject#commitOffset()}. The
 * driver writes counts; the device answers with counts and base addresses.
 *
 * <p>Source: Linux irdma_sc_cfg_iw_fpm and irdma_sc_parse_fpm_commit_buf in ctrl.c.
 */
public final class FpmCommitBuffer {
  /** Its size in bytes. */
  public static final int SIZE = 176;

  /** Bytes in a unit of the BASE field. */
  public static final int BASE_UNIT = 512;

  /** Number of objects. */
  public static final Field COUNT = Field.bits("COUNT", 0, 31, 0, "Number of objects");

  /** Address of the first object in the FPM space, in units of 512 bytes. */
  public static final Field BASE =
      Field.bits(
          "BASE", 0, 63, 32, "Address of the first object in the FPM space, in units of 512 bytes");

  /** What COMMIT_FPM takes and answers: the two fields of every object. */
  public static final Layout LAYOUT = layout();

  private FpmCommitBuffer() {}

  private static Layout layout() {
    List<Field> fields = new ArrayList<>();
    for (HmcObject object : HmcObject.values()) {
      for (Field field : List.of(COUNT, BASE)) {
        fields.add(
            new Field(
                object + "_" + field.name(),
                object.commitOffset(),
                field.shift(),
                field.width(),
                object.meaning() + ": " + field.meaning().toLowerCase(Locale.ROOT),
                field.when()));
      }
    }
    return new Layout("fpm-commit", SIZE, "What COMMIT_FPM takes and answers", fields);
  }
}
