package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.device.CompletionEntry;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.PushPage;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The sending side of a reliable connection: fetches send WQEs, cuts messages into packets, and
 * keeps each WQE until the peer has acknowledged all of it. What is lost is sent again from the
 * oldest PSN that the peer lacks (go-back-N). Source of the rules: InfiniBand Architecture
 * Specification, volume 1, 9.7.
 */
final class Requester {
  /** Packets after which an acknowledgement is asked for inside a message or a run of messages. */
  private static final int ACK_EVERY = 16;

  private static final int MAX_BACKOFF = 5;
  private static final int RNR_WITHOUT_END = 7;

  private final Core core;
  private final DeviceServices services;
  private final Datagrams datagrams;

  Requester(Core core, Datagrams datagrams) {
    this.core = core;
    this.datagrams = datagrams;
    this.services = core.services;
  }

  /**
   * Sends up to a number of packets.
   *
   * @return what is left of the number; more than 0 if there is nothing to do for now
   */
  int run(QpState qp, int budget) {
    int left = budget;
    while (left > 0 && qp.canSend() && !qp.rnrWaiting) {
      if (qp.cursor == qp.inFlight.tail && !nextWork(qp)) {
        break;
      }
      if (qp.cursor == qp.failedEntry || !loadWork(qp) || !mayStart(qp)) {
        break;
      }
      byte kind = qp.inFlight.kind(qp.cursor);
      if (qp.work.carriesData() && !services.transmitReady()) {
        break;
      }
      boolean done =
          switch (kind) {
            case InFlight.KIND_LOCAL -> runLocal(qp);
            case InFlight.KIND_READ -> sendReadRequest(qp);
            default -> sendPacket(qp);
          };
      if (!done) {
        break;
      }
      left--;
    }
    return left;
  }

  /** Fetches the next WQE; without one, the tail is published before the device goes to sleep. */
  private boolean nextWork(QpState qp) {
    if (qp.state == QpState.SEND_DRAINED) {
      return false;
    }
    if (fetch(qp)) {
      return true;
    }
    if (qp.state == QpState.ERROR) {
      return false;
    }
    services.writeHostWord(qp.shadowArea, QpShadow.HW_SQ_TAIL.encode(qp.sqIndex));
    // The driver stores a valid bit, fences, and reads this tail; the device stores the tail,
    // fences, and reads the valid bit: one of the two sees the other's store.
    VarHandle.fullFence();
    return fetch(qp);
  }

  private boolean fetch(QpState qp) {
    int index = qp.sqIndex;
    boolean pushed = isPushed(qp, index);
    PushPage push = qp.push;
    long header =
        pushed && push != null
            ? push.header(index)
            : services.readSendHeader(wqeAddress(qp, index) + 24, qp.sqPolarity);
    if (header >>> 63 != qp.sqPolarity) {
      return false;
    }
    int quanta = SendWork.quanta(header);
    services.counters().sendWqes++;
    qp.advanceSq(quanta);
    SendWork work = qp.work;
    int code =
        (index & SendWork.MAX_QUANTA - 1) + quanta > SendWork.MAX_QUANTA
            ? AeCode.WQE_INVALID_FRAG_DATA.code()
            : pushed ? parsePushed(qp, index, quanta, work) : parse(qp, index, quanta, work);
    if (push != null) {
      qp.pushLost |= !pushed && push.holdsAny() && SqWqe.PUSHWQE.isSet(header);
      push.forget(index, quanta);
    }
    if (code == 0 && work.carriesData()) {
      code = work.checkLocal(services, qp.pdId, qp.id);
    }
    if (code == 0 && work.isRead() && qp.readsOut == 0 && qp.type != QpState.TYPE_UD) {
      code = AeCode.RDMA_READ_WHILE_ORD_ZERO.code();
    }
    byte kind = InFlight.KIND_LOCAL;
    int packets = 0;
    int ssn = qp.nextSsn;
    if (code == 0 && work.carriesData() && qp.type != QpState.TYPE_UD) {
      kind = work.isRead() ? InFlight.KIND_READ : InFlight.KIND_REQUEST;
      packets = qp.packetsOf(work.length);
      qp.nextSsn = Psn.add(qp.nextSsn, 1);
    }
    int opcode = (int) SqWqe.OPCODE.decode(header);
    long entry =
        qp.inFlight.add(
            index, qp.nextPsn, packets, ssn, kind, opcode, SqWqe.SIGCOMPL.isSet(header));
    qp.workEntry = entry;
    qp.nextPsn = Psn.add(qp.nextPsn, packets);
    if (code != 0) {
      qp.failedEntry = entry;
      qp.failedCode = code;
      retire(qp);
    }
    return qp.state != QpState.ERROR;
  }

