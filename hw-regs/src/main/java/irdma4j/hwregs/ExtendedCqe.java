package irdma4j.hwregs;

/**
 * The second half of an extended completion.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/defs.h and uk.c.
 */
public final class ExtendedCqe {
  /** Its size in bytes. */
  public static final int SIZE = 32;

  /** Immediate data. */
  public static final Field IMMDATALOW32 = Field.bits("IMMDATALOW32", 0, 31, 0, "Immediate data");

  /** Upper half of the immediate data word. */
  public static final Field IMMDATAUP32 =
      Field.bits("IMMDATAUP32", 0, 63, 32, "Upper half of the immediate data word");

  /** Source MAC address of a datagram. */
  public static final Field UDSMAC =
      Field.bits("UDSMAC", 16, 47, 0, "Source MAC address of a datagram");

  /** VLAN tag of a datagram. */
  public static final Field UDVLAN = Field.bits("UDVLAN", 16, 63, 48, "VLAN tag of a datagram");

  /** UDVLAN is valid. */
  public static final Field UDVLANVALID = Field.bit("UDVLANVALID", 24, 60, "UDVLAN is valid");

  /** UDSMAC is valid. */
  public static final Field UDSMACVALID = Field.bit("UDSMACVALID", 24, 61, "UDSMAC is valid");

  /** Immediate data is valid. */
  public static final Field IMMVALID = Field.bit("IMMVALID", 24, 62, "Immediate data is valid");

  /** Valid bit. */
  public static final Field VALID = Field.bit("VALID", 24, 63, "Valid bit");

  /** The second half of an extended completion. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqe-extended",
          SIZE,
          "The second half of an extended completion",
          IMMDATALOW32,
          IMMDATAUP32,
          UDSMAC,
          UDVLAN,
          UDVLANVALID,
          UDSMACVALID,
          IMMVALID,
          VALID);

  private ExtendedCqe() {}
}
