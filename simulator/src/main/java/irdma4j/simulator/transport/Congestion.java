package irdma4j.simulator.transport;

import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Ecn;
import irdma4j.simulator.wire.RoceFrame;

/**
 * Congestion control of queue pairs whose context enables DCQCN: a marked packet is answered with a
 * notification, and a notification makes the sender send less for a while. Source of the packet:
 * InfiniBand Architecture Specification, volume 1, A17.9.3. How much less is not said there; here
 * the window is halved and grows with each acknowledgement.
 */
final class Congestion {
  /** At most one notification in this time, as DCQCN's notification point does. */
  static final long INTERVAL_NANOS = 50_000;

  /** The bit of backward notification. */
  static final int BECN = 0x40;

  /** Bytes of a notification behind its BTH, all of them 0. */
  static final int RESERVED_BYTES = 16;

  private final Core core;
  private final DeviceServices services;

  Congestion(Core core) {
    this.core = core;
    this.services = core.services;
  }

  /** A packet that is a queue pair's own has come; its sender is told if it was marked. */
  void received(QpState qp, RoceFrame frame) {
    if (!qp.congestionControl
        || (frame.trafficClass & Ecn.MASK) != Ecn.CONGESTION_EXPERIENCED
        || services.now() < qp.notifiedUntil
        || !core.output.begin(qp, BthOpcode.CONGESTION_NOTIFICATION, 0, RESERVED_BYTES)) {
      return;
    }
    qp.notifiedUntil = services.now() + INTERVAL_NANOS;
    RoceFrame out = core.output.frame;
    out.congestion = BECN;
    out.migrated = false;
    core.output.headers();
    core.output.memory.asSlice(out.payloadOffset, RESERVED_BYTES).fill((byte) 0);
    core.output.send(qp);
    out.congestion = 0;
    out.migrated = true;
    qp.traffic.notificationSent();
  }

  /** The peer says that what this queue pair sends is congested. */
  void notified(QpState qp) {
    qp.traffic.notified(qp.congestionControl);
    if (qp.congestionControl) {
      qp.window = Math.max(1, qp.window / 2);
    }
  }

  /** The peer has acknowledged something. */
  static void relax(QpState qp) {
    if (qp.window < qp.fullWindow) {
      qp.window++;
    }
  }
}
