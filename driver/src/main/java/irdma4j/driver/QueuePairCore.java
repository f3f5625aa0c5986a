package irdma4j.driver;

import irdma4j.driver.ring.PushPage;
import irdma4j.driver.ring.QueuePairRings;
import irdma4j.driver.ring.ReceiveQueue;
import irdma4j.driver.ring.SendQueue;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CreateQp;
import irdma4j.hwregs.cqp.DestroyQp;
import irdma4j.hwregs.cqp.FlushWqes;
import irdma4j.hwregs.cqp.ManagePushPage;
import irdma4j.hwregs.cqp.ModifyQp;
import irdma4j.hwregs.cqp.ResumeQp;
import irdma4j.hwregs.cqp.SuspendQp;
import irdma4j.hwregs.qp.Queues;

/**
 * What queue pairs of every service have: a number, rings, memory, and a life that the control
 * queue pair steers.
 */
final class QueuePairCore {
  /** QP 1, the one for general services. */
  static final int GENERAL_SERVICES = 1;

  private static final int STATE_IDLE = 1;
  private static final int STATE_RTS = 2;
  private static final int STATE_SQD = 3;
  private static final int STATE_RTR = 4;
  private static final int STATE_ERROR = 6;
  private static final int FLUSH_MAJOR = 1;
  private static final int NO_QUEUE_SET = -1;

  /** The services, with the numbers that the device has for them. */
  enum Service {
    RELIABLE_CONNECTION(3),
    DATAGRAM(4);

    private final int code;

    Service(int code) {
      this.code = code;
    }
  }

  private final RdmaDevice device;
  private final Service service;
  private final int qpn;
  private final int pdId;
  private final QueuePairConfig config;
  private final QueuePairMemory memory;
  private final QueuePairRings rings;
  private final SendQueue send;
  private final ReceiveQueue receive;
  private QueuePairState state = QueuePairState.INIT;
  private int priority = NO_QUEUE_SET;
  private int queueSet;
  private int pushPage = Queues.NO_PUSH_PAGE;
  private boolean suspended;
  private boolean quiet;
  private boolean closed;