  private long wqeAddress(QpState qp, int index) {
    return services.ringAddress(qp.sqBase, qp.virtualQueues, (long) index * SendWork.QUANTUM);
  }

  /** Whether the whole WQE came through the push page, for this round of the ring. */
  private static boolean isPushed(QpState qp, int index) {
    PushPage push = qp.push;
    if (push == null || !push.holds(index, 1)) {
      return false;
    }
    long header = push.header(index);
    return header >>> 63 == qp.sqPolarity && push.holds(index, SendWork.quanta(header));
  }

  private int parsePushed(QpState qp, int index, int quanta, SendWork work) {
    PushPage push = qp.push;
    if (push != null) {
      services.counters().pushedWqes++;
      push.copy(index, quanta, core.wqe);
      services
          .watch()
          .wqe(
              DeviceEvent.Ring.SEND,
              qp.id,
              index,
              true,
              core.wqe,
              (long) quanta * SendWork.QUANTUM);
    }
    return work.parse(core.wqe);
  }

  private int parse(QpState qp, int index, int quanta, SendWork work) {
    long address = wqeAddress(qp, index);
    if (!services.readHost(address, core.wqe, 0, (long) quanta * SendWork.QUANTUM)) {
      return Core.fault();
    }
    services
        .watch()
        .wqe(
            DeviceEvent.Ring.SEND, qp.id, index, false, core.wqe, (long) quanta * SendWork.QUANTUM);
    return work.parse(core.wqe);
  }

  /** Makes sure that the WQE at the cursor is taken apart. */
  private boolean loadWork(QpState qp) {
    if (qp.workEntry == qp.cursor) {
      return true;
    }
    if (!reload(qp, qp.cursor, qp.work)) {
      return false;
    }
    qp.workEntry = qp.cursor;
    return true;
  }

  /** Reads a WQE that is in flight once more; it stays in its ring until its completion. */
  private boolean reload(QpState qp, long entry, SendWork work) {
    int index = qp.inFlight.wqeIndex(entry);
    long header = services.readHostWord(wqeAddress(qp, index) + 24);
    int code = parse(qp, index, SendWork.quanta(header), work);
    boolean same = code == 0 && SqWqe.OPCODE.decode(header) == qp.inFlight.opcode(entry);
    int packets = qp.inFlight.packets(entry);
    if (same && packets != 0) {
      same = work.carriesData() && qp.packetsOf(work.length) == packets;
    }
    if (!same) {
      core.failSend(qp, index, AeCode.WQE_INVALID_PARAMETER.code());
    }
    return same;
  }

  /** Whether fences, READ limit and window let the packet at the cursor go. */
  private boolean mayStart(QpState qp) {
    SendWork work = qp.work;
    long entry = qp.cursor;
    boolean fresh = entry >= qp.frontier;
    if (fresh && qp.type != QpState.TYPE_UD) {
      if (work.localFence && entry != qp.inFlight.head) {
        return false;
      }
      if (work.readFence && qp.readsInFlight != 0) {
        return false;
      }
    }
    byte kind = qp.inFlight.kind(entry);
    if (kind == InFlight.KIND_LOCAL) {
      return true;
    }
    int psn = Psn.add(qp.inFlight.firstPsn(entry), qp.cursorPacket);
    int outstanding = Psn.distance(qp.unackedPsn, psn);
    if (kind == InFlight.KIND_READ) {
      int packets = qp.inFlight.packets(entry) - qp.cursorPacket;
      return qp.readsInFlight < qp.readsOut
          && (outstanding == 0 || (outstanding < qp.window && outstanding + packets < 1 << 23));
    }
    boolean takesReceive = work.isSend() || work.immediateValid;
    boolean beyondCredits =
        takesReceive
            && !qp.creditsUnlimited
            && Psn.distance(qp.inFlight.ssn(entry), qp.creditLimit) < 0;
    return outstanding < qp.window && (!beyondCredits || outstanding == 0);
  }

