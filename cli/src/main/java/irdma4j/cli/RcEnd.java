package irdma4j.cli;

import irdma4j.driver.Gid;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One end of a reliable connection, as ibv_rc_pingpong tells it to its peer: numbers in hexadecimal
 * with colons between them.
 *
 * @param lid local identifier, 0 over Ethernet
 * @param qpn queue pair number, 24 bits
 * @param psn the packet sequence number that its first packet will have, 24 bits
 * @param gid its address
 */
record RcEnd(int lid, int qpn, int psn, Gid gid) {
  /** Characters of the text. */
  static final int LENGTH = 51;

  private static final Pattern FORM =
      Pattern.compile("([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{16})([0-9a-f]{16})");
  private static final int HEX = 16;

  /** The text. */
  String encode() {
    return "%04x:%06x:%06x:%016x%016x".formatted(lid, qpn, psn, gid.high(), gid.low());
  }

  /**
   * Reads the text.
   *
   * @throws IllegalArgumentException if it is not of this form
   */
  static RcEnd decode(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException("'" + text + "' is not LID:QPN:PSN:GID");
    }
    return new RcEnd(
        Integer.parseInt(form.group(1), HEX),
        Integer.parseInt(form.group(2), HEX),
        Integer.parseInt(form.group(3), HEX),
        new Gid(
            Long.parseUnsignedLong(form.group(4), HEX),
            Long.parseUnsignedLong(form.group(5), HEX)));
  }

  @Override
  public String toString() {
    return "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s%s"
        .formatted(lid, qpn, psn, gid.isIpv4() ? "::ffff:" : "", gid);
  }
}
