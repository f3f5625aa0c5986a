package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RoceFrameTest {
  static List<String> captures() {
    return Capture.ALL;
  }

  /**
   * Soft-RoCE is the referee of every header position and of the ICRC: one misplaced field, one bit
   * not kept, one wrongly masked byte of the ICRC changes a byte of a frame written again.
   */
  @ParameterizedTest
  @MethodSource("captures")
  void everyCapturedFrameIsWrittenAgainToTheSameBytes(String name) {
    RoceFrame frame = new RoceFrame();
    Icrc icrc = new Icrc();
    int seen = 0;
    for (Capture.Packet packet : Capture.read(name)) {
      if (!Capture.isRoce(packet.bytes())) {
        assertFalse(frame.parse(packet.segment(), packet.bytes().length));
        continue;
      }
      seen++;
      MemorySegment in = packet.segment();
      assertTrue(frame.parse(in, packet.bytes().length), () -> name + " " + packet.timeNanos());
      assertTrue(frame.icrcMatches(in, icrc));
      byte[] out = new byte[packet.bytes().length];
      MemorySegment target = MemorySegment.ofArray(out);
      int from = frame.payloadOffset;
      frame.writeHeaders(target);
      assertEquals(from, frame.payloadOffset);
      MemorySegment.copy(in, from, target, from, frame.payloadLength);
      assertEquals(out.length, frame.seal(target, icrc));
      assertArrayEquals(packet.bytes(), out);
    }
    assertTrue(seen > 0, name);
  }

  @Provide
  Arbitrary<Integer> opcodes() {
    return Arbitraries.of(
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
        0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x64, 0x65);
  }

  /** Fails if a field of IPv6, VLAN or a header that the captures lack is not where it is read. */
  @Property(tries = 2000)
  void writtenFieldsAreReadBack(
      @ForAll("opcodes") int opcode,
      @ForAll boolean ipv4,
      @ForAll @IntRange(min = -1, max = 0xffff) int vlan,
      @ForAll @IntRange(max = 4096) int payload,
      @ForAll long a,
      @ForAll long b,
      @ForAll @LongRange(max = (1L << 48) - 1) long mac,
      @ForAll int c) {
    RoceFrame out = new RoceFrame();
    out.opcode = opcode;
    out.ipv4 = ipv4;
    out.vlanTag = vlan;
    out.destinationMac = mac;
    out.sourceMac = ~mac & (1L << 48) - 1;
    out.trafficClass = c & 0xff;
    out.hopLimit = c >>> 8 & 0xff;
    out.flowLabel = ipv4 ? 0 : c & 0xfffff;
    out.ipFragment = ipv4 ? RoceFrame.DONT_FRAGMENT : 0;
    out.sourceIpHigh = ipv4 ? 0 : a;
    out.sourceIpLow = ipv4 ? a & 0xffffffffL : b;
    out.destinationIpHigh = ipv4 ? 0 : ~a;
    out.destinationIpLow = ipv4 ? b & 0xffffffffL : ~b;
    out.udpSource = c & 0xffff;
    out.solicited = (c & 1) != 0;
    out.ackRequest = (c & 2) != 0;
    out.pkey = c >>> 3 & 0xffff;
    out.destinationQp = c & 0xffffff;
    out.psn = c >>> 8;
    out.remoteAddress = a;
    out.remoteKey = c;
    out.dmaLength = ~c;
    out.qkey = c;
    out.sourceQp = c >>> 8;
    out.syndrome = c & 0xff;
    out.msn = c >>> 8;
    out.immediate = c;
    out.invalidateKey = c;
    out.atomicSwapAdd = b;
    out.atomicCompare = ~a;
    out.atomicOriginal = a;
    out.payloadLength = payload;
    byte[] bytes = new byte[RoceFrame.MAX_BYTES];
    Arrays.fill(bytes, (byte) 0xa5);
    MemorySegment memory = MemorySegment.ofArray(bytes);
    Icrc icrc = new Icrc();
    out.writeHeaders(memory);
    int length = out.seal(memory, icrc);
    RoceFrame in = new RoceFrame();
    assertTrue(in.parse(memory, length));
    assertTrue(in.icrcMatches(memory, icrc));
    assertEquals(out.destinationMac, in.destinationMac);
    assertEquals(out.sourceMac, in.sourceMac);
    assertEquals(out.vlanTag, in.vlanTag);
    assertEquals(out.ipv4, in.ipv4);
    assertEquals(out.trafficClass, in.trafficClass);
    assertEquals(out.hopLimit, in.hopLimit);
    assertEquals(out.flowLabel, in.flowLabel);
    assertEquals(out.sourceIpHigh, in.sourceIpHigh);
    assertEquals(out.sourceIpLow, in.sourceIpLow);
    assertEquals(out.destinationIpHigh, in.destinationIpHigh);
    assertEquals(out.destinationIpLow, in.destinationIpLow);
    assertEquals(out.udpSource, in.udpSource);
    assertEquals(out.opcode, in.opcode);
    assertEquals(out.solicited, in.solicited);
    assertEquals(out.ackRequest, in.ackRequest);
    assertEquals(out.pkey, in.pkey);
    assertEquals(out.destinationQp, in.destinationQp);
    assertEquals(out.psn, in.psn);
    assertEquals(out.payloadLength, in.payloadLength);
    assertEquals(out.payloadOffset, in.payloadOffset);
    if (BthOpcode.hasReth(opcode) || BthOpcode.hasAtomic(opcode)) {
      assertEquals(out.remoteAddress, in.remoteAddress);
      assertEquals(out.remoteKey, in.remoteKey);
    }
    if (BthOpcode.hasReth(opcode)) {
      assertEquals(out.dmaLength, in.dmaLength);
    }
    if (BthOpcode.hasDeth(opcode)) {
      assertEquals(out.qkey, in.qkey);
      assertEquals(out.sourceQp, in.sourceQp);
    }
    if (BthOpcode.hasAeth(opcode)) {
      assertEquals(out.syndrome, in.syndrome);
      assertEquals(out.msn, in.msn);
    }
    if (BthOpcode.hasImmediate(opcode)) {
      assertEquals(out.immediate, in.immediate);
    }
    if (BthOpcode.hasIeth(opcode)) {
      assertEquals(out.invalidateKey, in.invalidateKey);
    }
    if (BthOpcode.hasAtomic(opcode)) {
      assertEquals(out.atomicSwapAdd, in.atomicSwapAdd);
      assertEquals(out.atomicCompare, in.atomicCompare);
    }
    if (BthOpcode.hasAtomicAck(opcode)) {
      assertEquals(out.atomicOriginal, in.atomicOriginal);
    }
  }

  /**
   * Any cut or changed frame is refused or parsed, never an exception; a changed byte that parses
   * and is covered is seen by the ICRC. Fails if a length is trusted or a byte left out of the CRC.
   */
  @Property(tries = 3000)
  void damageIsSeen(
      @ForAll @IntRange(max = 400) int which,
      @ForAll @IntRange(min = 0, max = 1200) int at,
      @ForAll @IntRange(min = 1, max = 255) int flip,
      @ForAll boolean cut) {
    List<Capture.Packet> packets = MIX;
    byte[] bytes = packets.get(which % packets.size()).bytes().clone();
    RoceFrame frame = new RoceFrame();
    if (!Capture.isRoce(bytes)) {
      return;
    }
    int position = at % bytes.length;
    if (cut) {
      byte[] shorter = Arrays.copyOf(bytes, position);
      assertFalse(frame.parse(MemorySegment.ofArray(shorter), shorter.length));
      return;
    }
    bytes[position] ^= (byte) flip;
    MemorySegment memory = MemorySegment.ofArray(bytes);
    if (frame.parse(memory, bytes.length) && frame.totalLength == bytes.length) {
      // MAC addresses, UDP checksum and the BTH's congestion byte may change on the way; type of
      // service and time to live may too, but then the header's checksum must be right.
      boolean mayChange = position < 12 || position == 40 || position == 41 || position == 46;
      assertEquals(mayChange, frame.icrcMatches(memory, new Icrc()), "byte " + position);
    }
  }

  private static final List<Capture.Packet> MIX = Capture.read("err_mix");
}