  private boolean sendPacket(QpState qp) {
    long entry = qp.cursor;
    SendWork work = qp.work;
    int packet = qp.cursorPacket;
    int packets = qp.inFlight.packets(entry);
    int psn = Psn.add(qp.inFlight.firstPsn(entry), packet);
    boolean last = packet == packets - 1;
    long offset = (long) packet * qp.mtu;
    int payload = (int) Math.min(qp.mtu, work.length - offset);
    int opcode = opcode(work, packet == 0, last);
    if (!core.output.begin(qp, opcode, psn, payload)) {
      core.failSend(qp, qp.inFlight.wqeIndex(entry), AeCode.INVALID_ARP_ENTRY.code());
      return false;
    }
    RoceFrame frame = core.output.frame;
    frame.solicited = last && work.solicited();
    qp.sinceAckRequest++;
    boolean windowCloses = Psn.distance(qp.unackedPsn, psn) + 1 >= qp.window;
    frame.ackRequest =
        (last && (work.signaled || entry + 1 == qp.inFlight.tail))
            || qp.sinceAckRequest >= ACK_EVERY
            || windowCloses;
    if (frame.ackRequest) {
      qp.sinceAckRequest = 0;
    }
    if (work.isWrite()) {
      frame.remoteAddress = work.remoteAddress();
      frame.remoteKey = work.remoteStag();
      frame.dmaLength = (int) work.length;
    }
    frame.immediate = work.immediate;
    frame.invalidateKey = work.remoteStag();
    core.output.headers();
    int code = work.gather(services, qp, offset, payload, core.output.memory, frame.payloadOffset);
    if (code != 0) {
      core.failSend(qp, qp.inFlight.wqeIndex(entry), code);
      return false;
    }
    core.output.send(qp);
    sent(qp, psn, 1);
    if (last) {
      step(qp);
    } else {
      qp.cursorPacket++;
      qp.frontier = Math.max(qp.frontier, entry + 1);
    }
    return true;
  }

  private static int opcode(SendWork work, boolean first, boolean last) {
    if (work.isWrite()) {
      if (!last) {
        return first ? BthOpcode.WRITE_FIRST : BthOpcode.WRITE_MIDDLE;
      }
      if (work.immediateValid) {
        return first ? BthOpcode.WRITE_ONLY_IMMEDIATE : BthOpcode.WRITE_LAST_IMMEDIATE;
      }
      return first ? BthOpcode.WRITE_ONLY : BthOpcode.WRITE_LAST;
    }
    if (!last) {
      return first ? BthOpcode.SEND_FIRST : BthOpcode.SEND_MIDDLE;
    }
    if (work.invalidates()) {
      return first ? BthOpcode.SEND_ONLY_INVALIDATE : BthOpcode.SEND_LAST_INVALIDATE;
    }
    if (work.immediateValid) {
      return first ? BthOpcode.SEND_ONLY_IMMEDIATE : BthOpcode.SEND_LAST_IMMEDIATE;
    }
    return first ? BthOpcode.SEND_ONLY : BthOpcode.SEND_LAST;
  }

