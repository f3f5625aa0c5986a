package irdma4j.simulator.transport;

import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The unreliable datagram service of UD queue pairs, QP 1 included. */
final class Datagrams {
  /** Room before the payload of a receive: a GRH, or 20 bytes of nothing and an IPv4 header. */
  private static final int GRH = 40;

  private final DeviceServices services;
  private final Core core;
  private final Responder responder;
  private final MemorySegment grh = Arena.ofAuto().allocate(GRH, 8);

  Datagrams(Core core, Responder responder) {
    this.core = core;
    this.services = core.services;
    this.responder = responder;
  }

  int run(QpState qp, int budget) {
    return budget;
  }

  boolean receive(QpState qp, RoceFrame frame, MemorySegment memory) {
    return false;
  }
}
