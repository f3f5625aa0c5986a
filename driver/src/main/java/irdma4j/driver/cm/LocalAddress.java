package irdma4j.driver.cm;

import irdma4j.driver.Gid;

/**
 * An address of the port. Peers of the same prefix are asked for directly, and nobody else can be
 * reached: there are no routes here.
 *
 * @param gid the address
 * @param prefix bits that all neighbours share, 0 to 32 of an IPv4 and 0 to 128 of an IPv6 address
 */
public record LocalAddress(Gid gid, int prefix) {
  /** Checks the prefix. */
  public LocalAddress {
    if (prefix < 0 || prefix > (gid.isIpv4() ? 32 : 128)) {
      throw new IllegalArgumentException(gid + "/" + prefix + ": no such prefix");
    }
  }

  /**
   * An address such as {@code 10.9.0.1/24} or {@code fd00:9::1/64}.
   *
   * @throws IllegalArgumentException if it is not of this form
   */
  public static LocalAddress of(String text) {
    int slash = text.indexOf('/');
    try {
      return new LocalAddress(
          Gid.of(slash < 0 ? text : text.substring(0, slash)),
          slash < 0
              ? (text.indexOf(':') < 0 ? 24 : 64)
              : Integer.parseInt(text, slash + 1, text.length(), 10));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "': give ADDRESS/PREFIX", e);
    }
  }

  /** Whether a peer is a neighbour by this address. */
  boolean reaches(Gid peer) {
    if (peer.isIpv4() != gid.isIpv4()) {
      return false;
    }
    int bits = gid.isIpv4() ? 96 + prefix : prefix;
    long high = bits == 0 ? 0 : -1L << Math.max(0, 64 - bits);
    long low = bits <= 64 ? 0 : -1L << (128 - bits);
    return ((gid.high() ^ peer.high()) & high) == 0 && ((gid.low() ^ peer.low()) & low) == 0;
  }
}
