package irdma4j.simulator.wire;

import java.lang.foreign.MemorySegment;

/**
 * Explicit congestion notification: the lower two bits of an IP header's type of service or traffic
 * class. Source: RFC 3168, 5.
 */
public final class Ecn {
  /** The bits. */
  public static final int MASK = 3;

  /** The mark of a router or switch that was congested. */
  public static final int CONGESTION_EXPERIENCED = 3;

  private static final int ETHERTYPE_VLAN = 0x8100;
  private static final int ETHERTYPE_IPV4 = 0x0800;
  private static final int ETHERTYPE_IPV6 = 0x86dd;
  private static final int IPV4_CHECKSUM = 10;
  private static final int LEAST_IP = 20;

  private Ecn() {}

  /**
   * Marks a frame as a congested switch does, and keeps its IPv4 checksum right.
   *
   * @return false if the frame is not IP, or its sender does not know ECN; it is then unchanged
   */
  static boolean mark(MemorySegment frame, int bytes) {
    int ip = BigEndian.get16(frame, 12) == ETHERTYPE_VLAN ? 18 : 14;
    if (bytes < ip + LEAST_IP) {
      return false;
    }
    int etherType = BigEndian.get16(frame, ip - 2);
    boolean ipv4 = etherType == ETHERTYPE_IPV4;
    if (!ipv4 && etherType != ETHERTYPE_IPV6) {
      return false;
    }
    int shift = ipv4 ? 0 : 4;
    int word = BigEndian.get16(frame, ip);
    if ((word >>> shift & MASK) == 0) {
      return false;
    }
    int marked = word | CONGESTION_EXPERIENCED << shift;
    BigEndian.set16(frame, ip, marked);
    if (ipv4) {
      // RFC 1624: the new checksum is ~(~old + ~word + marked) in ones' complement.
      int sum = ~BigEndian.get16(frame, ip + IPV4_CHECKSUM) & 0xffff;
      sum += (~word & 0xffff) + marked;
      sum = (sum & 0xffff) + (sum >>> 16);
      sum = (sum & 0xffff) + (sum >>> 16);
      BigEndian.set16(frame, ip + IPV4_CHECKSUM, ~sum & 0xffff);
    }
    return true;
  }
}
