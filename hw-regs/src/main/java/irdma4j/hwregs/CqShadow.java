package irdma4j.hwregs;

/**
 * The shadow area of a completion queue: the driver publishes its head and asks for events here.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/irdma.h and uk.c.
 */
public final class CqShadow {
  /** Its size in bytes. */
  public static final int SIZE = 64;

  /** Index of the next CQE that the driver will read. */
  public static final Field CQEIDX =
      Field.bits("CQEIDX", 0, 19, 0, "Index of the next CQE that the driver will read");

  /** Which of the resized rings the driver reads. */
  public static final Field SW_CQ_SELECT =
      Field.bits("SW_CQ_SELECT", 32, 13, 0, "Which of the resized rings the driver reads");

  /** Raise an event at the next completion. */
  public static final Field ARM_NEXT =
      Field.bit("ARM_NEXT", 32, 14, "Raise an event at the next completion");

  /** Raise an event at the next solicited completion. */
  public static final Field ARM_NEXT_SE =
      Field.bit("ARM_NEXT_SE", 32, 15, "Raise an event at the next solicited completion");

  /** Counts the arm requests, modulo 4. */
  public static final Field ARM_SEQ_NUM =
      Field.bits("ARM_SEQ_NUM", 32, 17, 16, "Counts the arm requests, modulo 4");

  /** A completion queue's shadow area. */
  public static final Layout LAYOUT =
      Layout.of(
          "cq-shadow",
          SIZE,
          "A completion queue's shadow area",
          CQEIDX,
          SW_CQ_SELECT,
          ARM_NEXT,
          ARM_NEXT_SE,
          ARM_SEQ_NUM);

  private CqShadow() {}
}
