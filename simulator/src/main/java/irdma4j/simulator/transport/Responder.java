package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.device.CompletionEntry;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Payload;
import irdma4j.simulator.wire.RoceFrame;

/**
 * The answering side of a reliable connection: takes requests in order of their PSNs, answers
 * repeated ones without doing them again (READs excepted), and refuses what it must. Source of the
 * rules: InfiniBand Architecture Specification, volume 1, 9.7 and 9.9.
 */
final class Responder {
  /** The RNR timer's code, 0.64 ms. The context of a GEN_2 queue pair has no field for it. */
  static final int RNR_TIMER = 12;

  private static final int CQE_OPCODE_MASK = 0x3f;

  private final Core core;
  private final DeviceServices services;

  Responder(Core core) {
    this.core = core;
    this.services = core.services;
  }

  /** Takes a request packet. */
  void request(QpState qp, RoceFrame frame, Payload payload) {
    int ahead = Psn.distance(qp.expectedPsn, frame.psn);
    if (ahead < 0) {
      duplicate(qp, frame);
      return;
    }
    if (ahead > 0) {
      if (!qp.nakSent) {
        qp.nakSent = true;
        respond(qp, qp.expectedPsn, Aeth.NAK_SEQUENCE);
      }
      return;
    }
    qp.nakSent = false;
    switch (frame.opcode) {
      case BthOpcode.SEND_FIRST,
          BthOpcode.SEND_MIDDLE,
          BthOpcode.SEND_LAST,
          BthOpcode.SEND_LAST_IMMEDIATE,
          BthOpcode.SEND_LAST_INVALIDATE,
          BthOpcode.SEND_ONLY,
          BthOpcode.SEND_ONLY_IMMEDIATE,
          BthOpcode.SEND_ONLY_INVALIDATE ->
          send(qp, frame, payload);
      case BthOpcode.WRITE_FIRST,
          BthOpcode.WRITE_MIDDLE,
          BthOpcode.WRITE_LAST,
          BthOpcode.WRITE_LAST_IMMEDIATE,
          BthOpcode.WRITE_ONLY,
          BthOpcode.WRITE_ONLY_IMMEDIATE ->
          write(qp, frame, payload);
      case BthOpcode.READ_REQUEST -> read(qp, frame);
      default -> refuse(qp, Aeth.NAK_INVALID_REQUEST, AeCode.RDMAP_ROE_UNEXPECTED_OPCODE.code());
    }
  }

  private static boolean isFirst(int opcode) {
    return switch (opcode) {
      case BthOpcode.SEND_FIRST,
          BthOpcode.SEND_ONLY,
          BthOpcode.SEND_ONLY_IMMEDIATE,
          BthOpcode.SEND_ONLY_INVALIDATE,
          BthOpcode.WRITE_FIRST,
          BthOpcode.WRITE_ONLY,
          BthOpcode.WRITE_ONLY_IMMEDIATE ->
          true;
      default -> false;
    };
  }

  private static boolean isLast(int opcode) {
    return switch (opcode) {
      case BthOpcode.SEND_FIRST,
          BthOpcode.SEND_MIDDLE,
          BthOpcode.WRITE_FIRST,
          BthOpcode.WRITE_MIDDLE ->
          false;
      default -> true;
    };
  }

  /** A packet that goes on is full; the last of several is not empty. */
  private static boolean sizeFits(QpState qp, RoceFrame frame, boolean first, boolean last) {
    int size = frame.payloadLength;
    return last ? size <= qp.mtu && (first || size > 0) : size == qp.mtu;
  }

