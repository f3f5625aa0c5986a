package irdma4j.simulator.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * The invariant CRC of a RoCEv2 packet: CRC-32 over eight bytes of ones and the packet from its IP
 * header to its pad, with the fields that routers may change read as ones. Source: InfiniBand
 * Architecture Specification, annex A17.3.3. Not thread-safe; allocates nothing after construction.
 */
public final class Icrc {
  private static final int MASKED_LRH = 8;

  private final CRC32 crc = new CRC32();
  private final byte[] image = new byte[MASKED_LRH + 9216];

  /** A calculator for packets of up to 9216 bytes. */
  public Icrc() {
    Arrays.fill(image, 0, MASKED_LRH, (byte) 0xff);
  }

  /**
   * Computes the ICRC.
   *
   * @param frame the frame
   * @param ipOffset byte offset of its IP header
   * @param udpOffset byte offset of its UDP header
   * @param end byte offset of the first byte that is not covered (the ICRC itself)
   * @return the value as the integer whose little-endian bytes are sent
   */
  public int compute(MemorySegment frame, int ipOffset, int udpOffset, int end) {
    MemorySegment.copy(frame, ValueLayout.JAVA_BYTE, ipOffset, image, MASKED_LRH, end - ipOffset);
    if (image[MASKED_LRH] >>> 4 == 6) {
      image[MASKED_LRH] |= 0x0f; // traffic class and flow label
      image[MASKED_LRH + 1] = (byte) 0xff;
      image[MASKED_LRH + 2] = (byte) 0xff;
      image[MASKED_LRH + 3] = (byte) 0xff;
      image[MASKED_LRH + 7] = (byte) 0xff; // hop limit
    } else {
      image[MASKED_LRH + 1] = (byte) 0xff; // type of service
      image[MASKED_LRH + 8] = (byte) 0xff; // time to live
      image[MASKED_LRH + 10] = (byte) 0xff; // header checksum
      image[MASKED_LRH + 11] = (byte) 0xff;
    }
    int udp = MASKED_LRH + udpOffset - ipOffset;
    image[udp + 6] = (byte) 0xff; // UDP checksum
    image[udp + 7] = (byte) 0xff;
    image[udp + 8 + 4] = (byte) 0xff; // BTH: FECN, BECN and reserved bits
    crc.reset();
    crc.update(image, 0, MASKED_LRH + end - ipOffset);
    return (int) crc.getValue();
  }
}
