package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Capture;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The requester does the work of a capture, and gets the answers that Linux soft-RoCE gave: it
 * sends the packets that soft-RoCE sent.
 */
class RequesterReplayTest {
  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;
  private static final int MTU = 1024;
  private static final int NAK_SEQUENCE = 0x60;
  private static final long SOON = 10_000_000;

  /** Longer than the timer of any RNR NAK. */
  private static final long AGAIN = 700_000_000;

  private static boolean isRequest(int opcode) {
    return opcode <= BthOpcode.READ_REQUEST
        || opcode == BthOpcode.SEND_LAST_INVALIDATE
        || opcode == BthOpcode.SEND_ONLY_INVALIDATE;
  }

  private static boolean isAnswer(int opcode) {
    return opcode >= BthOpcode.READ_RESPONSE_FIRST && opcode <= BthOpcode.ACKNOWLEDGE;
  }

  private static boolean isResponse(int opcode) {
    return opcode >= BthOpcode.READ_RESPONSE_FIRST && opcode <= BthOpcode.READ_RESPONSE_ONLY;
  }

  private static boolean beginsMessage(int opcode) {
    return switch (opcode) {
      case BthOpcode.SEND_MIDDLE,
          BthOpcode.SEND_LAST,
          BthOpcode.SEND_LAST_IMMEDIATE,
          BthOpcode.SEND_LAST_INVALIDATE,
          BthOpcode.WRITE_MIDDLE,
          BthOpcode.WRITE_LAST,
          BthOpcode.WRITE_LAST_IMMEDIATE ->
          false;
      default -> true;
    };
  }

  private static boolean isWrite(int opcode) {
    return opcode >= BthOpcode.WRITE_FIRST && opcode <= BthOpcode.WRITE_ONLY_IMMEDIATE;
  }

  /** Everything of a request but the ports and when an answer is asked for: those are free. */
  private static String describe(RoceFrame f, MemorySegment memory) {
    StringBuilder text = new StringBuilder();
    text.append(BthOpcode.name(f.opcode)).append(" psn ").append(f.psn);
    text.append(" to ").append(f.destinationQp).append(f.solicited ? " solicited" : "");
    if (BthOpcode.hasReth(f.opcode)) {
      text.append(" reth %x %x %d".formatted(f.remoteAddress, f.remoteKey, f.dmaLength));
    }
    if (BthOpcode.hasImmediate(f.opcode)) {
      text.append(" immediate ").append(f.immediate);
    }
    if (BthOpcode.hasIeth(f.opcode)) {
      text.append(" invalidates ").append(f.invalidateKey);
    }
    byte[] payload =
        memory.asSlice(f.payloadOffset, f.payloadLength).toArray(ValueLayout.JAVA_BYTE);
    return text.append(" data %d:%08x".formatted(payload.length, Arrays.hashCode(payload)))
        .toString();
  }

  /** A message of the capture. */
  private static final class Message {
    final RoceFrame first = new RoceFrame();
    final ByteArrayOutputStream data = new ByteArrayOutputStream();
    int immediate;
    boolean hasImmediate;
    int invalidate;
    boolean solicited;
    boolean posted;
    long sink;

    int packets() {
      int length = isRead() ? first.dmaLength : data.size();
      return Math.max(1, (length + MTU - 1) / MTU);
    }

    boolean isRead() {
      return first.opcode == BthOpcode.READ_REQUEST;
    }
  }

  /** One direction of a capture: who asked, and what. */
  private static final class Conversation {
    final List<Capture.Packet> packets = new ArrayList<>();
    final List<Message> messages = new ArrayList<>();
    final List<String> requests = new ArrayList<>();
    final RoceFrame request = new RoceFrame();
    final RoceFrame answer = new RoceFrame();

