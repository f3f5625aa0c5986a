package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.SqOpcode;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Payload;
import irdma4j.simulator.wire.RoceFrame;

/**
 * What the peer says of the requests that it was sent: it acknowledges them, answers READs,
 * refuses, asks to wait, or says nothing until the timer ends. What is lost is sent again from the
 * oldest PSN that the peer lacks (go-back-N). Source of the rules: InfiniBand Architecture
 * Specification, volume 1, 9.7.
 */
final class Acknowledgements {
  private static final int RNR_WITHOUT_END = 7;

  private final Core core;
  private final DeviceServices services;
  private final WorkReader reader;
  private final SendCompletions completions;

  Acknowledgements(Core core, WorkReader reader, SendCompletions completions) {
    this.core = core;
    this.services = core.services;
    this.reader = reader;
    this.completions = completions;
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
        core.arm(qp, services.now() + qp.timeout());
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
    completions.retire(qp);
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
      core.arm(qp, services.now() + qp.timeout());
    } else {
      core.disarm(qp);
    }
  }

  /** Puts the cursor back to the oldest packet that is not acknowledged. */
  private void goBack(QpState qp) {
    InFlight list = qp.inFlight;
    qp.cursor = list.head;
    qp.cursorPacket = 0;
    qp.readsInFlight = 0;
    qp.sinceAckRequest = Requester.ACK_EVERY;
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
  void readResponse(QpState qp, RoceFrame frame, Payload payload) {
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
    if (!fits(qp, entry, frame)) {
      core.failSend(qp, list.wqeIndex(entry), AeCode.ROE_INVALID_RDMA_WRITE_OR_READ_RESP.code());
      return;
    }
    if (BthOpcode.hasAeth(frame.opcode)) {
      takeCredits(qp, frame);
    }
    if (!reader.loadSink(qp, entry)) {
      return;
    }
    SendWork sink = reader.sink;
    long offset = (long) Psn.distance(list.firstPsn(entry), psn) * qp.mtu;
    long size = Math.min(qp.mtu, sink.length - offset);
    if (frame.payloadLength != size) {
      core.failSend(qp, list.wqeIndex(entry), AeCode.ROCE_RSP_LENGTH_ERROR.code());
      return;
    }
    int code = sink.scatter(services, qp, offset, (int) size, payload, 0);
    if (code != 0) {
      core.failSend(qp, list.wqeIndex(entry), code);
      return;
    }
    int next = Psn.add(psn, 1);
    if (next == list.endPsn(entry) && sink.opcode == SqOpcode.RDMA_READ_LOC_INV) {
      code = services.invalidateStag(sink.sinkStag(), qp.pdId, qp.id, false);
      if (code != DeviceServices.ACCESS_OK) {
        core.failSend(qp, list.wqeIndex(entry), code);
        return;
      }
      qp.traffic.invalidated();
    }
    progress(qp, next);
  }

  /**
   * Whether the opcode of a READ's answer is one that its place can have: the READ's first packet
   * begins an answer and its last one ends one, and between them an answer begins only where one
   * was asked for. It need not begin there: what comes may be of the answer before, and Linux's
   * soft-RoCE goes on where the specification has it begin anew.
   */
  private static boolean fits(QpState qp, long entry, RoceFrame frame) {
    int opcode = frame.opcode;
    boolean only = opcode == BthOpcode.READ_RESPONSE_ONLY;
    boolean begins = only || opcode == BthOpcode.READ_RESPONSE_FIRST;
    boolean ends = only || opcode == BthOpcode.READ_RESPONSE_LAST;
    boolean first = frame.psn == qp.inFlight.firstPsn(entry);
    boolean last = Psn.add(frame.psn, 1) == qp.inFlight.endPsn(entry);
    return ends == last && (begins ? first || frame.psn == qp.restAskedPsn : !first);
  }

  /** The queue pair's deadline has come. */
  void timeout(QpState qp, long now) {
    core.disarm(qp);
    if (!qp.canSend()) {
      return;
    }
    if (qp.rnrWaiting) {
      qp.rnrWaiting = false;
      core.arm(qp, now + qp.timeout());
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
      core.arm(qp, now + qp.timeout());
    }
  }
}
