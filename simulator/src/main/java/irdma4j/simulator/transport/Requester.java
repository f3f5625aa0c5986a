package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.simulator.device.CompletionEntry;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Payload;
import irdma4j.simulator.wire.RoceFrame;
import org.jspecify.annotations.Nullable;

/**
 * The sending side of a reliable connection: cuts messages into packets and sends them as fences,
 * READ limit, credits and window let them go. Source of the rules: InfiniBand Architecture
 * Specification, volume 1, 9.7.
 */
final class Requester {
  /** Packets after which an acknowledgement is asked for inside a message or a run of messages. */
  static final int ACK_EVERY = 16;

  /** Bytes of payload from which lending costs less than copying. */
  private static final int LEAST_LENT = 512;

  private final Core core;
  private final DeviceServices services;
  private final WorkReader reader;
  private final SendCompletions completions;
  private final Datagrams datagrams;

  Requester(Core core, WorkReader reader, SendCompletions completions, Datagrams datagrams) {
    this.core = core;
    this.services = core.services;
    this.reader = reader;
    this.completions = completions;
    this.datagrams = datagrams;
  }

  /**
   * Sends up to a number of packets.
   *
   * @return what is left of the number; more than 0 if there is nothing to do for now
   */
  int run(QpState qp, int budget) {
    int left = budget;
    while (left > 0 && qp.canSend() && !qp.rnrWaiting) {
      if (qp.cursor == qp.inFlight.tail && !reader.next(qp)) {
        break;
      }
      if (qp.cursor == qp.failedEntry || !reader.load(qp) || !mayStart(qp)) {
        break;
      }
      byte kind = qp.inFlight.kind(qp.cursor);
      if (reader.work.carriesData() && !services.transmitReady()) {
        break;
      }
      int sent =
          switch (kind) {
            case InFlight.KIND_LOCAL -> runLocal(qp) ? 1 : 0;
            case InFlight.KIND_READ -> sendReadRequest(qp) ? 1 : 0;
            default -> sendPackets(qp, left);
          };
      if (sent == 0) {
        break;
      }
      left -= sent;
    }
    return left;
  }