    static Conversation of(String name, long requesterIp) {
      Conversation c = new Conversation();
      RoceFrame f = new RoceFrame();
      int end = -1;
      Map<Integer, Capture.Packet> byPsn = new HashMap<>();
      for (Capture.Packet packet : Capture.read(name)) {
        MemorySegment memory = packet.segment();
        int bytes = packet.bytes().length;
        if (!f.parse(memory, bytes) || !BthOpcode.isReliable(f.opcode)) {
          continue;
        }
        boolean ours = f.sourceIpLow == requesterIp;
        if (ours && BthOpcode.hasAtomic(f.opcode) && end < 0) {
          // GEN_2 has no atomics, so the comparison ends before the first one.
          end = f.psn;
        }
        boolean relevant =
            (ours ? isRequest(f.opcode) : isAnswer(f.opcode))
                && (end < 0 || Psn.distance(end, f.psn) < 0);
        if (!relevant) {
          continue;
        }
        if (ours) {
          if (c.request.totalLength == 0) {
            c.request.parse(memory, bytes);
          }
          if (f.destinationQp != c.request.destinationQp) {
            continue;
          }
          byPsn.putIfAbsent(f.psn, packet);
          c.requests.add(describe(f, memory));
        } else if (c.answer.totalLength == 0) {
          c.answer.parse(memory, bytes);
        }
        c.packets.add(packet);
      }
      c.cutMessages(byPsn);
      return c;
    }

    private void cutMessages(Map<Integer, Capture.Packet> byPsn) {
      RoceFrame f = new RoceFrame();
      int psn = request.psn;
      while (byPsn.containsKey(psn)) {
        Capture.Packet packet = byPsn.get(psn);
        MemorySegment memory = packet.segment();
        f.parse(memory, packet.bytes().length);
        if (beginsMessage(f.opcode)) {
          Message message = new Message();
          message.first.parse(memory, packet.bytes().length);
          messages.add(message);
        }
        Message message = messages.getLast();
        message.data.writeBytes(
            memory.asSlice(f.payloadOffset, f.payloadLength).toArray(ValueLayout.JAVA_BYTE));
        message.solicited |= f.solicited;
        if (BthOpcode.hasImmediate(f.opcode)) {
          message.hasImmediate = true;
          message.immediate = f.immediate;
        }
        if (BthOpcode.hasIeth(f.opcode)) {
          message.invalidate = f.invalidateKey;
        }
        psn = Psn.add(psn, message.isRead() ? message.packets() : 1);
      }
    }
  }

  /** The requester, set up as the capture's was. */
  private static final class Replay {
    final Conversation conversation;
    final List<String> sent = new ArrayList<>();
    final List<Integer> sentPsns = new ArrayList<>();
    final Fabric fabric;
    final FakeFunction function;
    final Endpoint end;

    Replay(Conversation conversation, int rnrRetries) {
      this.conversation = conversation;
      fabric =
          Fabric.shown(
              8 << 20,
              LinkFaults.NONE,
              (time, from, frame, memory) -> {
                sent.add(describe(frame, memory));
                sentPsns.add(frame.psn);
              });
      function = fabric.functions[0];
      RoceFrame request = conversation.request;
      function.mac = request.sourceMac;
      Endpoint.Settings settings = new Endpoint.Settings();
      settings.localPsn = request.psn;
      settings.readsOut = 16;
      settings.timeout = 22;
      settings.rnrRetries = rnrRetries;
      settings.mtu = MTU;
      end =
          new Endpoint(
              function, conversation.answer.destinationQp, 1, request.destinationQp, settings);
      end.addresses(request.sourceIpLow, request.destinationIpLow);
      function.engine.stateChanged(end.qpn, Endpoint.RTS);
    }

    /** Lets the device work for a time, not until its timeouts. */
    private void pump(long nanos) {
      long until = fabric.now + nanos;
      while (true) {
        while (function.engine.run()) {}
        if (Math.min(fabric.link.nextArrival(), function.timer) > until) {
          return;
        }
        fabric.step();
      }
    }

