package irdma4j.driver.cm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Gid;
import irdma4j.driver.cm.CmMessage.Answered;
import irdma4j.driver.cm.CmMessage.Dreq;
import irdma4j.driver.cm.CmMessage.PathRecord;
import irdma4j.driver.cm.CmMessage.Rej;
import irdma4j.driver.cm.CmMessage.Rep;
import irdma4j.driver.cm.CmMessage.Req;
import irdma4j.driver.cm.CmMessage.SidrRep;
import irdma4j.driver.cm.CmMessage.SidrReq;
import irdma4j.simulator.wire.Capture;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** The messages of connection management, judged by captures of Linux and by random values. */
class CmMessageTest {
  private static final int MAD = 14 + 20 + 8 + 12 + 8;

  private static boolean isMad(byte[] frame) {
    return Capture.isRoce(frame) && frame[42] == 100 && frame[49] == 1 && frame.length >= MAD + 256;
  }

  /** Fails if a field is read from another place than it is written to, or is not read at all. */
  @Test
  void whatLinuxSentIsWrittenAgainToTheSameBytes() {
    Map<Integer, Integer> seen = new HashMap<>();
    for (String name : Capture.ALL) {
      for (Capture.Packet packet : Capture.read(name)) {
        if (!isMad(packet.bytes())) {
          continue;
        }
        MemorySegment mad = packet.segment().asSlice(MAD, 256);
        CmMessage message = CmMessage.decode(mad, 0);
        assertNotNull(message, name);
        MemorySegment again = MemorySegment.ofArray(new byte[256]);
        message.encode(again, 0);
        assertEquals(-1, mad.mismatch(again), () -> name + ": " + message);
        seen.merge(message.attribute(), 1, Integer::sum);
      }
    }
    assertEquals(
        java.util.Set.of(0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18), seen.keySet());
    assertTrue(seen.values().stream().mapToInt(Integer::intValue).sum() > 80, seen::toString);
  }

  private static <T extends CmMessage> T first(String capture, Class<T> kind) {
    for (Capture.Packet packet : Capture.read(capture)) {
      if (isMad(packet.bytes())
          && kind.isInstance(CmMessage.decode(packet.segment().asSlice(MAD, 256), 0))) {
        return kind.cast(CmMessage.decode(packet.segment().asSlice(MAD, 256), 0));
      }
    }
    throw new AssertionError(capture + " has no " + kind);
  }

  /** The values are those that tshark shows of the same frame. */
  @Test
  void aRequestOfLinuxMeansWhatTsharkSays() {
    Req req = first("ucmatose", Req.class);
    assertEquals(0xbb58af7a, req.localId());
    assertEquals(PortSpace.TCP.serviceId(7471), req.serviceId());
    assertEquals(0x505400fffe00000bL, req.caGuid());
    assertEquals(0x19, req.qpn());
    assertEquals(1, req.responderResources());
    assertEquals(1, req.initiatorDepth());
    assertEquals(0x14, req.remoteResponseTimeout());
    assertEquals(0, req.transportType());
    assertEquals(0x660f94, req.startingPsn());
    assertEquals(0x14, req.localResponseTimeout());
    assertEquals(5, req.retryCount());
    assertEquals(0xffff, req.pkey());
    assertEquals(3, req.pathMtu());
    assertEquals(0, req.rnrRetryCount());
    assertEquals(15, req.maxCmRetries());
    assertEquals(Gid.of("10.9.0.2"), req.path().localGid());
    assertEquals(Gid.of("10.9.0.1"), req.path().remoteGid());
    // From the bytes 89 32 f0 00: tshark's dissector takes this word from one byte before.
    assertEquals(0x8932f, req.path().flowLabel());
    assertEquals(0x40, req.path().hopLimit());
    assertEquals(0x13, req.path().ackTimeout());
    assertEquals(new IpHeader(0xca00, Gid.of("10.9.0.2"), Gid.of("10.9.0.1")), req.ipHeader());
    Rep rep = first("ucmatose", Rep.class);
    assertEquals(0xa6389e34, rep.localId());
    assertEquals(0xbb58af7a, rep.remoteId());
    assertEquals(0x2d6608, rep.startingPsn());
    assertEquals(15, rep.targetAckDelay());
    assertEquals(7, rep.rnrRetryCount());
    Rej rej = first("cm_reject", Rej.class);
    assertEquals(RejectReason.INVALID_SERVICE_ID.code(), rej.reason());
    SidrRep sidr = first("udaddy", SidrRep.class);
    assertEquals(0, sidr.status());
    assertEquals(0x01234567, sidr.queueKey());
    assertEquals(PortSpace.UDP.serviceId(7174), sidr.serviceId());
    assertEquals(first("udaddy", SidrReq.class).requestId(), sidr.requestId());
  }

