package irdma4j.driver;

/** What kind of error put a queue pair into the error state, as verbs name them. */
public enum QueuePairError {
  /** A local fault, or a peer that does not answer. */
  FATAL,
  /** Memory was used in a way that its keys do not allow. */
  ACCESS,
  /** The peer sent a request that this queue pair can't serve. */
  REQUEST
}
