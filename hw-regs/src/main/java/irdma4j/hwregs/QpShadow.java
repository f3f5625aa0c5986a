package irdma4j.hwregs;

/**
 * The shadow area of a queue pair, 64 bytes of host memory that the device writes.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/irdma.h and uk.c.
 */
public final class QpShadow {
  /** Its size in bytes. */
  public static final int SIZE = 64;

  /** Quantum index up to which the device has fetched the SQ. */
  public static final Field HW_SQ_TAIL =
      Field.bits("HW_SQ_TAIL", 0, 14, 0, "Quantum index up to which the device has fetched the SQ");

  /** A queue pair's shadow area. */
  public static final Layout LAYOUT =
      Layout.of("qp-shadow", SIZE, "A queue pair's shadow area", HW_SQ_TAIL);

  private QpShadow() {}
}
