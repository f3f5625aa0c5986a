package irdma4j.hwregs;

/**
 * An asynchronous event queue entry.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/defs.h and ctrl.c.
 */
public final class Aeqe {
  /** Its size in bytes. */
  public static final int SIZE = 16;

  /** Context of the queue pair or completion queue. */
  public static final Field COMPCTX =
      Field.word("COMPCTX", 0, "Context of the queue pair or completion queue");

  /** Queue pair or completion queue, low 18 bits. */
  public static final Field QPCQID_LOW =
      Field.bits("QPCQID_LOW", 8, 17, 0, "Queue pair or completion queue, low 18 bits");

  /** WQE that caused the event. */
  public static final Field WQDESCIDX =
      Field.bits("WQDESCIDX", 8, 32, 18, "WQE that caused the event");

  /** Events were lost before this one. */
  public static final Field OVERFLOW =
      Field.bit("OVERFLOW", 8, 33, "Events were lost before this one");

  /** What happened. */
  public static final Field AECODE = Field.bits("AECODE", 8, 45, 34, "What happened");

  /** Bit 18 of the queue's number. */
  public static final Field QPCQID_HI =
      Field.bit("QPCQID_HI", 8, 46, "Bit 18 of the queue's number");

  /** Which part of the device raised the event. */
  public static final Field AESRC =
      Field.bits("AESRC", 8, 53, 50, "Which part of the device raised the event");

  /** State of the queue pair. */
  public static final Field IWSTATE = Field.bits("IWSTATE", 8, 56, 54, "State of the queue pair");

  /** State of its TCP connection. */
  public static final Field TCPSTATE =
      Field.bits("TCPSTATE", 8, 60, 57, "State of its TCP connection");

  /** Kind of data in the Q2 buffer. */
  public static final Field Q2DATA =
      Field.bits("Q2DATA", 8, 62, 61, "Kind of data in the Q2 buffer");

  /** Valid bit. */
  public static final Field VALID = Field.bit("VALID", 8, 63, "Valid bit");

  /** An asynchronous event. */
  public static final Layout LAYOUT =
      Layout.of(
          "aeqe",
          SIZE,
          "An asynchronous event",
          COMPCTX,
          QPCQID_LOW,
          WQDESCIDX,
          OVERFLOW,
          AECODE,
          QPCQID_HI,
          AESRC,
          IWSTATE,
          TCPSTATE,
          Q2DATA,
          VALID);

  private Aeqe() {}
}
