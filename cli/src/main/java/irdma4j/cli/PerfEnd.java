package irdma4j.cli;

import irdma4j.driver.Gid;
import irdma4j.driver.RdmaException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * One end of a test, as perftest's programs tell it to each other: numbers in hexadecimal with a
 * colon behind each, then a zero.
 *
 * @param outReads READs that may be outstanding at this end, 1 to 127
 * @param qpn queue pair number, 24 bits
 * @param psn the packet sequence number that its first packet will have, 24 bits
 * @param rkey key of its buffer
 * @param address virtual address of its buffer
 * @param gid its address
 */
record PerfEnd(int outReads, int qpn, int psn, int rkey, long address, Gid gid) {
  /** Bytes of the message. */
  static final int SIZE = 108;

  private static final int GID_AT = 50;
  private static final int GID_BYTES = 16;

  byte[] encode() {
    StringBuilder text = new StringBuilder(SIZE);
    // First a local identifier, which Ethernet does not have; last a shared receive queue.
    text.append("0000:%04x:%06x:%06x:%08x:%016x:".formatted(outReads, qpn, psn, rkey, address));
    for (int i = 0; i < GID_BYTES; i++) {
      text.append("%02x:".formatted(octet(i)));
    }
    text.append("00000000:");
    return Arrays.copyOf(text.toString().getBytes(StandardCharsets.US_ASCII), SIZE);
  }

  /**
   * Reads the message.
   *
   * @throws RdmaException if it is none
   */
  static PerfEnd decode(byte[] message) {
    String text = new String(message, 0, SIZE - 1, StandardCharsets.US_ASCII);
    try {
      long high = 0;
      long low = 0;
      for (int i = 0; i < GID_BYTES; i++) {
        int at = GID_AT + 3 * i;
        int value = Integer.parseInt(text, at, at + 2, 16);
        if (i < 8) {
          high = high << 8 | value;
        } else {
          low = low << 8 | value;
        }
      }
      return new PerfEnd(
          Integer.parseInt(text, 5, 9, 16),
          Integer.parseInt(text, 10, 16, 16),
          Integer.parseInt(text, 17, 23, 16),
          Integer.parseUnsignedInt(text, 24, 32, 16),
          Long.parseUnsignedLong(text, 33, 49, 16),
          new Gid(high, low));
    } catch (NumberFormatException e) {
      throw new RdmaException("the peer says '" + text + "', which names no end of a test", e);
    }
  }

  /** As perftest prints it. */
  String describe(String side) {
    StringBuilder bytes = new StringBuilder();
    for (int i = 0; i < GID_BYTES; i++) {
      bytes.append(i == 0 ? "" : ":").append("%02d".formatted(octet(i)));
    }
    return String.format(
        Locale.ROOT,
        " %s address: LID 0000 QPN 0x%04x PSN 0x%06x OUT 0x%02x RKey 0x%06x VAddr 0x%012x%n GID: %s",
        side,
        qpn,
        psn,
        outReads,
        rkey,
        address,
        bytes);
  }

  private long octet(int i) {
    long half = i < 8 ? gid.high() : gid.low();
    return (half >>> (56 - 8 * (i & 7))) & 0xff;
  }
}
