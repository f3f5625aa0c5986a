package irdma4j.driver;

/** The states of a queue pair, as the driver knows them. */
public enum QueuePairState {
  /** Receives may be posted. */
  INIT,
  /** Messages of the peer are received. */
  READY_TO_RECEIVE,
  /** Work posted to the send queue is done. */
  READY_TO_SEND,
  /** Work that was begun is finished; what is posted waits. */
  SEND_QUEUE_DRAINED,
  /** All work is flushed. Close the queue pair and create another: there is no way back. */
  ERROR
}
