package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A responder that is asked by hand. */
class ResponderRulesTest {
  private static final int CREDITS = 0x1e;
  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;

  /** An answer: its PSN counted from the first one expected, its syndrome 0 without an AETH. */
  private record Answer(int opcode, int psn, int syndrome, int msn, List<Byte> payload) {
    static Answer acknowledge(int psn, int syndrome, int msn) {
      return new Answer(BthOpcode.ACKNOWLEDGE, psn, syndrome, msn, List.of());
    }
  }

  private final List<Answer> wire = new ArrayList<>();
  private final List<Integer> tags = new ArrayList<>();
  private final Endpoint.Settings settings = new Endpoint.Settings();
  private FakeFunction function;
  private Endpoint far;
  private FakeFunction.Region region;

  private void connect() {
    wire.clear();
    Fabric fabric =
        Fabric.shown(
            4 << 20,
            LinkFaults.loss(100),
            (time, from, f, memory) -> {
              boolean aeth = BthOpcode.hasAeth(f.opcode);
              tags.add(f.vlanTag);
              wire.add(
                  new Answer(
                      f.opcode,
                      f.psn - settings.remotePsn & 0xffffff,
                      aeth ? f.syndrome : 0,
                      aeth ? f.msn : 0,
                      bytes(memory, f.payloadOffset, f.payloadLength)));
            });
    function = fabric.functions[0];
    far = new Endpoint(function, 5, 1, 9, settings);
    region = function.register(function.allocate(20_000), 20_000, ALL, Endpoint.PD);
    for (int i = 0; i < 20_000; i++) {
      function.host.set(ValueLayout.JAVA_BYTE, region.at() + i, (byte) (i * 7 + i / 256));
    }
  }

  private static List<Byte> bytes(MemorySegment memory, long at, int count) {
    List<Byte> bytes = new ArrayList<>();
    for (byte one : memory.asSlice(at, count).toArray(ValueLayout.JAVA_BYTE)) {
      bytes.add(one);
    }
    return bytes;
  }

  /** What stands in the region from an offset on. */
  private List<Byte> held(int offset, int count) {
    return bytes(function.host, region.at() + offset, count);
  }

  /** Delivers a request without letting the responder answer. */
  private void deliver(int opcode, int psn, int offset, int length, byte... payload) {
    RoceFrame frame = far.fromPeer(opcode, settings.remotePsn + psn & 0xffffff);
    frame.ackRequest = true;
    frame.remoteAddress = region.va() + offset;
    frame.remoteKey = region.stag();
    frame.dmaLength = length;
    far.receive(Endpoint.sealed(frame, payload));
  }

  private void answer() {
    while (function.engine.run()) {}
  }

  private void ask(int opcode, int psn, int offset, int length, byte... payload) {
    deliver(opcode, psn, offset, length, payload);
    answer();
  }

  private void receive(int id) {
    assertTrue(far.receive.receive(id, new SgeList().set(region.va(), 100, region.stag())));
  }

  /** Fails if a repeated WRITE changes memory again, or is not acknowledged again. */
  @Test
  void aRepeatedWriteIsNotDoneAgain() {
    connect();
    ask(BthOpcode.WRITE_ONLY, 0, 8, 3, (byte) 1, (byte) 2, (byte) 3);
    assertEquals(List.of((byte) 1, (byte) 2, (byte) 3), held(8, 3));
    ask(BthOpcode.WRITE_ONLY, 1, 8, 1, (byte) 9);
    ask(BthOpcode.WRITE_ONLY, 0, 8, 3, (byte) 1, (byte) 2, (byte) 3);
    assertEquals(List.of((byte) 9, (byte) 2, (byte) 3), held(8, 3));
    assertEquals(
        List.of(
            Answer.acknowledge(0, CREDITS, 1),
            Answer.acknowledge(1, CREDITS, 2),
            Answer.acknowledge(1, CREDITS, 2)),
        wire);
    assertEquals(List.of(), function.events);
  }

