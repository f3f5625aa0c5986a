package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import irdma4j.driver.QueuePair;
import org.jspecify.annotations.Nullable;

/**
 * A connection, from the first message about it to the last. The queue pair stays its owner's.
 *
 * <p>Source of the states: InfiniBand Architecture Specification, volume 1, 12.9.
 */
public final class Connection {
  /** What has been said so far. */
  enum State {
    /** The peer's MAC address is being asked for. */
    RESOLVING,
    /** A request is out. */
    REQ_SENT,
    /** A request has come and the application is to answer. */
    REQ_RECEIVED,
    /** A reply is out. */
    REP_SENT,
    /** Both may send. */
    ESTABLISHED,
    /** The end is out. */
    DREQ_SENT,
    /** Over, but messages of it may still come. */
    TIMEWAIT,
    /** Over. */
    CLOSED
  }

  private final ConnectionManager manager;
  final int localId;
  final LocalAddress local;
  final Gid remote;
  State state;
  long transaction;
  int remoteId;
  int remoteQpn;

  /** With which number the peer is to begin sending. */
  int psn;

  long serviceId;
  int mtu;
  @Nullable QueuePair pair;
  ConnectionParameters parameters = ConnectionParameters.defaults();
  @Nullable DatagramPath path;
  @Nullable CmMessage outstanding;
  long deadline = Long.MAX_VALUE;
  long interval;
  int retriesLeft;

  Connection(ConnectionManager manager, int localId, LocalAddress local, Gid remote, State state) {
    this.manager = manager;
    this.localId = localId;
    this.local = local;
    this.remote = remote;
    this.state = state;
  }

  /** The peer's address. */
  public Gid peer() {
    return remote;
  }

  /** The queue pair; null of a request that was not accepted. */
  public @Nullable QueuePair queuePair() {
    return pair;
  }

  /** Whether both sides may send. */
  public boolean isEstablished() {
    return state == State.ESTABLISHED;
  }

  /**
   * Ends the connection: the queue pair enters the error state now, and {@link
   * CmEvent.Disconnected} follows when the peer has answered or does not. One that is not
   * established yet is given up and no event follows. Later calls do nothing.
   */
  public void disconnect() {
    manager.disconnect(this);
  }

  @Override
  public String toString() {
    return "connection %08x with %s, %s".formatted(localId, remote, state);
  }
}
