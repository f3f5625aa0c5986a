package irdma4j.simulator.transport;

import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Icrc;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;

/** Builds frames, in the wire's own buffers, and hands them to the wire. */
final class Output {
  final RoceFrame frame = new RoceFrame();

  /** Where the frame is built whose headers were written last. */
  MemorySegment memory = MemorySegment.NULL;

  private final DeviceServices services;
  private final Icrc icrc;

  Output(DeviceServices services, Icrc icrc) {
    this.services = services;
    this.icrc = icrc;
  }

  /**
   * Starts a packet on a queue pair's path.
   *
   * @return false if the path's ARP entry is free
   */
  boolean begin(QpState qp, int opcode, int psn, int payload) {
    long mac = services.arpMac(qp.arpIndex);
    if (mac < 0) {
      return false;
    }
    frame.destinationMac = mac;
    frame.sourceMac = qp.mac;
    frame.vlanTag = qp.vlanTag;
    frame.ipv4 = qp.ipv4;
    frame.trafficClass = qp.trafficClass;
    frame.hopLimit = qp.hopLimit;
    frame.flowLabel = qp.flowLabel;
    frame.sourceIpHigh = qp.localIpHigh;
    frame.sourceIpLow = qp.localIpLow;
    frame.destinationIpHigh = qp.remoteIpHigh;
    frame.destinationIpLow = qp.remoteIpLow;
    frame.udpSource = qp.sourcePort;
    frame.udpDestination = qp.destinationPort;
    frame.opcode = opcode;
    frame.solicited = false;
    frame.pkey = qp.pkey;
    frame.destinationQp = qp.remoteQp;
    frame.ackRequest = false;
    frame.psn = psn;
    frame.payloadLength = payload;
    return true;
  }

  /** Writes the headers; the payload goes to {@link RoceFrame#payloadOffset} of the memory. */
  void headers() {
    memory = services.frameBuffer();
    frame.writeHeaders(memory);
  }

  /** Seals the frame of a queue pair and puts it on the wire. */
  void send(QpState qp) {
    qp.traffic.sent(frame);
    int bytes = services.wireIsPrivate() ? frame.totalLength : frame.seal(memory, icrc);
    services.transmit(memory, bytes, 1);
  }

  /** Puts a frame of a queue pair on the wire that stands for several packets. */
  void sendTrain(QpState qp, int packets) {
    for (int i = 0; i < packets; i++) {
      qp.traffic.sent(frame);
    }
    services.transmit(memory, frame.totalLength, packets);
  }

  /** Brings the frame that was sent back to this function, too. */
  void loopBack() {
    services.loopBack(memory, frame.totalLength);
  }

  /** Sends an acknowledgement, positive or negative. */
  boolean acknowledge(QpState qp, int psn, int syndrome, int msn) {
    if (!begin(qp, BthOpcode.ACKNOWLEDGE, psn, 0)) {
      return false;
    }
    frame.syndrome = syndrome;
    frame.msn = msn;
    headers();
    send(qp);
    if ((syndrome & Aeth.KIND_MASK) == Aeth.KIND_ACK) {
      services.counters().acksSent++;
    } else {
      services.counters().naksSent++;
    }
    return true;
  }
}