  QueuePairCore(
      RdmaDevice device, ProtectionDomain pd, Service service, int qpn, QueuePairConfig config) {
    this.device = device;
    this.service = service;
    this.qpn = qpn;
    this.pdId = pd.id();
    this.config = config;
    memory = new QueuePairMemory(device.function(), config);
    try {
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
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
  }

  /** Creates the queue pair from the context that is written; its memory is back if that fails. */
  void create(Runnable writeContext) {
    try {
      writeContext.run();
      device
          .control()
          .execute(
              new CreateQp(
                  qpn,
                  service.code,
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
    } catch (RuntimeException e) {
      try {
        releasePushPage();
        releaseQueueSet();
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      } finally {
        memory.close();
      }
      throw e;
    }
  }

  /**
   * Takes a push page for the next context that is written, if one is wanted and the device has one
   * left; without it everything works, too.
   */
  void takePushPage() {
    if (!config.push() || pushPage != Queues.NO_PUSH_PAGE) {
      return;
    }
    int index;
    try {
      index = (int) device.control().execute(new ManagePushPage(queueSet, 0, 0, false));
    } catch (ControlQueueException refused) {
      return;
    }
    pushPage = index;
    PushPage page = new PushPage(device.bar(), index);
    if (page.isInBar()) {
      send.usePushPage(page);
    } else {
      releasePushPage();
    }
  }

  private void releasePushPage() {
    if (pushPage != Queues.NO_PUSH_PAGE) {
      int index = pushPage;
      pushPage = Queues.NO_PUSH_PAGE;
      device.control().execute(new ManagePushPage(queueSet, index, 0, true));
    }
  }

  /** The push page that the device is told of, or {@link Queues#NO_PUSH_PAGE}. */
  int pushPage() {
    return pushPage;
  }

  /** As {@link #useQueueSet}, by the user priority of a type of service or traffic class. */
  void useQueueSetOf(int typeOfService) {
    QualityOfService quality = device.config().qualityOfService();
    if (quality != null) {
      useQueueSet(quality.priority(typeOfService));
    }
  }

  /** Sends by the queue set of a user priority from the next context that is written on. */
  void useQueueSet(int wanted) {
    WorkScheduler scheduler = device.workScheduler();
    if (scheduler != null && wanted != priority) {
      queueSet = scheduler.acquire(wanted);
      int was = priority;
      priority = wanted;
      if (was != NO_QUEUE_SET) {
        scheduler.release(was);
      }
    }
  }

  private void releaseQueueSet() {
    WorkScheduler scheduler = device.workScheduler();
    if (scheduler != null && priority != NO_QUEUE_SET) {
      int was = priority;
      priority = NO_QUEUE_SET;
      scheduler.release(was);
    }
  }

  /** The queue set that it sends by. */
  int queueSet() {
    return queueSet;
  }

  RdmaDevice device() {
    return device;
  }

  QueuePairMemory memory() {
    return memory;
  }

  QueuePairConfig config() {
    return config;
  }

  int qpn() {
    return qpn;
  }

  int pdId() {
    return pdId;
  }

  SendQueue send() {
    return send;
  }

  ReceiveQueue receive() {
    return receive;
  }

  QueuePairRings rings() {
    return rings;
  }

  QueuePairState state() {
    return state;
  }

  /** Refuses what the queue pair cannot do in its state. */
  void require(QueuePairState needed, String what) {
    if (closed || state != needed) {
      throw new IllegalStateException(
          "queue pair %d is %s: %s needs %s"
              .formatted(qpn, closed ? "closed" : state, what, needed));
    }
  }

  /** From INIT, with the context that was written. */
  void enterReadyToReceive() {
    modify(STATE_RTR, false, QueuePairState.READY_TO_RECEIVE);
  }

  /** From READY_TO_RECEIVE, with the context that was written. */
  void enterReadyToSend(boolean readLimits) {
    modify(STATE_RTS, readLimits, QueuePairState.READY_TO_SEND);
  }

  /** What was fetched is finished, nothing more is begun. */
  void drain() {
    require(QueuePairState.READY_TO_SEND, "a drain");
    quiet = false;
    modify(STATE_SQD, false, QueuePairState.SEND_QUEUE_DRAINED);
  }

  void suspend() {
    require(QueuePairState.READY_TO_SEND, "a suspension");
    quiet = false;
    device.control().execute(new SuspendQp(qpn));
    suspended = true;
    state = QueuePairState.SEND_QUEUE_DRAINED;
  }

  void resume() {
    require(QueuePairState.SEND_QUEUE_DRAINED, "going on");
    if (suspended) {
      device.control().execute(new ResumeQp(queueSet, qpn));
      suspended = false;
      state = QueuePairState.READY_TO_SEND;
    } else {
      modify(STATE_RTS, false, QueuePairState.READY_TO_SEND);
    }
  }

  /** Whether the device has said that nothing of the send queue is in flight. */
  boolean isQuiet() {
    return state == QueuePairState.SEND_QUEUE_DRAINED && quiet;
  }

  private void modify(int next, boolean readLimits, QueuePairState reached) {
    boolean toReady = next != STATE_ERROR;
    try {
      device
          .control()
          .execute(
              new ModifyQp(
                  qpn,
                  service.code,
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
      state = reached;
    } catch (RuntimeException e) {
      state = QueuePairState.ERROR;
      throw e;
    }
  }

  void toError() {
    if (!closed && state != QueuePairState.ERROR) {
      modify(STATE_ERROR, false, QueuePairState.ERROR);
      flush(FlushCode.GENERAL_ERR.code(), FlushCode.GENERAL_ERR.code());
    }
  }

  /** An event of the queue pair: a drain that has ended, or an error that the device found. */
  void happened(AsyncEvent event) {
    if (closed || event.isCompletionQueue()) {
      return;
    }
    if (event.code() == AeCode.QP_SUSPEND_COMPLETE.code()) {
      quiet = true;
    } else if (state != QueuePairState.ERROR) {
      state = QueuePairState.ERROR;
      FlushCode reason = AsyncErrors.flushCode(event.code());
      flush(
          AsyncErrors.queueCode(reason, event.isSendQueue()).code(),
          AsyncErrors.queueCode(reason, event.isReceiveQueue()).code());
    }
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
    // The device has ended the flush, so what is posted from now on is nobody's but the driver's.
    config.sendQueue().addFlushed(rings, true);
    config.receiveQueue().addFlushed(rings, false);
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Destroys the queue pair. To be called once, and again after a refusal.
   *
   * @param owner the queue pair whose core this is
   * @param gone called when the device has forgotten it
   * @throws ControlQueueException if the device refuses; nothing has changed
   */
  void close(AutoCloseable owner, Runnable gone) {
    device.destroy(
        owner,
        new DestroyQp(
            qpn, service.code, memory.contextAddress(), memory.shadowAddress(), false, true),
        () -> {
          config.sendQueue().removeFlushed(rings);
          config.receiveQueue().removeFlushed(rings);
          try {
            gone.run();
          } finally {
            try {
              releasePushPage();
            } finally {
              releaseQueueSet();
            }
          }
        });
  }

  /** Gives the memory back; the device has forgotten the queue pair. */
  void release() {
    closed = true;
    rings.close();
    memory.close();
  }
}
