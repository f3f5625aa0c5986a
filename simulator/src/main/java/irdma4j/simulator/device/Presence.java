package irdma4j.simulator.device;

/** Whether a device can be reached over its link. */
public enum Presence {
  /** It answers. */
  PRESENT,
  /** Its link has failed: registers read as ones, configuration space answers, a reset helps. */
  FROZEN,
  /** It was pulled out: everything reads as ones, and no reset helps. */
  REMOVED
}
