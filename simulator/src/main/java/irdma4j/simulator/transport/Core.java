package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.simulator.device.CompletionEntry;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.Icrc;
import irdma4j.simulator.wire.TimeHeap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What requester, responder and datagram service share: buffers, the ready list and the timers. */
final class Core {
  final DeviceServices services;
  final Icrc icrc = new Icrc();
  final Output output;

  /** Where WQEs are copied to. */
  final MemorySegment wqe =
      Arena.ofAuto().allocate((long) SendWork.MAX_QUANTA * SendWork.QUANTUM, 64);

  private final CompletionEntry completion = new CompletionEntry();
  private final ReadyQueue ready = new ReadyQueue();

  /**
   * The numbers of queue pairs by their deadlines. One whose deadline moves away stays where it is
   * and is put back when its old time comes, so the common case (an acknowledgement moves the
   * deadline) costs nothing.
   */
  private final TimeHeap timers = new TimeHeap();

  Core(DeviceServices services) {
    this.services = services;
    this.output = new Output(services, icrc);
  }

  ReadyQueue ready() {
    return ready;
  }

  TimeHeap timers() {
    return timers;
  }

  /**
   * The completion of a queue pair's WQE, otherwise empty.
   *
   * @return valid until this is called again
   */
  CompletionEntry completion(QpState qp, int wqeIndex) {
    completion.clear();
    completion.qpId = qp.id;
    completion.completionContext = qp.completionContext;
    completion.wqeIndex = wqeIndex;
    return completion;
  }

  /** The completion of a WQE that was flushed; as {@link #completion}. */
  CompletionEntry flushed(QpState qp, int wqeIndex, int major, int minor) {
    CompletionEntry flushed = completion(qp, wqeIndex);
    flushed.error = true;
    flushed.majorError = major;
    flushed.minorError = minor;
    return flushed;
  }

  /** Gives the queue pair its turn in {@link RoceEngine#run}. */
  void wake(QpState qp) {
    if (!qp.queued) {
      qp.queued = true;
      ready.add(qp.id);
    }
  }

  /** Sets the queue pair's deadline. */
  void arm(QpState qp, long when) {
    qp.deadline = when;
    if (when < qp.queuedDeadline) {
      qp.queuedDeadline = when;
      boolean earliest = when < timers.nextTime();
      timers.add(when, qp.id, qp.id);
      if (earliest) {
        services.requestTimer(when);
      }
    }
  }

  void disarm(QpState qp) {
    qp.deadline = Long.MAX_VALUE;
  }

  /** An error of the send queue's work: the queue pair enters the error state and says so. */
  void failSend(QpState qp, int wqeIndex, int code) {
    fail(qp, code, AeSource.SQ.code(), wqeIndex);
  }

  /** An error of the receive queue's work. */
  void failReceive(QpState qp, int code) {
    fail(qp, code, AeSource.RQ.code(), qp.receive.index);
  }

  /** An error of an incoming READ or WRITE. */
  void failIncoming(QpState qp, int code) {
    fail(qp, code, AeSource.IN_RR_WR.code(), 0);
  }

  private void fail(QpState qp, int code, int source, int wqeIndex) {
    disarm(qp);
    qp.state = QpState.ERROR;
    qp.rnrWaiting = false;
    services.asyncEvent(qp.id, code, source, wqeIndex, qp.completionContext);
  }

  /** The code of a translation or IOMMU fault. */
  static int fault() {
    return AeCode.LCE_QP_CATASTROPHIC.code();
  }
}
