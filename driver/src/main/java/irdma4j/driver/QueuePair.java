package irdma4j.driver;

import irdma4j.driver.ring.ReceiveQueue;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.uapi.DmaMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A reliable connected queue pair over RoCEv2.
 *
 * <p>The post methods write a work request and ring nothing; {@link #ring()} hands all that was
 * posted to the device. They allocate nothing and take no lock. One thread at a time may post to a
 * queue pair, and the same or an ordered thread polls its completion queues.
 *
 * <p>It belongs to its device until closed.
 */
public final class QueuePair implements AutoCloseable {
  /** The work is to leave a completion even if it succeeds. */
  public static final int SIGNALED = SendQueue.SIGNALED;

  /** Start only after all earlier READs of this queue pair. */
  public static final int READ_FENCE = SendQueue.READ_FENCE;

  /** Start only after all earlier work of this queue pair. */
  public static final int LOCAL_FENCE = SendQueue.LOCAL_FENCE;

  /** The peer's completion raises a solicited event. */
  public static final int SOLICITED = SendQueue.SOLICITED;

  private final QueuePairCore core;
  private final SendQueue send;
  private final ReceiveQueue receive;
  private final SgeList one = new SgeList();
  private @Nullable RcPath path;
  private @Nullable ArpEntry arp;

  private QueuePair(QueuePairCore core) {
    this.core = core;
    send = core.send();
    receive = core.receive();
  }

  static QueuePair create(RdmaDevice device, ProtectionDomain pd, QueuePairConfig config) {
    int qpn = device.qpIds().take();
    try {
      QueuePair pair =
          new QueuePair(
              new QueuePairCore(
                  device, pd, QueuePairCore.Service.RELIABLE_CONNECTION, qpn, config));
      pair.core.create(pair::writeContext);
      return pair;
    } catch (RuntimeException e) {
      device.qpIds().giveBack(qpn);
      throw e;
    }
  }

  private void writeContext() {
    ArpEntry entry = arp;
    RoceContextWriter.write(core, path, entry == null ? 0 : entry.index());
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

  /**
   * Connects to a peer: enters ready-to-receive, then ready-to-send. The peer's packets are dropped
   * until it did the same.
   *
   * @throws IllegalStateException if it is connected or failed already
   * @throws RdmaException if the device refuses; the state is then ERROR
   */
  public void connect(RcPath peer) {
    toReadyToReceive(peer);
    toReadyToSend();
  }

  /**
   * Takes messages of a peer from now on.
   *
   * @throws IllegalStateException if the state is not INIT
   * @throws RdmaException if the device refuses; the state is then ERROR
   */
  public void toReadyToReceive(RcPath peer) {
    core.require(QueuePairState.INIT, "a path to a peer");
    releaseArp();
    arp = core.device().arp().resolve(peer.remoteGid(), peer.remoteMac());
    core.useQueueSetOf(peer.trafficClass());
    path = peer;
    writeContext();
    core.enterReadyToReceive();
  }

  /**
   * Does what is posted to the send queue from now on.
   *
   * @throws IllegalStateException if the state is not READY_TO_RECEIVE
   * @throws RdmaException if the device refuses; the state is then ERROR
   */
  public void toReadyToSend() {
    core.require(QueuePairState.READY_TO_RECEIVE, "sending");
    core.takePushPage();
    writeContext();
    core.enterReadyToSend(true);
  }

  /**
   * Finishes the work that the device has begun and begins no other. {@link #isDrained()} says when
   * it is finished; that is an asynchronous event, so {@link RdmaDevice#processEvents} brings it
   * in.
   *
   * @throws IllegalStateException if the state is not READY_TO_SEND
   */
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
   * Posts a SEND of one entry.
   *
   * @param flags of the constants here
   * @return false if the queue is full
   */
  public boolean postSend(long wrId, int lkey, long address, int length, int flags) {
    return send.send(wrId, flags, 0, 0, one.set(address, length, lkey));
  }

  /** Posts a SEND of several entries, with {@link SendQueue#IMMEDIATE} data if that flag is set. */
  public boolean postSend(long wrId, SgeList sges, int flags, int immediate, int invalidate) {
    return send.send(wrId, flags, immediate, invalidate, sges);
  }

  /** Posts a SEND of up to 101 bytes that are copied now. */
  public boolean postSendInline(
      long wrId, MemorySegment source, long offset, int length, int flags) {
    return send.sendInline(wrId, flags, 0, 0, source, offset, length);
  }

  /**
   * Posts an RDMA WRITE of one entry.
   *
   * @param remoteAddress virtual address at the peer
   * @param rkey the peer's key
   * @return false if the queue is full
   */
  public boolean postWrite(
      long wrId, int lkey, long address, int length, long remoteAddress, int rkey, int flags) {
    return send.write(wrId, flags, 0, remoteAddress, rkey, one.set(address, length, lkey));
  }

  /** Posts an RDMA WRITE with immediate data, which consumes a receive of the peer. */
  public boolean postWriteImmediate(
      long wrId,
      int lkey,
      long address,
      int length,
      long remoteAddress,
      int rkey,
      int immediate,
      int flags) {
    return send.write(
        wrId,
        flags | SendQueue.IMMEDIATE,
        immediate,
        remoteAddress,
        rkey,
        one.set(address, length, lkey));
  }

  /** Posts an RDMA READ into one entry. */
  public boolean postRead(
      long wrId, int lkey, long address, int length, long remoteAddress, int rkey, int flags) {
    return send.read(wrId, flags, remoteAddress, rkey, one.set(address, length, lkey));
  }

  /**
   * Posts a SEND of up to 101 bytes that are copied now, with immediate data if that flag is set.
   */
  public boolean postSendInline(
      long wrId, MemorySegment source, long offset, int length, int flags, int immediate) {
    return send.sendInline(wrId, flags, immediate, 0, source, offset, length);
  }

  /** Posts a SEND of one entry after which the peer's key is no longer valid. */
  public boolean postSendInvalidate(
      long wrId, int lkey, long address, int length, int rkey, int flags) {
    return send.send(wrId, flags, 0, rkey, one.set(address, length, lkey));
  }

  /** Posts an RDMA WRITE of several entries. */
  public boolean postWrite(long wrId, SgeList sges, long remoteAddress, int rkey, int flags) {
    return send.write(wrId, flags, 0, remoteAddress, rkey, sges);
  }

  /** Posts an RDMA WRITE of up to 101 bytes that are copied now. */
  public boolean postWriteInline(
      long wrId,
      MemorySegment source,
      long offset,
      int length,
      long remoteAddress,
      int rkey,
      int flags) {
    return send.writeInline(wrId, flags, 0, remoteAddress, rkey, source, offset, length);
  }

  /** Posts an RDMA READ into several entries. */
  public boolean postRead(long wrId, SgeList sink, long remoteAddress, int rkey, int flags) {
    return send.read(wrId, flags, remoteAddress, rkey, sink);
  }

  /** Posts an RDMA READ into one entry whose key is no longer valid when it is done. */
  public boolean postReadInvalidate(
      long wrId, int lkey, long address, int length, long remoteAddress, int rkey, int flags) {
    return send.readInvalidate(wrId, flags, remoteAddress, rkey, one.set(address, length, lkey));
  }

  /**
   * Posts the binding of a window to a part of a region, under the window's next key: from now on
   * {@link MemoryWindow#rkey()} is the new one, valid once the work is done.
   *
   * @param address first byte, a virtual address of the region
   * @param length bytes; 0 unbinds a window of type 1
   * @param access what the peer may do: REMOTE_READ, REMOTE_WRITE
   * @return false if the queue is full; nothing has changed then
   * @throws IllegalArgumentException if window, region and queue pair are not of one protection
   *     domain, or the part leaves the region
   */
  public boolean postBind(
      long wrId,
      MemoryWindow window,
      MemoryRegion region,
      long address,
      long length,
      int flags,
      Access... access) {
    return window.bind(core, wrId, region, address, length, flags, true, access);
  }

  /** As {@link #postBind}, for a window of type 2 that the peer addresses from 0 on. */
  public boolean postBindZeroBased(
      long wrId,
      MemoryWindow window,
      MemoryRegion region,
      long address,
      long length,
      int flags,
      Access... access) {
    return window.bind(core, wrId, region, address, length, flags, false, access);
  }

  /**
   * Posts the registration of memory with a {@link FastRegion}, under its next key: from now on
   * {@link FastRegion#key()} is the new one, valid once the work is done.
   *
   * @param memory what it is to hold, with at most {@link FastRegion#maxPages()} pages
   * @param access the rights beyond the owner's right to read
   * @return false if the queue is full; nothing has changed then
   * @throws IllegalArgumentException if region and queue pair are not of one protection domain, or
   *     the memory does not fit: it has too many pages, or one whose IOVAs are not a run that
   *     begins at a multiple of the page's size
   */
  public boolean postFastRegister(
      long wrId,
      FastRegion region,
      DmaMemory memory,
      long offset,
      long length,
      int flags,
      Access... access) {
    return region.register(
        core, wrId, memory, offset, length, memory.segment().address() + offset, flags, access);
  }

  /**
   * The same under addresses of the caller's choice, not those of the process.
   *
   * @param address what the first byte is called in work requests, here and at the peer; it has the
   *     same place in a page of the region's as the byte's IOVA
   */
  public boolean postFastRegister(
      long wrId,
      FastRegion region,
      DmaMemory memory,
      long offset,
      long length,
      long address,
      int flags,
      Access... access) {
    return region.register(core, wrId, memory, offset, length, address, flags, access);
  }

  /** Posts the invalidation of a key of one's own: of a fast region, or a window of type 2. */
  public boolean postInvalidate(long wrId, int key, int flags) {
    return send.invalidate(wrId, flags, key);
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
   * Destroys the queue pair; completions that were not polled are dropped.
   *
   * @throws ControlQueueException if the device refuses; nothing has changed then
   */
  @Override
  public void close() {
    if (core.isClosed()) {
      return;
    }
    RdmaDevice device = core.device();
    core.close(
        this,
        () -> {
          device.qpIds().giveBack(core.qpn());
          releaseArp();
        });
  }

  private void releaseArp() {
    ArpEntry entry = arp;
    if (entry != null) {
      arp = null;
      core.device().arp().release(entry);
    }
  }
}
