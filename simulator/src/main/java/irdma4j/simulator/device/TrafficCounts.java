package irdma4j.simulator.device;

import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * IP traffic by version, as GATHER_STATS reports it.
 *
 * <p>Source of the offsets: struct irdma_gather_stats in Linux drivers/infiniband/hw/irdma/type.h.
 */
final class TrafficCounts {
  /** Bytes of the statistics buffer. */
  static final int BYTES = 1024;

  private static final int IP4_RX_OCTETS = 8;
  private static final int IP4_RX_PACKETS = 16;
  private static final int IP6_RX_OCTETS = 56;
  private static final int IP6_RX_PACKETS = 64;
  private static final int IP4_TX_OCTETS = 104;
  private static final int IP4_TX_PACKETS = 112;
  private static final int IP6_TX_OCTETS = 144;
  private static final int IP6_TX_PACKETS = 152;
  private static final int UDP_RX_PACKETS = 224;
  private static final int UDP_TX_PACKETS = 232;
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
    LittleEndian.setLong(buffer, IP4_RX_OCTETS, ip4RxOctets);
    LittleEndian.setLong(buffer, IP4_RX_PACKETS, ip4RxPackets);
    LittleEndian.setLong(buffer, IP6_RX_OCTETS, ip6RxOctets);
    LittleEndian.setLong(buffer, IP6_RX_PACKETS, ip6RxPackets);
    LittleEndian.setLong(buffer, IP4_TX_OCTETS, ip4TxOctets);
    LittleEndian.setLong(buffer, IP4_TX_PACKETS, ip4TxPackets);
    LittleEndian.setLong(buffer, IP6_TX_OCTETS, ip6TxOctets);
    LittleEndian.setLong(buffer, IP6_TX_PACKETS, ip6TxPackets);
    LittleEndian.setLong(buffer, UDP_RX_PACKETS, ip4RxPackets + ip6RxPackets);
    LittleEndian.setLong(buffer, UDP_TX_PACKETS, ip4TxPackets + ip6TxPackets);
  }
}
