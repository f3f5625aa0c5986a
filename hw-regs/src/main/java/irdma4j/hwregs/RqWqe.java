package irdma4j.hwregs;

/**
 * A receive-queue WQE: up to 13 fragments in 1 to 8 quanta.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/defs.h and uk.c.
 */
public final class RqWqe {
  /** Its size in bytes. */
  public static final int SIZE = 32;

  /** Virtual address of the first fragment. */
  public static final Field TO = Field.word("TO", 0, "Virtual address of the first fragment");

  /** Stag (lkey) of the first fragment. */
  public static final Field STAG =
      Field.bits("STAG", 8, 31, 0, "Stag (lkey) of the first fragment");

  /** Bytes in the first fragment. */
  public static final Field FRAG_LEN =
      Field.bits("FRAG_LEN", 8, 62, 32, "Bytes in the first fragment");

  /** Valid bit of the fragment's word. */
  public static final Field FRAG_VALID =
      Field.bit("FRAG_VALID", 8, 63, "Valid bit of the fragment's word");

  /** Further fragments beyond the first. */
  public static final Field ADDFRAGCNT =
      Field.bits("ADDFRAGCNT", 24, 41, 38, "Further fragments beyond the first");

  /** Valid bit, equal to the ring's polarity. */
  public static final Field VALID =
      Field.bit("VALID", 24, 63, "Valid bit, equal to the ring's polarity");

  /** A receive WQE. */
  public static final Layout LAYOUT =
      Layout.of("rq", SIZE, "A receive WQE", TO, STAG, FRAG_LEN, FRAG_VALID, ADDFRAGCNT, VALID);

  private RqWqe() {}
}
