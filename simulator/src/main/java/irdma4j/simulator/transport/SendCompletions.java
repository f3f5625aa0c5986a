package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.simulator.device.CompletionEntry;
import irdma4j.simulator.device.DeviceServices;

/** Completes send WQEs, in order, once the peer has all of them. */
final class SendCompletions {
  private final Core core;
  private final DeviceServices services;

  SendCompletions(Core core) {
    this.core = core;
    this.services = core.services;
  }

  /** Completes what is done, in order. */
  void retire(QpState qp) {
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
    CompletionEntry completion = core.completion(qp, wqeIndex);
    completion.sq = true;
    completion.opcode = opcode;
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
}