  /** Asks for a READ's data, from the packet at the cursor on. */
  private boolean sendReadRequest(QpState qp) {
    long entry = qp.cursor;
    SendWork work = qp.work;
    int packets = qp.inFlight.packets(entry) - qp.cursorPacket;
    int psn = Psn.add(qp.inFlight.firstPsn(entry), qp.cursorPacket);
    long offset = (long) qp.cursorPacket * qp.mtu;
    if (!core.output.begin(qp, BthOpcode.READ_REQUEST, psn, 0)) {
      core.failSend(qp, qp.inFlight.wqeIndex(entry), AeCode.INVALID_ARP_ENTRY.code());
      return false;
    }
    RoceFrame frame = core.output.frame;
    frame.remoteAddress = work.remoteAddress() + offset;
    frame.remoteKey = work.remoteStag();
    frame.dmaLength = (int) (work.length - offset);
    frame.ackRequest = true;
    core.output.headers();
    core.output.send(qp);
    qp.sinceAckRequest = 0;
    qp.readsInFlight++;
    sent(qp, psn, packets);
    step(qp);
    return true;
  }

  private void sent(QpState qp, int psn, int packets) {
    int end = Psn.add(psn, packets);
    if (Psn.distance(psn, qp.highestPsn) > 0) {
      services.counters().retransmissions++;
    }
    if (Psn.distance(qp.highestPsn, end) > 0) {
      qp.highestPsn = end;
    }
    if (qp.deadline == Long.MAX_VALUE) {
      core.arm(qp, services.now() + timeout(qp));
    }
  }

  private static long timeout(QpState qp) {
    return qp.timeoutNanos << Math.min(qp.retries, MAX_BACKOFF);
  }

  private void step(QpState qp) {
    qp.cursor++;
    qp.cursorPacket = 0;
    qp.frontier = Math.max(qp.frontier, qp.cursor);
  }

  /** Does the work at the cursor that waits for no answer: local operations and datagrams. */
  private boolean runLocal(QpState qp) {
    boolean fresh = qp.cursor >= qp.frontier;
    if (fresh) {
      int code = local(qp, qp.work);
      if (code != 0) {
        qp.failedEntry = qp.cursor;
        qp.failedCode = code;
        retire(qp);
        return false;
      }
      count(qp, qp.work.opcode);
    }
    step(qp);
    retire(qp);
    return true;
  }

  private static void count(QpState qp, @Nullable SqOpcode opcode) {
    if (opcode == SqOpcode.LOCAL_INVALIDATE) {
      qp.traffic.invalidated();
    } else if (opcode == SqOpcode.BIND_MW) {
      qp.traffic.bound();
    }
  }

  private int local(QpState qp, SendWork work) {
    SqOpcode opcode = work.opcode;
    if (work.carriesData()) {
      return datagrams.send(qp, work);
    }
    if (opcode == SqOpcode.NOP) {
      return 0;
    }
    if (opcode == SqOpcode.LOCAL_INVALIDATE) {
      int stag = (int) SqWqe.LOCSTAG.decode(work.word1);
      return services.invalidateStag(stag, qp.pdId, qp.id, false);
    }
    if (opcode == SqOpcode.BIND_MW) {
      return qp.bindAllowed
          ? services.bindWindow(work.word0, work.word1, work.word2, work.header, qp.pdId, qp.id)
          : AeCode.AMP_MWBIND_BIND_DISABLED.code();
    }
    if (opcode == SqOpcode.FAST_REGISTER) {
      return qp.fastRegisterAllowed
          ? services.fastRegister(work.word0, work.word1, work.word2, work.header, qp.pdId, qp.id)
          : AeCode.PRIV_OPERATION_DENIED.code();
    }
    return AeCode.WQE_UNEXPECTED_OPCODE.code();
  }

  /** Takes an ACK, a NAK or an RNR NAK. */
  void acknowledged(QpState qp, RoceFrame frame) {
    int psn = frame.psn;
    boolean unsent = Psn.distance(psn, qp.highestPsn) <= 0;
    if (!qp.canSend() || unsent) {
      return;
    }
    int kind = frame.syndrome & Aeth.KIND_MASK;
    if (kind == Aeth.KIND_ACK) {
      takeCredits(qp, frame);
      int next = Psn.add(psn, 1);
      if (Psn.distance(qp.unackedPsn, next) > 0) {
        advance(qp, next);
      }
      core.wake(qp);
      return;
    }
    if (Psn.distance(qp.unackedPsn, psn) < 0) {
      return;
    }
    if (kind == Aeth.KIND_RNR) {
      if (advance(qp, psn) && qp.canSend()) {
        receiverNotReady(qp, frame.syndrome & Aeth.VALUE_MASK);
      }
    } else if (frame.syndrome == Aeth.NAK_SEQUENCE) {
      if (qp.rnrWaiting && psn == qp.unackedPsn) {
        // soft-RoCE says so of the packets behind one that it has no receive for.
        return;
      }
      if (advance(qp, psn) && qp.canSend() && countRetry(qp)) {
        goBack(qp);
        core.arm(qp, services.now() + timeout(qp));
      }
    } else if (kind == Aeth.KIND_NAK) {
      refused(qp, psn, frame.syndrome);
    }
    core.wake(qp);
  }

