package irdma4j.driver.cm;

import irdma4j.driver.Gid;
import irdma4j.driver.QueuePair;

/**
 * Somebody asks for a connection. It is to be answered by {@link #accept} or {@link #reject}; until
 * then the peer is told to wait when it asks again.
 */
public final class ConnectRequest implements CmEvent {
  private final ConnectionManager manager;
  private final Listener listener;
  private final Connection connection;
  private final CmMessage.Req message;
  private boolean answered;

  ConnectRequest(
      ConnectionManager manager, Listener listener, Connection connection, CmMessage.Req message) {
    this.manager = manager;
    this.listener = listener;
    this.connection = connection;
    this.message = message;
  }

  /** Who was asked. */
  public Listener listener() {
    return listener;
  }

  /** Who asks. */
  public Gid peer() {
    return connection.peer();
  }

  /** What the peer says: 56 bytes. */
  public PrivateData privateData() {
    return message.consumerData();
  }

  /** READs that the peer wants to have outstanding. */
  public int initiatorDepth() {
    return message.initiatorDepth();
  }

  /** READs of ours that the peer takes at once. */
  public int responderResources() {
    return message.responderResources();
  }

  /** Payload bytes of a packet. */
  public int mtu() {
    return 128 << message.pathMtu();
  }

  CmMessage.Req message() {
    return message;
  }

  /**
   * Grants the connection; {@link CmEvent.Established} tells when the peer uses it.
   *
   * @param pair in state INIT, with receives posted if the peer is to send at once
   * @throws IllegalStateException if the request was answered or given up by the peer
   */
  public Connection accept(QueuePair pair, ConnectionParameters parameters) {
    answer();
    manager.accept(this, connection, pair, parameters);
    return connection;
  }

  /** Refuses with up to 148 bytes for the peer. */
  public void reject(PrivateData privateData) {
    privateData.requireAtMost(CmMessage.Rej.PRIVATE);
    answer();
    manager.reject(connection, message, RejectReason.CONSUMER_DEFINED, privateData);
  }

  private void answer() {
    if (answered || connection.state != Connection.State.REQ_RECEIVED) {
      throw new IllegalStateException("the request was answered, or given up by the peer");
    }
    answered = true;
  }
}
