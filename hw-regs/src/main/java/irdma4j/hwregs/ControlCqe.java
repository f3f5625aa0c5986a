package irdma4j.hwregs;

/**
 * A completion of the control queue pair, in the CCQ.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/ctrl.c.
 */
public final class ControlCqe {
  /** Its size in bytes. */
  public static final int SIZE = 32;

  /** Value that the operation returns. */
  public static final Field OPRETVAL =
      Field.bits("OPRETVAL", 16, 31, 0, "Value that the operation returns");

  /** Unused. */
  public static final Field TCPSEQNUMRTT = Field.bits("TCPSEQNUMRTT", 0, 63, 32, "Unused");

  /** Completion context of the control queue pair. */
  public static final Field COMPCTX =
      Field.word("COMPCTX", 8, "Completion context of the control queue pair");

  /** Minor error code. */
  public static final Field MINERR = Field.bits("MINERR", 24, 15, 0, "Minor error code");

  /** Major error code. */
  public static final Field MAJERR = Field.bits("MAJERR", 24, 31, 16, "Major error code");

  /** Slot of the WQE in the control ring. */
  public static final Field WQEIDX =
      Field.bits("WQEIDX", 24, 46, 32, "Slot of the WQE in the control ring");

  /** MAJERR and MINERR say what went wrong. */
  public static final Field ERROR =
      Field.bit("ERROR", 24, 55, "MAJERR and MINERR say what went wrong");

  /** Set: the control queue pair has only a send queue. */
  public static final Field SQ =
      Field.bit("SQ", 24, 62, "Set: the control queue pair has only a send queue");

  /** Valid bit. */
  public static final Field VALID = Field.bit("VALID", 24, 63, "Valid bit");

  /** A completion of the control queue pair. */
  public static final Layout LAYOUT =
      Layout.of(
          "ccqe",
          SIZE,
          "A completion of the control queue pair",
          TCPSEQNUMRTT,
          COMPCTX,
          OPRETVAL,
          MINERR,
          MAJERR,
          WQEIDX,
          ERROR,
          SQ,
          VALID);

  private ControlCqe() {}
}
