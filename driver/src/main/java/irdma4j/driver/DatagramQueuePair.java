package irdma4j.driver;

import irdma4j.driver.ring.ReceiveQueue;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import java.lang.foreign.MemorySegment;

/**
 * A queue pair for unreliable datagrams over RoCEv2.
 *
 * <p>The first {@link #HEADER_BYTES} bytes of what is received are the IPv6 header, or 20 bytes
 * without meaning and the IPv4 header; the message follows. Threads and ownership are as for {@link
 * QueuePair}.
 */
public final class DatagramQueuePair implements AutoCloseable {
  /** Bytes before the message in a receive. */
  public static final int HEADER_BYTES = 40;

  /** The Q_Key of QP 1. */
  public static final int GENERAL_SERVICES_KEY = 0x8001_0000;

  /** The number that stands for all members of a multicast group. */
  public static final int MULTICAST_QPN = 0xff_ffff;

  private static final int MAX_VLAN = 4095;

  private final QueuePairCore core;
  private final SendQueue send;
  private final ReceiveQueue receive;
  private final SgeList one = new SgeList();
  private final int queueKey;

  private DatagramQueuePair(QueuePairCore core, int queueKey) {
    this.core = core;
    this.queueKey = queueKey;
    send = core.send();
    receive = core.receive();
  }

  static DatagramQueuePair create(
      RdmaDevice device, ProtectionDomain pd, QueuePairConfig config, int mtu, int queueKey) {
    return createInitial(device, pd, config, mtu, queueKey, device.qpIds().take());
  }

  static DatagramQueuePair createReady(
      RdmaDevice device, ProtectionDomain pd, QueuePairConfig config, int mtu, int queueKey) {
    return makeReady(device, create(device, pd, config, mtu, queueKey));
  }

  static DatagramQueuePair createGeneralServices(
      RdmaDevice device, ProtectionDomain pd, QueuePairConfig config) {
    device.objects().takeGeneralServices();
    return makeReady(
        device,
        createInitial(
            device,
            pd,
            config,
            RoceContextWriter.LARGEST_MTU,
            GENERAL_SERVICES_KEY,
            QueuePairCore.GENERAL_SERVICES));
  }

  private static DatagramQueuePair createInitial(
      RdmaDevice device,
      ProtectionDomain pd,
      QueuePairConfig config,
      int mtu,
      int queueKey,
      int qpn) {
    QueuePairCore core;
    try {
      core = new QueuePairCore(device, pd, QueuePairCore.Service.DATAGRAM, qpn, config);
      core.create(
          () -> {
            core.useQueueSet(0);
            core.takePushPage();
            RoceContextWriter.writeDatagram(core, mtu, queueKey);
          });
    } catch (RuntimeException e) {
      giveBackNumber(device, qpn);
      throw e;
    }
    return device.adopt(new DatagramQueuePair(core, queueKey), core::release);
  }