    private void pumpUntilSent(long nanos) {
      int before = sent.size();
      for (long end = fabric.now + nanos; fabric.now < end && sent.size() == before; ) {
        pump(SOON);
        fabric.now += SOON;
      }
    }

    private void post(Message message, int number) {
      byte[] data = message.data.toByteArray();
      int length = message.isRead() ? message.first.dmaLength : data.length;
      SgeList sges = new SgeList();
      if (length > 0) {
        long at = function.allocate(length);
        MemorySegment.copy(data, 0, function.host, ValueLayout.JAVA_BYTE, at, data.length);
        FakeFunction.Region region = function.register(at, length, ALL, Endpoint.PD);
        sges.add(region.va(), length, region.stag());
        message.sink = at;
      }
      int flags = SendQueue.SIGNALED | (message.solicited ? SendQueue.SOLICITED : 0);
      if (message.hasImmediate) {
        flags |= SendQueue.IMMEDIATE;
      }
      RoceFrame first = message.first;
      boolean done;
      if (message.isRead()) {
        done = end.send.read(number, flags, first.remoteAddress, first.remoteKey, sges);
      } else if (isWrite(first.opcode)) {
        done =
            end.send.write(
                number, flags, message.immediate, first.remoteAddress, first.remoteKey, sges);
      } else {
        done = end.send.send(number, flags, message.immediate, message.invalidate, sges);
      }
      assertTrue(done);
      message.posted = true;
      end.send.ring();
    }

    void run() {
      RoceFrame f = new RoceFrame();
      Set<Integer> seen = new HashSet<>();
      for (Capture.Packet packet : conversation.packets) {
        f.parse(packet.segment(), packet.bytes().length);
        if (isAnswer(f.opcode)) {
          int before = sentPsns.size();
          end.receive(packet.segment());
          pump(SOON);
          boolean sequence = f.opcode == BthOpcode.ACKNOWLEDGE && f.syndrome == NAK_SEQUENCE;
          // A READ whose answer did not come is asked for again first: no NAK acknowledges it.
          if (sequence
              && sentPsns.size() > before
              && !sent.get(before).startsWith(BthOpcode.name(BthOpcode.READ_REQUEST))) {
            assertEquals(f.psn, sentPsns.get(before), "a NAK is answered from its PSN on");
          }
          continue;
        }
        for (int i = 0; i < conversation.messages.size(); i++) {
          Message message = conversation.messages.get(i);
          if (!message.posted && Psn.distance(message.first.psn, f.psn) >= 0) {
            post(message, i);
          }
        }
        if (seen.add(f.psn)) {
          pump(SOON);
        } else {
          pumpUntilSent(AGAIN);
        }
      }
    }

    /** What READs brought is what soft-RoCE sent. */
    void checkSinks() {
      RoceFrame f = new RoceFrame();
      for (Message message : conversation.messages) {
        for (Capture.Packet packet : conversation.packets) {
          f.parse(packet.segment(), packet.bytes().length);
          int index = Psn.distance(message.first.psn, f.psn);
          if (message.isRead()
              && isResponse(f.opcode)
              && index >= 0
              && index < message.packets()
              && f.payloadLength > 0) {
            assertArrayEquals(
                packet
                    .segment()
                    .asSlice(f.payloadOffset, f.payloadLength)
                    .toArray(ValueLayout.JAVA_BYTE),
                function
                    .slice(message.sink + (long) index * MTU, f.payloadLength)
                    .toArray(ValueLayout.JAVA_BYTE));
          }
        }
      }
    }
  }

  private static List<Conversation> conversations(String name) {
    List<Conversation> found = new ArrayList<>();
    for (int side = 1; side <= 2; side++) {
      Conversation conversation = Conversation.of(name, 0x0a090000L + side);
      if (!conversation.messages.isEmpty()) {
        found.add(conversation);
      }
    }
    assertTrue(!found.isEmpty(), name);
    return found;
  }

