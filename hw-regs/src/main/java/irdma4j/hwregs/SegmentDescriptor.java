package irdma4j.hwregs;

/**
 * One entry of UPDATE_PE_SDS: a command word and a data word for the segment descriptor table. The
 * top bit of the command word marks the second and third entry of a WQE.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/hmc.c and ctrl.c.
 */
public final class SegmentDescriptor {
  /** Its size in bytes. */
  public static final int SIZE = 16;

  /** Index of the segment descriptor: a function has at most 8192. */
  public static final Field PMSDIDX =
      Field.bits("PMSDIDX", 0, 12, 0, "Index of the segment descriptor");

  /** Which partition of the table. */
  public static final Field PMSDPARTSEL =
      Field.bit("PMSDPARTSEL", 0, 15, "Which partition of the table");

  /** Write the entry. */
  public static final Field PMSDWR = Field.bit("PMSDWR", 0, 31, "Write the entry");

  /** The WQE holds this entry. */
  public static final Field ENTRY_VALID =
      Field.bit("ENTRY_VALID", 0, 63, "The WQE holds this entry");

  /** The descriptor is valid. */
  public static final Field PMSDVALID = Field.bit("PMSDVALID", 8, 0, "The descriptor is valid");

  /** 0 paged: the address is a page of page descriptors; 1 direct: a 2 MiB block. */
  public static final Field PMSDTYPE =
      Field.bit(
          "PMSDTYPE",
          8,
          1,
          "0 paged: the address is a page of page descriptors; 1 direct: a 2 MiB block");

  /** Number of 4 KiB pages in the segment. */
  public static final Field PMSDBPCOUNT =
      Field.bits("PMSDBPCOUNT", 8, 11, 2, "Number of 4 KiB pages in the segment");

  /** IOVA, in units of 4 KiB. */
  public static final Field PMSDDATA = Field.bits("PMSDDATA", 8, 63, 12, "IOVA, in units of 4 KiB");

  /** A segment descriptor with its command. */
  public static final Layout LAYOUT =
      Layout.of(
          "sd",
          SIZE,
          "A segment descriptor with its command",
          PMSDIDX,
          PMSDPARTSEL,
          PMSDWR,
          ENTRY_VALID,
          PMSDVALID,
          PMSDTYPE,
          PMSDBPCOUNT,
          PMSDDATA);

  private SegmentDescriptor() {}
}
