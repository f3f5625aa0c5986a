package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqWqe;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.PushPage;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Fetches send WQEs, through the push page or from the ring, and takes them apart. What is in hand
 * is one WQE to send from and one READ to fill; another is read again, since a WQE stays in its
 * ring until its completion, so that a queue pair keeps none of its own.
 */
final class WorkReader {
  /** The WQE that is being sent. */
  final SendWork work = new SendWork();

  /** The READ whose answer is coming. */
  final SendWork sink = new SendWork();

  private final Core core;
  private final DeviceServices services;
  private final SendCompletions completions;
  private @Nullable QpState workOwner;
  private long workEntry;
  private @Nullable QpState sinkOwner;
  private long sinkEntry;

  WorkReader(Core core, SendCompletions completions) {
    this.core = core;
    this.services = core.services;
    this.completions = completions;
  }

  /** Fetches the next WQE; without one, the tail is published before the device goes to sleep. */
  boolean next(QpState qp) {
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
    int code =
        (index & SendWork.MAX_QUANTA - 1) + quanta > SendWork.MAX_QUANTA
            ? AeCode.WQE_INVALID_FRAG_DATA.code()
            : pushed ? parsePushed(qp, index, quanta) : parse(qp, index, quanta, work);
    if (push != null) {
      qp.pushLost |= !pushed && push.holdsAny() && SqWqe.PUSHWQE.isSet(header);
      push.forget(index, quanta);
    }
    if (code == 0 && work.carriesData()) {
      code = work.checkLocal(services, qp);
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
    workOwner = qp;
    workEntry = entry;
    qp.nextPsn = Psn.add(qp.nextPsn, packets);
    if (code != 0) {
      qp.failedEntry = entry;
      qp.failedCode = code;
      completions.retire(qp);
    }
    return qp.state != QpState.ERROR;
  }

  long wqeAddress(QpState qp, int index) {
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

  private int parsePushed(QpState qp, int index, int quanta) {
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
  boolean load(QpState qp) {
    if (workOwner == qp && workEntry == qp.cursor) {
      return true;
    }
    workOwner = null;
    if (!reload(qp, qp.cursor, work)) {
      return false;
    }
    workOwner = qp;
    workEntry = qp.cursor;
    return true;
  }

  /** Makes sure that {@link #sink} is the READ of an entry. */
  boolean loadSink(QpState qp, long entry) {
    if (sinkOwner == qp && sinkEntry == entry) {
      return true;
    }
    sinkOwner = null;
    if (!reload(qp, entry, sink)) {
      return false;
    }
    sinkOwner = qp;
    sinkEntry = entry;
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

  /** Drops what is known of a queue pair's WQEs. */
  void forget(QpState qp) {
    workOwner = workOwner == qp ? null : workOwner;
    sinkOwner = sinkOwner == qp ? null : sinkOwner;
  }
}
