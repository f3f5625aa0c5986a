package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.SqWqe;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.simulator.device.CompletionEntry;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Payload;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The unreliable datagram service. A datagram is done when it is on the wire; one that finds no
 * receive WQE, or brings another Q_Key, is dropped. Source of the rules: InfiniBand Architecture
 * Specification, volume 1, 9.8.3 and 10.2.5.
 */
final class Datagrams {
  /** Room before the payload of a receive: a GRH, or 20 bytes of nothing and an IPv4 header. */
  static final int GRH = 40;

  private static final int IPV4_HEADER = 20;

  private final DeviceServices services;
  private final Core core;
  private final MemorySegment empty = Arena.ofAuto().allocate(GRH, 8);

  /** The GRH's room and the payload of the datagram in hand. */
  private final Payload datagram = new Payload();

  Datagrams(Core core) {
    this.core = core;
    this.services = core.services;
  }

  /**
   * Sends one datagram.
   *
   * @return 0, or the asynchronous event code that says why not
   */
  int send(QpState qp, SendWork work) {
    if (!work.isSend() || work.invalidates()) {
      return AeCode.WQE_UNEXPECTED_OPCODE.code();
    }
    if (work.length > qp.mtu) {
      return AeCode.UDA_XMIT_DGRAM_TOO_LONG.code();
    }
    ManageAddressHandle handle = services.addressHandle((int) SqWqe.AHID.decode(work.header));
    if (handle == null) {
      return AeCode.INVALID_AH_ENTRY.code();
    }
    if (handle.pdId() != qp.pdId) {
      return AeCode.UDA_XMIT_BAD_PD.code();
    }
    long mac = services.arpMac(handle.arpIndex());
    if (mac < 0) {
      return AeCode.INVALID_ARP_ENTRY.code();
    }
    RoceFrame frame = core.output.frame;
    address(frame, handle, mac);
    frame.udpSource = qp.sourcePort;
    frame.udpDestination = RoceFrame.UDP_PORT;
    frame.opcode = work.immediateValid ? BthOpcode.UD_SEND_ONLY_IMMEDIATE : BthOpcode.UD_SEND_ONLY;
    frame.solicited = work.solicited();
    frame.pkey = qp.pkey;
    frame.destinationQp = (int) SqWqe.DESTQPN.decode(work.word2);
    frame.ackRequest = false;
    frame.psn = qp.nextPsn;
    int key = (int) SqWqe.DESTQKEY.decode(work.word2);
    // A Q_Key with its highest bit set may only be used by way of the queue pair's own.
    frame.qkey = key < 0 ? qp.qkey : key;
    frame.sourceQp = qp.id;
    frame.immediate = work.immediate;
    frame.payloadLength = (int) work.length;
    core.output.headers();
    int code =
        work.gather(services, qp, 0, frame.payloadLength, core.output.memory, frame.payloadOffset);
    if (code != 0) {
      return code;
    }
    core.output.send(qp);
    if (handle.loopback() && frame.isMulticast()) {
      core.output.loopBack();
    }
    qp.nextPsn = Psn.add(qp.nextPsn, 1);
    qp.highestPsn = qp.nextPsn;
    qp.unackedPsn = qp.nextPsn;
    return 0;
  }

  private static void address(RoceFrame frame, ManageAddressHandle handle, long mac) {
    frame.destinationMac = mac;
    frame.sourceMac = handle.macAddress();
    frame.vlanTag = handle.insertVlan() ? handle.vlanTag() : RoceFrame.NO_VLAN;
    frame.ipv4 = handle.destination().ipv4();
    frame.trafficClass = handle.trafficClass();
    frame.hopLimit = handle.hopLimit();
    frame.flowLabel = handle.flowLabel();
    frame.destinationIpLow = handle.destination().low();
    frame.sourceIpLow = handle.source().low();
    frame.destinationIpHigh = handle.destination().high();
    frame.sourceIpHigh = handle.source().high();
  }

  /**
   * Takes a datagram.
   *
   * @return false if it is dropped
   */
  boolean receive(QpState qp, RoceFrame frame, MemorySegment memory, Responder responder) {
    boolean known =
        frame.opcode == BthOpcode.UD_SEND_ONLY || frame.opcode == BthOpcode.UD_SEND_ONLY_IMMEDIATE;
    if (!known
        || frame.qkey != qp.qkey
        || frame.payloadLength > qp.mtu
        || !responder.takeReceive(qp)) {
      return false;
    }
    if (qp.receive.refusal != 0) {
      core.failReceive(qp, qp.receive.refusal);
      return true;
    }
    int bytes = GRH + frame.payloadLength;
    if (bytes > qp.receive.capacity()) {
      core.failReceive(qp, AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER.code());
      return true;
    }
    datagram.clear();
    if (frame.ipv4) {
      datagram.add(empty, 0, GRH - IPV4_HEADER);
      datagram.add(memory, frame.ipOffset, IPV4_HEADER);
    } else {
      datagram.add(memory, frame.ipOffset, GRH);
    }
    datagram.add(memory, frame.payloadOffset, frame.payloadLength);
    int code = qp.receive.scatter(services, qp, 0, bytes, datagram, 0);
    if (code != 0) {
      core.failReceive(qp, code);
      return true;
    }
    CompletionEntry completion = responder.receiveCompletion(qp, frame, bytes);
    completion.ipv4 = frame.ipv4;
    completion.sourceQpn = frame.sourceQp;
    completion.sourceMacValid = true;
    completion.sourceMac = frame.sourceMac;
    completion.vlanTag = frame.vlanTag;
    services.complete(qp.receiveCq, completion);
    return true;
  }
}