  private static void takeCredits(QpState qp, RoceFrame frame) {
    int credits = frame.syndrome & Aeth.VALUE_MASK;
    qp.creditsUnlimited = credits == Aeth.CREDITS_UNLIMITED;
    if (!qp.creditsUnlimited) {
      int limit = Psn.add(frame.msn, Aeth.credits(credits));
      if (Psn.distance(qp.creditLimit, limit) > 0) {
        qp.creditLimit = limit;
      }
    }
  }

  /**
   * The peer has everything before a PSN, except for the data of READs, which only their answers
   * bring.
   *
   * @return false if such an answer must have been lost; the READ is then asked for again
   */
  private boolean advance(QpState qp, int psn) {
    InFlight list = qp.inFlight;
    int reached = psn;
    boolean whole = true;
    for (long e = list.head; e != list.tail; e++) {
      if (Psn.distance(list.firstPsn(e), psn) <= 0) {
        break;
      }
      if (list.kind(e) == InFlight.KIND_READ) {
        reached = expectedResponse(qp, e);
        whole = Psn.distance(reached, psn) <= 0;
        break;
      }
    }
    if (Psn.distance(qp.unackedPsn, reached) > 0) {
      progress(qp, reached);
    }
    if (!whole && qp.canSend()) {
      responseLost(qp, reached);
    }
    return whole;
  }

  private static int expectedResponse(QpState qp, long entry) {
    int first = qp.inFlight.firstPsn(entry);
    return Psn.distance(first, qp.unackedPsn) > 0 ? qp.unackedPsn : first;
  }

  private void responseLost(QpState qp, int psn) {
    if (qp.impliedRetryPsn == psn) {
      return;
    }
    qp.impliedRetryPsn = psn;
    goBack(qp);
  }

  private void progress(QpState qp, int psn) {
    qp.unackedPsn = psn;
    qp.impliedRetryPsn = -1;
    qp.retries = 0;
    qp.rnrRetries = 0;
    Congestion.relax(qp);
    if (qp.rnrWaiting) {
      qp.rnrWaiting = false;
    }
    retire(qp);
    if (!qp.canSend()) {
      return;
    }
    InFlight list = qp.inFlight;
    if (qp.cursor < list.head) {
      qp.cursor = list.head;
      qp.cursorPacket = 0;
    }
    if (qp.cursor == list.head && !list.isEmpty()) {
      int done = Psn.distance(list.firstPsn(list.head), psn);
      if (done > qp.cursorPacket) {
        qp.cursorPacket = done;
      }
    }
    if (Psn.distance(psn, qp.highestPsn) > 0) {
      core.arm(qp, services.now() + timeout(qp));
    } else {
      core.disarm(qp);
    }
  }

  /** Completes what is done, in order. */
  private void retire(QpState qp) {
    InFlight list = qp.inFlight;
    while (list.head != list.tail) {
      long entry = list.head;
      if (entry == qp.failedEntry) {
        core.failSend(qp, list.wqeIndex(entry), qp.failedCode);
        return;
      }
      boolean done =
          list.packets(entry) == 0
              ? entry < qp.frontier
              : Psn.distance(list.endPsn(entry), qp.unackedPsn) >= 0;
      if (!done) {
        return;
      }
      if (list.kind(entry) == InFlight.KIND_READ && entry < qp.cursor) {
        qp.readsInFlight--;
      }
      list.head++;
      if (list.signaled(entry)) {
        complete(qp, list.opcode(entry), list.wqeIndex(entry));
      }
    }
    if (qp.drainPending) {
      drained(qp);
    }
  }

