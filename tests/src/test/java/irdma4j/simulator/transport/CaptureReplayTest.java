package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.RoceContext;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Capture;
import irdma4j.simulator.wire.Icrc;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The responder answers the requests of a capture as Linux soft-RoCE answered them: same packets,
 * same PSNs, same MSNs, same syndromes, same data.
 */
class CaptureReplayTest {
  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;

  private enum Memory {
    /** Every region is as the requester says. */
    FITS,
    /** No such stag. */
    ABSENT,
    /** One byte short. */
    SHORT,
    /** Without remote rights. */
    CLOSED
  }

  private static boolean isRequest(int opcode) {
    return opcode <= BthOpcode.READ_REQUEST
        || opcode == BthOpcode.SEND_LAST_INVALIDATE
        || opcode == BthOpcode.SEND_ONLY_INVALIDATE;
  }

  private static boolean isAtomic(int opcode) {
    return opcode == BthOpcode.COMPARE_SWAP || opcode == BthOpcode.FETCH_ADD;
  }

  private static boolean isAnswer(int opcode) {
    return opcode >= BthOpcode.READ_RESPONSE_FIRST && opcode <= BthOpcode.ACKNOWLEDGE;
  }

  private static boolean begins(int opcode) {
    return opcode == BthOpcode.SEND_FIRST
        || opcode == BthOpcode.SEND_ONLY
        || opcode == BthOpcode.SEND_ONLY_IMMEDIATE
        || opcode == BthOpcode.SEND_ONLY_INVALIDATE
        || opcode == BthOpcode.WRITE_LAST_IMMEDIATE
        || opcode == BthOpcode.WRITE_ONLY_IMMEDIATE;
  }

  /**
   * What is compared of an answer. An RNR timer's value and the credits are the responder's own.
   */
  private static String describe(RoceFrame f, MemorySegment memory) {
    String aeth = "";
    if (BthOpcode.hasAeth(f.opcode)) {
      int kind = f.syndrome & 0x60;
      aeth = " syndrome " + (kind == 0x60 ? f.syndrome : kind) + " msn " + f.msn;
    }
    byte[] payload =
        memory.asSlice(f.payloadOffset, f.payloadLength).toArray(ValueLayout.JAVA_BYTE);
    return "op %d psn %d to %d%s data %d:%08x"
        .formatted(
            f.opcode,
            f.psn,
            f.destinationQp,
            aeth,
            payload.length,
            java.util.Arrays.hashCode(payload));
  }

  /**
   * Fails if the responder misjudges an opcode, a length, a key or a right; cuts a READ's answer
   * elsewhere; or counts messages otherwise than soft-RoCE does.
   */
  @ParameterizedTest
  @CsvSource({
    "rc_pingpong,       FITS,   0",
    "rc_pingpong_multi, FITS,   0",
    "srq_pingpong,      FITS,   0",
    "ib_write_bw,       FITS,   0",
    "ib_send_bw,        FITS,   0",
    "ib_read_bw,        FITS,   0",
    "err_imm,           FITS,   0",
    "err_inv,           FITS,   0",
    "err_zero,          FITS,   0",
    "err_odd,           FITS,   0",
    "err_mix,           FITS,   0",
    "err_rnr,           FITS,   1",
    "rping,             FITS,   0",
    "rping_4k,          FITS,   0",
    "ucmatose,          FITS,   0",
    "err_badkey,        ABSENT, 0",
    "err_badlen,        SHORT,  0",
    "err_badread,       ABSENT, 0",
    "err_noperm,        CLOSED, 0"
  })
  void answersAreThoseOfSoftRoce(String name, Memory memory, int receivesLate) {
    int compared = 0;
    for (int side = 1; side <= 2; side++) {
      compared += replay(name, 0x0a090000L + side, memory, receivesLate);
    }
    assertTrue(compared > 0, name);
  }

  private static int replay(String name, long responderIp, Memory kind, int receivesLate) {
    List<Capture.Packet> packets = new ArrayList<>();
    RoceFrame f = new RoceFrame();
    RoceFrame firstRequest = new RoceFrame();
    RoceFrame firstAnswer = new RoceFrame();
    int end = -1;
    for (Capture.Packet packet : Capture.read(name)) {
      if (!f.parse(packet.segment(), packet.bytes().length) || !BthOpcode.isReliable(f.opcode)) {
        continue;
      }
      boolean toResponder = f.destinationIpLow == responderIp;
      if (toResponder && end < 0 && isAtomic(f.opcode)) {
        end = f.psn;
      }
      if (toResponder && isRequest(f.opcode) && firstRequest.totalLength == 0) {
        firstRequest.parse(packet.segment(), packet.bytes().length);
      }
      if (!toResponder && isAnswer(f.opcode) && firstAnswer.totalLength == 0) {
        firstAnswer.parse(packet.segment(), packet.bytes().length);
      }
      // GEN_2 refuses atomics, so the comparison ends before the first one.
      boolean compared = end < 0 || Psn.distance(end, f.psn) < 0;
      int qp = toResponder ? firstRequest.destinationQp : firstAnswer.destinationQp;
      if (compared && f.destinationQp == qp) {
        packets.add(packet);
      }
    }
    if (firstRequest.totalLength == 0) {
      return 0;
    }
    return new Replay(firstRequest, firstAnswer, kind, receivesLate)
        .run(name, packets, responderIp);
  }

