package irdma4j.simulator.device;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Statistic;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Ecn;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What one statistics instance has counted, as GATHER_STATS reports it: the packets of its queue
 * pairs, those sent again included, and the messages that end with them. Counting allocates
 * nothing.
 *
 * <p>Bytes are counted from the IP header to the ICRC. A packet that is received and then thrown
 * away counts as received and as discarded.
 */
public final class TrafficCounts {
  /** Bytes of the statistics buffer. */
  static final int BYTES = Statistic.BUFFER_SIZE;

  // The counters' places, in halves of the buffer's words.
  private static final int TX_OCTETS_4 = place(Statistic.IP4_TX_OCTETS);
  private static final int TX_PACKETS_4 = place(Statistic.IP4_TX_PACKETS);
  private static final int TX_GROUP_OCTETS_4 = place(Statistic.IP4_TX_MULTICAST_OCTETS);
  private static final int TX_GROUP_PACKETS_4 = place(Statistic.IP4_TX_MULTICAST_PACKETS);
  private static final int TX_OCTETS_6 = place(Statistic.IP6_TX_OCTETS);
  private static final int TX_PACKETS_6 = place(Statistic.IP6_TX_PACKETS);
  private static final int TX_GROUP_OCTETS_6 = place(Statistic.IP6_TX_MULTICAST_OCTETS);
  private static final int TX_GROUP_PACKETS_6 = place(Statistic.IP6_TX_MULTICAST_PACKETS);
  private static final int RX_OCTETS_4 = place(Statistic.IP4_RX_OCTETS);
  private static final int RX_PACKETS_4 = place(Statistic.IP4_RX_PACKETS);
  private static final int RX_DISCARDED_4 = place(Statistic.IP4_RX_DISCARDED);
  private static final int RX_GROUP_OCTETS_4 = place(Statistic.IP4_RX_MULTICAST_OCTETS);
  private static final int RX_GROUP_PACKETS_4 = place(Statistic.IP4_RX_MULTICAST_PACKETS);
  private static final int RX_OCTETS_6 = place(Statistic.IP6_RX_OCTETS);
  private static final int RX_PACKETS_6 = place(Statistic.IP6_RX_PACKETS);
  private static final int RX_DISCARDED_6 = place(Statistic.IP6_RX_DISCARDED);
  private static final int RX_GROUP_OCTETS_6 = place(Statistic.IP6_RX_MULTICAST_OCTETS);
  private static final int RX_GROUP_PACKETS_6 = place(Statistic.IP6_RX_MULTICAST_PACKETS);
  private static final int TX_UDP = place(Statistic.UDP_TX_PACKETS);
  private static final int RX_UDP = place(Statistic.UDP_RX_PACKETS);
  private static final int TX_WRITES = place(Statistic.RDMA_TX_WRITES);
  private static final int TX_READS = place(Statistic.RDMA_TX_READS);
  private static final int TX_SENDS = place(Statistic.RDMA_TX_SENDS);
  private static final int RX_WRITES = place(Statistic.RDMA_RX_WRITES);
  private static final int RX_READS = place(Statistic.RDMA_RX_READS);
  private static final int RX_SENDS = place(Statistic.RDMA_RX_SENDS);
  private static final int BINDS = place(Statistic.RDMA_BINDS);
  private static final int INVALIDATIONS = place(Statistic.RDMA_INVALIDATIONS);
  private static final int RX_MARKED = place(Statistic.RX_ECN_MARKED_PACKETS);
  private static final int RX_NOTIFIED = place(Statistic.RX_CNP_HANDLED);
  private static final int RX_NOT_HEEDED = place(Statistic.RX_CNP_IGNORED);
  private static final int TX_NOTIFICATIONS = place(Statistic.TX_CNP_SENT);

  private final long[] counts = new long[BYTES / 4];

  /** Nothing is counted yet. */
  public TrafficCounts() {}

  private static int place(Statistic statistic) {
    Field field = statistic.field();
    return field.offset() / 4 + field.shift() / 32;
  }