  /**
   * A READ that is asked for again, whole or from its middle, is answered with what stands in
   * memory then; beyond what was asked for, not at all. Fails if an old answer is kept, if the
   * address, PSN or MSN is another, or if the PSNs expected move.
   */
  @ParameterizedTest
  @ValueSource(ints = {200, 0xfffffd, 0xfffffe, 0xffffff})
  void aRepeatedReadIsDoneAgain(int firstPsn) {
    settings.remotePsn = firstPsn;
    connect();
    int first = BthOpcode.READ_RESPONSE_FIRST;
    int middle = BthOpcode.READ_RESPONSE_MIDDLE;
    int last = BthOpcode.READ_RESPONSE_LAST;
    ask(BthOpcode.READ_REQUEST, 0, 100, 3000);
    assertEquals(
        List.of(
            new Answer(first, 0, CREDITS, 1, held(100, 1024)),
            new Answer(middle, 1, 0, 0, held(1124, 1024)),
            new Answer(last, 2, CREDITS, 1, held(2148, 952))),
        wire);
    wire.clear();
    function.slice(region.at(), 20_000).fill((byte) 0x77);
    ask(BthOpcode.READ_REQUEST, 1, 1124, 1976);
    ask(BthOpcode.READ_REQUEST, 1, 1124, 2049);
    assertEquals(
        List.of(
            new Answer(first, 1, CREDITS, 1, held(1124, 1024)),
            new Answer(last, 2, CREDITS, 1, held(2148, 952))),
        wire);
    wire.clear();
    ask(BthOpcode.WRITE_ONLY, 3, 0, 1, (byte) 5);
    assertEquals(List.of(Answer.acknowledge(3, CREDITS, 2)), wire);
    wire.clear();
    ask(BthOpcode.READ_REQUEST, 2, 19_500, 952);
    assertEquals(List.of(Answer.acknowledge(2, Aeth.NAK_REMOTE_ACCESS, 2)), wire);
    assertEquals(
        List.of(
            new FakeFunction.Event(
                far.qpn, AeCode.AMP_BOUNDS_VIOLATION.code(), AeSource.IN_RR_WR.code(), 0)),
        function.events);
  }

  /**
   * Answers to READs of each MTU and of lengths around whole packets. Fails if one is cut wrong.
   */
  @ParameterizedTest
  @ValueSource(ints = {256, 512, 1024, 2048, 4096})
  void answersAreCutIntoPacketsOfTheMtu(int mtu) {
    settings.mtu = mtu;
    settings.remotePsn = 0xfffffe;
    for (int length : new int[] {0, 1, mtu - 1, mtu, mtu + 1, 3 * mtu - 1, 3 * mtu, 3 * mtu + 1}) {
      connect();
      ask(BthOpcode.READ_REQUEST, 0, 3, length);
      List<Answer> expected = new ArrayList<>();
      for (int at = 0, n = 0; at < length || n == 0; at += mtu, n++) {
        int payload = Math.min(mtu, length - at);
        boolean last = at + payload == length;
        int opcode =
            n == 0
                ? last ? BthOpcode.READ_RESPONSE_ONLY : BthOpcode.READ_RESPONSE_FIRST
                : last ? BthOpcode.READ_RESPONSE_LAST : BthOpcode.READ_RESPONSE_MIDDLE;
        boolean aeth = n == 0 || last;
        expected.add(
            new Answer(opcode, n, aeth ? CREDITS : 0, aeth ? 1 : 0, held(3 + at, payload)));
      }
      assertEquals(expected, wire, length + " bytes");
    }
  }