  private static DatagramQueuePair makeReady(RdmaDevice device, DatagramQueuePair pair) {
    try {
      pair.toReadyToReceive();
      pair.toReadyToSend();
    } catch (RuntimeException e) {
      try {
        pair.close();
      } catch (RuntimeException alsoFailed) {
        // The device may still have it, and with it the number.
        device.objects().keepUntilReset(pair);
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
    return pair;
  }

  private static void giveBackNumber(RdmaDevice device, int qpn) {
    if (qpn == QueuePairCore.GENERAL_SERVICES) {
      device.objects().giveBackGeneralServices();
    } else {
      device.qpIds().giveBack(qpn);
    }
  }

  QueuePairCore core() {
    return core;
  }

  /** The queue pair's number, 24 bits. */
  public int qpn() {
    return core.qpn();
  }

  /** Its state, as the driver knows it. */
  public QueuePairState state() {
    return core.state();
  }

  /** The Q_Key that senders must give. */
  public int queueKey() {
    return queueKey;
  }

  /**
   * Takes datagrams from now on.
   *
   * @throws IllegalStateException if the state is not INIT
   * @throws RdmaException if the device refuses; the state is then ERROR
   */
  public void toReadyToReceive() {
    core.require(QueuePairState.INIT, "receiving");
    core.enterReadyToReceive();
  }

  /**
   * Sends what is posted from now on.
   *
   * @throws IllegalStateException if the state is not READY_TO_RECEIVE
   * @throws RdmaException if the device refuses; the state is then ERROR
   */
  public void toReadyToSend() {
    core.require(QueuePairState.READY_TO_RECEIVE, "sending");
    core.enterReadyToSend(false);
  }

  /** Begins no other datagram, as {@link QueuePair#drain()}; it still receives. */
  public void drain() {
    core.drain();
  }

  /** As {@link #drain()}, by the operation that does not touch the queue pair's context. */
  public void suspend() {
    core.suspend();
  }

  /**
   * Goes on after {@link #drain()} or {@link #suspend()}.
   *
   * @throws IllegalStateException if the state is not SEND_QUEUE_DRAINED
   */
  public void resume() {
    core.resume();
  }

  /** Whether a drain or suspension has ended: nothing of the send queue is in flight. */
  public boolean isDrained() {
    return core.isQuiet();
  }

  /**
   * Enters the error state: outstanding work, and work that is posted later, completes as flushed.
   */
  public void toError() {
    core.toError();
  }

  /**
   * Takes what is sent to a multicast group in no VLAN, too: as {@link #attachMulticast(Gid, int)}.
   */
  public void attachMulticast(Gid group) {
    attachMulticast(group, DatagramPath.NO_VLAN);
  }

  /**
   * Takes what is sent to a multicast group, too. A queue pair that attaches several times detaches
   * as often. Closing it detaches it.
   *
   * <p>A datagram is sent to a group by a handle of {@link DatagramPath#toGroup} and queue pair
   * {@link #MULTICAST_QPN}; the sender gets a copy only if it is a member.
   *
   * @param vlan VLAN, 0 to 4095, or {@link DatagramPath#NO_VLAN}
   * @throws IllegalArgumentException if the address is not a group's
   * @throws IllegalStateException if the queue pair is closed, or is that for general services
   * @throws RdmaException if the group has eight members or the device no room for another group,
   *     or if the device refuses; nothing has changed then
   */
  public void attachMulticast(Gid group, int vlan) {
    requireMember(group, vlan);
    core.device().multicastGroups().attach(group, vlan, qpn(), core.queueSet());
  }

  /** Leaves a multicast group in no VLAN: as {@link #detachMulticast(Gid, int)}. */
  public void detachMulticast(Gid group) {
    detachMulticast(group, DatagramPath.NO_VLAN);
  }

  /**
   * Leaves a multicast group once.
   *
   * @throws IllegalArgumentException if the queue pair is no member
   * @throws RdmaException if the device refuses; the queue pair is still a member
   */
  public void detachMulticast(Gid group, int vlan) {
    requireMember(group, vlan);
    core.device().multicastGroups().detach(group, vlan, qpn());
  }

  private void requireMember(Gid group, int vlan) {
    if (core.isClosed() || qpn() == QueuePairCore.GENERAL_SERVICES) {
      throw new IllegalStateException(
          "queue pair %d is %s: it can't be in a multicast group"
              .formatted(qpn(), core.isClosed() ? "closed" : "that for general services"));
    }
    if (!group.isMulticast()) {
      throw new IllegalArgumentException(group + " is not a multicast group");
    }
    if (vlan < DatagramPath.NO_VLAN || vlan > MAX_VLAN) {
      throw new IllegalArgumentException("vlan " + vlan + ": 0 to " + MAX_VLAN);
    }
  }

  /**
   * Posts a datagram of one entry.
   *
   * @param remoteQpn the queue pair there, or {@link #MULTICAST_QPN}
   * @param remoteKey its Q_Key; with the highest bit set, one's own is sent instead
   * @param flags of the constants of {@link QueuePair}
   * @return false if the queue is full
   */
  public boolean postSend(
      long wrId,
      AddressHandle to,
      int remoteQpn,
      int remoteKey,
      int lkey,
      long address,
      int length,
      int flags) {
    return postSend(wrId, to, remoteQpn, remoteKey, one.set(address, length, lkey), flags, 0);
  }

  /**
   * Posts a datagram of several entries, with {@link SendQueue#IMMEDIATE} data if that flag is set.
   */
  public boolean postSend(
      long wrId,
      AddressHandle to,
      int remoteQpn,
      int remoteKey,
      SgeList sges,
      int flags,
      int immediate) {
    return send.sendDatagram(wrId, flags, immediate, to.id(), remoteQpn, remoteKey, sges);
  }

  /** Posts a datagram of up to 101 bytes that are copied now. */
  public boolean postSendInline(
      long wrId,
      AddressHandle to,
      int remoteQpn,
      int remoteKey,
      MemorySegment source,
      long offset,
      int length,
      int flags) {
    return send.sendDatagramInline(
        wrId, flags, 0, to.id(), remoteQpn, remoteKey, source, offset, length);
  }

  /** Posts a receive of one entry. It needs no doorbell. */
  public boolean postReceive(long wrId, int lkey, long address, int length) {
    return receive.receive(wrId, one.set(address, length, lkey));
  }

  /** Posts a receive of several entries. It needs no doorbell. */
  public boolean postReceive(long wrId, SgeList sges) {
    return receive.receive(wrId, sges);
  }

  /** Hands everything posted to the send queue to the device. */
  public void ring() {
    send.ring();
  }

  /** The send queue, for work requests that have no method here. */
  public SendQueue sendQueue() {
    return send;
  }

  /** The receive queue. */
  public ReceiveQueue receiveQueue() {
    return receive;
  }

  /**
   * Leaves all multicast groups and destroys the queue pair; completions that were not polled are
   * dropped.
   *
   * @throws ControlQueueException if the device refuses; the queue pair is as it was, but for
   *     groups that it has left
   */
  @Override
  public void close() {
    if (core.isClosed()) {
      return;
    }
    RdmaDevice device = core.device();
    RdmaException left = null;
    try {
      device.multicastGroups().detachAll(qpn());
    } catch (ControlQueueException refused) {
      throw refused;
    } catch (RdmaException noAnswer) {
      left = noAnswer;
    }
    try {
      core.close(this, () -> giveBackNumber(device, core.qpn()));
    } catch (RdmaException e) {
      if (left == null) {
        throw e;
      }
      left.addSuppressed(e);
    }
    if (left != null) {
      throw left;
    }
  }
}