  /** A packet whose headers are written goes out. */
  public void sent(RoceFrame frame) {
    int octets = frame.totalLength - frame.ipOffset;
    counts[TX_UDP]++;
    counts[frame.ipv4 ? TX_PACKETS_4 : TX_PACKETS_6]++;
    counts[frame.ipv4 ? TX_OCTETS_4 : TX_OCTETS_6] += octets;
    if (frame.isMulticast()) {
      counts[frame.ipv4 ? TX_GROUP_PACKETS_4 : TX_GROUP_PACKETS_6]++;
      counts[frame.ipv4 ? TX_GROUP_OCTETS_4 : TX_GROUP_OCTETS_6] += octets;
    }
    message(frame.opcode, TX_SENDS, TX_WRITES, TX_READS);
  }

  /** A parsed packet came in. */
  public void received(RoceFrame frame) {
    int octets = frame.totalLength - frame.ipOffset;
    counts[RX_UDP]++;
    counts[frame.ipv4 ? RX_PACKETS_4 : RX_PACKETS_6]++;
    counts[frame.ipv4 ? RX_OCTETS_4 : RX_OCTETS_6] += octets;
    if (frame.isMulticast()) {
      counts[frame.ipv4 ? RX_GROUP_PACKETS_4 : RX_GROUP_PACKETS_6]++;
      counts[frame.ipv4 ? RX_GROUP_OCTETS_4 : RX_GROUP_OCTETS_6] += octets;
    }
    if ((frame.trafficClass & Ecn.MASK) == Ecn.CONGESTION_EXPERIENCED) {
      counts[RX_MARKED]++;
    }
    message(frame.opcode, RX_SENDS, RX_WRITES, RX_READS);
  }

  /** The packet that was received is thrown away. */
  public void discarded(RoceFrame frame) {
    counts[frame.ipv4 ? RX_DISCARDED_4 : RX_DISCARDED_6]++;
  }

  /** A congestion notification went out; it counts as a packet, too. */
  public void notificationSent() {
    counts[TX_NOTIFICATIONS]++;
  }

  /**
   * A congestion notification came in.
   *
   * @param handled whether the queue pair sends less for it
   */
  public void notified(boolean handled) {
    counts[handled ? RX_NOTIFIED : RX_NOT_HEEDED]++;
  }

  /** A window was bound. */
  public void bound() {
    counts[BINDS]++;
  }

  /** A stag was invalidated. */
  public void invalidated() {
    counts[INVALIDATIONS]++;
  }

  private void message(int opcode, int sends, int writes, int reads) {
    switch (opcode) {
      case BthOpcode.SEND_LAST,
          BthOpcode.SEND_LAST_IMMEDIATE,
          BthOpcode.SEND_LAST_INVALIDATE,
          BthOpcode.SEND_ONLY,
          BthOpcode.SEND_ONLY_IMMEDIATE,
          BthOpcode.SEND_ONLY_INVALIDATE,
          BthOpcode.UD_SEND_ONLY,
          BthOpcode.UD_SEND_ONLY_IMMEDIATE ->
          counts[sends]++;
      case BthOpcode.WRITE_LAST,
          BthOpcode.WRITE_LAST_IMMEDIATE,
          BthOpcode.WRITE_ONLY,
          BthOpcode.WRITE_ONLY_IMMEDIATE ->
          counts[writes]++;
      case BthOpcode.READ_REQUEST -> counts[reads]++;
      default -> {}
    }
  }

  /** What a counter has reached. */
  public long count(Statistic statistic) {
    return counts[place(statistic)];
  }

  /** Counts on from another's counts. */
  void add(TrafficCounts other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
  }

  /** Begins at 0 again. */
  void clear() {
    Arrays.fill(counts, 0);
  }

  /** Writes the statistics buffer; a counter of it wraps around. */
  void store(MemorySegment buffer) {
    buffer.asSlice(0, BYTES).fill((byte) 0);
    for (Statistic statistic : Statistic.values()) {
      Field field = statistic.field();
      field.set(buffer, 0, counts[place(statistic)] & field.max());
    }
  }
}
