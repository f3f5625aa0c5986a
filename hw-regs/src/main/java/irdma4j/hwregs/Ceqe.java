package irdma4j.hwregs;

/**
 * A completion event queue entry.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/defs.h and ctrl.c.
 */
public final class Ceqe {
  /** Its size in bytes. */
  public static final int SIZE = 8;

  /** Context of the completion queue, shifted right by one. */
  public static final Field CQCTX =
      Field.bits("CQCTX", 0, 62, 0, "Context of the completion queue, shifted right by one");

  /** Valid bit. */
  public static final Field VALID = Field.bit("VALID", 0, 63, "Valid bit");

  /** A completion event. */
  public static final Layout LAYOUT = Layout.of("ceqe", SIZE, "A completion event", CQCTX, VALID);

  private Ceqe() {}
}
