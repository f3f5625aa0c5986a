package irdma4j.simulator.transport;

import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.MulticastGroup;
import irdma4j.simulator.device.PushPage;
import irdma4j.simulator.device.QpAttributes;
import irdma4j.simulator.device.QueueEngine;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Payload;
import irdma4j.simulator.wire.RoceFrame;
import irdma4j.simulator.wire.TimeHeap;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs of one function and their RoCEv2 transport. A queue pair is found by its number
 * in an array; those with work to do take turns; idle ones cost memory only.
 */
public final class RoceEngine implements QueueEngine {
  /** Queue pairs have 18-bit numbers. */
  private static final int MAX_QPS = 1 << 18;

  /** Packets that a queue pair may send in its turn. */
  private static final int BURST = 16;

  /** Turns that one call of {@link #run} gives. */
  private static final int TURNS = 16;

  private static final int TRANSPORT_VERSION = 0;
  private static final int PKEY_MASK = 0x7fff;
  private static final int FULL_MEMBER = 0x8000;

  /** Quanta of a send queue that its driver leaves free; Linux IRDMA_SQ_RING_FREE_QUANTA. */
  private static final int UNUSED_QUANTA = 256;

  private static final int MULTICAST_QP = 0xff_ffff;

  private final DeviceServices services;
  private final Core core;
  private final SendCompletions completions;
  private final Requester requester;
  private final Acknowledgements acknowledgements;
  private final Responder responder;
  private final Datagrams datagrams;
  private final Congestion congestion;
  private final RoceFrame frame = new RoceFrame();

  /** The payload that stands in the frame. */
  private final Payload standing = new Payload();

  private @Nullable QpState[] queuePairs = new QpState[16];

  /** An engine without queue pairs. */
  public RoceEngine(DeviceServices services) {
    this.services = services;
    this.core = new Core(services);
    this.datagrams = new Datagrams(core);
    this.completions = new SendCompletions(core);
    WorkReader reader = new WorkReader(core, completions);
    this.requester = new Requester(core, reader, completions, datagrams);
    this.acknowledgements = new Acknowledgements(core, reader, completions);
    this.responder = new Responder(core);
    this.congestion = new Congestion(core);
  }

  /** What is kept of a queue pair, or null. */
  @Nullable QpState find(int qpId) {
    return qpId < queuePairs.length ? queuePairs[qpId] : null;
  }

  @Override
  public void contextWritten(int qpId, MemorySegment context, QpAttributes attributes) {
    if (qpId < 0 || qpId >= MAX_QPS) {
      throw new IllegalArgumentException("queue pair " + qpId);
    }
    if (qpId >= queuePairs.length) {
      queuePairs = Arrays.copyOf(queuePairs, Integer.highestOneBit(qpId) * 2);
    }
    QpState qp = queuePairs[qpId];
    if (qp == null) {
      qp = new QpState(qpId);
      queuePairs[qpId] = qp;
    }
    qp.load(context, attributes);
    qp.traffic = services.traffic(qp.statistics);
    if (attributes.nextState() != 0) {
      enter(qp, attributes.nextState());
    }
  }

  @Override
  public void stateChanged(int qpId, int state) {
    QpState qp = find(qpId);
    if (qp != null) {
      enter(qp, state);
    }
  }

  private void enter(QpState qp, int state) {
    if (qp.state == state) {
      return;
    }
    qp.state = state;
    switch (state) {
      case QpState.READY_TO_SEND -> {
        qp.drainPending = false;
        core.wake(qp);
      }
      case QpState.SEND_DRAINED -> {
        qp.drainPending = true;
        core.wake(qp);
      }
      case QpState.ERROR -> {
        core.disarm(qp);
        qp.rnrWaiting = false;
      }
      default -> {}
    }
  }

  @Override
  public void storeContext(int qpId, MemorySegment context) {
    QpState qp = find(qpId);
    if (qp != null) {
      qp.store(context);
    }
  }

  @Override
  public void flush(
      int qpId, boolean sq, int sqMajor, int sqMinor, boolean rq, int rqMajor, int rqMinor) {
    QpState qp = find(qpId);
    if (qp == null) {
      return;
    }
    if (sq) {
      requester.flush(qp, sqMajor, sqMinor);
    }
    if (rq) {
      responder.flush(qp, rqMajor, rqMinor);
    }
  }

  @Override
  public void destroyed(int qpId) {
    if (qpId < queuePairs.length) {
      queuePairs[qpId] = null;
    }
  }

  @Override
  public void doorbell(int qpId) {
    QpState qp = find(qpId);
    if (qp != null) {
      core.wake(qp);
    }
  }

  @Override
  public void pushed(int qpId, PushPage page) {
    QpState qp = find(qpId);
    if (qp != null && qp.pushPage == page.index) {
      page.forgetBehind(qp.sqIndex, qp.sqMask, qp.sqMask - UNUSED_QUANTA);
      qp.push = page;
      core.wake(qp);
    }
  }

  @Override
  public void receive(MemorySegment memory, int bytes, @Nullable Payload lent) {
    boolean known = frame.parse(memory, bytes) && frame.transportVersion == TRANSPORT_VERSION;
    if (known && lent != null) {
      acceptEach(memory, lent);
    } else if (!known || !accept(memory, null)) {
      services.counters().framesDiscarded++;
    }
  }

  private void acceptEach(MemorySegment memory, Payload lent) {
    int psn = frame.psn;
    boolean ackRequest = frame.ackRequest;
    int end = lent.first() + lent.packets();
    for (int packet = lent.first(); packet < end; packet++) {
      frame.psn = Psn.add(psn, packet);
      frame.ackRequest = ackRequest && lent.isLast(packet);
      lent.startAt((long) packet * frame.payloadLength);
      if (!accept(memory, lent)) {
        services.counters().framesDiscarded++;
      }
    }
  }

