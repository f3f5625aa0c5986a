package irdma4j.hwregs;

/**
 * A page descriptor: one 4 KiB page of a paged segment.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/hmc.c.
 */
public final class PageDescriptorEntry {
  /** Its size in bytes. */
  public static final int SIZE = 8;

  /** The page is valid. */
  public static final Field VALID = Field.bit("VALID", 0, 0, "The page is valid");

  /** IOVA, in units of 4 KiB. */
  public static final Field ADDRESS = Field.bits("ADDRESS", 0, 63, 12, "IOVA, in units of 4 KiB");

  /** A page descriptor. */
  public static final Layout LAYOUT = Layout.of("pd", SIZE, "A page descriptor", VALID, ADDRESS);

  private PageDescriptorEntry() {}
}
