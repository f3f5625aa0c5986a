package irdma4j.simulator.device;

import irdma4j.hwregs.Statistic;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** IP traffic by version, as GATHER_STATS reports it. */
final class TrafficCounts {
  /** Bytes of the statistics buffer. */
  static final int BYTES = Statistic.BUFFER_SIZE;

  private static final int ETHERTYPE = 12;
  private static final int ETHERNET_BYTES = 14;
  private static final byte IP6_FIRST_BYTE = (byte) 0x86;

  private long ip4RxPackets;
  private long ip4RxOctets;
  private long ip6RxPackets;
  private long ip6RxOctets;
  private long ip4TxPackets;
  private long ip4TxOctets;
  private long ip6TxPackets;
  private long ip6TxOctets;

  void sent(MemorySegment frame, int bytes) {
    if (frame.get(ValueLayout.JAVA_BYTE, ETHERTYPE) == IP6_FIRST_BYTE) {
      ip6TxPackets++;
      ip6TxOctets += bytes - ETHERNET_BYTES;
    } else {
      ip4TxPackets++;
      ip4TxOctets += bytes - ETHERNET_BYTES;
    }
  }

  void received(MemorySegment frame, int bytes) {
    if (frame.get(ValueLayout.JAVA_BYTE, ETHERTYPE) == IP6_FIRST_BYTE) {
      ip6RxPackets++;
      ip6RxOctets += bytes - ETHERNET_BYTES;
    } else {
      ip4RxPackets++;
      ip4RxOctets += bytes - ETHERNET_BYTES;
    }
  }

  void store(MemorySegment buffer) {
    buffer.asSlice(0, BYTES).fill((byte) 0);
    set(buffer, Statistic.IP4_RX_OCTETS, ip4RxOctets);
    set(buffer, Statistic.IP4_RX_PACKETS, ip4RxPackets);
    set(buffer, Statistic.IP6_RX_OCTETS, ip6RxOctets);
    set(buffer, Statistic.IP6_RX_PACKETS, ip6RxPackets);
    set(buffer, Statistic.IP4_TX_OCTETS, ip4TxOctets);
    set(buffer, Statistic.IP4_TX_PACKETS, ip4TxPackets);
    set(buffer, Statistic.IP6_TX_OCTETS, ip6TxOctets);
    set(buffer, Statistic.IP6_TX_PACKETS, ip6TxPackets);
    set(buffer, Statistic.UDP_RX_PACKETS, ip4RxPackets + ip6RxPackets);
    set(buffer, Statistic.UDP_TX_PACKETS, ip4TxPackets + ip6TxPackets);
  }

  /** A counter of the buffer wraps around. */
  private static void set(MemorySegment buffer, Statistic statistic, long value) {
    statistic.field().set(buffer, 0, value & statistic.field().max());
  }
}