  /** A side begins to send with the number that the other's message gave, not with its own. */
  @Test
  void theStartingNumberIsForTheReceiverOfTheMessage() {
    for (String name : List.of("ucmatose", "rping")) {
      Req req = first(name, Req.class);
      Rep rep = first(name, Rep.class);
      Map<Integer, Integer> firstPsn = new HashMap<>();
      for (Capture.Packet packet : Capture.read(name)) {
        byte[] frame = packet.bytes();
        if (Capture.isRoce(frame) && frame[42] == 4) {
          MemorySegment m = packet.segment();
          firstPsn.putIfAbsent(Bytes.get32(m, 46) & 0xffffff, Bytes.get32(m, 50) & 0xffffff);
        }
      }
      // Both guests' queue pairs have one number, so the server's first message is told by its PSN.
      assertTrue(
          firstPsn.containsValue(req.startingPsn()) || firstPsn.containsValue(rep.startingPsn()),
          firstPsn::toString);
      int first = firstPsn.get(name.equals("rping") ? rep.qpn() : req.qpn());
      assertEquals(name.equals("rping") ? rep.startingPsn() : req.startingPsn(), first, name);
    }
  }

  @Provide
  Arbitrary<PathRecord> paths() {
    Arbitrary<Gid> gids =
        Combinators.combine(Arbitraries.longs(), Arbitraries.longs()).as(Gid::new);
    Arbitrary<List<Integer>> bytes = Arbitraries.integers().between(0, 255).list().ofSize(3);
    return Combinators.combine(
            gids,
            gids,
            Arbitraries.integers().between(0, 0xffff),
            Arbitraries.integers().between(0, 0xfffff),
            bytes,
            Arbitraries.integers().between(0, 15),
            Arbitraries.integers().between(0, 31),
            Arbitraries.of(true, false))
        .as(
            (local, remote, lid, flow, b, level, timeout, flag) ->
                new PathRecord(
                    lid,
                    ~lid & 0xffff,
                    local,
                    remote,
                    flow,
                    b.get(0),
                    b.get(1),
                    b.get(2),
                    level,
                    flag,
                    timeout));
  }

  /** Fails if two fields share a bit: the values read are then not those written. */
  @Property(tries = 300)
  void requestsAreReadAsTheyWereWritten(
      @ForAll("paths") PathRecord path,
      @ForAll("paths") PathRecord other,
      @ForAll long a,
      @ForAll int b,
      @ForAll boolean flag) {
    Req req =
        new Req(
            a,
            b,
            ~a,
            a * 31,
            ~b,
            b >>> 8,
            b & 0xff,
            b >>> 8 & 0xff,
            b & 31,
            b >>> 5 & 3,
            flag,
            ~b >>> 8,
            b >>> 7 & 31,
            b >>> 12 & 7,
            b >>> 16,
            b >>> 4 & 15,
            b >>> 8 & 7,
            b >>> 20 & 15,
            !flag,
            path,
            other,
            data(Req.PRIVATE, b));
    MemorySegment m = MemorySegment.ofArray(new byte[256]);
    req.encode(m, 0);
    assertEquals(req, CmMessage.decode(m, 0));
    Rep rep =
        new Rep(
            a,
            b,
            ~b,
            b * 3,
            b >>> 8,
            ~b >>> 8,
            b & 0xff,
            b >>> 8 & 0xff,
            b & 31,
            b >>> 5 & 3,
            flag,
            b >>> 7 & 7,
            !flag,
            ~a,
            data(Rep.PRIVATE, b));
    rep.encode(m, 0);
    assertEquals(rep, CmMessage.decode(m, 0));
    Dreq dreq = new Dreq(a, b, ~b, b >>> 8, data(Dreq.PRIVATE, b));
    dreq.encode(m, 0);
    assertEquals(dreq, CmMessage.decode(m, 0));
  }

  private static PrivateData data(int length, int seed) {
    byte[] bytes = new byte[length];
    new java.util.Random(seed).nextBytes(bytes);
    return PrivateData.of(bytes);
  }

  /** Fails if bytes of any kind make the decoder throw. */
  @Property(tries = 2000)
  void noiseIsRefusedOrReadButNeverThrows(@ForAll long seed, @ForAll boolean header) {
    byte[] bytes = new byte[256];
    new java.util.Random(seed).nextBytes(bytes);
    MemorySegment m = MemorySegment.ofArray(bytes);
    if (header) {
      Bytes.set32(m, 0, 0x01070203);
      Bytes.set16(m, 16, 0x10 + (int) (seed & 0xf));
    }
    CmMessage message = CmMessage.decode(m, 0);
    if (message instanceof Req req) {
      req.ipHeader();
      req.consumerData();
    }
  }

  @Test
  void whatDoesNotFitIsRefused() {
    MemorySegment m = MemorySegment.ofArray(new byte[256]);
    Rej rej = new Rej(1, 2, 3, Answered.REQ, 28, PrivateData.NONE, data(Rej.PRIVATE + 1, 1));
    assertThrows(IllegalArgumentException.class, () -> rej.encode(m, 0));
    assertNull(CmMessage.decode(MemorySegment.ofArray(new byte[256]), 0));
    assertThrows(IllegalArgumentException.class, () -> PortSpace.requirePort(0));
  }

  @Test
  void everyReasonHasItsNumberOnce() {
    Map<RejectReason, Integer> codes = new EnumMap<>(RejectReason.class);
    for (RejectReason reason : RejectReason.values()) {
      codes.put(reason, reason.code());
      assertEquals(reason, RejectReason.of(reason.code()));
    }
    assertEquals(codes.size(), codes.values().stream().distinct().count());
    assertEquals("reason 77", RejectReason.describe(77));
  }
}
