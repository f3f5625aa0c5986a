package irdma4j.uapi;

/** How the IOVAs of a {@link DmaMemory} lie. */
public enum DmaPlacement {
  /** One run of IOVAs: what queues and other structures read by the device need. */
  CONTIGUOUS,
  /** Each 4 KiB page at an IOVA of its own, in no order: what pinned user memory looks like. */
  SCATTERED
}