  /**
   * PSNs go on at 0 behind 2^24 - 1. Fails if a packet behind the wrap is taken for an old one, an
   * old one for a new, or a NAK names another PSN.
   */
  @Test
  void requestsGoOnBehindTheLastPsn() {
    settings.remotePsn = 0xfffffe;
    connect();
    for (int i = 0; i < 6; i++) {
      ask(BthOpcode.WRITE_ONLY, i, i, 1, (byte) (0x40 + i));
    }
    ask(BthOpcode.WRITE_ONLY, 1, 0, 1, (byte) 0);
    ask(BthOpcode.WRITE_ONLY, 8, 0, 1, (byte) 0);
    assertEquals(
        List.of(
            Answer.acknowledge(0, CREDITS, 1),
            Answer.acknowledge(1, CREDITS, 2),
            Answer.acknowledge(2, CREDITS, 3),
            Answer.acknowledge(3, CREDITS, 4),
            Answer.acknowledge(4, CREDITS, 5),
            Answer.acknowledge(5, CREDITS, 6),
            Answer.acknowledge(5, CREDITS, 6),
            Answer.acknowledge(6, Aeth.NAK_SEQUENCE, 6)),
        wire);
    assertEquals(List.of((byte) 0x40, (byte) 0x41, (byte) 0x42), held(0, 3));
  }

  /**
   * The MSN goes on at 0 behind 2^24 - 1. Fails if an answer carries another one, or if the number
   * spills into what stands beside it.
   */
  @Test
  void answersGoOnBehindTheLastMsn() {
    connect();
    far.state().msn = 0xfffffd;
    ask(BthOpcode.WRITE_ONLY, 0, 0, 1, (byte) 1);
    ask(BthOpcode.WRITE_ONLY, 1, 0, 1, (byte) 1);
    ask(BthOpcode.READ_REQUEST, 2, 0, 1025);
    ask(BthOpcode.WRITE_ONLY, 4, 0, 1, (byte) 1);
    ask(BthOpcode.WRITE_ONLY, 6, 0, 1, (byte) 1);
    assertEquals(
        List.of(
            Answer.acknowledge(0, CREDITS, 0xfffffe),
            Answer.acknowledge(1, CREDITS, 0xffffff),
            new Answer(BthOpcode.READ_RESPONSE_FIRST, 2, CREDITS, 0, held(0, 1024)),
            new Answer(BthOpcode.READ_RESPONSE_LAST, 3, CREDITS, 0, held(1024, 1)),
            Answer.acknowledge(4, CREDITS, 1),
            Answer.acknowledge(5, Aeth.NAK_SEQUENCE, 1)),
        wire);
  }

  /**
   * Requests that come in one go are answered in their order; acknowledgements run together, but
   * not past a READ. Fails if one is answered twice, overtaken, or says more than was answered.
   */
  @Test
  void answersKeepTheOrderOfTheRequests() {
    connect();
    receive(1);
    deliver(BthOpcode.WRITE_ONLY, 0, 0, 1, (byte) 1);
    deliver(BthOpcode.SEND_ONLY, 1, 0, 0, (byte) 1);
    deliver(BthOpcode.READ_REQUEST, 2, 5, 1);
    deliver(BthOpcode.WRITE_ONLY, 3, 0, 1, (byte) 2);
    deliver(BthOpcode.WRITE_ONLY, 4, 0, 1, (byte) 3);
    deliver(BthOpcode.READ_REQUEST, 5, 6, 1);
    answer();
    assertEquals(
        List.of(
            Answer.acknowledge(1, CREDITS, 2),
            new Answer(BthOpcode.READ_RESPONSE_ONLY, 2, CREDITS, 3, held(5, 1)),
            Answer.acknowledge(4, CREDITS, 5),
            new Answer(BthOpcode.READ_RESPONSE_ONLY, 5, CREDITS, 6, held(6, 1))),
        wire);
  }

  /**
   * An acknowledgement would say that a READ before it was answered. Fails if a request older than
   * a READ is, when repeated, acknowledged with a PSN behind it.
   */
  @Test
  void aRepeatedRequestAcknowledgesNoReadBehindIt() {
    connect();
    ask(BthOpcode.WRITE_ONLY, 0, 0, 1, (byte) 1);
    ask(BthOpcode.WRITE_ONLY, 1, 0, 1, (byte) 1);
    ask(BthOpcode.READ_REQUEST, 2, 5, 1);
    wire.clear();
    ask(BthOpcode.WRITE_ONLY, 0, 0, 1, (byte) 1);
    assertEquals(List.of(Answer.acknowledge(0, CREDITS, 3)), wire);
  }

