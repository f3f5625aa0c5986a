package irdma4j.driver;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * A RoCEv2 GID: an IPv6 address, or an IPv4 address mapped into one.
 *
 * @param high the first eight bytes, as a big-endian integer
 * @param low the last eight bytes, as a big-endian integer
 */
public record Gid(long high, long low) {
  private static final long MAPPED = 0xffffL << 32;

  /** The GID of an address. */
  public static Gid of(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (bytes.length == 4) {
      return new Gid(0, MAPPED | word(bytes, 0, 4));
    }
    return new Gid(word(bytes, 0, 8), word(bytes, 8, 8));
  }

  /**
   * The GID of an address written in numbers, such as {@code 10.0.0.1} or {@code fe80::1}.
   *
   * @throws IllegalArgumentException if it is not such an address
   */
  public static Gid of(String address) {
    try {
      return of(InetAddress.ofLiteral(address));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("'" + address + "' is not an IP address", e);
    }
  }

  private static long word(byte[] bytes, int from, int count) {
    long word = 0;
    for (int i = from; i < from + count; i++) {
      word = (word << 8) | (bytes[i] & 0xff);
    }
    return word;
  }

  /** Whether it is an IPv4 address. */
  public boolean isIpv4() {
    return high == 0 && low >>> 32 == 0xffff;
  }

  /** Whether it is a multicast group. */
  public boolean isMulticast() {
    return isIpv4() ? (low >>> 28 & 0xf) == 0xe : high >>> 56 == 0xff;
  }

  /**
   * The MAC address of a multicast group, as a 48-bit integer.
   *
   * <p>Source: RFC 1112, 6.4; RFC 2464, 7.
   *
   * @throws IllegalStateException if it is not a group
   */
  public long multicastMac() {
    if (!isMulticast()) {
      throw new IllegalStateException(this + " is not a multicast group");
    }
    return isIpv4()
        ? 0x0100_5e00_0000L | (low & 0x7f_ffff)
        : 0x3333_0000_0000L | (low & 0xffff_ffffL);
  }

  @Override
  public String toString() {
    byte[] bytes = new byte[16];
    for (int i = 0; i < 8; i++) {
      bytes[i] = (byte) (high >>> (56 - 8 * i));
      bytes[8 + i] = (byte) (low >>> (56 - 8 * i));
    }
    try {
      InetAddress address = InetAddress.getByAddress(bytes);
      return address.getHostAddress();
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }
}
