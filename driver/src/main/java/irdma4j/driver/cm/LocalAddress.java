package irdma4j.driver.cm;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address of the port. Peers of the same prefix are asked for directly, and nobody else can be
 * reached: there are no routes here.
 *
 * @param gid the address
 * @param prefix bits that all neighbours share, 0 to 32 of an IPv4 and 0 to 128 of an IPv6 address
 * @param vlan the VLAN in which it is the port's, 0 to 4094, or {@link DatagramPath#NO_VLAN}
 */
public record LocalAddress(Gid gid, int prefix, int vlan) {
  private static final Pattern FORM = Pattern.compile("([^/@]+)(?:/(\\d{1,3}))?(?:@(\\d{1,4}))?");
  private static final int LAST_VLAN = 4094;
  private static final int VLAN_ID = 0xfff;

  /** Checks prefix and VLAN. */
  public LocalAddress {
    if (vlan < DatagramPath.NO_VLAN || vlan > LAST_VLAN) {
      throw new IllegalArgumentException("VLAN " + vlan + ": 0 to " + LAST_VLAN);
    }
    if (prefix < 0 || prefix > (gid.isIpv4() ? 32 : 128)) {
      throw new IllegalArgumentException(gid + "/" + prefix + ": no such prefix");
    }
  }

  /**
   * An address such as {@code 10.9.0.1/24} or {@code fd00:9::1/64}, with {@code @VLAN} behind it if
   * it is one of a VLAN.
   *
   * @throws IllegalArgumentException if it is not of this form
   */
  public static LocalAddress of(String text) {
    Matcher form = FORM.matcher(text);
    try {
      if (!form.matches()) {
        throw new IllegalArgumentException();
      }
      String prefix = form.group(2);
      String tag = form.group(3);
      return new LocalAddress(
          Gid.of(form.group(1)),
          prefix != null ? Integer.parseInt(prefix) : (text.indexOf(':') < 0 ? 24 : 64),
          tag != null ? Integer.parseInt(tag) : DatagramPath.NO_VLAN);
    } catch (IllegalArgumentException e) {
      String why =
          e.getMessage() == null || e instanceof NumberFormatException ? "" : e.getMessage();
      throw new IllegalArgumentException(
          "'"
              + text
              + "': give ADDRESS/PREFIX or ADDRESS/PREFIX@VLAN"
              + (why.isEmpty() ? "" : "; " + why),
          e);
    }
  }

  /** Whether a frame with this VLAN tag, or none, is of the address's VLAN. */
  boolean isIn(int tag) {
    // VLAN 0 is a priority and no VLAN.
    int id = tag < 0 ? 0 : tag & VLAN_ID;
    return id == Math.max(vlan, 0);
  }

  /** The way to a neighbour. */
  DatagramPath pathTo(Gid peer, long mac) {
    return DatagramPath.of(gid, peer, mac).withVlan(vlan);
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
