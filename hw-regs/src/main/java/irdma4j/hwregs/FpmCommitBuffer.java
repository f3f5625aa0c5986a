package irdma4j.hwregs;

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

  private FpmCommitBuffer() {}
}
