package irdma4j.hwregs;

/**
 * A physical buffer list entry: the IOVA of a page, or in a root the index of a leaf.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/pble.c and verbs.c.
 */
public final class PbleEntry {
  /** Its size in bytes. */
  public static final int SIZE = 8;

  /** IOVA of a page, in units of 4 KiB. */
  public static final Field ADDRESS =
      Field.bits("ADDRESS", 0, 63, 12, "IOVA of a page, in units of 4 KiB").when("leaf");

  /** Index of the leaf's first PBLE. */
  public static final Field LEAF_INDEX =
      Field.bits("LEAF_INDEX", 0, 27, 0, "Index of the leaf's first PBLE").when("root of level 2");

  /** A physical buffer list entry. */
  public static final Layout LAYOUT =
      Layout.of("pble", SIZE, "A physical buffer list entry", ADDRESS, LEAF_INDEX);

  private PbleEntry() {}
}
