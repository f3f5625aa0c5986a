package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;

/**
 * What happens to listeners, connections and look-ups, in order. A connection that was asked for
 * ends its wait with exactly one of {@link Established}, {@link Rejected} and {@link Unreachable};
 * one that was established, or accepted and then ended by the peer, ends with {@link Disconnected}.
 */
public sealed interface CmEvent
    permits ConnectRequest,
        DatagramRequest,
        CmEvent.Established,
        CmEvent.Rejected,
        CmEvent.Unreachable,
        CmEvent.Disconnected,
        CmEvent.PeerFound,
        CmEvent.PeerRefused,
        CmEvent.PeerUnreachable,
        CmEvent.AddressFound,
        CmEvent.AddressUnknown {

  /**
   * Both queue pairs are ready to send.
   *
   * @param privateData the reply's, on the active side
   */
  record Established(Connection connection, PrivateData privateData) implements CmEvent {}

  /**
   * The peer refused.
   *
   * @param reason a code of {@link RejectReason}
   */
  record Rejected(Connection connection, int reason, PrivateData privateData) implements CmEvent {}

  /**
   * The peer did not answer, or the queue pair could not be made ready.
   *
   * @param why in words
   */
  record Unreachable(Connection connection, String why) implements CmEvent {}

  /** The connection has ended, by whichever side; the queue pair is in the error state. */
  record Disconnected(Connection connection) implements CmEvent {}

  /**
   * A datagram service has answered.
   *
   * @param path the way there, for an address handle
   * @param qpn its queue pair
   * @param queueKey its Q_Key
   */
  record PeerFound(
      DatagramLookup lookup, DatagramPath path, int qpn, int queueKey, PrivateData privateData)
      implements CmEvent {}

  /**
   * A datagram service has refused.
   *
   * @param status 1 unsupported, 2 rejected, 3 no queue pair, 4 redirected, 5 unsupported version
   */
  record PeerRefused(DatagramLookup lookup, int status) implements CmEvent {}

  /** Nobody answered for a datagram service. */
  record PeerUnreachable(DatagramLookup lookup) implements CmEvent {}

  /** A neighbour has told its MAC address. */
  record AddressFound(Gid peer, DatagramPath path) implements CmEvent {}

  /** Nobody answered for an address. */
  record AddressUnknown(Gid peer) implements CmEvent {}
}