  private boolean accept(MemorySegment memory, @Nullable Payload lent) {
    if (frame.isMulticast()) {
      return acceptMulticast(memory);
    }
    if (frame.destinationMac != services.portMac()) {
      return false;
    }
    QpState qp = find(frame.destinationQp);
    if (qp == null) {
      return false;
    }
    qp.traffic.received(frame);
    boolean taken = takes(qp, memory) && deliver(qp, memory, lent);
    if (!taken) {
      qp.traffic.discarded(frame);
    }
    return taken;
  }

  private boolean deliver(QpState qp, MemorySegment memory, @Nullable Payload lent) {
    if (qp.type == QpState.TYPE_UD) {
      return datagrams.receive(qp, frame, memory, responder);
    }
    if (!isFromPeer(qp)) {
      return false;
    }
    if (frame.opcode == BthOpcode.CONGESTION_NOTIFICATION) {
      congestion.notified(qp);
      return true;
    }
    if (!BthOpcode.isReliable(frame.opcode)) {
      return false;
    }
    congestion.received(qp, frame);
    Payload payload = lent;
    if (payload == null) {
      payload = standing;
      payload.clear();
      payload.add(memory, frame.payloadOffset, frame.payloadLength);
    }
    switch (frame.opcode) {
      case BthOpcode.ACKNOWLEDGE -> acknowledgements.acknowledged(qp, frame);
      case BthOpcode.READ_RESPONSE_FIRST,
          BthOpcode.READ_RESPONSE_MIDDLE,
          BthOpcode.READ_RESPONSE_LAST,
          BthOpcode.READ_RESPONSE_ONLY ->
          acknowledgements.readResponse(qp, frame, payload);
      case BthOpcode.ATOMIC_ACKNOWLEDGE -> {}
      default -> responder.request(qp, frame, payload);
    }
    return true;
  }

  /**
   * A packet for a multicast group: each member that would take it as its own gets a copy. Source
   * of the rules: InfiniBand Architecture Specification, volume 1, 10.5 and A17.9.
   */
  private boolean acceptMulticast(MemorySegment memory) {
    MulticastGroup group =
        services.multicastGroup(
            frame.destinationMac,
            frame.ipv4,
            frame.destinationIpHigh,
            frame.destinationIpLow,
            frame.vlanTag);
    if (group == null || frame.destinationQp != MULTICAST_QP) {
      return false;
    }
    boolean taken = false;
    for (int i = 0; i < group.members(); i++) {
      QpState qp = find(group.qpId(i));
      if (qp != null && !countedBefore(group, i, qp)) {
        qp.traffic.received(frame);
      }
      if (qp != null
          && qp.type == QpState.TYPE_UD
          && group.takesPort(i, frame.udpDestination)
          && takes(qp, memory)) {
        taken |= datagrams.receive(qp, frame, memory, responder);
      }
    }
    return taken;
  }

  /** Whether an earlier member counts in the same statistics instance: the packet is one. */
  private boolean countedBefore(MulticastGroup group, int member, QpState qp) {
    for (int i = 0; i < member; i++) {
      QpState earlier = find(group.qpId(i));
      if (earlier != null && earlier.traffic == qp.traffic) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a packet is for a queue pair's partition, of which one side at least must be a full
   * member, and whole. Source: InfiniBand Architecture Specification, volume 1, 10.9.3.
   */
  private boolean takes(QpState qp, MemorySegment memory) {
    return qp.canReceive()
        && ((frame.pkey ^ qp.pkey) & PKEY_MASK) == 0
        && ((frame.pkey | qp.pkey) & FULL_MEMBER) != 0
        && (qp.icrcIgnored || services.wireIsPrivate() || frame.icrcMatches(memory, core.icrc));
  }

  private boolean isFromPeer(QpState qp) {
    return frame.ipv4 == qp.ipv4
        && frame.sourceIpLow == qp.remoteIpLow
        && frame.sourceIpHigh == qp.remoteIpHigh
        && frame.destinationIpLow == qp.localIpLow
        && frame.destinationIpHigh == qp.localIpHigh;
  }

  @Override
  public boolean run() {
    boolean done = false;
    ReadyQueue ready = core.ready();
    for (int turn = Math.min(TURNS, ready.size()); turn > 0; turn--) {
      QpState qp = find(ready.take());
      if (qp == null || !qp.queued) {
        continue;
      }
      qp.queued = false;
      int left = responder.run(qp, BURST);
      if (left > 0) {
        left = requester.run(qp, left);
      }
      completions.drained(qp);
      boolean blocked = !services.transmitReady();
      done |= left < BURST;
      if (left == 0 || blocked) {
        core.wake(qp);
      }
      if (blocked) {
        break;
      }
    }
    return done;
  }

  @Override
  public void timer(long now) {
    TimeHeap timers = core.timers();
    while (timers.nextTime() <= now) {
      long when = timers.nextTime();
      QpState qp = find(timers.what(0));
      timers.removeNext();
      if (qp == null || qp.queuedDeadline != when) {
        continue;
      }
      qp.queuedDeadline = Long.MAX_VALUE;
      if (qp.deadline == Long.MAX_VALUE) {
        continue;
      }
      if (qp.deadline > now) {
        qp.queuedDeadline = qp.deadline;
        timers.add(qp.deadline, qp.id, qp.id);
      } else {
        acknowledgements.timeout(qp, now);
      }
    }
    if (timers.nextTime() != Long.MAX_VALUE) {
      services.requestTimer(timers.nextTime());
    }
  }

  @Override
  public void reset() {
    Arrays.fill(queuePairs, null);
    core.ready().clear();
    core.timers().clear();
  }
}
