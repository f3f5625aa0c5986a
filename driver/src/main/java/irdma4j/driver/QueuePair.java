package irdma4j.driver;

import irdma4j.driver.ring.QueuePairRings;
import irdma4j.driver.ring.ReceiveQueue;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CreateQp;
import irdma4j.hwregs.cqp.DestroyQp;
import irdma4j.hwregs.cqp.FlushWqes;
import irdma4j.hwregs.cqp.ModifyQp;
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

  private static final int ROCE_RC = 3;
  private static final int STATE_IDLE = 1;
  private static final int STATE_RTS = 2;
  private static final int STATE_RTR = 4;
  private static final int STATE_ERROR = 6;
  private static final int FLUSH_MAJOR = 1;

  /** The states of a queue pair. */
  public enum State {
    /** Receives may be posted. */
    INIT,
    /** Messages of the peer are received. */
    READY_TO_RECEIVE,
    /** Work may be posted to the send queue. */
    READY_TO_SEND,
    /** All work is flushed. */
    ERROR
  }

  private final RdmaDevice device;
  private final int qpn;
  private final int pdId;
  private final QueuePairConfig config;
  private final QueuePairMemory memory;
  private final QueuePairRings rings;
  private final SendQueue send;
  private final ReceiveQueue receive;
  private final SgeList one = new SgeList();
  private State state = State.INIT;
  private @Nullable ArpEntry arp;
  private boolean closed;

  private QueuePair(
      RdmaDevice device, int qpn, int pdId, QueuePairConfig config, QueuePairMemory memory) {
    this.device = device;
    this.qpn = qpn;
    this.pdId = pdId;
    this.config = config;
    this.memory = memory;
    send =
        new SendQueue(
            memory.sendRing(),
            memory.sendQuanta(),
            memory.shadow(),
            0,
            device.bar(),
            Registers.PFPE_WQEALLOC.offset(),
            qpn,
            config.sendSges(),
            config.inlineBytes(),
            device.config().doorbellPolicy());
    receive =
        new ReceiveQueue(
            memory.receiveRing(),
            memory.receiveQuanta(),
            memory.receiveShift(),
            config.receiveSges());
    rings = new QueuePairRings(qpn, send, receive);
  }

  static QueuePair create(RdmaDevice device, ProtectionDomain pd, QueuePairConfig config) {
    int qpn = device.qpIds().take();
    QueuePairMemory memory = null;
    try {
      memory = new QueuePairMemory(device.function(), config);
      QueuePair pair = new QueuePair(device, qpn, pd.id(), config, memory);
      pair.writeContext(null);
      device
          .control()
          .execute(
              new CreateQp(
                  qpn,
                  ROCE_RC,
                  memory.contextAddress(),
                  memory.shadowAddress(),
                  false,
                  false,
                  false,
                  true,
                  false,
                  true,
                  false,
                  STATE_IDLE));
      return pair;
    } catch (RuntimeException e) {
      if (memory != null) {
        memory.close();
      }
      device.qpIds().giveBack(qpn);
      throw e;
    }
  }

  private void writeContext(@Nullable RcPath path) {
    ArpEntry entry = arp;
    RoceContextWriter.write(
        memory.context(),
        device.config().macAddress(),
        pdId,
        config,
        memory,
        qpn,
        path,
        entry == null ? 0 : entry.index());
  }

  /** The queue pair's number, 24 bits. */
  public int qpn() {
    return qpn;
  }

  /** Its state, as the driver knows it. */
  public State state() {
    return state;
  }

  /**
   * Connects to a peer: enters ready-to-receive, then ready-to-send. The peer's packets are dropped
   * until it did the same.
   *
   * @throws IllegalStateException if it is connected or failed already
   * @throws RdmaException if the device refuses; the state is then ERROR
   */
  public void connect(RcPath path) {
    if (closed || state != State.INIT) {
      throw new IllegalStateException("queue pair " + qpn + " is " + (closed ? "closed" : state));
    }
    arp = device.arp().resolve(path.remoteGid(), path.remoteMac());
    writeContext(path);
    try {
      modify(STATE_RTR, false);
      state = State.READY_TO_RECEIVE;
      modify(STATE_RTS, true);
      state = State.READY_TO_SEND;
    } catch (RuntimeException e) {
      state = State.ERROR;
      throw e;
    }
  }

  private void modify(int next, boolean readLimits) {
    boolean toReady = next != STATE_ERROR;
    device
        .control()
        .execute(
            new ModifyQp(
                qpn,
                ROCE_RC,
                memory.contextAddress(),
                memory.shadowAddress(),
                false,
                0,
                0,
                readLimits,
                false,
                false,
                toReady,
                false,
                false,
                false,
                false,
                0,
                false,
                toReady,
                next));
  }

  /** Enters the error state: outstanding work completes as flushed. */
  public void toError() {
    if (state != State.ERROR) {
      modify(STATE_ERROR, false);
      state = State.ERROR;
      flush(FlushCode.GENERAL_ERR.code(), FlushCode.GENERAL_ERR.code());
    }
  }

  /** An event says that the device has put the queue pair into the error state. */
  void failed(AsyncEvent event) {
    if (state == State.ERROR || closed) {
      return;
    }
    state = State.ERROR;
    int code = AsyncErrors.flushCode(event.code()).code();
    int general = FlushCode.GENERAL_ERR.code();
    flush(event.isSendQueue() ? code : general, event.isReceiveQueue() ? code : general);
  }

  private void flush(int sendCode, int receiveCode) {
    device
        .control()
        .execute(
            new FlushWqes(
                0,
                0,
                receiveCode,
                FLUSH_MAJOR,
                sendCode,
                FLUSH_MAJOR,
                qpn,
                false,
                true,
                true,
                true));
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

  QueuePairRings rings() {
    return rings;
  }

  /** Destroys the queue pair; completions that were not polled are dropped. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    rings.close();
    device.forget(this);
    try {
      device
          .control()
          .execute(
              new DestroyQp(
                  qpn, ROCE_RC, memory.contextAddress(), memory.shadowAddress(), false, true));
    } finally {
      memory.close();
      device.qpIds().giveBack(qpn);
      ArpEntry entry = arp;
      if (entry != null) {
        device.arp().release(entry);
      }
    }
  }

  static boolean isQueuePairError(AsyncEvent event) {
    return !event.isCompletionQueue() && event.code() != AeCode.QP_SUSPEND_COMPLETE.code();
  }
}
