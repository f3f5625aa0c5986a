package irdma4j.pble;

/** Which levels of page list a request allows. */
public enum PbleLevels {
  /** One run if there is one, else a root with leaves. */
  ANY,
  /** One run only: what a queue's ring needs. */
  LEVEL_1_ONLY,
  /** A root with leaves only. */
  LEVEL_2_ONLY
}