  private void send(QpState qp, RoceFrame frame, Payload payload) {
    boolean first = isFirst(frame.opcode);
    boolean last = isLast(frame.opcode);
    int required = first ? QpState.MESSAGE_NONE : QpState.MESSAGE_SEND;
    if (qp.message != required || !sizeFits(qp, frame, first, last)) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST, AeCode.INVALID_REQUEST.code());
      return;
    }
    if (first) {
      if (!takeReceive(qp)) {
        notReady(qp);
        return;
      }
      if (receiveRefused(qp, frame)) {
        return;
      }
      qp.received = 0;
      qp.message = QpState.MESSAGE_SEND;
    }
    int size = frame.payloadLength;
    if (qp.received + size > qp.receive.capacity()) {
      respond(qp, frame.psn, Aeth.NAK_INVALID_REQUEST);
      core.failReceive(qp, AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER.code());
      return;
    }
    if (size > 0) {
      int code = qp.receive.scatter(services, qp, qp.received, size, payload, 0);
      if (code != 0) {
        failReceive(qp, frame, code);
        return;
      }
      qp.received += size;
    }
    int invalidated = 0;
    boolean invalidates = BthOpcode.hasIeth(frame.opcode);
    if (invalidates) {
      invalidated = frame.invalidateKey;
      int code = services.invalidateStag(invalidated, qp.pdId, qp.id, true);
      if (code != DeviceServices.ACCESS_OK) {
        refuse(qp, Aeth.NAK_REMOTE_ACCESS, code);
        return;
      }
      qp.traffic.invalidated();
    }
    if (last) {
      qp.message = QpState.MESSAGE_NONE;
      completeReceive(qp, frame, qp.received, invalidates, invalidated);
    }
    accepted(qp, frame, last);
  }

  private void write(QpState qp, RoceFrame frame, Payload payload) {
    boolean first = isFirst(frame.opcode);
    boolean last = isLast(frame.opcode);
    int required = first ? QpState.MESSAGE_NONE : QpState.MESSAGE_WRITE;
    if (qp.message != required || !sizeFits(qp, frame, first, last)) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST, AeCode.INVALID_REQUEST.code());
      return;
    }
    long left = first ? Integer.toUnsignedLong(frame.dmaLength) : qp.writeLeft;
    int size = frame.payloadLength;
    if (last ? size != left : size >= left) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST, AeCode.ROE_INVALID_RDMA_WRITE_OR_READ_RESP.code());
      return;
    }
    if (left > 0) {
      // With each packet: the region may have been taken away, and its stag given to another.
      int code =
          qp.remoteWriteAllowed
              ? services.checkAccess(
                  first ? frame.remoteKey : qp.writeKey,
                  first ? frame.remoteAddress : qp.writeAddress,
                  left,
                  DeviceServices.REMOTE_WRITE,
                  qp.pdId,
                  qp.id)
              : AeCode.AMP_RIGHTS_VIOLATION.code();
      if (code != DeviceServices.ACCESS_OK) {
        refuse(qp, Aeth.NAK_REMOTE_ACCESS, code);
        return;
      }
    }
    boolean immediate = BthOpcode.hasImmediate(frame.opcode);
    if (immediate && !takeReceive(qp)) {
      notReady(qp);
      return;
    }
    if (immediate && receiveRefused(qp, frame)) {
      return;
    }
    if (first) {
      qp.message = QpState.MESSAGE_WRITE;
      qp.writeAddress = frame.remoteAddress;
      qp.writeKey = frame.remoteKey;
      qp.writeLeft = left;
      qp.received = left;
    }
    if (size > 0 && !services.writeRegion(qp.writeKey, qp.writeAddress, payload, 0, size)) {
      refuse(qp, Aeth.NAK_REMOTE_ACCESS, Core.fault());
      return;
    }
    qp.writeAddress += size;
    qp.writeLeft -= size;
    if (last) {
      qp.message = QpState.MESSAGE_NONE;
      if (immediate) {
        completeReceive(qp, frame, qp.received, false, 0);
      }
    }
    accepted(qp, frame, last);
  }

  private void read(QpState qp, RoceFrame frame) {
    if (qp.message != QpState.MESSAGE_NONE || frame.payloadLength != 0) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST, AeCode.INVALID_REQUEST.code());
      return;
    }
    if (qp.responses.readsFull()) {
      refuse(qp, Aeth.NAK_INVALID_REQUEST, AeCode.IB_RREQ_AND_Q1_FULL.code());
      return;
    }
    long length = Integer.toUnsignedLong(frame.dmaLength);
    int code = checkRead(qp, frame, length);
    if (code != DeviceServices.ACCESS_OK) {
      refuse(qp, Aeth.NAK_REMOTE_ACCESS, code);
      return;
    }
    int packets = qp.packetsOf(length);
    qp.expectedPsn = Psn.add(qp.expectedPsn, packets);
    qp.msn = Psn.add(qp.msn, 1);
    qp.readEndPsn = qp.expectedPsn;
    qp.readSeen = true;
    answerRead(qp, frame, length, packets);
  }

  private int checkRead(QpState qp, RoceFrame frame, long length) {
    if (length == 0) {
      return DeviceServices.ACCESS_OK;
    }
    return qp.remoteReadAllowed
        ? services.checkAccess(
            frame.remoteKey,
            frame.remoteAddress,
            length,
            DeviceServices.REMOTE_READ,
            qp.pdId,
            qp.id)
        : AeCode.AMP_RIGHTS_VIOLATION.code();
  }

  private void answerRead(QpState qp, RoceFrame frame, long length, int packets) {
    qp.responses.addRead(
        frame.psn, qp.msn, qp.ackCredits, frame.remoteAddress, frame.remoteKey, length, packets);
    core.wake(qp);
  }

  private void accepted(QpState qp, RoceFrame frame, boolean last) {
    qp.expectedPsn = Psn.add(qp.expectedPsn, 1);
    if (last) {
      qp.msn = Psn.add(qp.msn, 1);
    }
    if (frame.ackRequest) {
      respond(qp, frame.psn, qp.ackCredits);
    }
  }

  /**
   * A request that was done before: READs are answered again, everything else is acknowledged
   * again.
   */
  private void duplicate(QpState qp, RoceFrame frame) {
    if (frame.opcode == BthOpcode.READ_REQUEST) {
      long length = Integer.toUnsignedLong(frame.dmaLength);
      int packets = qp.packetsOf(length);
      if (Psn.distance(Psn.add(frame.psn, packets), qp.expectedPsn) < 0) {
        return;
      }
      qp.responses.truncate(frame.psn);
      if (qp.responses.readsFull()) {
        return;
      }
      int code = checkRead(qp, frame, length);
      if (code == DeviceServices.ACCESS_OK) {
        answerRead(qp, frame, length, packets);
      } else {
        respond(qp, frame.psn, Aeth.NAK_REMOTE_ACCESS);
        core.failIncoming(qp, code);
      }
      return;
    }
    boolean readAfter = qp.readSeen && Psn.distance(frame.psn, qp.readEndPsn) > 0;
    int psn = readAfter ? frame.psn : Psn.add(qp.expectedPsn, -1);
    respond(qp, psn, qp.ackCredits);
  }

  private void respond(QpState qp, int psn, int syndrome) {
    qp.responses.acknowledge(psn, qp.msn, syndrome);
    core.wake(qp);
  }

  private void notReady(QpState qp) {
    qp.nakSent = true;
    respond(qp, qp.expectedPsn, Aeth.KIND_RNR | RNR_TIMER);
  }

  /** Refuses the request at the expected PSN; the queue pair enters the error state. */
  private void refuse(QpState qp, int syndrome, int code) {
    respond(qp, qp.expectedPsn, syndrome);
    core.failIncoming(qp, code);
  }

  /** Whether the receive WQE in hand is none; the queue pair enters the error state then. */
  private boolean receiveRefused(QpState qp, RoceFrame frame) {
    int code = qp.receive.refusal;
    if (code != 0) {
      failReceive(qp, frame, code);
    }
    return code != 0;
  }

  private void failReceive(QpState qp, RoceFrame frame, int code) {
    respond(qp, frame.psn, Aeth.NAK_REMOTE_OPERATION);
    core.failReceive(qp, code);
  }

  /** Takes the next receive WQE, if its valid bit says that there is one. */
  boolean takeReceive(QpState qp) {
    long address =
        services.ringAddress(qp.rqBase, qp.virtualQueues, (long) qp.rqIndex * SendWork.QUANTUM);
    if (services.readHostWord(address + 24) >>> 63 != qp.rqPolarity) {
      return false;
    }
    if (!services.readHost(address, core.wqe, 0, (long) qp.rqQuanta * SendWork.QUANTUM)) {
      return false;
    }
    services
        .watch()
        .wqe(
            DeviceEvent.Ring.RECEIVE,
            qp.id,
            qp.rqIndex,
            false,
            core.wqe,
            (long) qp.rqQuanta * SendWork.QUANTUM);
    qp.receive.parse(core.wqe, qp.rqQuanta);
    qp.receive.index = qp.rqIndex;
    qp.receiveHeld = true;
    qp.advanceRq();
    services.counters().receiveWqes++;
    return true;
  }

  /** Writes the completion of the receive WQE in hand. */
  private void completeReceive(
      QpState qp, RoceFrame frame, long bytes, boolean invalidates, int invalidated) {
    CompletionEntry completion = receiveCompletion(qp, frame, bytes);
    completion.stagInvalidated = invalidates;
    completion.invalidatedStag = invalidated;
    services.complete(qp.receiveCq, completion);
  }

  /**
   * The values of a receive's completion. Its opcode is the packet's: that is how Linux tells a
   * WRITE with immediate from a SEND (set_ib_wc_op_rq in verbs.h).
   */
  CompletionEntry receiveCompletion(QpState qp, RoceFrame frame, long bytes) {
    CompletionEntry completion = core.completion(qp, qp.receive.index);
    completion.opcode = frame.opcode & CQE_OPCODE_MASK;
    completion.payloadLength = (int) bytes;
    completion.solicited = frame.solicited;
    completion.immediateValid = BthOpcode.hasImmediate(frame.opcode);
    completion.immediate = completion.immediateValid ? frame.immediate : 0;
    qp.receiveHeld = false;
    return completion;
  }

  /**
   * Sends what is due, up to a number of packets.
   *
   * @return what is left of the number
   */
  int run(QpState qp, int budget) {
    ResponseQueue responses = qp.responses;
    int left = budget;
    while (left > 0 && !responses.isEmpty() && services.transmitReady()) {
      left--;
      if (!responses.isRead()) {
        int psn = responses.psn();
        int syndrome = responses.syndrome();
        int msn = responses.msn();
        responses.remove();
        core.output.acknowledge(qp, psn, syndrome, msn);
      } else if (!sendReadResponse(qp, responses)) {
        break;
      }
    }
    return left;
  }

  private boolean sendReadResponse(QpState qp, ResponseQueue responses) {
    boolean last = responses.packets() == 1;
    int size = (int) Math.min(qp.mtu, responses.length());
    int opcode;
    if (responses.started()) {
      opcode = last ? BthOpcode.READ_RESPONSE_LAST : BthOpcode.READ_RESPONSE_MIDDLE;
    } else {
      opcode = last ? BthOpcode.READ_RESPONSE_ONLY : BthOpcode.READ_RESPONSE_FIRST;
    }
    if (!core.output.begin(qp, opcode, responses.psn(), size)) {
      responses.clear();
      return false;
    }
    RoceFrame frame = core.output.frame;
    frame.syndrome = responses.syndrome();
    frame.msn = responses.msn();
    core.output.headers();
    int code = size > 0 ? fetch(qp, responses, size) : DeviceServices.ACCESS_OK;
    if (code != DeviceServices.ACCESS_OK) {
      int psn = responses.psn();
      responses.clear();
      boolean fault = code == Core.fault();
      respond(qp, psn, fault ? Aeth.NAK_REMOTE_OPERATION : Aeth.NAK_REMOTE_ACCESS);
      if (qp.state != QpState.ERROR) {
        core.failIncoming(qp, code);
      }
      return true;
    }
    core.output.send(qp);
    if (last) {
      responses.remove();
    } else {
      responses.advanceRead(size);
    }
    return true;
  }

  /** Reads what the next response carries; the region may have gone since the last one. */
  private int fetch(QpState qp, ResponseQueue responses, int size) {
    int code =
        services.checkAccess(
            responses.key(),
            responses.address(),
            responses.length(),
            DeviceServices.REMOTE_READ,
            qp.pdId,
            qp.id);
    if (code != DeviceServices.ACCESS_OK) {
      return code;
    }
    boolean done =
        services.readRegion(
            responses.key(),
            responses.address(),
            core.output.memory,
            core.output.frame.payloadOffset,
            size);
    return done ? DeviceServices.ACCESS_OK : Core.fault();
  }

  /** Flushes the receive queue with one completion for all that is posted. */
  void flush(QpState qp, int major, int minor) {
    boolean pending = qp.receiveHeld;
    int index = pending ? qp.receive.index : qp.rqIndex;
    qp.receiveHeld = false;
    qp.message = QpState.MESSAGE_NONE;
    for (int i = 0; i <= qp.rqMask; i++) {
      long address =
          services.ringAddress(qp.rqBase, qp.virtualQueues, (long) qp.rqIndex * SendWork.QUANTUM);
      if (services.readHostWord(address + 24) >>> 63 != qp.rqPolarity) {
        break;
      }
      pending = true;
      qp.advanceRq();
    }
    if (pending) {
      services.complete(qp.receiveCq, core.flushed(qp, index, major, minor));
    }
  }
}
