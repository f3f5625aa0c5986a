package irdma4j.hwregs;

/**
 * A completion queue entry. Its last word holds the valid bit and is written last by the device.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/defs.h and uk.c.
 */
public final class Cqe {
  /** Its size in bytes. */
  public static final int SIZE = 32;

  /** Bytes received. */
  public static final Field PAYLDLEN =
      Field.bits("PAYLDLEN", 0, 31, 0, "Bytes received").when("RQ");

  /** TCP sequence number or round trip time. */
  public static final Field TCPSEQNUMRTT =
      Field.bits("TCPSEQNUMRTT", 0, 63, 32, "TCP sequence number or round trip time");

  /** Completion context of the queue pair. */
  public static final Field COMPCTX =
      Field.word("COMPCTX", 8, "Completion context of the queue pair");

  /** Stag that the peer invalidated. */
  public static final Field INVSTAG =
      Field.bits("INVSTAG", 16, 31, 0, "Stag that the peer invalidated").when("STAG = 1");

  /** QPN of the datagram's sender. */
  public static final Field UDSRCQPN =
      Field.bits("UDSRCQPN", 16, 31, 0, "QPN of the datagram's sender").when("UD");

  /** Queue pair. */
  public static final Field QPID = Field.bits("QPID", 16, 55, 32, "Queue pair");

  /** Minor error code. */
  public static final Field MINERR = Field.bits("MINERR", 24, 15, 0, "Minor error code");

  /** Major error code. */
  public static final Field MAJERR = Field.bits("MAJERR", 24, 31, 16, "Major error code");

  /** Index of the WQE's first quantum in its ring. */
  public static final Field WQEIDX =
      Field.bits("WQEIDX", 24, 46, 32, "Index of the WQE's first quantum in its ring");

  /** A second CQE with further values follows. */
  public static final Field EXTCQE =
      Field.bit("EXTCQE", 24, 50, "A second CQE with further values follows");

  /** The push of the WQE was dropped. */
  public static final Field PSHDROP =
      Field.bit("PSHDROP", 24, 51, "The push of the WQE was dropped");

  /** INVSTAG is valid. */
  public static final Field STAG = Field.bit("STAG", 24, 53, "INVSTAG is valid").when("RC");

  /** The datagram came over IPv4. */
  public static final Field IPV4 =
      Field.bit("IPV4", 24, 53, "The datagram came over IPv4").when("UD");

  /** The peer asked for a solicited event. */
  public static final Field SOEVENT =
      Field.bit("SOEVENT", 24, 54, "The peer asked for a solicited event").when("RQ");

  /** The completion is out of order. */
  public static final Field OOO_CMPL =
      Field.bit("OOO_CMPL", 24, 54, "The completion is out of order").when("SQ");

  /** MAJERR and MINERR say what went wrong. */
  public static final Field ERROR =
      Field.bit("ERROR", 24, 55, "MAJERR and MINERR say what went wrong");

  /** Opcode of the work. */
  public static final Field OP = Field.bits("OP", 24, 61, 56, "Opcode of the work");

  /** The completion is of the send queue. */
  public static final Field SQ = Field.bit("SQ", 24, 62, "The completion is of the send queue");

  /** Valid bit, flips each time round the ring. */
  public static final Field VALID =
      Field.bit("VALID", 24, 63, "Valid bit, flips each time round the ring");

  /** A completion. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqe",
          SIZE,
          "A completion",
          PAYLDLEN,
          TCPSEQNUMRTT,
          COMPCTX,
          INVSTAG,
          UDSRCQPN,
          QPID,
          MINERR,
          MAJERR,
          WQEIDX,
          EXTCQE,
          PSHDROP,
          STAG,
          IPV4,
          SOEVENT,
          OOO_CMPL,
          ERROR,
          OP,
          SQ,
          VALID);

  private Cqe() {}
}