  /**
   * Fails if the requester cuts a message elsewhere, counts PSNs otherwise, leaves out a header, or
   * does not take an answer for what it is.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "rc_pingpong",
        "rc_pingpong_multi",
        "rc_pingpong_dup",
        "srq_pingpong",
        "ib_write_bw",
        "ib_send_bw",
        "ib_read_bw",
        "err_imm",
        "err_inv",
        "err_zero",
        "err_odd",
        "err_mix",
        "err_rnr",
        "rping",
        "rping_4k",
        "ucmatose"
      })
  void requestsAreThoseOfSoftRoce(String name) {
    for (Conversation conversation : conversations(name)) {
      Replay replay = new Replay(conversation, 7);
      replay.run();
      assertEquals(conversation.requests, replay.sent, name);
      List<Endpoint.Done> done = replay.end.poll();
      assertEquals(conversation.messages.size(), done.size(), name);
      for (int i = 0; i < done.size(); i++) {
        assertEquals(i, done.get(i).wrId(), name);
        assertEquals(Completion.Status.SUCCESS, done.get(i).status(), name);
      }
      replay.checkSinks();
      assertEquals(List.of(), replay.function.events, name);
    }
  }

  /**
   * Where frames were lost, sent twice or swapped, when something is sent again is the requester's
   * own; what is sent under a PSN is not. Fails if a retransmission differs from the first
   * transmission, begins elsewhere than a NAK says, or if work does not end well.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {"rc_pingpong_loss", "rc_pingpong_swap", "mix_loss", "mix_dup", "mix_swap"})
  void retransmissionsAreTheSamePackets(String name) {
    for (Conversation conversation : conversations(name)) {
      Replay replay = new Replay(conversation, 7);
      replay.run();
      assertEquals(
          withoutPartsOfReads(conversation, conversation.requests),
          withoutPartsOfReads(conversation, replay.sent),
          name);
      List<Endpoint.Done> done = replay.end.poll();
      for (int i = 0; i < done.size(); i++) {
        assertEquals(i, done.get(i).wrId(), name);
        assertEquals(Completion.Status.SUCCESS, done.get(i).status(), name);
      }
      assertEquals(conversation.messages.size(), done.size(), name);
      replay.checkSinks();
    }
  }

  /**
   * Packets that differ, without requests for the rest of a READ: those depend on what was lost.
   */
  private static List<String> withoutPartsOfReads(Conversation conversation, List<String> sent) {
    Set<String> whole = new HashSet<>();
    for (Message message : conversation.messages) {
      whole.add("psn " + message.first.psn + " ");
    }
    String read = BthOpcode.name(BthOpcode.READ_REQUEST);
    return sent.stream()
        .filter(each -> !each.startsWith(read) || whole.stream().anyMatch(each::contains))
        .distinct()
        .sorted()
        .toList();
  }

  /** Fails if a refusal of soft-RoCE ends otherwise than in the event that belongs to it. */
  @ParameterizedTest
  @CsvSource({
    "err_badkey,  7, IB_REMOTE_ACCESS_ERROR",
    "err_badlen,  7, IB_REMOTE_ACCESS_ERROR",
    "err_badread, 7, IB_REMOTE_ACCESS_ERROR",
    "err_noperm,  7, IB_REMOTE_ACCESS_ERROR",
    "err_short,   7, IB_REMOTE_OP_ERROR",
    "err_rnrfail, 2, LLP_TOO_MANY_RNRS"
  })
  void refusalsEndInTheirEvent(String name, int rnrRetries, AeCode event) {
    for (Conversation conversation : conversations(name)) {
      Replay replay = new Replay(conversation, rnrRetries);
      replay.run();
      assertEquals(conversation.requests, replay.sent, name);
      assertEquals(List.of(), replay.end.poll(), name);
      assertEquals(1, replay.function.events.size(), name);
      assertEquals(event.code(), replay.function.events.getFirst().code(), name);
    }
  }
}
