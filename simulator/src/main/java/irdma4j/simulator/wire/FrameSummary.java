package irdma4j.simulator.wire;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Locale;

/**
 * What a person wants to know of a frame.
 *
 * @param opcode name of the BTH's opcode, or the kind of a frame that is not RoCEv2
 * @param source IP address, or MAC address if it is not RoCEv2
 * @param destination IP address, or MAC address if it is not RoCEv2
 * @param destinationQp of the BTH, or -1 if it is not RoCEv2
 * @param psn of the BTH
 * @param payload bytes of data
 * @param more what the extended headers say, and the BTH's flags
 */
public record FrameSummary(
    String opcode,
    String source,
    String destination,
    int destinationQp,
    int psn,
    int payload,
    String more) {

  /** Takes a frame apart. */
  public static FrameSummary of(MemorySegment frame) {
    RoceFrame parsed = new RoceFrame();
    int bytes = (int) frame.byteSize();
    if (!RoceFrame.isRoce(frame, bytes) || !parsed.parse(frame, bytes)) {
      return new FrameSummary(
          String.format(Locale.ROOT, "ethertype 0x%04x", BigEndian.get16(frame, 12)),
          mac(BigEndian.get48(frame, 6)),
          mac(BigEndian.get48(frame, 0)),
          -1,
          0,
          bytes,
          "");
    }
    return new FrameSummary(
        BthOpcode.name(parsed.opcode),
        ip(parsed.ipv4, parsed.sourceIpHigh, parsed.sourceIpLow),
        ip(parsed.ipv4, parsed.destinationIpHigh, parsed.destinationIpLow),
        parsed.destinationQp,
        parsed.psn,
        parsed.payloadLength,
        more(parsed));
  }

  private static String more(RoceFrame frame) {
    StringBuilder text = new StringBuilder();
    if (BthOpcode.hasDeth(frame.opcode)) {
      add(text, "from QP %d, Q_Key 0x%x".formatted(frame.sourceQp, frame.qkey));
    }
    if (BthOpcode.hasReth(frame.opcode)) {
      add(
          text,
          "address 0x%x, rkey 0x%x, length %d"
              .formatted(
                  frame.remoteAddress, frame.remoteKey, Integer.toUnsignedLong(frame.dmaLength)));
    }
    if (BthOpcode.hasAeth(frame.opcode)) {
      add(text, "syndrome 0x%02x, MSN %d".formatted(frame.syndrome, frame.msn));
    }
    if (BthOpcode.hasImmediate(frame.opcode)) {
      add(text, "immediate 0x%x".formatted(frame.immediate));
    }
    if (frame.solicited) {
      add(text, "solicited");
    }
    if (frame.ackRequest) {
      add(text, "ACK asked for");
    }
    return text.toString();
  }

  private static void add(StringBuilder text, String part) {
    text.append(text.isEmpty() ? "" : ", ").append(part);
  }

  private static String ip(boolean ipv4, long high, long low) {
    byte[] bytes =
        ipv4
            ? ByteBuffer.allocate(Integer.BYTES).putInt((int) low).array()
            : ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low).array();
    try {
      return InetAddress.getByAddress(bytes).getHostAddress();
    } catch (UnknownHostException e) {
      throw new IllegalStateException("4 and 16 bytes are addresses", e);
    }
  }

  private static String mac(long mac) {
    StringBuilder text = new StringBuilder();
    for (int shift = 40; shift >= 0; shift -= 8) {
      text.append(String.format(Locale.ROOT, "%02x", mac >>> shift & 0xff));
      text.append(shift > 0 ? ":" : "");
    }
    return text.toString();
  }
}