  private void complete(QpState qp, int opcode, int wqeIndex) {
    CompletionEntry completion = core.completion;
    completion.clear();
    completion.sq = true;
    completion.opcode = opcode;
    completion.qpId = qp.id;
    completion.completionContext = qp.completionContext;
    completion.wqeIndex = wqeIndex;
    completion.pushDropped = qp.pushLost;
    qp.pushLost = false;
    services.complete(qp.sendCq, completion);
  }

  /** Ends the drain of the send queue once nothing is in flight. */
  void drained(QpState qp) {
    if (qp.state == QpState.SEND_DRAINED && qp.drainPending && qp.inFlight.isEmpty()) {
      qp.drainPending = false;
      services.asyncEvent(
          qp.id,
          AeCode.QP_SUSPEND_COMPLETE.code(),
          AeSource.SQ.code(),
          qp.sqIndex,
          qp.completionContext);
    }
  }

  /** Puts the cursor back to the oldest packet that is not acknowledged. */
  private void goBack(QpState qp) {
    InFlight list = qp.inFlight;
    qp.cursor = list.head;
    qp.cursorPacket = 0;
    qp.readsInFlight = 0;
    qp.sinceAckRequest = ACK_EVERY;
    if (!list.isEmpty() && list.packets(list.head) != 0) {
      qp.cursorPacket = Psn.distance(list.firstPsn(list.head), qp.unackedPsn);
    }
    core.wake(qp);
  }

  private boolean countRetry(QpState qp) {
    if (qp.retries >= qp.retryLimit) {
      int index = qp.inFlight.wqeIndex(qp.inFlight.head);
      core.failSend(qp, index, AeCode.LLP_TOO_MANY_RETRIES.code());
      return false;
    }
    qp.retries++;
    return true;
  }

  private void receiverNotReady(QpState qp, int timer) {
    if (qp.rnrLimit != RNR_WITHOUT_END && qp.rnrRetries >= qp.rnrLimit) {
      int index = qp.inFlight.wqeIndex(qp.inFlight.head);
      core.failSend(qp, index, AeCode.LLP_TOO_MANY_RNRS.code());
      return;
    }
    qp.rnrRetries++;
    // Whoever answers is there.
    qp.retries = 0;
    goBack(qp);
    qp.rnrWaiting = true;
    core.arm(qp, services.now() + Aeth.rnrNanos(timer));
  }

  /** The peer refused the request that holds a PSN. */
  private void refused(QpState qp, int psn, int syndrome) {
    AeCode code =
        switch (syndrome) {
          case Aeth.NAK_INVALID_REQUEST -> AeCode.IB_INVALID_REQUEST;
          case Aeth.NAK_REMOTE_ACCESS -> AeCode.IB_REMOTE_ACCESS_ERROR;
          default -> AeCode.IB_REMOTE_OP_ERROR;
        };
    InFlight list = qp.inFlight;
    advance(qp, psn);
    long entry = list.head;
    while (entry + 1 != list.tail && Psn.distance(list.endPsn(entry), psn) >= 0) {
      entry++;
    }
    if (qp.canSend() && !list.isEmpty()) {
      core.failSend(qp, list.wqeIndex(entry), code.code());
    }
  }