  /** Whether fences, READ limit and window let the packet at the cursor go. */
  private boolean mayStart(QpState qp) {
    SendWork work = reader.work;
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

  /**
   * Sends the packet at the cursor, and with it those behind it that may go in the same frame.
   *
   * @return how many; 0 if that failed
   */
  private int sendPackets(QpState qp, int most) {
    int train = trainLength(qp, most);
    return train > 1 ? sendTrain(qp, train) : sendPacket(qp) ? 1 : 0;
  }

  /**
   * At most so many packets from the cursor on may go together: those in the middle of a message,
   * each sent for the first time, of which none but the last would ask for an acknowledgement.
   */
  private int trainLength(QpState qp, int most) {
    int packet = qp.cursorPacket;
    int middles = qp.inFlight.packets(qp.cursor) - 1 - packet;
    if (packet == 0 || middles < 2 || qp.mtu < LEAST_LENT) {
      return 1;
    }
    int psn = Psn.add(qp.inFlight.firstPsn(qp.cursor), packet);
    if (psn != qp.highestPsn) {
      return 1;
    }
    int toAck = ACK_EVERY - qp.sinceAckRequest;
    int toWindow = qp.window - Psn.distance(qp.unackedPsn, psn);
    int length = Math.min(Math.min(most, middles), Math.min(toAck, toWindow));
    return length < 2 ? 1 : Math.min(length, services.trainRoom(qp.mtu));
  }

  private int sendTrain(QpState qp, int most) {
    long entry = qp.cursor;
    SendWork work = reader.work;
    int packet = qp.cursorPacket;
    int psn = Psn.add(qp.inFlight.firstPsn(entry), packet);
    if (!core.output.begin(qp, opcode(work, false, false), psn, qp.mtu)) {
      core.failSend(qp, qp.inFlight.wqeIndex(entry), AeCode.INVALID_ARP_ENTRY.code());
      return 0;
    }
    core.output.headers();
    RoceFrame frame = core.output.frame;
    Payload lent = services.lend();
    int train = Math.min(most, services.trainRoom(frame.totalLength));
    if (train < 2 || lent == null) {
      return sendPacket(qp) ? 1 : 0;
    }
    int done = 0;
    int code = DeviceServices.ACCESS_OK;
    while (done < train && code == DeviceServices.ACCESS_OK) {
      code = work.lend(services, qp, (long) (packet + done) * qp.mtu, qp.mtu, lent);
      done += code == DeviceServices.ACCESS_OK ? 1 : 0;
    }
    if (done > 0) {
      frame.ackRequest = asksForAck(qp, psn, done, false);
      if (frame.ackRequest) {
        frame.writeHeaders(core.output.memory);
      }
      lent.carries(done);
      core.output.sendTrain(qp, done);
      sent(qp, psn, done);
      qp.cursorPacket += done;
    }
    if (code != DeviceServices.ACCESS_OK) {
      core.failSend(qp, qp.inFlight.wqeIndex(entry), code);
    }
    return done;
  }

  private boolean sendPacket(QpState qp) {
    long entry = qp.cursor;
    SendWork work = reader.work;
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
    boolean ends = last && (work.signaled || entry + 1 == qp.inFlight.tail);
    frame.ackRequest = asksForAck(qp, psn, 1, ends);
    if (work.isWrite()) {
      frame.remoteAddress = work.remoteAddress();
      frame.remoteKey = work.remoteStag();
      frame.dmaLength = (int) work.length;
    }
    frame.immediate = work.immediate;
    frame.invalidateKey = work.remoteStag();
    core.output.headers();
    int code = take(qp, work, offset, payload);
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

  /**
   * Whether the last of some packets asks for an acknowledgement; counts them.
   *
   * @param ends whether it ends something whose sender waits for that
   */
  private static boolean asksForAck(QpState qp, int psn, int packets, boolean ends) {
    qp.sinceAckRequest += packets;
    boolean asks =
        ends
            || qp.sinceAckRequest >= ACK_EVERY
            || Psn.distance(qp.unackedPsn, psn) + packets >= qp.window;
    if (asks) {
      qp.sinceAckRequest = 0;
    }
    return asks;
  }

  /** Brings a part of a message into the frame, or lends it if that is worth while. */
  private int take(QpState qp, SendWork work, long offset, int size) {
    int at = core.output.frame.payloadOffset;
    Payload lent = size >= LEAST_LENT && !work.inline ? services.lend() : null;
    return lent == null
        ? work.gather(services, qp, offset, size, core.output.memory, at)
        : work.lend(services, qp, offset, size, lent);
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
    SendWork work = reader.work;
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
    if (qp.cursorPacket != 0) {
      qp.restAskedPsn = psn;
    }
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
      core.arm(qp, services.now() + qp.timeout());
    }
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
      int code = local(qp, reader.work);
      if (code != 0) {
        qp.failedEntry = qp.cursor;
        qp.failedCode = code;
        completions.retire(qp);
        return false;
      }
      count(qp, reader.work.opcode);
    }
    step(qp);
    completions.retire(qp);
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
    if (qp.type == QpState.TYPE_UD) {
      return AeCode.WQE_UNEXPECTED_OPCODE.code();
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

  /**
   * Flushes the send queue: everything posted is dropped, with one completion for all of it, which
   * is how the driver's poll expects it.
   */
  void flush(QpState qp, int major, int minor) {
    boolean pending = !qp.inFlight.isEmpty();
    int index = pending ? qp.inFlight.wqeIndex(qp.inFlight.head) : qp.sqIndex;
    int opcode = pending ? qp.inFlight.opcode(qp.inFlight.head) : 0;
    for (int i = 0; i <= qp.sqMask; i++) {
      long header = services.readHostWord(reader.wqeAddress(qp, qp.sqIndex) + 24);
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
    reader.forget(qp);
    qp.rnrWaiting = false;
    qp.drainPending = false;
    core.disarm(qp);
    services.writeHostWord(qp.shadowArea, QpShadow.HW_SQ_TAIL.encode(qp.sqIndex));
    if (pending) {
      CompletionEntry completion = core.flushed(qp, index, major, minor);
      completion.sq = true;
      completion.opcode = opcode;
      services.complete(qp.sendCq, completion);
    }
  }
}
