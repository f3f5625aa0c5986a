package irdma4j.simulator.transport;

import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Capture;
import irdma4j.simulator.wire.RoceFrame;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * One direction of a capture as its responder saw it: the requests that reached it, in the order in
 * which they did, and its answers in the order in which it gave them.
 *
 * <p>The captures were taken inside a relay between two machines, before it lost, doubled or
 * swapped frames by count. So a lost frame is in the file, a doubled one twice, and of two swapped
 * ones the later comes first.
 */
final class CapturedConversation {
  /** What the relay did to every n-th RoCE frame. */
  private enum Fault {
    NONE,
    LOST,
    DOUBLED,
    /** Held back until the next one had passed. */
    SWAPPED
  }

  private record Relay(Fault fault, int every) {
    static Relay of(String name) {
      return switch (name) {
        case "rc_pingpong_loss" -> new Relay(Fault.LOST, 11);
        case "mix_loss" -> new Relay(Fault.LOST, 13);
        case "rc_pingpong_dup" -> new Relay(Fault.DOUBLED, 3);
        case "mix_dup" -> new Relay(Fault.DOUBLED, 4);
        case "rc_pingpong_swap" -> new Relay(Fault.SWAPPED, 5);
        case "mix_swap" -> new Relay(Fault.SWAPPED, 6);
        default -> new Relay(Fault.NONE, 1);
      };
    }
  }

  private static final int MTU = 1024;

  final List<Capture.Packet> requests = new ArrayList<>();
  final List<CapturedAnswer> answers = new ArrayList<>();

  /** Answers to READs. */
  final List<Capture.Packet> responses = new ArrayList<>();

  final RoceFrame firstRequest = new RoceFrame();
  final RoceFrame firstAnswer = new RoceFrame();

  private CapturedConversation() {}

  /**
   * Reads a capture.
   *
   * @param unheard numbers, from 1 on, of RoCE frames that the relay passed on and that soft-RoCE
   *     did not take
   */
  static CapturedConversation read(String name, long responderIp, Set<Integer> unheard) {
    List<Capture.Packet> frames = new ArrayList<>(Capture.read(name));
    frames.removeIf(packet -> !Capture.isRoce(packet.bytes()));
    Relay relay = Relay.of(name);
    CapturedConversation c = new CapturedConversation();
    RoceFrame f = new RoceFrame();
    for (int i = 0; i < frames.size(); i++) {
      int number = i + 1;
      boolean lost = relay.fault == Fault.LOST && number % relay.every == 0;
      if (!lost && !unheard.contains(number)) {
        c.addRequest(frames.get(i), f, responderIp);
      }
    }
    for (Capture.Packet packet : asSent(frames, relay)) {
      c.addAnswer(packet, f, responderIp);
    }
    return c;
  }

  /** All frames once, in the order in which they came to the relay. */
  private static List<Capture.Packet> asSent(List<Capture.Packet> frames, Relay relay) {
    List<Capture.Packet> sent = new ArrayList<>(frames);
    if (relay.fault == Fault.SWAPPED) {
      for (int number = relay.every; number < sent.size(); number += relay.every) {
        Collections.swap(sent, number - 1, number);
      }
    }
    if (relay.fault == Fault.DOUBLED) {
      for (int number = relay.every; number < sent.size(); number += relay.every) {
        byte[] copy = sent.remove(number).bytes();
        if (!Arrays.equals(copy, sent.get(number - 1).bytes())) {
          throw new IllegalStateException("frame " + number + " is not there twice");
        }
      }
    }
    return sent;
  }

  private static boolean parse(Capture.Packet packet, RoceFrame f) {
    return f.parse(packet.segment(), packet.bytes().length) && BthOpcode.isReliable(f.opcode);
  }

  static boolean isAnswer(int opcode) {
    return opcode >= BthOpcode.READ_RESPONSE_FIRST && opcode <= BthOpcode.ATOMIC_ACKNOWLEDGE;
  }

  /** Whether a packet takes a receive. */
  static boolean takesReceive(int opcode) {
    return opcode == BthOpcode.SEND_FIRST
        || opcode == BthOpcode.SEND_ONLY
        || opcode == BthOpcode.SEND_ONLY_IMMEDIATE
        || opcode == BthOpcode.SEND_ONLY_INVALIDATE
        || opcode == BthOpcode.WRITE_LAST_IMMEDIATE
        || opcode == BthOpcode.WRITE_ONLY_IMMEDIATE;
  }

  private void addRequest(Capture.Packet packet, RoceFrame f, long responderIp) {
    if (!parse(packet, f) || isAnswer(f.opcode) || f.destinationIpLow != responderIp) {
      return;
    }
    if (requests.isEmpty()) {
      firstRequest.parse(packet.segment(), packet.bytes().length);
    }
    if (f.destinationQp == firstRequest.destinationQp) {
      requests.add(packet);
    }
  }

  private void addAnswer(Capture.Packet packet, RoceFrame f, long responderIp) {
    if (!parse(packet, f) || !isAnswer(f.opcode) || f.destinationIpLow == responderIp) {
      return;
    }
    if (answers.isEmpty()) {
      firstAnswer.parse(packet.segment(), packet.bytes().length);
    }
    if (f.destinationQp == firstAnswer.destinationQp) {
      answers.add(CapturedAnswer.of(f, packet.segment()));
      if (f.opcode <= BthOpcode.READ_RESPONSE_ONLY) {
        responses.add(packet);
      }
    }
  }

  /**
   * What SENDs brought. What is sent again may differ: the captured programs read into the memory
   * that they sent from.
   */
  List<byte[]> sends() {
    RoceFrame f = new RoceFrame();
    List<byte[]> sends = new ArrayList<>();
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    int expected = firstRequest.psn;
    for (Capture.Packet packet : requests) {
      parse(packet, f);
      if (f.psn != expected) {
        continue;
      }
      expected = Psn.add(expected, psns(f));
      MemorySegment payload = packet.segment().asSlice(f.payloadOffset, f.payloadLength);
      message.writeBytes(payload.toArray(ValueLayout.JAVA_BYTE));
      switch (f.opcode) {
        case BthOpcode.SEND_FIRST, BthOpcode.SEND_MIDDLE -> {}
        case BthOpcode.SEND_LAST,
            BthOpcode.SEND_LAST_IMMEDIATE,
            BthOpcode.SEND_LAST_INVALIDATE,
            BthOpcode.SEND_ONLY,
            BthOpcode.SEND_ONLY_IMMEDIATE,
            BthOpcode.SEND_ONLY_INVALIDATE -> {
          sends.add(message.toByteArray());
          message.reset();
        }
        default -> message.reset();
      }
    }
    return sends;
  }

  private static int psns(RoceFrame f) {
    return f.opcode == BthOpcode.READ_REQUEST ? Math.max(1, (f.dmaLength + MTU - 1) / MTU) : 1;
  }
}
