package irdma4j.driver.ring;

/** The rings of one queue pair, as a completion ring needs them. */
public final class QueuePairRings {
  private final int qpId;
  private final SendQueue send;
  private final ReceiveQueue receive;
  private boolean closed;

  /** The rings of a queue pair. */
  public QueuePairRings(int qpId, SendQueue send, ReceiveQueue receive) {
    this.qpId = qpId;
    this.send = send;
    this.receive = receive;
  }

  /** The queue pair's number. */
  public int qpId() {
    return qpId;
  }

  /** Its send queue. */
  public SendQueue send() {
    return send;
  }

  /** Its receive queue. */
  public ReceiveQueue receive() {
    return receive;
  }

  /** From now on the queue pair's completions are dropped. */
  public void close() {
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }

  /** What is posted and not completed: quanta of the send queue, or WQEs of the receive queue. */
  int outstanding(boolean ofSendQueue) {
    return ofSendQueue ? send.used() : receive.used();
  }

  int tail(boolean ofSendQueue) {
    return ofSendQueue ? send.tail() : receive.tail();
  }
}
