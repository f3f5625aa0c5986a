package irdma4j.hmc;

/** How a segment of the FPM space is backed. */
public enum SegmentType {
  /** One 2 MiB block that is contiguous for the device. */
  DIRECT,
  /** A page of 512 page descriptors, each naming a 4 KiB page. */
  PAGED
}
