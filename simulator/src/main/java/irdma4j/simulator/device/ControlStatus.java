package irdma4j.simulator.device;

/**
 * How a control operation ended: the major and minor code of its completion and of CQPERRCODES.
 *
 * <p>Source of the major codes and of STAG_INVALID: Linux drivers/infiniband/hw/irdma/defs.h. The
 * other minor codes are this project's own, since none is published.
 */
public enum ControlStatus {
  /** It was done. */
  OK(0, 0),
  /** The stag is not one that the operation can take. */
  STAG_INVALID(0xffff, 0x0001),
  /** The operation is not known. */
  UNKNOWN_OPERATION(0xffff, 0x0101),
  /** A field has a value out of its range. */
  BAD_PARAMETER(0xffff, 0x0102),
  /** The object exists already. */
  OBJECT_EXISTS(0xffff, 0x0103),
  /** There is no such object. */
  NO_SUCH_OBJECT(0xffff, 0x0104),
  /** Another object still uses it. */
  OBJECT_IN_USE(0xffff, 0x0105),
  /** The table is full. */
  TABLE_FULL(0xffff, 0x0106),
  /** The objects need more segment descriptors than the function has. */
  TOO_MANY_SEGMENTS(0xffff, 0x0107),
  /** The IOMMU refused an address in the WQE. */
  DMA_FAULT(0xffff, 0x0108),
  /** The object's number was not committed, or no memory backs it. */
  OBJECT_NOT_BACKED(0xf000, 0x0001),
  /** A PBLE that the operation needs was not committed, or no memory backs it. */
  PBLE_NOT_BACKED(0xf000, 0x0002);

  private final int major;
  private final int minor;

  ControlStatus(int major, int minor) {
    this.major = major;
    this.minor = minor;
  }

  /** Major error code. */
  public int major() {
    return major;
  }

  /** Minor error code. */
  public int minor() {
    return minor;
  }
}
