package irdma4j.simulator.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The invariant CRC of a RoCEv2 packet: CRC-32 over eight bytes of ones and the packet from its IP
 * header to its pad, with the fields that routers may change read as ones. Source: InfiniBand
 * Architecture Specification, annex A17.3.3.
 *
 * <p>Not thread-safe. Allocates nothing per packet as long as the frames stand in buffers that come
 * again: it keeps a view of the last 128 native segments.
 */
public final class Icrc {
  private static final int MASKED_LRH = 8;
  private static final int BTH = 12;
  private static final int UDP = 8;
  private static final int VIEWS = 128;

  /** Spreads addresses that are a multiple of 64 apart over the views. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private final CRC32 crc = new CRC32();
  private final byte[] headers = new byte[MASKED_LRH + 40 + UDP + BTH];
  private final @Nullable MemorySegment[] segments = new @Nullable MemorySegment[VIEWS];
  private final @Nullable ByteBuffer[] views = new @Nullable ByteBuffer[VIEWS];

  /** A calculator. */
  public Icrc() {
    Arrays.fill(headers, 0, MASKED_LRH, (byte) 0xff);
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
    int bthEnd = udpOffset + UDP + BTH;
    int length = MASKED_LRH + bthEnd - ipOffset;
    MemorySegment.copy(
        frame, ValueLayout.JAVA_BYTE, ipOffset, headers, MASKED_LRH, bthEnd - ipOffset);
    if (headers[MASKED_LRH] >>> 4 == 6) {
      headers[MASKED_LRH] |= 0x0f; // traffic class and flow label
      headers[MASKED_LRH + 1] = (byte) 0xff;
      headers[MASKED_LRH + 2] = (byte) 0xff;
      headers[MASKED_LRH + 3] = (byte) 0xff;
      headers[MASKED_LRH + 7] = (byte) 0xff; // hop limit
    } else {
      headers[MASKED_LRH + 1] = (byte) 0xff; // type of service
      headers[MASKED_LRH + 8] = (byte) 0xff; // time to live
      headers[MASKED_LRH + 10] = (byte) 0xff; // header checksum
      headers[MASKED_LRH + 11] = (byte) 0xff;
    }
    headers[length - BTH - 2] = (byte) 0xff; // UDP checksum
    headers[length - BTH - 1] = (byte) 0xff;
    headers[length - BTH + 4] = (byte) 0xff; // BTH: FECN, BECN and reserved bits
    crc.reset();
    crc.update(headers, 0, length);
    ByteBuffer rest = view(frame);
    crc.update(rest.limit(end).position(bthEnd));
    return (int) crc.getValue();
  }

  private ByteBuffer view(MemorySegment frame) {
    if (!frame.isNative()) {
      return frame.asByteBuffer();
    }
    int slot = (int) ((frame.address() * SPREAD) >>> 57);
    ByteBuffer view = views[slot];
    if (view == null || segments[slot] != frame) {
      view = frame.asByteBuffer();
      segments[slot] = frame;
      views[slot] = view;
    }
    return view;
  }
}
