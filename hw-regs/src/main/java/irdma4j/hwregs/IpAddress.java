package irdma4j.hwregs;

/**
 * An IP address as the device's structures hold it: four 32-bit words, the first of the address
 * first, each in host order. An IPv4 address is the last word; the others do not count.
 *
 * @param ipv4 whether it is an IPv4 address
 * @param word0 bits 127 to 96
 * @param word1 bits 95 to 64
 * @param word2 bits 63 to 32
 * @param word3 bits 31 to 0, or the IPv4 address
 */
public record IpAddress(boolean ipv4, int word0, int word1, int word2, int word3) {
  /** An IPv4 address, its first byte in the highest bits. */
  public static IpAddress ipv4(int address) {
    return new IpAddress(true, 0, 0, 0, address);
  }

  /** An IPv6 address. */
  public static IpAddress ipv6(int word0, int word1, int word2, int word3) {
    return new IpAddress(false, word0, word1, word2, word3);
  }

  /** The first two words, the first in the upper half. */
  public long high() {
    return (long) word0 << 32 | Integer.toUnsignedLong(word1);
  }

  /** The last two words, the last in the lower half. */
  public long low() {
    return (long) word2 << 32 | Integer.toUnsignedLong(word3);
  }

  /** The address of two words of a structure; of an IPv4 address only the last 32 bits count. */
  public static IpAddress of(boolean ipv4, long high, long low) {
    return ipv4
        ? ipv4((int) low)
        : ipv6((int) (high >>> 32), (int) high, (int) (low >>> 32), (int) low);
  }
}