  /**
   * The code of IRDSIZE says how many READs may wait for their answer. Source: Linux's
   * irdma_sc_get_encoded_ird_size. Fails if one too many is taken, or one less.
   */
  @ParameterizedTest
  @CsvSource({"0, 4", "1, 16", "2, 64", "3, 128", "4, 256"})
  void readsBeyondTheLimitAreRefused(int code, int limit) {
    settings.readsIn = code;
    connect();
    for (int i = 0; i <= limit; i++) {
      deliver(BthOpcode.READ_REQUEST, i, i, 1);
    }
    answer();
    assertEquals(limit + 1, wire.size());
    for (int i = 0; i < limit; i++) {
      assertEquals(
          new Answer(BthOpcode.READ_RESPONSE_ONLY, i, CREDITS, i + 1, held(i, 1)), wire.get(i));
    }
    assertEquals(Answer.acknowledge(limit, Aeth.NAK_INVALID_REQUEST, limit), wire.get(limit));
    assertEquals(
        List.of(
            new FakeFunction.Event(
                far.qpn, AeCode.IB_RREQ_AND_Q1_FULL.code(), AeSource.IN_RR_WR.code(), 0)),
        function.events);
  }

  /** Fails if what follows a request that must wait is refused, too, or done. */
  @Test
  void whatFollowsARequestThatMustWaitIsDropped() {
    connect();
    byte[] before = function.slice(region.at(), 20_000).toArray(ValueLayout.JAVA_BYTE);
    ask(BthOpcode.SEND_ONLY, 0, 0, 0, (byte) 1);
    ask(BthOpcode.WRITE_ONLY, 1, 0, 1, (byte) 1);
    ask(BthOpcode.READ_REQUEST, 2, 0, 1);
    assertEquals(List.of(Answer.acknowledge(0, Aeth.KIND_RNR | Responder.RNR_TIMER, 0)), wire);
    assertArrayEquals(before, function.slice(region.at(), 20_000).toArray(ValueLayout.JAVA_BYTE));
    receive(1);
    ask(BthOpcode.SEND_ONLY, 0, 0, 0, (byte) 1);
    ask(BthOpcode.WRITE_ONLY, 1, 0, 1, (byte) 1);
    assertEquals(
        List.of(Answer.acknowledge(0, CREDITS, 1), Answer.acknowledge(1, CREDITS, 2)),
        wire.subList(1, wire.size()));
  }

  /**
   * A packet is taken whatever its VLAN tag, and answered with the queue pair's own. Fails if the
   * responder drops one for its tag, or answers with that of the packet.
   */
  @ParameterizedTest
  @CsvSource({"-1, -1", "-1, 5", "5, -1", "5, 5", "5, 6", "5, 24581"})
  void aPacketOfAnotherVlanIsTaken(int own, int tag) {
    settings.vlan = own;
    connect();
    tags.clear();
    RoceFrame frame = far.fromPeer(BthOpcode.WRITE_ONLY, settings.remotePsn);
    frame.ackRequest = true;
    frame.remoteAddress = region.va();
    frame.remoteKey = region.stag();
    frame.dmaLength = 1;
    frame.vlanTag = tag;
    far.receive(Endpoint.sealed(frame, (byte) 0x5a));
    answer();
    assertEquals(List.of(Answer.acknowledge(0, CREDITS, 1)), wire);
    assertEquals(List.of(own), tags);
    assertEquals(List.of((byte) 0x5a), held(0, 1));
  }

  /** Every credit code of the context stands in acknowledgements as it is. */
  @Test
  void acknowledgementsCarryTheContextsCredits() {
    for (int code = 0; code < 32; code++) {
      settings.credits = code;
      connect();
      ask(BthOpcode.WRITE_ONLY, 0, 0, 1, (byte) 1);
      ask(BthOpcode.READ_REQUEST, 1, 0, 1);
      assertEquals(
          Arrays.asList(code, code), wire.stream().map(Answer::syndrome).toList(), "code " + code);
    }
  }
}
