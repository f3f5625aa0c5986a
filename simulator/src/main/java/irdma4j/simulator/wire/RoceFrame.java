package irdma4j.simulator.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The fields of one RoCEv2 frame (Ethernet, optional VLAN tag, IPv4 without options or IPv6, UDP,
 * BTH, extended headers, payload, pad, ICRC), filled by {@link #parse} or by hand and turned into
 * bytes by {@link #writeHeaders} and {@link #seal}. Reused for any number of frames; allocates
 * nothing. Not thread-safe.
 *
 * <pre>
 *  14 [+4]    20 | 40   8     12    0..28     payload  0..3   4
 * +---------+---------+-----+-----+---------+---------+-----+------+
 * | Eth VLAN| IP      | UDP | BTH | xETH    | data    | pad | ICRC |
 * +---------+---------+-----+-----+---------+---------+-----+------+
 * </pre>
 */
public final class RoceFrame {
  /** The UDP port of RoCEv2. */
  public static final int UDP_PORT = 4791;

  /** No frame that this codec writes is longer: 18 + 40 + 8 + 12 + 32 + 4096 + 4, rounded up. */
  public static final int MAX_BYTES = 4224;

  /** {@link #vlanTag} of an untagged frame. */
  public static final int NO_VLAN = -1;

  /** The don't-fragment bit of {@link #ipFragment}. */
  public static final int DONT_FRAGMENT = 0x4000;

  private static final long LEAD = 64 - (14 + 20 + 8 + 12);

  private static final int ETHERTYPE_VLAN = 0x8100;
  private static final int ETHERTYPE_IPV4 = 0x0800;
  private static final int ETHERTYPE_IPV6 = 0x86dd;
  private static final int PROTOCOL_UDP = 17;
  private static final ValueLayout.OfInt ICRC =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Destination MAC as a 48-bit integer. */
  public long destinationMac;

  /** Source MAC as a 48-bit integer. */
  public long sourceMac;

  /** The 16-bit VLAN tag, or {@link #NO_VLAN}. */
  public int vlanTag;

  /** Whether the packet is IPv4; otherwise it is IPv6. */
  public boolean ipv4;

  /** Type of service or traffic class, 8 bits. */
  public int trafficClass;

  /** Time to live or hop limit, 8 bits. */
  public int hopLimit;

  /** IPv6 flow label, 20 bits. */
  public int flowLabel;

  /** IPv4 identification, 16 bits. */
  public int ipIdentification;

  /** IPv4 flags and fragment offset, 16 bits. */
  public int ipFragment;

  /** Upper half of the source address; 0 for IPv4. */
  public long sourceIpHigh;

  /** Lower half of the source address; for IPv4 the address. */
  public long sourceIpLow;

  /** Upper half of the destination address; 0 for IPv4. */
  public long destinationIpHigh;

  /** Lower half of the destination address; for IPv4 the address. */
  public long destinationIpLow;

  /** UDP source port. */
  public int udpSource;

  /** UDP destination port. */
  public int udpDestination;

  /** UDP checksum as it stands in the frame; senders of RoCEv2 leave it 0. */
  public int udpChecksum;

  /** BTH opcode, see {@link BthOpcode}. */
  public int opcode;

  /** Solicited event. */
  public boolean solicited;

  /** Migration request bit. */
  public boolean migrated;

  /** Transport header version. */
  public int transportVersion;

  /** Partition key. */
  public int pkey;

  /** The byte of FECN (bit 7), BECN (bit 6) and reserved bits. */
  public int congestion;

  /** Destination QPN. */
  public int destinationQp;

  /** The responder is asked for an acknowledgement. */
  public boolean ackRequest;

  /** The seven reserved bits beside the ACK request. */
  public int reservedBits;

  /** Packet sequence number, 24 bits. */
  public int psn;

  /** DETH: Q_Key. */
  public int qkey;

  /** DETH: source QPN. */
  public int sourceQp;

  /** RETH or AtomicETH: remote address. */
  public long remoteAddress;

  /** RETH or AtomicETH: rkey. */
  public int remoteKey;

  /** RETH: bytes of the whole message, unsigned. */
  public int dmaLength;

  /** AETH: syndrome. */
  public int syndrome;

  /** AETH: message sequence number. */
  public int msn;

  /** Immediate data, host order. */
  public int immediate;

  /** IETH: stag to invalidate. */
  public int invalidateKey;

  /** AtomicETH: value to swap in or to add. */
  public long atomicSwapAdd;

  /** AtomicETH: value to compare with. */
  public long atomicCompare;

  /** AtomicAckETH: value before the operation. */
  public long atomicOriginal;

  /** Byte offset of the payload. */
  public int payloadOffset;

  /** Bytes of payload, without pad. */
  public int payloadLength;

  /** Byte offset of the IP header. */
  public int ipOffset;

  /** The ICRC that stands in the frame. */
  public int icrc;

  /** Bytes of the whole frame without FCS. */
  public int totalLength;

  /**
   * Memory for a frame that starts ten bytes behind a multiple of 64, so that the payload of an
   * untagged IPv4 packet starts at one and is copied fast.
   */
  public static MemorySegment allocate(Arena arena, long bytes) {
    return arena.allocate(LEAD + bytes, 64).asSlice(LEAD, bytes);
  }

  /** An empty frame. */
  public RoceFrame() {
    clear();
  }

  /** Back to an untagged IPv4 packet with all fields zero. */
  public void clear() {
    destinationMac = 0;
    sourceMac = 0;
    vlanTag = NO_VLAN;
    ipv4 = true;
    trafficClass = 0;
    hopLimit = 64;
    flowLabel = 0;
    ipIdentification = 0;
    ipFragment = DONT_FRAGMENT;
    sourceIpHigh = 0;
    sourceIpLow = 0;
    destinationIpHigh = 0;
    destinationIpLow = 0;
    udpSource = 0;
    udpDestination = UDP_PORT;
    udpChecksum = 0;
    clearTransport();
    payloadOffset = 0;
    payloadLength = 0;
    ipOffset = 0;
    icrc = 0;
    totalLength = 0;
  }

  private void clearTransport() {
    opcode = 0;
    solicited = false;
    migrated = true;
    transportVersion = 0;
    pkey = 0xffff;
    congestion = 0;
    destinationQp = 0;
    ackRequest = false;
    reservedBits = 0;
    psn = 0;
    qkey = 0;
    sourceQp = 0;
    remoteAddress = 0;
    remoteKey = 0;
    dmaLength = 0;
    syndrome = 0;
    msn = 0;
    immediate = 0;
    invalidateKey = 0;
    atomicSwapAdd = 0;
    atomicCompare = 0;
    atomicOriginal = 0;
  }

  /** Bytes of pad that round the payload up to four. */
  public int pad() {
    return -payloadLength & 3;
  }

  /** Byte offset of the UDP header. */
  public int udpOffset() {
    return ipOffset + (ipv4 ? 20 : 40);
  }

  /** Whether the destination MAC address is a group's. */
  public boolean isMulticast() {
    return (destinationMac >>> 40 & 1) != 0;
  }

  /** Byte offset of the ICRC. */
  public int icrcOffset() {
    return payloadOffset + payloadLength + pad();
  }

  /** Whether a frame is UDP to RoCEv2's port, whatever else is wrong with it. */
  public static boolean isRoce(MemorySegment frame, int bytes) {
    int ip = BigEndian.get16(frame, 12) == ETHERTYPE_VLAN ? 18 : 14;
    if (bytes < ip + 24) {
      return false;
    }
    return switch (BigEndian.get16(frame, ip - 2)) {
      case ETHERTYPE_IPV4 -> {
        int udp = ip + 4 * (BigEndian.get8(frame, ip) & 0xf);
        yield BigEndian.get8(frame, ip + 9) == PROTOCOL_UDP
            && bytes >= udp + 4
            && BigEndian.get16(frame, udp + 2) == UDP_PORT;
      }
      case ETHERTYPE_IPV6 ->
          bytes >= ip + 44
              && BigEndian.get8(frame, ip + 6) == PROTOCOL_UDP
              && BigEndian.get16(frame, ip + 42) == UDP_PORT;
      default -> false;
    };
  }

  /**
   * Reads a frame's fields.
   *
   * @param bytes length of the frame without FCS
   * @return false if the frame is not RoCEv2, or is cut short, fragmented or inconsistent in its
   *     lengths; the fields are then undefined
   */
  public boolean parse(MemorySegment frame, int bytes) {
    if (bytes < 14 + 20 + 8 + 12 + 4) {
      return false;
    }
    long macs = BigEndian.get64(frame, 0);
    int second = BigEndian.get32(frame, 8);
    destinationMac = macs >>> 16;
    sourceMac = (macs & 0xffff) << 32 | Integer.toUnsignedLong(second);
    int etherType = BigEndian.get16(frame, 12);
    vlanTag = NO_VLAN;
    ipOffset = 14;
    if (etherType == ETHERTYPE_VLAN) {
      vlanTag = BigEndian.get16(frame, 14);
      etherType = BigEndian.get16(frame, 16);
      ipOffset = 18;
    }
    int ipLength;
    if (etherType == ETHERTYPE_IPV4) {
      ipLength = parseIpv4(frame, bytes);
    } else if (etherType == ETHERTYPE_IPV6) {
      ipLength = parseIpv6(frame, bytes);
    } else {
      return false;
    }
    if (ipLength < 0 || ipOffset + ipLength > bytes) {
      return false;
    }
    totalLength = ipOffset + ipLength;
    int udp = udpOffset();
    if (totalLength - udp < 8 + 12 + 4) {
      return false;
    }
    long header = BigEndian.get64(frame, udp);
    udpSource = (int) (header >>> 48);
    udpDestination = (int) (header >>> 32) & 0xffff;
    udpChecksum = (int) header & 0xffff;
    if (udpDestination != UDP_PORT || ((int) header >>> 16) != totalLength - udp) {
      return false;
    }
    return parseTransport(frame, udp + 8);
  }

  private int parseIpv4(MemorySegment frame, int bytes) {
    if (ipOffset + 20 > bytes) {
      return -1;
    }
    long first = BigEndian.get64(frame, ipOffset);
    long second = BigEndian.get64(frame, ipOffset + 8);
    int third = BigEndian.get32(frame, ipOffset + 16);
    ipv4 = true;
    trafficClass = (int) (first >>> 48) & 0xff;
    ipIdentification = (int) first >>> 16;
    ipFragment = (int) first & 0xffff;
    hopLimit = (int) (second >>> 56);
    flowLabel = 0;
    boolean fragment = (ipFragment & ~DONT_FRAGMENT) != 0;
    boolean udp = (second >>> 48 & 0xff) == PROTOCOL_UDP;
    if (first >>> 56 != 0x45 || fragment || !udp || checksum(first, second, third) != 0) {
      return -1;
    }
    sourceIpHigh = 0;
    sourceIpLow = second & 0xffff_ffffL;
    destinationIpHigh = 0;
    destinationIpLow = Integer.toUnsignedLong(third);
    return (int) (first >>> 32) & 0xffff;
  }

  private int parseIpv6(MemorySegment frame, int bytes) {
    if (ipOffset + 40 > bytes) {
      return -1;
    }
    int first = BigEndian.get32(frame, ipOffset);
    if (first >>> 28 != 6 || BigEndian.get8(frame, ipOffset + 6) != PROTOCOL_UDP) {
      return -1;
    }
    ipv4 = false;
    trafficClass = first >>> 20 & 0xff;
    flowLabel = first & 0xfffff;
    ipIdentification = 0;
    ipFragment = 0;
    hopLimit = BigEndian.get8(frame, ipOffset + 7);
    sourceIpHigh = BigEndian.get64(frame, ipOffset + 8);
    sourceIpLow = BigEndian.get64(frame, ipOffset + 16);
    destinationIpHigh = BigEndian.get64(frame, ipOffset + 24);
    destinationIpLow = BigEndian.get64(frame, ipOffset + 32);
    return 40 + BigEndian.get16(frame, ipOffset + 4);
  }

  private boolean parseTransport(MemorySegment frame, int bth) {
    long first = BigEndian.get64(frame, bth);
    opcode = (int) (first >>> 56);
    int flags = (int) (first >>> 48) & 0xff;
    solicited = (flags & 0x80) != 0;
    migrated = (flags & 0x40) != 0;
    int pad = flags >>> 4 & 3;
    transportVersion = flags & 0xf;
    pkey = (int) (first >>> 32) & 0xffff;
    congestion = (int) first >>> 24;
    destinationQp = (int) first & 0xffffff;
    int last = BigEndian.get32(frame, bth + 8);
    ackRequest = last < 0;
    reservedBits = last >>> 24 & 0x7f;
    psn = last & 0xffffff;
    int at = bth + 12;
    payloadOffset = at + BthOpcode.extendedHeaderBytes(opcode);
    payloadLength = totalLength - 4 - pad - payloadOffset;
    if (payloadLength < 0 || (payloadLength + pad & 3) != 0) {
      return false;
    }
    if (payloadOffset > at) {
      parseExtended(frame, at);
    }
    icrc = frame.get(ICRC, icrcOffset());
    return true;
  }

  private void parseExtended(MemorySegment frame, int offset) {
    int at = offset;
    if (BthOpcode.hasDeth(opcode)) {
      qkey = BigEndian.get32(frame, at);
      sourceQp = BigEndian.get32(frame, at + 4) & 0xffffff;
      at += 8;
    }
    if (BthOpcode.hasReth(opcode)) {
      remoteAddress = BigEndian.get64(frame, at);
      remoteKey = BigEndian.get32(frame, at + 8);
      dmaLength = BigEndian.get32(frame, at + 12);
      at += 16;
    }
    if (BthOpcode.hasAeth(opcode)) {
      syndrome = BigEndian.get8(frame, at);
      msn = BigEndian.get32(frame, at) & 0xffffff;
      at += 4;
    }
    if (BthOpcode.hasImmediate(opcode)) {
      immediate = BigEndian.get32(frame, at);
    }
    if (BthOpcode.hasIeth(opcode)) {
      invalidateKey = BigEndian.get32(frame, at);
    }
    if (BthOpcode.hasAtomic(opcode)) {
      remoteAddress = BigEndian.get64(frame, at);
      remoteKey = BigEndian.get32(frame, at + 8);
      atomicSwapAdd = BigEndian.get64(frame, at + 12);
      atomicCompare = BigEndian.get64(frame, at + 20);
    }
    if (BthOpcode.hasAtomicAck(opcode)) {
      atomicOriginal = BigEndian.get64(frame, at);
    }
  }

  /**
   * Writes all headers for a payload of {@link #payloadLength} bytes, sets the offsets and {@link
   * #totalLength}, and zeroes the pad. The payload itself belongs at {@link #payloadOffset}.
   *
   * @param frame room for at least {@link #MAX_BYTES}
   */
  public void writeHeaders(MemorySegment frame) {
    BigEndian.set64(frame, 0, destinationMac << 16 | sourceMac >>> 32);
    BigEndian.set32(frame, 8, (int) sourceMac);
    int etherType = ipv4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;
    if (vlanTag == NO_VLAN) {
      BigEndian.set16(frame, 12, etherType);
      ipOffset = 14;
    } else {
      BigEndian.set16(frame, 12, ETHERTYPE_VLAN);
      BigEndian.set16(frame, 14, vlanTag);
      BigEndian.set16(frame, 16, etherType);
      ipOffset = 18;
    }
    int bth = udpOffset() + 8;
    payloadOffset = bth + 12 + BthOpcode.extendedHeaderBytes(opcode);
    totalLength = icrcOffset() + 4;
    if (ipv4) {
      writeIpv4(frame);
    } else {
      writeIpv6(frame);
    }
    int udp = udpOffset();
    int length = totalLength - udp;
    BigEndian.set64(
        frame,
        udp,
        (long) udpSource << 48 | (long) udpDestination << 32 | (long) length << 16 | udpChecksum);
    writeTransport(frame, bth);
  }

  private void writeIpv4(MemorySegment frame) {
    long first =
        0x4500L << 48
            | (long) trafficClass << 48
            | (long) (totalLength - ipOffset) << 32
            | (long) ipIdentification << 16
            | ipFragment;
    long second = (long) hopLimit << 56 | (long) PROTOCOL_UDP << 48 | (sourceIpLow & 0xffff_ffffL);
    int third = (int) destinationIpLow;
    BigEndian.set64(frame, ipOffset, first);
    BigEndian.set64(frame, ipOffset + 8, second | (long) checksum(first, second, third) << 32);
    BigEndian.set32(frame, ipOffset + 16, third);
  }

  private void writeIpv6(MemorySegment frame) {
    BigEndian.set32(frame, ipOffset, 6 << 28 | trafficClass << 20 | flowLabel);
    BigEndian.set16(frame, ipOffset + 4, totalLength - ipOffset - 40);
    BigEndian.set16(frame, ipOffset + 6, PROTOCOL_UDP << 8 | hopLimit);
    BigEndian.set64(frame, ipOffset + 8, sourceIpHigh);
    BigEndian.set64(frame, ipOffset + 16, sourceIpLow);
    BigEndian.set64(frame, ipOffset + 24, destinationIpHigh);
    BigEndian.set64(frame, ipOffset + 32, destinationIpLow);
  }

  private void writeTransport(MemorySegment frame, int bth) {
    int flags =
        (solicited ? 0x80 : 0) | (migrated ? 0x40 : 0) | pad() << 4 | (transportVersion & 0xf);
    int second = congestion << 24 | (destinationQp & 0xffffff);
    BigEndian.set64(
        frame,
        bth,
        (long) (opcode << 24 | flags << 16 | (pkey & 0xffff)) << 32
            | Integer.toUnsignedLong(second));
    int request = (ackRequest ? 0x80 : 0) | (reservedBits & 0x7f);
    BigEndian.set32(frame, bth + 8, request << 24 | (psn & 0xffffff));
    int at = bth + 12;
    if (payloadOffset > at) {
      writeExtended(frame, at);
    }
    for (int i = payloadOffset + payloadLength; i < totalLength - 4; i++) {
      BigEndian.set8(frame, i, 0);
    }
  }

  private void writeExtended(MemorySegment frame, int offset) {
    int at = offset;
    if (BthOpcode.hasDeth(opcode)) {
      BigEndian.set32(frame, at, qkey);
      BigEndian.set32(frame, at + 4, sourceQp & 0xffffff);
      at += 8;
    }
    if (BthOpcode.hasReth(opcode)) {
      BigEndian.set64(frame, at, remoteAddress);
      BigEndian.set32(frame, at + 8, remoteKey);
      BigEndian.set32(frame, at + 12, dmaLength);
      at += 16;
    }
    if (BthOpcode.hasAeth(opcode)) {
      BigEndian.set32(frame, at, syndrome << 24 | (msn & 0xffffff));
      at += 4;
    }
    if (BthOpcode.hasImmediate(opcode)) {
      BigEndian.set32(frame, at, immediate);
    }
    if (BthOpcode.hasIeth(opcode)) {
      BigEndian.set32(frame, at, invalidateKey);
    }
    if (BthOpcode.hasAtomic(opcode)) {
      BigEndian.set64(frame, at, remoteAddress);
      BigEndian.set32(frame, at + 8, remoteKey);
      BigEndian.set64(frame, at + 12, atomicSwapAdd);
      BigEndian.set64(frame, at + 20, atomicCompare);
    }
    if (BthOpcode.hasAtomicAck(opcode)) {
      BigEndian.set64(frame, at, atomicOriginal);
    }
  }

  /**
   * Puts the ICRC behind the payload that now stands in the frame.
   *
   * @return the frame's length without FCS
   */
  public int seal(MemorySegment frame, Icrc calculator) {
    icrc = calculator.compute(frame, ipOffset, udpOffset(), icrcOffset());
    frame.set(ICRC, icrcOffset(), icrc);
    return totalLength;
  }

  /** Whether the ICRC of a parsed frame is right. */
  public boolean icrcMatches(MemorySegment frame, Icrc calculator) {
    return icrc == calculator.compute(frame, ipOffset, udpOffset(), icrcOffset());
  }

  /**
   * The ones' complement checksum of an IPv4 header of 20 bytes, given as words of 8, 8 and 4; 0
   * over one that is right.
   */
  static int checksum(long first, long second, int third) {
    long sum = halves(first) + halves(second) + Integer.toUnsignedLong(third);
    sum = halves(sum);
    sum = (sum & 0xffff) + (sum >>> 16);
    sum = (sum & 0xffff) + (sum >>> 16);
    return (int) ~sum & 0xffff;
  }

  private static long halves(long word) {
    return (word >>> 32) + (word & 0xffff_ffffL);
  }
}