  /** One responder, set up as the capture's was. */
  private static final class Replay {
    final List<String> answers = new ArrayList<>();
    final Fabric fabric;
    final FakeFunction function;
    final Endpoint end;
    final Memory kind;
    int receivesLate;

    Replay(RoceFrame request, RoceFrame answer, Memory kind, int receivesLate) {
      this.kind = kind;
      this.receivesLate = receivesLate;
      RoceFrame sent = new RoceFrame();
      fabric =
          new Fabric(
              2,
              8 << 20,
              LinkFaults.NONE,
              1,
              (time, from, frame, bytes, dropped) -> {
                assertTrue(sent.parse(frame, bytes));
                assertTrue(sent.icrcMatches(frame, new Icrc()));
                answers.add(describe(sent, frame));
              });
      function = fabric.functions[0];
      function.mac = request.destinationMac;
      Endpoint.Settings settings = new Endpoint.Settings();
      settings.credits = 31;
      settings.remotePsn = request.psn;
      settings.readsIn = 4;
      end = new Endpoint(function, request.destinationQp, 1, answer.destinationQp, settings);
      // The path of the capture, in the same context.
      RoceContext.LOCAL_IPADDR3.set(end.context, 0, request.destinationIpLow);
      RoceContext.DESTIPADDR3.set(end.context, 0, request.sourceIpLow);
      function.engine.contextWritten(end.qpn, end.context, end.attributes);
    }

    int run(String name, List<Capture.Packet> packets, long responderIp) {
      RoceFrame f = new RoceFrame();
      List<String> expected = new ArrayList<>();
      openMemory(packets, responderIp);
      for (Capture.Packet packet : packets) {
        MemorySegment memory = packet.segment();
        assertTrue(f.parse(memory, packet.bytes().length));
        if (f.destinationIpLow == responderIp) {
          if (isRequest(f.opcode)) {
            if (f.opcode == BthOpcode.READ_REQUEST) {
              fill(f, packets);
            }
            feed(packet, f);
          }
        } else if (isAnswer(f.opcode)) {
          expected.add(describe(f, memory));
        }
      }
      if (name.equals("err_inv")) {
        // Soft-RoCE does not count a SEND with invalidate; the MSN counts every completed request.
        expected.replaceAll(answer -> answer.replace("msn 0", "msn 1"));
      }
      assertEquals(expected, answers, name);
      return expected.size();
    }

    private void feed(Capture.Packet packet, RoceFrame f) {
      if (begins(f.opcode) && receivesLate-- <= 0) {
        long at = function.allocate(1 << 16);
        FakeFunction.Region room = function.register(at, 1 << 16, ALL, Endpoint.PD);
        assertTrue(end.receive.receive(1, new SgeList().set(room.va(), 1 << 16, room.stag())));
      }
      if (BthOpcode.hasIeth(f.opcode)) {
        function.regions.put(
            f.invalidateKey, new FakeFunction.Region(f.invalidateKey, 0, 0, 1, ALL, Endpoint.PD));
      }
      function.engine.receive(packet.segment(), packet.bytes().length, null);
      fabric.settle(1_000_000_000);
    }

    /** Regions as the RETHs name them; what READs must return is taken from the answers. */
    private void openMemory(List<Capture.Packet> packets, long responderIp) {
      RoceFrame f = new RoceFrame();
      for (Capture.Packet packet : packets) {
        f.parse(packet.segment(), packet.bytes().length);
        boolean reth = BthOpcode.hasReth(f.opcode) && f.destinationIpLow == responderIp;
        if (!reth || f.dmaLength == 0 || kind == Memory.ABSENT) {
          continue;
        }
        int rights = kind == Memory.CLOSED ? DeviceServices.LOCAL_READ : ALL;
        long length = kind == Memory.SHORT ? f.dmaLength - 1 : f.dmaLength;
        FakeFunction.Region old = function.regions.get(f.remoteKey);
        long low = old == null ? f.remoteAddress : Math.min(old.va(), f.remoteAddress);
        long high = f.remoteAddress + length;
        if (old != null) {
          high = Math.max(high, old.va() + old.length());
        }
        long at = function.allocate(high - low);
        function.regions.put(
            f.remoteKey,
            new FakeFunction.Region(f.remoteKey, low, at, high - low, rights, Endpoint.PD));
      }
    }

    /** Puts the data that soft-RoCE returned for a READ where the READ will find it. */
    private void fill(RoceFrame request, List<Capture.Packet> packets) {
      FakeFunction.Region region = function.regions.get(request.remoteKey);
      RoceFrame f = new RoceFrame();
      for (Capture.Packet packet : packets) {
        f.parse(packet.segment(), packet.bytes().length);
        long offset = Psn.distance(request.psn, f.psn) * 1024L;
        boolean response =
            f.opcode >= BthOpcode.READ_RESPONSE_FIRST
                && f.opcode <= BthOpcode.READ_RESPONSE_ONLY
                && f.destinationIpLow == request.sourceIpLow;
        if (response && f.payloadLength > 0 && offset >= 0 && offset < request.dmaLength) {
          MemorySegment.copy(
              packet.segment(),
              f.payloadOffset,
              function.host,
              region.at() + request.remoteAddress + offset - region.va(),
              f.payloadLength);
        }
      }
    }
  }
}
