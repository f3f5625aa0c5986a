package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.Statistic;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A requester whose packets all get lost, with answers made by hand. */
class RequesterRulesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long ADDRESS = 0x7654_0000_1000L;
  private static final int KEY = 0x4321;
  private static final int MANY = 40_000;
  private static final int ALL = DeviceServices.LOCAL_READ | DeviceServices.LOCAL_WRITE;

  /** A packet of the requester; address and length are 0 without a RETH. */
  private record Sent(
      long time,
      int opcode,
      int psn,
      long address,
      int length,
      int payload,
      boolean solicited,
      boolean ackRequest) {}

  private final List<Sent> wire = new ArrayList<>();
  private final Endpoint.Settings settings = new Endpoint.Settings();
  private Fabric fabric;
  private FakeFunction function;
  private Endpoint near;

  private void connect() {
    wire.clear();
    fabric =
        Fabric.shown(
            2 << 20,
            LinkFaults.loss(100),
            (time, from, f, memory) -> {
              boolean reth = BthOpcode.hasReth(f.opcode);
              wire.add(
                  new Sent(
                      time,
                      f.opcode,
                      f.psn,
                      reth ? f.remoteAddress : 0,
                      reth ? f.dmaLength : 0,
                      f.payloadLength,
                      f.solicited,
                      f.ackRequest));
            });
    function = fabric.functions[0];
    near = new Endpoint(function, 5, 1, 9, settings);
  }

  /** Lets the requester do what it can at this moment. */
  private void work() {
    near.send.ring();
    while (function.engine.run()) {}
  }

  /** Lets time pass until so many packets were sent, and not a moment more. */
  private void awaitPackets(int count) {
    while (wire.size() < count) {
      assertTrue(fabric.step());
      work();
    }
  }

  private int psn(int offset) {
    return settings.localPsn + offset & 0xffffff;
  }

  private SgeList local(int bytes) {
    FakeFunction.Region region =
        function.register(function.allocate(bytes), bytes, ALL, Endpoint.PD);
    return new SgeList().set(region.va(), bytes, region.stag());
  }

  private void write(int id, int bytes) {
    assertTrue(near.send.write(id, SendQueue.SIGNALED, 0, ADDRESS, KEY, local(bytes)));
  }

  private void send(int id, int bytes) {
    assertTrue(near.send.send(id, SendQueue.SIGNALED, 0, 0, local(bytes)));
  }

  private void answer(int opcode, int psn, int syndrome, int msn, byte[] payload) {
    RoceFrame frame = near.fromPeer(opcode, psn);
    frame.syndrome = syndrome;
    frame.msn = msn;
    near.receive(Endpoint.sealed(frame, payload));
    work();
  }

  private void answer(int psn, int syndrome) {
    answer(BthOpcode.ACKNOWLEDGE, psn, syndrome, 0, new byte[0]);
  }

  private List<Integer> psns() {
    return wire.stream().map(Sent::psn).toList();
  }

  private List<Long> completed() {
    List<Endpoint.Done> done = near.poll();
    assertTrue(done.stream().allMatch(d -> d.status() == Completion.Status.SUCCESS));
    return done.stream().map(Endpoint.Done::wrId).toList();
  }

  /**
   * What is sent again after an RNR NAK goes when its timer has run. The times are table 45 of the
   * specification, in units of 10 us; soft-RoCE has the same, but 61.41 ms for code 25. Fails if a
   * code stands for another time.
   */
  @ParameterizedTest
  @CsvSource({
    "0, 65536",
    "1, 1",
    "2, 2",
    "3, 3",
    "4, 4",
    "5, 6",
    "6, 8",
    "7, 12",
    "8, 16",
    "9, 24",
    "10, 32",
    "11, 48",
    "12, 64",
    "13, 96",
    "14, 128",
    "15, 192",
    "16, 256",
    "17, 384",
    "18, 512",
    "19, 768",
    "20, 1024",
    "21, 1536",
    "22, 2048",
    "23, 3072",
    "24, 4096",
    "25, 6144",
    "26, 8192",
    "27, 12288",
    "28, 16384",
    "29, 24576",
    "30, 32768",
    "31, 49152"
  })
  void aReceiverIsWaitedForAsLongAsItsTimerSays(int code, int tensOfMicroseconds) {
    connect();
    send(1, 10);
    work();
    answer(settings.localPsn, Aeth.KIND_RNR | code);
    assertEquals(1, wire.size());
    awaitPackets(2);
    assertEquals(tensOfMicroseconds * 10_000L, wire.get(1).time() - wire.get(0).time());
    assertEquals(List.of(settings.localPsn, settings.localPsn), psns());
  }

  /** Fails if a receiver that is not ready is given up in spite of 7, which is without end. */
  @Test
  void sevenRetriesOfAReceiverThatIsNotReadyAreWithoutEnd() {
    settings.rnrRetries = 7;
    connect();
    send(1, 10);
    work();
    for (int i = 0; i < 1000; i++) {
      answer(settings.localPsn, Aeth.KIND_RNR | 1);
      awaitPackets(i + 2);
    }
    assertEquals(List.of(), function.events);
    answer(settings.localPsn, Aeth.CREDITS_UNLIMITED);
    assertEquals(List.of(1L), completed());
  }

  /**
   * A credit code lets so many messages that take a receive go, one if it is 0: the limit is
   * counted from the MSN beside it, and what is acknowledged later without a credit moves it no
   * more. The numbers are table 47 of the specification. Fails if a code stands for another number.
   */
  @ParameterizedTest
  @CsvSource({
    "0, 1",
    "1, 1",
    "2, 2",
    "3, 3",
    "4, 4",
    "5, 6",
    "6, 8",
    "7, 12",
    "8, 16",
    "9, 24",
    "10, 32",
    "11, 48",
    "12, 64",
    "13, 96",
    "14, 128",
    "15, 192",
    "16, 256",
    "17, 384",
    "18, 512",
    "19, 768",
    "20, 1024",
    "21, 1536",
    "22, 2048",
    "23, 3072",
    "24, 4096",
    "25, 6144",
    "26, 8192",
    "27, 12288",
    "28, 16384",
    "29, 24576",
    "30, 32768",
    "31, 39999"
  })
  void creditsLetThatManyMessagesGo(int code, int messages) {
    settings.creditLimit = 0;
    settings.workRequests = 300;
    connect();
    SgeList sges = local(1);
    int posted = post(0, sges);
    work();
    // Without a credit one packet may go, to ask for more.
    assertEquals(List.of(settings.localPsn), psns());
    int sent = 1;
    answer(BthOpcode.ACKNOWLEDGE, settings.localPsn, code, 1, new byte[0]);
    // All but the newest are acknowledged, since one may go when nothing is out.
    while (wire.size() > sent) {
      sent = wire.size();
      int none = code == Aeth.CREDITS_UNLIMITED ? code : 0;
      answer(BthOpcode.ACKNOWLEDGE, psn(sent - 2), none, sent - 1, new byte[0]);
      near.poll();
      posted = post(posted, sges);
      work();
    }
    assertEquals(1 + messages, wire.size());
    assertEquals(psn(messages), wire.getLast().psn());
  }

  /** Posts until the queue is full, or there are more than any code lets go. */
  private int post(int from, SgeList sges) {
    int next = from;
    while (next < MANY && near.send.send(next, SendQueue.SIGNALED, 0, 0, sges)) {
      next++;
    }
    return next;
  }

  /**
   * Numbers of messages go on at 0 behind 2^24 - 1, and so does the limit that credits set. Fails
   * if the limit stops there, goes back to an older one, or lets go what it must not.
   */
  @Test
  void creditsGoOnBehindTheLastMessageNumber() {
    settings.creditLimit = 0xfffffb;
    connect();
    near.state().nextSsn = 0xfffffb;
    for (int i = 0; i < 12; i++) {
      send(i, 1);
    }
    work();
    assertEquals(1, wire.size());
    answer(BthOpcode.ACKNOWLEDGE, psn(0), 6, 0xfffffb, new byte[0]);
    assertEquals(9, wire.size());
    answer(BthOpcode.ACKNOWLEDGE, psn(5), 2, 0, new byte[0]);
    assertEquals(9, wire.size());
    answer(BthOpcode.ACKNOWLEDGE, psn(5), 3, 0xffffff, new byte[0]);
    assertEquals(9, wire.size());
    answer(BthOpcode.ACKNOWLEDGE, psn(6), 4, 1, new byte[0]);
    assertEquals(11, wire.size());
    assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L), completed());
  }

  /** A WRITE takes no receive. Fails if it waits for credit, or a SEND behind it does not. */
  @Test
  void writesNeedNoCredit() {
    settings.creditLimit = 0;
    connect();
    for (int i = 0; i < 5; i++) {
      write(i, 10);
    }
    send(5, 10);
    write(6, 10);
    work();
    assertEquals(5, wire.size());
    answer(BthOpcode.ACKNOWLEDGE, psn(4), 0, 5, new byte[0]);
    assertEquals(7, wire.size());
    assertEquals(BthOpcode.SEND_ONLY, wire.get(5).opcode());
  }

  /**
   * A NAK acknowledges what is before its PSN and ends the request that holds it. Fails if another
   * request is blamed, the reason is another, or anything is sent afterwards.
   */
  @ParameterizedTest
  @CsvSource({
    "0x61, IB_INVALID_REQUEST",
    "0x62, IB_REMOTE_ACCESS_ERROR",
    "0x63, IB_REMOTE_OP_ERROR"
  })
  void aRefusalEndsTheRequestThatItNames(int syndrome, AeCode code) {
    connect();
    for (int i = 0; i < 4; i++) {
      write(i, 2000);
    }
    work();
    answer(psn(5), syndrome);
    assertEquals(List.of(0L, 1L), completed());
    assertEquals(
        List.of(new FakeFunction.Event(near.qpn, code.code(), AeSource.SQ.code(), 2)),
        function.events);
    fabric.settle(SECOND);
    assertEquals(8, wire.size());
    near.flush(FlushCode.GENERAL_ERR.code(), FlushCode.GENERAL_ERR.code());
    assertEquals(List.of(2L, 3L), near.poll().stream().map(Endpoint.Done::wrId).toList());
  }

  /**
   * A sequence NAK has everything from its PSN on sent again, as often as there are retries. Fails
   * if what is before it is sent again, too, or not acknowledged, or the retries are not counted.
   */
  @Test
  void aSequenceNakIsAnsweredFromItsPsnOn() {
    settings.retries = 2;
    connect();
    write(0, 2000);
    write(1, 2000);
    work();
    answer(psn(3), Aeth.NAK_SEQUENCE);
    answer(psn(3), Aeth.NAK_SEQUENCE);
    assertEquals(List.of(psn(0), psn(1), psn(2), psn(3), psn(3), psn(3)), psns());
    assertEquals(BthOpcode.WRITE_LAST, wire.getLast().opcode());
    assertEquals(976, wire.getLast().payload());
    assertEquals(List.of(0L), completed());
    assertEquals(List.of(), function.events);
    answer(psn(3), Aeth.NAK_SEQUENCE);
    assertEquals(AeCode.LLP_TOO_MANY_RETRIES.code(), function.events.getFirst().code());
  }

  /** Fails if an acknowledgement of what was never sent, or was acknowledged, changes anything. */
  @Test
  void acknowledgementsOfNothingAreIgnored() {
    connect();
    for (int i = 0; i < 3; i++) {
      write(i, 10);
    }
    work();
    for (int ghost : new int[] {psn(3), psn(-1), psn(1 << 22), psn(-(1 << 22))}) {
      for (int syndrome : new int[] {Aeth.CREDITS_UNLIMITED, 0x60, 0x61, 0x62, 0x63, 0x2c}) {
        answer(ghost, syndrome);
      }
    }
    assertEquals(3, wire.size());
    assertEquals(List.of(), completed());
    assertEquals(List.of(), function.events);
    answer(psn(1), Aeth.CREDITS_UNLIMITED);
    assertEquals(List.of(0L, 1L), completed());
  }

  private static byte[] part(int index, int bytes) {
    byte[] part = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      part[i] = (byte) (index * 31 + i);
    }
    return part;
  }

  /**
   * When a packet of a READ's answer is missing, the rest is asked for from there, once, as a READ
   * of its own: PSN, address and length are those of the rest. Fails if one of them is not, if data
   * that came is asked for again, or if what comes then is put elsewhere.
   */
  @ParameterizedTest
  @ValueSource(ints = {100, 0xfffffd, 0xfffffe, 0xffffff})
  void theRestOfAReadIsAskedForFromWhereItEnds(int firstPsn) {
    settings.localPsn = firstPsn;
    connect();
    long sink = function.allocate(5000);
    FakeFunction.Region region = function.register(sink, 5000, ALL, Endpoint.PD);
    SgeList sges = new SgeList().set(region.va(), 5000, region.stag());
    assertTrue(near.send.read(1, SendQueue.SIGNALED, ADDRESS, KEY, sges));
    work();
    answer(BthOpcode.READ_RESPONSE_FIRST, psn(0), 0x1f, 1, part(0, 1024));
    answer(BthOpcode.READ_RESPONSE_MIDDLE, psn(2), 0x1f, 1, part(9, 1024));
    answer(BthOpcode.READ_RESPONSE_MIDDLE, psn(3), 0x1f, 1, part(9, 1024));
    assertEquals(2, wire.size());
    answer(BthOpcode.READ_RESPONSE_FIRST, psn(1), 0x1f, 1, part(1, 1024));
    answer(BthOpcode.READ_RESPONSE_MIDDLE, psn(2), 0x1f, 1, part(2, 1024));
    awaitPackets(3);
    answer(BthOpcode.READ_RESPONSE_FIRST, psn(3), 0x1f, 1, part(3, 1024));
    assertEquals(List.of(), completed());
    answer(BthOpcode.READ_RESPONSE_LAST, psn(4), 0x1f, 1, part(4, 904));
    assertEquals(List.of(1L), completed());
    List<List<Object>> asked = new ArrayList<>();
    for (Sent sent : wire) {
      assertEquals(BthOpcode.READ_REQUEST, sent.opcode());
      asked.add(List.of(sent.psn(), sent.address(), sent.length()));
    }
    assertEquals(
        List.of(
            List.of(psn(0), ADDRESS, 5000),
            List.of(psn(1), ADDRESS + 1024, 3976),
            List.of(psn(3), ADDRESS + 3072, 1928)),
        asked);
    for (int i = 0; i < 5; i++) {
      MemorySegment expected = MemorySegment.ofArray(part(i, i < 4 ? 1024 : 904));
      assertEquals(
          -1,
          expected.mismatch(function.slice(sink + 1024L * i, expected.byteSize())),
          "part " + i);
    }
  }

  /**
   * A READ's answer whose opcode does not fit its place is a bad response (specification, 9.9.2):
   * nothing of it is taken and the READ fails. In the middle an answer begins only where the rest
   * was asked for; it may go on there, too, as soft-RoCE has it. Each opcode at each place of READs
   * of one to four packets, asked for once and again. Fails if one is taken that must not be, is
   * refused that may be, or if its data is put elsewhere.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAnswersOpcodeFitsItsPlace(boolean again) {
    for (int packets = 1; packets <= 4; packets++) {
      for (int place = 0; place < packets; place++) {
        for (int opcode = BthOpcode.READ_RESPONSE_FIRST;
            opcode <= BthOpcode.READ_RESPONSE_ONLY;
            opcode++) {
          answeredAt(place, packets, opcode, again);
        }
      }
    }
  }

  private void answeredAt(int place, int packets, int opcode, boolean again) {
    String what = "opcode %d at %d of %d".formatted(opcode, place, packets);
    connect();
    int bytes = packets * 1024 - 24;
    long sink = function.allocate(bytes);
    FakeFunction.Region region = function.register(sink, bytes, ALL, Endpoint.PD);
    SgeList sges = new SgeList().set(region.va(), bytes, region.stag());
    assertTrue(near.send.read(1, SendQueue.SIGNALED, ADDRESS, KEY, sges));
    work();
    for (int i = 0; i < place; i++) {
      readAnswer(i == 0 ? BthOpcode.READ_RESPONSE_FIRST : BthOpcode.READ_RESPONSE_MIDDLE, i, bytes);
    }
    if (again) {
      awaitPackets(2);
      assertEquals(psn(place), wire.get(1).psn());
    }
    boolean last = place == packets - 1;
    boolean begins =
        opcode == BthOpcode.READ_RESPONSE_FIRST || opcode == BthOpcode.READ_RESPONSE_ONLY;
    boolean ends = opcode == BthOpcode.READ_RESPONSE_LAST || opcode == BthOpcode.READ_RESPONSE_ONLY;
    boolean fits = ends == last && (place == 0 ? begins : again || !begins);
    readAnswer(opcode, place, bytes);
    if (!fits) {
      assertEquals(
          List.of(
              new FakeFunction.Event(
                  near.qpn,
                  AeCode.ROE_INVALID_RDMA_WRITE_OR_READ_RESP.code(),
                  AeSource.SQ.code(),
                  0)),
          function.events,
          what);
      for (int i = place * 1024; i < bytes; i++) {
        assertEquals(FakeFunction.CANARY, function.host.get(ValueLayout.JAVA_BYTE, sink + i), what);
      }
      assertEquals(List.of(), completed(), what);
      return;
    }
    for (int i = place + 1; i < packets; i++) {
      boolean end = i == packets - 1;
      readAnswer(end ? BthOpcode.READ_RESPONSE_LAST : BthOpcode.READ_RESPONSE_MIDDLE, i, bytes);
    }
    assertEquals(List.of(), function.events, what);
    assertEquals(List.of(1L), completed(), what);
    for (int i = 0; i < packets; i++) {
      MemorySegment expected = MemorySegment.ofArray(part(i, Math.min(1024, bytes - 1024 * i)));
      assertEquals(
          -1, expected.mismatch(function.slice(sink + 1024L * i, expected.byteSize())), what);
    }
  }

  private void readAnswer(int opcode, int place, int bytes) {
    answer(opcode, psn(place), 0x1f, 1, part(place, Math.min(1024, bytes - 1024 * place)));
  }

  /**
   * An acknowledgement of what is behind a READ says that the READ's answer was lost. Fails if it
   * completes the READ, or the READ is not asked for again.
   */
  @Test
  void onlyItsAnswerCompletesARead() {
    connect();
    write(0, 10);
    assertTrue(near.send.read(1, SendQueue.SIGNALED, ADDRESS, KEY, local(2000)));
    write(2, 10);
    work();
    answer(psn(3), Aeth.CREDITS_UNLIMITED);
    assertEquals(List.of(0L), completed());
    assertEquals(List.of(psn(0), psn(1), psn(3), psn(1), psn(3)), psns());
    answer(BthOpcode.READ_RESPONSE_FIRST, psn(1), 0x1f, 2, part(0, 1024));
    answer(BthOpcode.READ_RESPONSE_LAST, psn(2), 0x1f, 2, part(1, 976));
    assertEquals(List.of(1L), completed());
    answer(psn(3), Aeth.CREDITS_UNLIMITED);
    assertEquals(List.of(2L), completed());
  }

  /**
   * The bit that asks for an event stands in the last packet of a message that wants it, and
   * nowhere else. Fails if it is in another, or left out.
   */
  @Test
  void onlyAMessagesLastPacketIsSolicited() {
    connect();
    int solicited = SendQueue.SIGNALED | SendQueue.SOLICITED;
    int immediate = SendQueue.IMMEDIATE;
    near.send.send(0, solicited, 0, 0, local(3000));
    near.send.send(1, SendQueue.SIGNALED, 0, 0, local(3000));
    near.send.send(2, solicited | immediate, 7, 0, local(10));
    near.send.send(3, solicited, 0, 0x55, local(2000));
    near.send.write(4, solicited | immediate, 7, ADDRESS, KEY, local(3000));
    near.send.write(5, SendQueue.SIGNALED | immediate, 7, ADDRESS, KEY, local(2000));
    near.send.read(6, SendQueue.SIGNALED, ADDRESS, KEY, local(2000));
    work();
    Map<Integer, Boolean> seen = new TreeMap<>();
    wire.forEach(sent -> seen.put(sent.psn() - settings.localPsn, sent.solicited()));
    assertEquals(
        List.of(2, 6, 8, 11),
        seen.entrySet().stream().filter(Map.Entry::getValue).map(Map.Entry::getKey).toList());
    assertEquals(15, seen.size());
  }

  private enum Message {
    SEND(BthOpcode.SEND_FIRST, BthOpcode.SEND_MIDDLE, BthOpcode.SEND_LAST, BthOpcode.SEND_ONLY),
    SEND_IMMEDIATE(
        BthOpcode.SEND_FIRST,
        BthOpcode.SEND_MIDDLE,
        BthOpcode.SEND_LAST_IMMEDIATE,
        BthOpcode.SEND_ONLY_IMMEDIATE),
    SEND_INVALIDATE(
        BthOpcode.SEND_FIRST,
        BthOpcode.SEND_MIDDLE,
        BthOpcode.SEND_LAST_INVALIDATE,
        BthOpcode.SEND_ONLY_INVALIDATE),
    WRITE(
        BthOpcode.WRITE_FIRST, BthOpcode.WRITE_MIDDLE, BthOpcode.WRITE_LAST, BthOpcode.WRITE_ONLY),
    WRITE_IMMEDIATE(
        BthOpcode.WRITE_FIRST,
        BthOpcode.WRITE_MIDDLE,
        BthOpcode.WRITE_LAST_IMMEDIATE,
        BthOpcode.WRITE_ONLY_IMMEDIATE);

    final int first;
    final int middle;
    final int last;
    final int only;

    Message(int first, int middle, int last, int only) {
      this.first = first;
      this.middle = middle;
      this.last = last;
      this.only = only;
    }
  }

  /**
   * A message of each kind and of lengths around whole packets is cut into packets of the MTU, the
   * last of what is left, with consecutive PSNs past 2^24, and a RETH in the first alone. Fails if
   * a packet is larger, smaller, missing or called otherwise.
   */
  @ParameterizedTest
  @ValueSource(ints = {256, 512, 1024, 2048, 4096})
  void messagesAreCutIntoPacketsOfTheMtu(int mtu) {
    settings.mtu = mtu;
    settings.localPsn = 0xfffffe;
    for (Message kind : Message.values()) {
      for (int length :
          new int[] {0, 1, mtu - 1, mtu, mtu + 1, 3 * mtu - 1, 3 * mtu, 3 * mtu + 1}) {
        connect();
        int flags = SendQueue.SIGNALED;
        assertTrue(
            switch (kind) {
              case SEND -> near.send.send(1, flags, 0, 0, local(length));
              case SEND_IMMEDIATE ->
                  near.send.send(1, flags | SendQueue.IMMEDIATE, 7, 0, local(length));
              case SEND_INVALIDATE -> near.send.send(1, flags, 0, 0x55, local(length));
              case WRITE -> near.send.write(1, flags, 0, ADDRESS, KEY, local(length));
              case WRITE_IMMEDIATE ->
                  near.send.write(1, flags | SendQueue.IMMEDIATE, 7, ADDRESS, KEY, local(length));
            });
        work();
        List<List<Number>> expected = new ArrayList<>();
        boolean write = kind.first == BthOpcode.WRITE_FIRST;
        for (int at = 0, n = 0; at < length || n == 0; at += mtu, n++) {
          int payload = Math.min(mtu, length - at);
          boolean last = at + payload == length;
          int opcode = n == 0 ? (last ? kind.only : kind.first) : last ? kind.last : kind.middle;
          expected.add(
              List.of(
                  opcode,
                  psn(n),
                  payload,
                  write && n == 0 ? ADDRESS : 0L,
                  write && n == 0 ? length : 0));
        }
        assertEquals(
            expected,
            wire.stream()
                .map(
                    s -> List.<Number>of(s.opcode(), s.psn(), s.payload(), s.address(), s.length()))
                .toList(),
            kind + " of " + length);
      }
    }
  }

  /** As many packets as the window are out; a notification halves it, if the context says so. */
  @ParameterizedTest
  @CsvSource({"true, 11", "false, 20"})
  void aNotificationHalvesTheWindow(boolean control, int next) {
    settings.window = 20;
    settings.congestionControl = control;
    connect();
    write(1, 100_000);
    work();
    assertEquals(20, wire.size());
    answer(BthOpcode.CONGESTION_NOTIFICATION, 0, 0, 0, new byte[16]);
    answer(psn(19), Aeth.CREDITS_UNLIMITED);
    // One more for the acknowledgement.
    assertEquals(20 + next, wire.size());
    assertEquals(Collections.nCopies(20 + next, 1024), wire.stream().map(Sent::payload).toList());
    assertEquals(control ? 1 : 0, function.traffic(-1).count(Statistic.RX_CNP_HANDLED));
    assertEquals(control ? 0 : 1, function.traffic(-1).count(Statistic.RX_CNP_IGNORED));
  }
}
