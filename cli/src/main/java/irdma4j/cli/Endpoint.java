package irdma4j.cli;

import irdma4j.driver.Access;
import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * One side of the transfer: a device with a queue pair for IPv4 and one for IPv6, both completing
 * into one queue, and a page of memory for control messages.
 */
final class Endpoint {
  private static final int DEPTH = 64;

  /** Bytes of memory that a side needs for messages. */
  static final long MESSAGE_BYTES = 4 * 4096L;

  private static final int MESSAGE = 64;
  private static final int RECEIVES = 32;
  private static final long EVENT_NANOS = 1_000_000;
  private static final long MESSAGE_ADDRESS = 0x1_0000_0000L;

  private final String name;
  private final RdmaDevice device;
  private final Gid ipv4;
  private final Gid ipv6;
  private final int psn;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final QueuePair control;
  private final QueuePair data;
  private final DmaMemory messages;
  private final MemoryRegion messageRegion;
  private final Completion completion = new Completion();
  private final List<AsyncEvent> events = new ArrayList<>();

  /**
   * A side that is not connected yet, with all its receives posted.
   *
   * @param messages memory of {@link #MESSAGE_BYTES} for messages, which must outlive the device
   */
  Endpoint(String name, RdmaDevice device, DmaMemory messages, String ipv4, String ipv6, int psn) {
    this.name = name;
    this.device = device;
    this.ipv4 = Gid.of(ipv4);
    this.ipv6 = Gid.of(ipv6);
    this.psn = psn;
    device.onAsyncEvent(events::add);
    domain = device.allocateProtectionDomain();
    queue = device.createCompletionQueue(4 * DEPTH);
    QueuePairConfig config = QueuePairConfig.of(queue).withRequests(DEPTH, DEPTH);
    control = domain.createQueuePair(config);
    data = domain.createQueuePair(config);
    this.messages = messages;
    messageRegion =
        domain.registerMemory(
            messages, 0, messages.size(), MESSAGE_ADDRESS, PbleLevels.ANY, Access.LOCAL_WRITE);
    for (int slot = 0; slot < RECEIVES; slot++) {
      postReceive(slot);
    }
  }

  /** What the peer needs to know of this side. */
  record Address(Gid ipv4, Gid ipv6, long mac, int controlQpn, int dataQpn, int psn) {}

  Address address() {
    return new Address(ipv4, ipv6, device.macAddress(), control.qpn(), data.qpn(), psn);
  }

  void connect(Address peer) {
    control.connect(RcPath.of(ipv4, peer.ipv4(), peer.mac(), peer.controlQpn(), psn, peer.psn()));
    data.connect(RcPath.of(ipv6, peer.ipv6(), peer.mac(), peer.dataQpn(), psn, peer.psn()));
  }

  String name() {
    return name;
  }

  RdmaDevice device() {
    return device;
  }

  ProtectionDomain domain() {
    return domain;
  }

  /** The queue pair over IPv4, for control messages and WRITEs. */
  QueuePair control() {
    return control;
  }

  /** The queue pair over IPv6, for READs. */
  QueuePair data() {
    return data;
  }

  MemoryRegion messageRegion() {
    return messageRegion;
  }

  /** Sends a message of four numbers. */
  void send(Message message) {
    long offset = (long) RECEIVES * MESSAGE;
    message.write(messages.segment(), offset);
    if (!control.postSend(
        0,
        messageRegion.lkey(),
        messageRegion.address() + offset,
        Message.SIZE,
        QueuePair.SIGNALED)) {
      throw new RdmaException(name + ": the send queue is full");
    }
    control.ring();
  }

  /** The message in a receive's slot; the receive is posted again. */
  Message take(Completion receive) {
    int slot = (int) receive.wrId();
    Message message = Message.read(messages.segment(), (long) slot * MESSAGE);
    postReceive(slot);
    return message;
  }

  /** Posts the receive that a WRITE with immediate has consumed. */
  void postReceive(int slot) {
    long address = messageRegion.address() + (long) slot * MESSAGE;
    if (!control.postReceive(slot, messageRegion.lkey(), address, MESSAGE)) {
      throw new RdmaException(name + ": the receive queue is full");
    }
  }

  /**
   * Handles all completions there are.
   *
   * @return how many there were
   * @throws RdmaException if one of them failed, or an asynchronous event told of a failure
   */
  int poll(Consumer<Completion> handler) {
    if (!events.isEmpty()) {
      throw new RdmaException(name + ": " + events);
    }
    int count = 0;
    while (queue.poll(completion)) {
      if (!completion.isSuccess()) {
        awaitEvent(EVENT_NANOS);
        throw new RdmaException(
            "%s: %s%s".formatted(name, completion, events.isEmpty() ? "" : " after " + events));
      }
      handler.accept(completion);
      count++;
    }
    return count;
  }

  /** Asks for an event and handles what came before it was asked for. */
  int arm(Consumer<Completion> handler) {
    queue.arm();
    return poll(handler);
  }

  boolean awaitEvent(long nanos) {
    return device.processEvents(0, nanos);
  }
}
