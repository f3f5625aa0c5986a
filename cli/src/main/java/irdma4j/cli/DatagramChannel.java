package irdma4j.cli;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaException;
import irdma4j.driver.cm.ReceivedPath;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import org.jspecify.annotations.Nullable;

/** A queue pair for datagrams with a completion queue and memory for one message, and its peer. */
final class DatagramChannel implements AutoCloseable {
  /** The Q_Key that rdma_cm gives to all queue pairs of its port space UDP. */
  static final int QUEUE_KEY = 0x0123_4567;

  private static final int HEADER = DatagramQueuePair.HEADER_BYTES;

  private final CabledPort port;
  private final int size;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final DatagramQueuePair pair;
  private final DmaMemory memory;
  private final MemoryRegion region;
  private final Completion completion = new Completion();
  private final SgeList one = new SgeList();
  private @Nullable AddressHandle peer;
  private int peerQpn;
  private int peerKey;
  private int sends;
  private int receives;

  /**
   * Makes it and posts its receives.
   *
   * @param count messages each way
   */
  DatagramChannel(CabledPort port, int size, int count) {
    this.port = port;
    this.size = size;
    domain = port.device().allocateProtectionDomain();
    queue = port.device().createCompletionQueue(2 * count);
    pair =
        domain.createDatagramQueuePair(
            QueuePairConfig.of(queue).withRequests(count, count), port.settings().mtu(), QUEUE_KEY);
    memory = port.device().allocateMemory((long) HEADER + size, DmaPlacement.SCATTERED);
    region = domain.registerMemory(memory, Access.LOCAL_WRITE);
    for (int i = 0; i < count; i++) {
      check(pair.postReceive(0, region.lkey(), region.address(), HEADER + size));
    }
  }

  DatagramQueuePair pair() {
    return pair;
  }

  /** Says who the peer is. */
  void to(DatagramPath path, int qpn, int key) {
    peer = domain.createAddressHandle(path);
    peerQpn = qpn;
    peerKey = key;
  }

  /** Sends messages whose immediate data is the own queue pair's number. */
  void send(int count) {
    AddressHandle to = peer;
    if (to == null) {
      throw new IllegalStateException("no peer");
    }
    one.set(region.address(), size, region.lkey());
    int flags = QueuePair.SIGNALED | SendQueue.IMMEDIATE;
    for (int i = 0; i < count; i++) {
      check(pair.postSend(0, to, peerQpn, peerKey, one, flags, pair.qpn()));
    }
    pair.ring();
  }

  private static void check(boolean posted) {
    if (!posted) {
      throw new RdmaException("the queue is full");
    }
  }

  private void poll() {
    while (queue.poll(completion)) {
      if (!completion.isSuccess()) {
        throw new RdmaException(completion.toString());
      }
      if (completion.isSend()) {
        sends++;
        continue;
      }
      receives++;
      if (peer == null) {
        // Whoever sends first is the peer, and names its queue pair.
        if (!completion.hasImmediate()) {
          throw new RdmaException("a message without its sender's queue pair");
        }
        to(ReceivedPath.reply(memory.segment(), 0, completion), completion.immediate(), QUEUE_KEY);
      }
    }
  }

  void awaitSends(int count) {
    port.awaitThat(
        () -> {
          poll();
          return sends >= count;
        },
        "completions of the send queue");
    sends -= count;
  }

  void awaitReceives(int count) {
    port.awaitThat(
        () -> {
          poll();
          return receives >= count;
        },
        "messages");
    receives -= count;
  }

  @Override
  public void close() {
    pair.close();
    AddressHandle to = peer;
    if (to != null) {
      to.close();
    }
    region.close();
    memory.close();
    queue.close();
    domain.close();
  }
}