  /** Takes a packet of a READ's answer. */
  void readResponse(QpState qp, RoceFrame frame, MemorySegment memory) {
    int psn = frame.psn;
    if (!qp.canSend()
        || Psn.distance(qp.unackedPsn, psn) < 0
        || Psn.distance(psn, qp.highestPsn) <= 0) {
      return;
    }
    InFlight list = qp.inFlight;
    long entry = list.head;
    while (entry != list.tail && list.kind(entry) != InFlight.KIND_READ) {
      entry++;
    }
    if (entry == list.tail) {
      return;
    }
    int expected = expectedResponse(qp, entry);
    int ahead = Psn.distance(expected, psn);
    if (ahead < 0) {
      return;
    }
    if (Psn.distance(qp.unackedPsn, expected) > 0) {
      progress(qp, expected);
    }
    if (!qp.canSend()) {
      return;
    }
    core.wake(qp);
    if (ahead > 0) {
      responseLost(qp, expected);
      return;
    }
    if (BthOpcode.hasAeth(frame.opcode)) {
      takeCredits(qp, frame);
    }
    if (qp.sinkEntry != entry) {
      if (!reload(qp, entry, qp.sink)) {
        return;
      }
      qp.sinkEntry = entry;
    }
    long offset = (long) Psn.distance(list.firstPsn(entry), psn) * qp.mtu;
    long size = Math.min(qp.mtu, qp.sink.length - offset);
    if (frame.payloadLength != size) {
      core.failSend(qp, list.wqeIndex(entry), AeCode.ROCE_RSP_LENGTH_ERROR.code());
      return;
    }
    int code = qp.sink.scatter(services, qp, offset, (int) size, memory, frame.payloadOffset);
    if (code != 0) {
      core.failSend(qp, list.wqeIndex(entry), code);
      return;
    }
    int next = Psn.add(psn, 1);
    if (next == list.endPsn(entry) && qp.sink.opcode == SqOpcode.RDMA_READ_LOC_INV) {
      code = services.invalidateStag(qp.sink.sinkStag(), qp.pdId, qp.id, false);
      if (code != DeviceServices.ACCESS_OK) {
        core.failSend(qp, list.wqeIndex(entry), code);
        return;
      }
      qp.traffic.invalidated();
    }
    progress(qp, next);
  }

  /** The queue pair's deadline has come. */
  void timeout(QpState qp, long now) {
    core.disarm(qp);
    if (!qp.canSend()) {
      return;
    }
    if (qp.rnrWaiting) {
      qp.rnrWaiting = false;
      core.arm(qp, now + timeout(qp));
      core.wake(qp);
      return;
    }
    if (Psn.distance(qp.unackedPsn, qp.highestPsn) <= 0) {
      return;
    }
    services.counters().timeouts++;
    if (countRetry(qp)) {
      qp.impliedRetryPsn = -1;
      goBack(qp);
      core.arm(qp, now + timeout(qp));
    }
  }

  /**
   * Flushes the send queue: everything posted is dropped, with one completion for all of it, which
   * is how the driver's poll expects it.
   */
  void flush(QpState qp, int major, int minor) {
    boolean pending = !qp.inFlight.isEmpty();
    int index = pending ? qp.inFlight.wqeIndex(qp.inFlight.head) : qp.sqIndex;
    int opcode = pending ? qp.inFlight.opcode(qp.inFlight.head) : 0;
    for (int i = 0; i <= qp.sqMask; i++) {
      long header = services.readHostWord(wqeAddress(qp, qp.sqIndex) + 24);
      if (header >>> 63 != qp.sqPolarity) {
        break;
      }
      if (!pending) {
        opcode = (int) SqWqe.OPCODE.decode(header);
      }
      pending = true;
      qp.advanceSq(SendWork.quanta(header));
    }
    qp.inFlight.clear();
    qp.cursor = qp.inFlight.tail;
    qp.frontier = qp.inFlight.tail;
    qp.cursorPacket = 0;
    qp.readsInFlight = 0;
    qp.failedEntry = QpState.NO_ENTRY;
    qp.workEntry = QpState.NO_ENTRY;
    qp.sinkEntry = QpState.NO_ENTRY;
    qp.rnrWaiting = false;
    qp.drainPending = false;
    core.disarm(qp);
    services.writeHostWord(qp.shadowArea, QpShadow.HW_SQ_TAIL.encode(qp.sqIndex));
    if (pending) {
      CompletionEntry completion = core.completion;
      completion.clear();
      completion.sq = true;
      completion.opcode = opcode;
      completion.qpId = qp.id;
      completion.completionContext = qp.completionContext;
      completion.wqeIndex = index;
      completion.error = true;
      completion.majorError = major;
      completion.minorError = minor;
      services.complete(qp.sendCq, completion);
    }
  }
}
