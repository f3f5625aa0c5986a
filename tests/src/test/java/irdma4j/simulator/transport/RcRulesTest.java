package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.RoceContext;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of a reliable connection, one at a time. */
class RcRulesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;

  /** A frame seen on the wire. */
  private record Seen(long time, int from, int opcode, int psn, int syndrome, boolean ackRequest) {}

  private final List<Seen> wire = new ArrayList<>();
  private final SgeList sge = new SgeList();
  private final Endpoint.Settings left = new Endpoint.Settings();
  private final Endpoint.Settings right = new Endpoint.Settings();
  private Fabric fabric;
  private FakeFunction a;
  private FakeFunction b;
  private Endpoint near;
  private Endpoint far;

  /** What is changed in the last byte of the ICRC of a packet made here. */
  private int damage;

  private void connect(LinkFaults faults) {
    fabric =
        Fabric.shown(
            2 << 20,
            faults,
            (time, from, frame, memory) ->
                wire.add(
                    new Seen(
                        time, from, frame.opcode, frame.psn, frame.syndrome, frame.ackRequest)));
    right.localPsn = left.remotePsn;
    right.remotePsn = left.localPsn;
    Endpoint[] ends = Endpoint.pair(fabric, left, right);
    near = ends[0];
    far = ends[1];
    a = fabric.functions[0];
    b = fabric.functions[1];
  }

  private FakeFunction.Region region(FakeFunction function, int bytes, int rights) {
    return function.register(function.allocate(bytes), bytes, rights, Endpoint.PD);
  }

  private FakeFunction.Region filled(FakeFunction function, int bytes) {
    FakeFunction.Region region = region(function, bytes, ALL);
    for (int i = 0; i < bytes; i++) {
      function.host.set(ValueLayout.JAVA_BYTE, region.at() + i, (byte) (i * 7 + 1));
    }
    return region;
  }

  private SgeList whole(FakeFunction.Region region) {
    return sge.set(region.va(), (int) region.length(), region.stag());
  }

  private List<Seen> from(int function) {
    return wire.stream().filter(seen -> seen.from() == function).toList();
  }

  /**
   * Two sides that have come to the last number of a message go on, with few credits between them.
   * Fails if one of them counts on, so that the sender waits for ever or asks packet by packet.
   */
  @ParameterizedTest
  @ValueSource(ints = {0xffffe1, 0xffffe2, 0xffffe3, 0xfffffe, 0xffffff, 0x7ffff0})
  void messagesGoOnBehindTheLastNumber(int done) {
    left.creditLimit = done;
    right.credits = 4;
    connect(LinkFaults.NONE);
    near.state().nextSsn = done + 1 & 0xffffff;
    far.state().msn = done;
    FakeFunction.Region source = filled(a, 8);
    FakeFunction.Region room = region(b, 8, ALL);
    for (int i = 0; i < 100; i++) {
      far.receive.receive(i, whole(room));
      near.send.send(i, SendQueue.SIGNALED, 0, 0, whole(source));
    }
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(100, near.poll().size());
    assertEquals(100, far.poll().size());
    assertEquals(100, from(0).size());
    assertEquals(0, a.counters.timeouts);
    assertEquals(done + 100 & 0xffffff, far.state().msn);
    // Without a credit one packet goes and asks for more.
    int alone = 0;
    for (int i = 1; i < wire.size() - 1; i++) {
      boolean before = wire.get(i - 1).from() == 0;
      alone += wire.get(i).from() == 0 && !before && wire.get(i + 1).from() == 1 ? 1 : 0;
    }
    assertEquals(0, alone, "packets that went alone");
  }

  private enum Wrong {
    KEY(AeCode.AMP_UNALLOCATED_STAG),
    TOO_LONG(AeCode.AMP_BOUNDS_VIOLATION),
    BEFORE(AeCode.AMP_BOUNDS_VIOLATION),
    RIGHTS(AeCode.AMP_RIGHTS_VIOLATION),
    DOMAIN(AeCode.AMP_BAD_PD),
    QUEUE_PAIR(AeCode.AMP_RIGHTS_VIOLATION);

    final AeCode code;

    Wrong(AeCode code) {
      this.code = code;
    }
  }

  /**
   * A WRITE or READ that the peer may not do is refused with NAK remote access, writes nothing,
   * says so on both sides, and is flushed with that reason. Fails if a check is left out, or comes
   * after the first byte.
   */
  @ParameterizedTest
  @EnumSource(Wrong.class)
  void refusedRemoteAccess(Wrong wrong) {
    for (boolean read : new boolean[] {false, true}) {
      wire.clear();
      right.remoteWrite = wrong != Wrong.QUEUE_PAIR;
      right.remoteRead = wrong != Wrong.QUEUE_PAIR;
      connect(LinkFaults.NONE);
      FakeFunction.Region source = filled(a, 3000);
      FakeFunction.Region target = region(b, 3000, wrong == Wrong.RIGHTS ? 3 : ALL);
      if (wrong == Wrong.DOMAIN) {
        target = b.register(target.at(), 3000, ALL, Endpoint.PD + 1);
      }
      int key = wrong == Wrong.KEY ? 0x777777 : target.stag();
      long address =
          switch (wrong) {
            case TOO_LONG -> target.va() + 1;
            case BEFORE -> target.va() - 1;
            default -> target.va();
          };
      byte[] before = b.host.toArray(ValueLayout.JAVA_BYTE);
      byte[] sourceBefore = a.slice(source.at(), 3000).toArray(ValueLayout.JAVA_BYTE);
      if (read) {
        assertTrue(near.send.read(1, SendQueue.SIGNALED, address, key, whole(source)));
      } else {
        assertTrue(near.send.write(1, SendQueue.SIGNALED, 0, address, key, whole(source)));
      }
      assertTrue(near.send.sendInline(2, SendQueue.SIGNALED, 0, 0, a.host, source.at(), 1));
      near.send.ring();
      fabric.settle(SECOND);
      assertArrayEquals(before, b.host.toArray(ValueLayout.JAVA_BYTE));
      assertArrayEquals(sourceBefore, a.slice(source.at(), 3000).toArray(ValueLayout.JAVA_BYTE));
      assertEquals(
          List.of(
              new FakeFunction.Event(
                  near.qpn, AeCode.IB_REMOTE_ACCESS_ERROR.code(), AeSource.SQ.code(), 0)),
          a.events);
      assertEquals(
          List.of(new FakeFunction.Event(far.qpn, wrong.code.code(), AeSource.IN_RR_WR.code(), 0)),
          b.events);
      assertEquals(List.of(Aeth.NAK_REMOTE_ACCESS), from(1).stream().map(Seen::syndrome).toList());
      assertEquals(List.of(), near.poll());
      near.flush(FlushCode.REM_ACCESS_ERR.code(), FlushCode.GENERAL_ERR.code());
      List<Endpoint.Done> done = near.poll();
      assertEquals(List.of(1L, 2L), done.stream().map(Endpoint.Done::wrId).toList());
      assertEquals(Completion.Status.FLUSHED, done.get(0).status());
      assertEquals(FlushCode.REM_ACCESS_ERR.code(), done.get(0).minor());
      assertEquals(FlushCode.GENERAL_ERR.code(), done.get(1).minor());
    }
  }

  /**
   * A SEND beyond its receive is refused as an invalid request and writes nothing beyond it. The
   * specification (9.9.6.3) says so; soft-RoCE answers with remote operational error (capture
   * err_short). Fails if the room is not counted over all fragments.
   */
  @Test
  void aSendBeyondItsReceiveIsRefused() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 1500);
    FakeFunction.Region room = region(b, 1499, ALL);
    far.receive.receive(
        7, sge.clear().add(room.va(), 1000, room.stag()).add(room.va() + 1000, 499, room.stag()));
    near.send.send(1, SendQueue.SIGNALED, 0, 0, whole(source));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(AeCode.IB_INVALID_REQUEST.code(), a.events.get(0).code());
    FakeFunction.Event event = b.events.get(0);
    assertEquals(AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER.code(), event.code());
    assertEquals(AeSource.RQ.code(), event.source());
    assertEquals(FakeFunction.CANARY, b.host.get(ValueLayout.JAVA_BYTE, room.at() + 1499));
    far.flush(FlushCode.GENERAL_ERR.code(), FlushCode.LOC_LEN_ERR.code());
    assertEquals(
        List.of(FlushCode.LOC_LEN_ERR.code()),
        far.poll().stream().map(Endpoint.Done::minor).toList());
  }

  /** Fails if a receive's own keys are not checked, or the peer is told it was at fault. */
  @Test
  void aReceiveWithAWrongKeyIsARemoteOperationError() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 100);
    FakeFunction.Region room = region(b, 100, DeviceServices.LOCAL_READ);
    far.receive.receive(7, whole(room));
    near.send.send(1, SendQueue.SIGNALED, 0, 0, whole(source));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(List.of(Aeth.NAK_REMOTE_OPERATION), from(1).stream().map(Seen::syndrome).toList());
    assertEquals(AeCode.IB_REMOTE_OP_ERROR.code(), a.events.get(0).code());
    assertEquals(AeCode.AMP_RIGHTS_VIOLATION.code(), b.events.get(0).code());
    assertEquals(AeSource.RQ.code(), b.events.get(0).source());
  }

  /**
   * A local error is raised when its turn comes: work before it completes, work after it is
   * flushed. Fails if the error overtakes work that is still in flight.
   */
  @Test
  void aLocalErrorWaitsForTheWorkBeforeIt() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 9000);
    FakeFunction.Region target = region(b, 9000, ALL);
    near.send.write(1, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(source));
    near.send.write(
        2, SendQueue.SIGNALED, 0, target.va(), target.stag(), sge.set(source.va(), 10, 0x999));
    near.send.write(3, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(source));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(
        List.of(
            new FakeFunction.Event(
                near.qpn, AeCode.AMP_UNALLOCATED_STAG.code(), AeSource.SQ.code(), 1)),
        a.events);
    assertEquals(-1, a.slice(source.at(), 9000).mismatch(b.slice(target.at(), 9000)));
    near.flush(FlushCode.PROT_ERR.code(), FlushCode.GENERAL_ERR.code());
    List<Endpoint.Done> done = near.poll();
    assertEquals(List.of(1L, 2L, 3L), done.stream().map(Endpoint.Done::wrId).toList());
    assertEquals(Completion.Status.SUCCESS, done.get(0).status());
    assertEquals(FlushCode.PROT_ERR.code(), done.get(1).minor());
  }

  /** Fails if the RNR NAK, its timer or the count of retries is wrong, or a receive is lost. */
  @Test
  void aReceiverThatIsNotReadyIsWaitedFor() {
    left.rnrRetries = 3;
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 3000);
    FakeFunction.Region room = region(b, 3000, ALL);
    near.send.send(1, SendQueue.SIGNALED, 0, 0, whole(source));
    near.send.ring();
    while (from(1).size() < 3) {
      assertTrue(fabric.step());
    }
    far.receive.receive(7, whole(room));
    fabric.settle(SECOND);
    assertEquals(List.of(), a.events);
    assertEquals(1, near.poll().size());
    assertEquals(-1, a.slice(source.at(), 3000).mismatch(b.slice(room.at(), 3000)));
    List<Seen> answers = from(1);
    assertEquals(Aeth.KIND_RNR | Responder.RNR_TIMER, answers.get(0).syndrome());
    assertTrue(answers.get(1).time() - answers.get(0).time() >= 640_000);
  }

  /** Fails if the retries after RNR NAKs are not counted. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 6})
  void aReceiverThatIsNeverReadyIsGivenUp(int retries) {
    left.rnrRetries = retries;
    connect(LinkFaults.NONE);
    near.send.send(1, SendQueue.SIGNALED, 0, 0, whole(filled(a, 10)));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(AeCode.LLP_TOO_MANY_RNRS.code(), a.events.get(0).code());
    assertEquals(retries + 1, from(0).size());
  }

  /** Fails if a silent peer is asked more or less often than the context says. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 7})
  void aSilentPeerIsGivenUp(int retries) {
    left.retries = retries;
    connect(LinkFaults.loss(100));
    FakeFunction.Region target = region(b, 10, ALL);
    near.send.write(1, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(filled(a, 10)));
    near.send.ring();
    fabric.settle(60 * SECOND);
    assertEquals(
        List.of(
            new FakeFunction.Event(
                near.qpn, AeCode.LLP_TOO_MANY_RETRIES.code(), AeSource.SQ.code(), 0)),
        a.events);
    assertEquals(retries + 1, from(0).size());
    assertEquals(retries + 1, a.counters.timeouts);
    assertEquals(retries, a.counters.retransmissions);
  }

  /**
   * A WQE that becomes valid just as the device publishes its tail is fetched without a doorbell:
   * the driver saw the old tail and did not ring. Fails if the device does not look once more.
   */
  @Test
  void noWorkIsLostBetweenTailAndSleep() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 10);
    FakeFunction.Region target = region(b, 10, ALL);
    near.send.write(1, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(source));
    near.send.ring();
    // Once the first WQE has completed, no answer will wake the queue pair any more.
    a.onHostWordWritten =
        () -> {
          if (a.counters.completions == 1) {
            a.onHostWordWritten = null;
            near.send.write(2, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(source));
          }
        };
    fabric.settle(SECOND);
    assertEquals(List.of(1L, 2L), near.poll().stream().map(Endpoint.Done::wrId).toList());
    assertEquals(2, QpShadow.HW_SQ_TAIL.decode(a.readHostWord(near.attributes.shadowArea())));
  }

  /** Fails if work behind a fence starts before what it must wait for. */
  @ParameterizedTest
  @CsvSource({"false, true", "true, false"})
  void fencesHoldWorkBack(boolean local, boolean read) {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 4000);
    FakeFunction.Region target = filled(b, 4000);
    if (read) {
      near.send.read(1, 0, target.va(), target.stag(), whole(source));
    } else {
      near.send.write(1, 0, 0, target.va(), target.stag(), whole(source));
    }
    int fence = local ? SendQueue.LOCAL_FENCE : SendQueue.READ_FENCE;
    near.send.write(
        2,
        SendQueue.SIGNALED | fence,
        0,
        target.va(),
        target.stag(),
        sge.set(source.va(), 1, source.stag()));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(1, near.poll().size());
    int first = 0;
    while (wire.get(first).from() != 1) {
      first++;
    }
    int write = 0;
    while (wire.get(write).opcode() != BthOpcode.WRITE_ONLY) {
      write++;
    }
    assertTrue(write > first + (read ? 3 : 0), wire.toString());
  }

  /** Fails if more READs are out than the context allows, or the limit is off by one. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void readsStayWithinTheirLimit(int limit) {
    left.readsOut = limit;
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 2000);
    FakeFunction.Region target = filled(b, 2000);
    for (int i = 0; i < 10; i++) {
      near.send.read(i, SendQueue.SIGNALED, target.va(), target.stag(), whole(source));
    }
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(10, near.poll().size());
    int out = 0;
    int most = 0;
    for (Seen seen : wire) {
      if (seen.opcode() == BthOpcode.READ_REQUEST) {
        out++;
      } else if (seen.opcode() == BthOpcode.READ_RESPONSE_LAST) {
        out--;
      }
      most = Math.max(most, out);
    }
    assertEquals(limit, most);
  }

  /** Fails if a READ goes out though the context allows none. */
  @Test
  void noReadGoesOutWithoutALimit() {
    left.readsOut = 0;
    connect(LinkFaults.NONE);
    FakeFunction.Region target = filled(b, 20);
    near.send.read(1, 0, target.va(), target.stag(), whole(region(a, 20, ALL)));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(AeCode.RDMA_READ_WHILE_ORD_ZERO.code(), a.events.get(0).code());
    assertEquals(List.of(), wire);
  }

  private void deliver(
      int opcode, int psn, int payload, java.util.function.Consumer<RoceFrame> more) {
    RoceFrame frame = far.fromPeer(opcode, psn);
    frame.ackRequest = true;
    more.accept(frame);
    MemorySegment memory = Endpoint.sealed(frame, new byte[payload]);
    long at = memory.byteSize() - 1;
    byte last = memory.get(ValueLayout.JAVA_BYTE, at);
    memory.set(ValueLayout.JAVA_BYTE, at, (byte) (last ^ damage));
    far.receive(memory);
  }

  private void inject(
      int opcode, int psn, int payload, java.util.function.Consumer<RoceFrame> more) {
    deliver(opcode, psn, payload, more);
    fabric.settle(SECOND);
  }

  /** An acknowledgement from the far side, of the near one's queue pair. */
  private void answer(int psn, int syndrome) {
    RoceFrame frame = near.fromPeer(BthOpcode.ACKNOWLEDGE, psn);
    frame.syndrome = syndrome;
    near.receive(Endpoint.sealed(frame));
  }

  /**
   * Linux's soft-RoCE answers the packets behind one that it has no receive for by a sequence NAK.
   * Fails if those, or timeouts between two RNR NAKs, use up the retries.
   */
  @Test
  void aPeerThatIsNotReadyUsesUpNoRetries() {
    connect(LinkFaults.loss(100));
    near.send.send(1, SendQueue.SIGNALED, 0, 0, whole(filled(a, 3000)));
    near.send.ring();
    for (int i = 0; i < 20; i++) {
      int sent = from(0).size();
      // The three packets, and again after a timeout.
      while (from(0).size() < sent + 6) {
        assertTrue(fabric.step());
      }
      answer(left.localPsn, Aeth.KIND_RNR | Responder.RNR_TIMER);
      for (int behind = 0; behind <= left.retries; behind++) {
        answer(left.localPsn, Aeth.NAK_SEQUENCE);
      }
    }
    assertEquals(List.of(), a.events);
    answer(left.localPsn + 2, Aeth.KIND_ACK | Aeth.CREDITS_UNLIMITED);
    assertEquals(1, near.poll().size());
  }

  /** A limited member talks to full members. Fails if the two keys are compared as a whole. */
  @Test
  void aFullMemberTakesFromALimitedOne() {
    connect(LinkFaults.NONE);
    far.receive.receive(7, whole(region(b, 100, ALL)));
    inject(BthOpcode.SEND_ONLY, left.localPsn, 10, frame -> frame.pkey = 0x7fff);
    assertEquals(1, far.poll().size());
  }

  /** Fails if a repeated request is done twice, or not acknowledged again. */
  @Test
  void aRepeatedRequestIsAcknowledgedAgain() {
    connect(LinkFaults.NONE);
    far.receive.receive(7, whole(region(b, 100, ALL)));
    far.receive.receive(8, whole(region(b, 100, ALL)));
    for (int i = 0; i < 3; i++) {
      inject(BthOpcode.SEND_ONLY, left.localPsn, 10, frame -> {});
    }
    assertEquals(List.of(7L), far.poll().stream().map(Endpoint.Done::wrId).toList());
    assertEquals(List.of(0x1e, 0x1e, 0x1e), from(1).stream().map(Seen::syndrome).toList());
    assertTrue(from(1).stream().allMatch(seen -> seen.psn() == left.localPsn));
    assertEquals(List.of(), b.events);
  }

  /**
   * A READ asked for again is answered from the packet that it asks for on, as a READ of its own.
   * Fails if the answer begins with the whole READ's first packet, or its opcodes are those of the
   * first answer.
   */
  @Test
  void aRepeatedReadIsAnsweredFromItsMiddle() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(b, 5000);
    for (int skipped : new int[] {0, 2, 4}) {
      inject(
          BthOpcode.READ_REQUEST,
          left.localPsn + skipped,
          0,
          frame -> {
            frame.remoteAddress = source.va() + 1024L * skipped;
            frame.remoteKey = source.stag();
            frame.dmaLength = 5000 - 1024 * skipped;
          });
    }
    assertEquals(
        List.of(0, 1, 2, 3, 4, 2, 3, 4, 4),
        from(1).stream().map(seen -> seen.psn() - left.localPsn).toList());
    assertEquals(
        List.of(13, 14, 14, 14, 15, 13, 14, 15, 16), from(1).stream().map(Seen::opcode).toList());
  }

  /** Fails if each request has its own acknowledgement though a later one says the same. */
  @Test
  void acknowledgementsAreCoalesced() {
    connect(LinkFaults.NONE);
    for (int i = 0; i < 5; i++) {
      far.receive.receive(i, whole(region(b, 100, ALL)));
    }
    for (int i = 0; i < 5; i++) {
      deliver(BthOpcode.SEND_ONLY, left.localPsn + i, 10, frame -> {});
    }
    fabric.settle(SECOND);
    assertEquals(5, far.poll().size());
    assertEquals(List.of(left.localPsn + 4), from(1).stream().map(Seen::psn).toList());
  }

  /**
   * Requests that the responder must call invalid. Fails if one is done, ignored or refused
   * otherwise.
   */
  @ParameterizedTest
  @CsvSource({
    "0x13, 0", // atomics, which GEN_2 does not have
    "0x14, 0",
    "0x01, 1024", // middle and last packets without a first
    "0x02, 10",
    "0x07, 1024",
    "0x08, 10",
    "0x00, 1023", // a first packet that is not full
    "0x06, 1023",
    "0x04, 1025", // more than the MTU
    "0x0a, 11", // a WRITE whose length differs from its RETH's
    "0x15, 0", // an opcode that nobody knows
    "0x18, 0"
  })
  void invalidRequestsAreRefused(int opcode, int payload) {
    connect(LinkFaults.NONE);
    FakeFunction.Region room = region(b, 4000, ALL);
    far.receive.receive(7, whole(room));
    inject(
        opcode,
        left.localPsn,
        payload,
        frame -> {
          frame.remoteAddress = room.va();
          frame.remoteKey = room.stag();
          frame.dmaLength = 2000;
        });
    assertEquals(List.of(Aeth.NAK_INVALID_REQUEST), from(1).stream().map(Seen::syndrome).toList());
    assertEquals(left.localPsn, from(1).get(0).psn());
    assertEquals(1, b.events.size());
  }

  /** Fails if the middle of a message is accepted after the start of another kind. */
  @Test
  void messagesAreNotMixed() {
    connect(LinkFaults.NONE);
    FakeFunction.Region room = region(b, 4000, ALL);
    far.receive.receive(7, whole(room));
    inject(BthOpcode.SEND_FIRST, left.localPsn, 1024, frame -> {});
    inject(BthOpcode.WRITE_MIDDLE, left.localPsn + 1, 1024, frame -> {});
    assertEquals(Aeth.NAK_INVALID_REQUEST, from(1).get(1).syndrome());
  }

  /** One NAK for a gap, none for what follows it; fails if each later packet is refused again. */
  @Test
  void aGapIsReportedOnce() {
    connect(LinkFaults.NONE);
    for (int i = 0; i < 3; i++) {
      far.receive.receive(7, whole(region(b, 100, ALL)));
    }
    inject(BthOpcode.SEND_ONLY, left.localPsn + 1, 10, frame -> {});
    inject(BthOpcode.SEND_ONLY, left.localPsn + 2, 10, frame -> {});
    inject(BthOpcode.SEND_ONLY, left.localPsn, 10, frame -> {});
    inject(BthOpcode.SEND_ONLY, left.localPsn + 2, 10, frame -> {});
    assertEquals(List.of(0x60, 0x1e, 0x60), from(1).stream().map(Seen::syndrome).toList());
    assertEquals(
        List.of(left.localPsn, left.localPsn, left.localPsn + 1),
        from(1).stream().map(Seen::psn).toList());
  }

  private enum Stray {
    PKEY,
    LIMITED_MEMBERS,
    ICRC,
    SOURCE,
    DESTINATION,
    MAC,
    VERSION,
    QUEUE_PAIR,
    DATAGRAM
  }

  /** Fails if a packet that is not the connection's own gets through to it. */
  @ParameterizedTest
  @EnumSource(Stray.class)
  void strayPacketsAreDropped(Stray stray) {
    right.pkey = stray == Stray.LIMITED_MEMBERS ? 0x7fff : 0xffff;
    connect(LinkFaults.NONE);
    far.receive.receive(7, whole(region(b, 100, ALL)));
    int opcode = stray == Stray.DATAGRAM ? BthOpcode.UD_SEND_ONLY : BthOpcode.SEND_ONLY;
    inject(
        opcode,
        left.localPsn,
        10,
        frame -> {
          switch (stray) {
            case PKEY -> frame.pkey = 0x8001;
            case LIMITED_MEMBERS -> frame.pkey = 0x7fff;
            case ICRC -> damage = 1;
            case SOURCE -> frame.sourceIpLow++;
            case DESTINATION -> frame.destinationIpLow++;
            case MAC -> frame.destinationMac++;
            case VERSION -> frame.transportVersion = 1;
            case QUEUE_PAIR -> frame.destinationQp += 1000;
            case DATAGRAM -> {}
          }
        });
    assertEquals(1, b.counters.framesDiscarded);
    assertEquals(List.of(), b.events);
    assertEquals(List.of(), wire);
    assertEquals(List.of(), far.poll());
  }

  /**
   * Fails if the drain stops in the middle of a message, goes on to the next, or is not reported.
   */
  @Test
  void aDrainedQueueFinishesWhatItBegan() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 100_000);
    FakeFunction.Region target = region(b, 100_000, ALL);
    near.send.write(1, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(source));
    near.send.write(2, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(source));
    near.send.ring();
    fabric.step();
    a.engine.stateChanged(near.qpn, QpState.SEND_DRAINED);
    fabric.settle(SECOND);
    assertEquals(1, near.poll().size());
    assertEquals(AeCode.QP_SUSPEND_COMPLETE.code(), a.events.get(0).code());
    a.engine.stateChanged(near.qpn, Endpoint.RTS);
    fabric.settle(SECOND);
    assertEquals(1, near.poll().size());
    assertEquals(1, a.events.size());
  }

  /** Fails if a later change of the context turns the connection's PSNs back. */
  @Test
  void aChangedContextKeepsThePsns() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 3000);
    FakeFunction.Region target = region(b, 3000, ALL);
    for (int i = 0; i < 3; i++) {
      near.send.write(i, SendQueue.SIGNALED, 0, target.va(), target.stag(), whole(source));
      near.send.ring();
      fabric.settle(SECOND);
      RoceContext.RNRNAK_THRESH.set(near.context, 0, i);
      a.engine.contextWritten(near.qpn, near.context, near.attributes);
      b.engine.contextWritten(far.qpn, far.context, far.attributes);
    }
    assertEquals(3, near.poll().size());
    assertEquals(0, a.counters.retransmissions);
    MemorySegment live = MemorySegment.ofArray(new long[32]);
    a.engine.storeContext(near.qpn, live);
    assertEquals(left.localPsn + 9, RoceContext.PSNNXT.get(live, 0));
    assertEquals(left.localPsn + 9, RoceContext.PSNUNA.get(live, 0));
    b.engine.storeContext(far.qpn, live);
    assertEquals(left.localPsn + 9, RoceContext.EPSN.get(live, 0));
  }

  /** Fails if a flush makes no completion for work that was never fetched, or one for nothing. */
  @Test
  void aFlushCompletesAllThatIsPosted() {
    connect(LinkFaults.NONE);
    near.flush(1, 1);
    assertEquals(0, a.counters.completions);
    FakeFunction.Region source = filled(b, 10);
    for (int i = 0; i < 20; i++) {
      far.receive.receive(100 + i, whole(source));
      far.send.send(i, i % 2, 0, 0, whole(source));
    }
    far.flush(1, 1);
    List<Endpoint.Done> done = far.poll();
    assertEquals(20, done.stream().filter(Endpoint.Done::send).count());
    assertEquals(20, done.stream().filter(d -> !d.send()).count());
    assertTrue(done.stream().allMatch(d -> d.status() == Completion.Status.FLUSHED));
    assertEquals(2, b.counters.completions);
  }

  /** Fails if a SEND with invalidate leaves the stag valid, or does not name it. */
  @Test
  void aSendInvalidatesTheStagThatItNames() {
    connect(LinkFaults.NONE);
    FakeFunction.Region source = filled(a, 2000);
    FakeFunction.Region room = region(b, 2000, ALL);
    FakeFunction.Region victim = region(b, 10, ALL);
    far.receive.receive(7, whole(room));
    near.send.send(1, SendQueue.SIGNALED, 0, victim.stag(), whole(source));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(List.of(), b.events);
    assertEquals(victim.stag(), far.poll().get(0).invalidated());
    assertTrue(!b.regions.containsKey(victim.stag()));
    near.send.write(2, SendQueue.SIGNALED, 0, victim.va(), victim.stag(), whole(source));
    near.send.ring();
    fabric.settle(SECOND);
    assertEquals(AeCode.AMP_UNALLOCATED_STAG.code(), b.events.get(0).code());
  }

  /** Fails if a local invalidation does nothing, or is done again when packets are sent again. */
  @Test
  void aLocalInvalidationIsDoneOnce() {
    connect(LinkFaults.loss(40));
    FakeFunction.Region source = filled(a, 2000);
    FakeFunction.Region target = region(b, 2000, ALL);
    for (int i = 0; i < 30; i++) {
      FakeFunction.Region victim = region(a, 10, ALL);
      near.send.write(2L * i, 0, 0, target.va(), target.stag(), whole(source));
      near.send.invalidate(2L * i + 1, SendQueue.SIGNALED, victim.stag());
      near.send.ring();
    }
    fabric.settle(60 * SECOND);
    assertEquals(List.of(), a.events);
    assertEquals(30, near.poll().size());
    assertTrue(a.counters.retransmissions > 0);
    assertEquals(1, a.regions.size());
  }
}
