package irdma4j.hwregs;

import java.util.Arrays;

/**
 * A counter that GATHER_STATS writes to the statistics buffer. It wraps around.
 *
 * <p>Source: struct irdma_gather_stats in Linux drivers/infiniband/hw/irdma/type.h.
 */
public enum Statistic {
  /** Frames received with a VLAN that is not ours. */
  RX_VLAN_ERRORS(4, 32, "Frames received with a VLAN that is not ours"),
  /** IPv4 bytes received. */
  IP4_RX_OCTETS(8, 48, "IPv4 bytes received"),
  /** IPv4 packets received. */
  IP4_RX_PACKETS(16, 48, "IPv4 packets received"),
  /** IPv4 packets received short. */
  IP4_RX_TRUNCATED(24, 32, "IPv4 packets received short"),
  /** IPv4 packets received and dropped. */
  IP4_RX_DISCARDED(28, 32, "IPv4 packets received and dropped"),
  /** IPv4 fragments received. */
  IP4_RX_FRAGMENTS(32, 48, "IPv4 fragments received"),
  /** IPv4 multicast bytes received. */
  IP4_RX_MULTICAST_OCTETS(40, 48, "IPv4 multicast bytes received"),
  /** IPv4 multicast packets received. */
  IP4_RX_MULTICAST_PACKETS(48, 48, "IPv4 multicast packets received"),
  /** IPv6 bytes received. */
  IP6_RX_OCTETS(56, 48, "IPv6 bytes received"),
  /** IPv6 packets received. */
  IP6_RX_PACKETS(64, 48, "IPv6 packets received"),
  /** IPv6 packets received short. */
  IP6_RX_TRUNCATED(72, 32, "IPv6 packets received short"),
  /** IPv6 packets received and dropped. */
  IP6_RX_DISCARDED(76, 32, "IPv6 packets received and dropped"),
  /** IPv6 fragments received. */
  IP6_RX_FRAGMENTS(80, 48, "IPv6 fragments received"),
  /** IPv6 multicast bytes received. */
  IP6_RX_MULTICAST_OCTETS(88, 48, "IPv6 multicast bytes received"),
  /** IPv6 multicast packets received. */
  IP6_RX_MULTICAST_PACKETS(96, 48, "IPv6 multicast packets received"),
  /** IPv4 bytes sent. */
  IP4_TX_OCTETS(104, 48, "IPv4 bytes sent"),
  /** IPv4 packets sent. */
  IP4_TX_PACKETS(112, 48, "IPv4 packets sent"),
  /** IPv4 fragments sent. */
  IP4_TX_FRAGMENTS(120, 48, "IPv4 fragments sent"),
  /** IPv4 multicast bytes sent. */
  IP4_TX_MULTICAST_OCTETS(128, 48, "IPv4 multicast bytes sent"),
  /** IPv4 multicast packets sent. */
  IP4_TX_MULTICAST_PACKETS(136, 48, "IPv4 multicast packets sent"),
  /** IPv6 bytes sent. */
  IP6_TX_OCTETS(144, 48, "IPv6 bytes sent"),
  /** IPv6 packets sent. */
  IP6_TX_PACKETS(152, 48, "IPv6 packets sent"),
  /** IPv6 fragments sent. */
  IP6_TX_FRAGMENTS(160, 48, "IPv6 fragments sent"),
  /** IPv6 multicast bytes sent. */
  IP6_TX_MULTICAST_OCTETS(168, 48, "IPv6 multicast bytes sent"),
  /** IPv6 multicast packets sent. */
  IP6_TX_MULTICAST_PACKETS(176, 48, "IPv6 multicast packets sent"),
  /** IPv6 packets not sent for want of a route. */
  IP6_TX_NO_ROUTE(184, 32, "IPv6 packets not sent for want of a route"),
  /** IPv4 packets not sent for want of a route. */
  IP4_TX_NO_ROUTE(188, 32, "IPv4 packets not sent for want of a route"),
  /** TCP segments received. */
  TCP_RX_SEGMENTS(192, 48, "TCP segments received"),
  /** TCP segments received with a wrong header. */
  TCP_RX_PROTOCOL_ERRORS(200, 32, "TCP segments received with a wrong header"),
  /** TCP segments received with a wrong option. */
  TCP_RX_OPTION_ERRORS(204, 32, "TCP segments received with a wrong option"),
  /** TCP segments sent. */
  TCP_TX_SEGMENTS(208, 48, "TCP segments sent"),
  /** TCP segments sent again. */
  TCP_RETRANSMITTED_SEGMENTS(220, 32, "TCP segments sent again"),
  /** UDP packets received. */
  UDP_RX_PACKETS(224, 48, "UDP packets received"),
  /** UDP packets sent. */
  UDP_TX_PACKETS(232, 48, "UDP packets sent"),
  /** RDMA WRITEs received. */
  RDMA_RX_WRITES(240, 48, "RDMA WRITEs received"),
  /** RDMA READ requests received. */
  RDMA_RX_READS(248, 48, "RDMA READ requests received"),
  /** SENDs received. */
  RDMA_RX_SENDS(256, 48, "SENDs received"),
  /** RDMA WRITEs sent. */
  RDMA_TX_WRITES(264, 48, "RDMA WRITEs sent"),
  /** RDMA READ requests sent. */
  RDMA_TX_READS(272, 48, "RDMA READ requests sent"),
  /** SENDs sent. */
  RDMA_TX_SENDS(280, 48, "SENDs sent"),
  /** Memory windows bound. */
  RDMA_BINDS(288, 48, "Memory windows bound"),
  /** Stags invalidated. */
  RDMA_INVALIDATIONS(296, 48, "Stags invalidated"),
  /** Packets received with an ECN mark. */
  RX_ECN_MARKED_PACKETS(304, 48, "Packets received with an ECN mark"),
  /** Congestion notifications received and handled. */
  RX_CNP_HANDLED(312, 32, "Congestion notifications received and handled"),
  /** Congestion notifications received and ignored. */
  RX_CNP_IGNORED(316, 32, "Congestion notifications received and ignored"),
  /** Congestion notifications sent. */
  TX_CNP_SENT(320, 32, "Congestion notifications sent");

  /** Bytes of the statistics buffer. */
  public static final int BUFFER_SIZE = 1024;

  /** The statistics buffer. */
  public static final Layout LAYOUT =
      new Layout(
          "statistics",
          BUFFER_SIZE,
          "What a statistics instance has counted",
          Arrays.stream(values()).map(Statistic::field).toList());

  private final Field field;

  Statistic(int offset, int width, String meaning) {
    int word = offset & ~7;
    this.field = new Field(name(), word, (offset - word) * 8, width, meaning, "");
  }

  /** Where it stands in the buffer; 32 or 48 bits wide. */
  public Field field() {
    return field;
  }

  /**
   * What was counted between two looks at the buffer, if the counter wrapped around at most once.
   *
   * @param before what stood there first
   * @param now what stands there now
   */
  public long difference(long before, long now) {
    return (now - before) & field.max();
  }
}
