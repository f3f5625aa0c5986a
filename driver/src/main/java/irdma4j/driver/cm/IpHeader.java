package irdma4j.driver.cm;

import irdma4j.driver.Gid;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The addresses that the RDMA IP connection manager puts before the consumer's private data.
 *
 * <pre>
 *  0  version (4 bits major, 4 minor) | 1  IP version, 4 bits reserved | 2  source port
 *  4  source address, 16 bytes; an IPv4 address in the last four
 * 20  destination address
 * </pre>
 *
 * <p>Source: InfiniBand Architecture Specification, volume 1, annex A11.
 *
 * @param sourcePort the port of who asks
 * @param source of the same family as the destination
 * @param destination the address that was asked for
 */
record IpHeader(int sourcePort, Gid source, Gid destination) {
  static final int SIZE = 36;
  private static final int VERSION = 0;
  private static final long MAPPED = 0xffffL << 32;

  /** Reads it; null if it is of another version or says no IP version. */
  static @Nullable IpHeader decode(MemorySegment m, long at) {
    int ipVersion = Bytes.get8(m, at + 1) >>> 4;
    if (Bytes.get8(m, at) != VERSION || (ipVersion != 4 && ipVersion != 6)) {
      return null;
    }
    return new IpHeader(
        Bytes.get16(m, at + 2), address(m, at + 4, ipVersion), address(m, at + 20, ipVersion));
  }

  private static Gid address(MemorySegment m, long at, int version) {
    return version == 6
        ? Bytes.gid(m, at)
        : new Gid(0, MAPPED | Integer.toUnsignedLong(Bytes.get32(m, at + 12)));
  }

  void encode(MemorySegment m, long at) {
    Bytes.set8(m, at, VERSION);
    Bytes.set8(m, at + 1, (source.isIpv4() ? 4 : 6) << 4);
    Bytes.set16(m, at + 2, sourcePort);
    put(m, at + 4, source);
    put(m, at + 20, destination);
  }

  private static void put(MemorySegment m, long at, Gid gid) {
    Bytes.set(m, at, gid.isIpv4() ? new Gid(0, gid.low() & 0xffff_ffffL) : gid);
  }
}
