package irdma4j.driver.ring;

/** When a send queue rings its doorbell. */
public enum DoorbellPolicy {
  /**
   * Only if the device may have gone to sleep before it saw the new WQEs: it has published a tail
   * that lies among them or at their start. What Linux's kernel driver does.
   */
  SHADOW,
  /** Always. What rdma-core does. */
  ALWAYS
}
