package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The completion ring reads entries as Linux does, and leaves the ring, the shadow area and the
 * work queues as Linux does.
 *
 * <p>Not compared, because they are Linux's own: whether a flush was seen and is complete, and the
 * values that Linux leaves in its result when it has none to give.
 */
class CompletionRingVectorsTest {
  private static final int ENTRY = 32;
  private static final int ARM = 0x502c00;

  @Test
  void kernelCompletions() {
    VectorSuite.run("cq_kernel", CompletionRingVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    try (Arena arena = Arena.ofConfined()) {
      return switch (vector.function()) {
        case "irdma_uk_cq_poll_cmpl" -> poll(vector, arena);
        case "flush_sequence" -> flush(vector, arena);
        case "cq_wrap_sequence" -> wrap(vector, arena);
        case "irdma_uk_cq_request_notification" -> arm(vector, arena);
        case "irdma_uk_cq_set_resized_cnt" -> resizedCount(vector, arena);
        case "irdma_uk_cq_resize" -> resize(vector, arena);
        case "irdma_uk_clean_cq" -> clean(vector, arena);
        default -> throw new IllegalArgumentException("unknown function");
      };
    }
  }

  private static Verdict poll(Vector vector, Arena arena) {
    Json in = vector.in();
    Json out = vector.out();
    Fixture f = new Fixture(arena, in);
    int head = in.integer("cq_head");
    f.ring.place(head, in.integer("cq_polarity"));
    for (String name : in.object().keySet()) {
      switch (name) {
        case "cqe" -> f.setEntry(head, in.bytes(name));
        case "ext_cqe" -> f.setExtension(head, in.bytes(name));
        case "cqes_at_1_and_2" -> f.setEntry(1, in.bytes(name));
        case "cqe_at_7" -> f.setEntry(7, in.bytes(name));
        default -> {
          if (name.startsWith("cqe_at_0")) {
            f.setEntry(0, in.bytes(name));
          }
        }
      }
    }
    boolean atWrap = in.has("cqe_at_7");
    boolean polled = f.ring.poll(f.completion);
    if (atWrap) {
      return connectionAtWrap(f, out, polled);
    }
    if (out.object().size() == 1) {
      assertEquals("ENOENT", out.text("ret"));
      assertFalse(polled);
      return Verdict.PASSED;
    }
    f.assertState(out, polled);
    assertEquals(out.flag("first_sq_wq"), f.send.isConnecting());
    assertEquals(out.flag("qp_push_dropped"), f.send.isPushDropped());
    if (out.has("cqe_after")) {
      assertEquals(out.text("cqe_after"), f.entry(head));
    }
    return Verdict.PASSED;
  }

  /** Slot 7 has the completion of a connection WQE, slot 0 one of work of the next round. */
  private static Verdict connectionAtWrap(Fixture f, Json out, boolean polled) {
    assertEquals("ENOENT", out.text("ret"));
    assertEquals(1, out.integer("cq_pol"), "Linux did not flip the polarity");
    assertTrue(polled);
    assertEquals(0xaa00000000000005L, f.completion.wrId());
    assertEquals(1, f.ring.head());
    assertEquals(0, f.ring.polarity());
    return new Verdict.Departed(
        "Linux forgets to flip the polarity when a connection WQE's completion is in the last slot,"
            + " and never sees a completion again");
  }

  private static Verdict flush(Vector vector, Arena arena) {
    Json in = vector.in();
    Fixture f = new Fixture(arena, in);
    int head = in.integer("cq_head");
    f.ring.place(head, in.integer("cq_polarity"));
    f.setEntry(head, in.bytes("cqe_at_2"));
    boolean ofSend = Cqe.SQ.isSet(LittleEndian.getLong(f.memory, (long) head * ENTRY + 24L));
    int used = ofSend ? f.send.used() : f.receive.used();
    boolean lastIsNop = ofSend && used != 0 && (in.integer("sq_head") - 1) % 4 == 3;
    List<Json> polls = vector.out().list("polls");
    if (lastIsNop) {
      return flushOverTrailingNop(f, polls, in);
    }
    for (int i = 0; i < polls.size(); i++) {
      Json poll = polls.get(i);
      boolean polled = f.ring.poll(f.completion);
      f.assertState(poll, polled);
      assertEquals(poll.text("cqe_mem"), f.entry(head), "poll " + i);
    }
    return Verdict.PASSED;
  }

  /** Each piece of work is flushed once, and the ring is empty afterwards. */
  private static Verdict flushOverTrailingNop(Fixture f, List<Json> polls, Json in) {
    int sqHead = in.integer("sq_head");
    int seen = 0;
    for (int index = in.integer("sq_tail"); index < sqHead; index++) {
      if (index % 4 != 3) {
        assertTrue(f.ring.poll(f.completion), "work at " + index);
        assertEquals(0xaa00000000000000L + index, f.completion.wrId());
        f.assertValues(polls.get(seen++));
      }
    }
    assertFalse(f.ring.poll(f.completion), "a completion of work that is not there");
    assertEquals(sqHead, f.send.tail());
    assertEquals(0, f.send.used());
    assertEquals(in.integer("cq_head") + 1, f.ring.head());
    boolean linuxOverran = polls.stream().skip(seen).anyMatch(p -> p.text("ret").equals("OK"));
    assertTrue(linuxOverran || polls.size() <= seen, "Linux stopped at the head too");
    return new Verdict.Departed(
        "Linux's flush runs past the head over a trailing NOP and reports old work again");
  }

  private static Verdict wrap(Vector vector, Arena arena) {
    Fixture f = new Fixture(arena, vector.in());
    int entry = 0;
    for (Json poll : vector.out().list("polls")) {
      if (poll.text("ret").equals("OK")) {
        byte[] cqe = new byte[ENTRY];
        MemorySegment words = MemorySegment.ofArray(cqe);
        words.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, Fixture.CONTEXT);
        words.set(
            ValueLayout.JAVA_LONG_UNALIGNED,
            24,
            Cqe.SQ.encode(1)
                | Cqe.OP.encode(SqOpcode.SEND.code())
                | Cqe.WQEIDX.encode(entry)
                | Cqe.VALID.encode(1 ^ ((entry / 8) & 1)));
        f.setEntry(entry % 8, cqe);
        entry++;
      }
      f.assertState(poll, f.ring.poll(f.completion));
    }
    assertEquals(30, entry);
    return Verdict.PASSED;
  }

  private static Verdict arm(Vector vector, Arena arena) {
    Fixture f = new Fixture(arena, 8, false, vector.in().integer("cq_id"));
    f.setShadow(vector.in().bytes("shadow_area"));
    f.ring.arm(vector.in().flag("notify"));
    assertEquals(vector.out().text("shadow_area"), f.shadowHex());
    assertEquals(
        List.of(new RecordingBar.Access(true, ARM, vector.out().integer("doorbell"))),
        f.bar.take());
    return Verdict.PASSED;
  }

  private static Verdict resizedCount(Vector vector, Arena arena) {
    Fixture f = new Fixture(arena, 8, false, 1);
    f.setShadow(vector.in().bytes("shadow_area"));
    f.ring.countResized(vector.in().integer("cnt"));
    assertEquals(vector.out().text("shadow_area"), f.shadowHex());
    return Verdict.PASSED;
  }

  /** Ours goes on to the new ring only when the old one is empty and the new one has an entry. */
  private static Verdict resize(Vector vector, Arena arena) {
    Json in = vector.in();
    Json out = vector.out();
    Fixture f = new Fixture(arena, 8, false, 1);
    f.memory.fill((byte) 0xff);
    f.ring.place(in.integer("old_head"), in.integer("old_polarity"));
    LittleEndian.setLong(f.shadow, 0, out.number("shadow0"));
    int size = in.integer("new_size");
    MemorySegment next = arena.allocate((long) size * ENTRY, 64);
    f.ring.resize(next, size);
    assertFalse(f.ring.poll(f.completion));
    assertTrue(f.ring.isResizing());
    // Not the completion of a queue pair's work, only its valid bit: it is not consumed yet.
    LittleEndian.setLong(next, 24, Cqe.VALID.encode(1) | Cqe.EXTCQE.encode(1));
    assertFalse(f.ring.poll(f.completion));
    assertFalse(f.ring.isResizing());
    assertEquals(out.integer("head"), f.ring.head());
    assertEquals(out.integer("polarity"), f.ring.polarity());
    assertEquals(out.integer("size"), f.ring.size());
    assertEquals(1, CqShadow.SW_CQ_SELECT.get(f.shadow, 0));
    assertEquals(0, LittleEndian.getLong(f.shadow, 0));
    return new Verdict.Departed(
        "the head of the ring that was left stays published until an entry of the new one is"
            + " consumed: ours publishes the new ring's head");
  }

  private static Verdict clean(Vector vector, Arena arena) {
    Json in = vector.in();
    Fixture f = new Fixture(arena, in.integer("cq_size"), in.flag("avoid_mem_cflct"), 1);
    byte[] before = in.bytes("cq_mem");
    MemorySegment.copy(before, 0, f.memory, ValueLayout.JAVA_BYTE, 0, before.length);
    f.ring.place(in.integer("cq_head"), in.integer("cq_polarity"));
    f.ring.forget(in.number("qp_ptr"));
    assertEquals(
        vector.out().text("cq_mem"),
        HexFormat.of().formatHex(f.memory.toArray(ValueLayout.JAVA_BYTE)));
    return Verdict.PASSED;
  }

  private static final class Fixture {
    static final long CONTEXT = 0x10000000000L;

    /** What the word of the head holds before the first one is published. */
    private static final long UNPUBLISHED = 0xdddd;

    final MemorySegment memory;
    final MemorySegment shadow;
    final RecordingBar bar = new RecordingBar();
    final Completion completion = new Completion();
    final CompletionRing ring;
    SendQueue send;
    ReceiveQueue receive;
    private QueuePairRings rings;
    private final int entry;
    private final int size;

    Fixture(Arena arena, int size, boolean large, int cqId) {
      entry = large ? 2 * ENTRY : ENTRY;
      this.size = size;
      memory = arena.allocate((long) size * entry, 64);
      shadow = arena.allocate(64, 64);
      LittleEndian.setLong(shadow, 0, UNPUBLISHED);
      ring =
          new CompletionRing(
              memory, size, large, shadow, 0, cqId, bar, ARM, c -> c == CONTEXT ? rings : null);
    }

    Fixture(Arena arena, Json in) {
      this(
          arena, in.integer("cq_size"), in.has("avoid_mem_cflct") && in.flag("avoid_mem_cflct"), 1);
      // The valid bits are to be old at first.
      int polarity = in.has("cq_polarity") ? in.integer("cq_polarity") : 1;
      for (int i = 0; i < size; i++) {
        int head = in.has("cq_head") ? in.integer("cq_head") : 0;
        boolean thisRound = i >= head;
        LittleEndian.setLong(
            memory, (long) i * entry + 24, Cqe.VALID.encode(thisRound ? polarity ^ 1 : polarity));
      }
      if (!in.has("sq_size")) {
        return;
      }
      SendQueueVectorsTest.Fixture sq =
          new SendQueueVectorsTest.Fixture(
              arena, in.integer("sq_size"), 1, 0, DoorbellPolicy.SHADOW);
      send = sq.queue;
      if (in.flag("first_sq_wq")) {
        send.reserveConnectionWqes(in.integer("conn_wqes"));
      } else {
        send.place(0, 0, 1);
      }
      // Work of one quantum each, as the file says; only the opcodes in memory are of interest.
      fillSend(in.integer("sq_size"));
      send.place(in.integer("sq_head"), in.integer("sq_tail"), 1);
      int multiplier = in.integer("rq_wqe_size_multiplier");
      int quanta = in.integer("rq_size") * multiplier;
      receive =
          new ReceiveQueue(
              arena.allocate((long) quanta * RingSizes.QUANTUM, 64),
              quanta,
              Integer.numberOfTrailingZeros(multiplier),
              1);
      SgeList none = new SgeList();
      for (int i = 0; i < in.integer("rq_size"); i++) {
        receive.place(i, i, 1);
        assertTrue(receive.receive(0xbb00000000000000L + i, none));
      }
      receive.place(in.integer("rq_head"), in.integer("rq_tail"), 1);
      rings = new QueuePairRings(1, send, receive);
      if (in.flag("destroy_pending")) {
        rings.close();
      }
    }

    private void fillSend(int size) {
      SgeList one = new SgeList();
      for (int i = 0; i < size; i++) {
        long wrId = 0xaa00000000000000L + i;
        send.place(i, i, i == 0 ? 0 : 1);
        // The length counts for work of any kind, so all of it is posted as a SEND first.
        assertTrue(send.send(wrId, 0, 0, 0, one.set(0, 0x1000 + i, 0)));
      }
      for (int i = 0; i < size; i++) {
        SqOpcode opcode = i % 4 == 3 ? SqOpcode.NOP : i % 8 == 1 ? SqOpcode.BIND_MW : SqOpcode.SEND;
        SqWqe.OPCODE.set(send.memory(), (long) i * RingSizes.QUANTUM, opcode.code());
      }
    }

    void setEntry(int index, byte[] bytes) {
      MemorySegment.copy(
          bytes, 0, memory, ValueLayout.JAVA_BYTE, (long) index * entry, bytes.length);
    }

    void setExtension(int head, byte[] bytes) {
      long at = entry == ENTRY ? (long) ((head + 1) % size) * ENTRY : (long) head * entry + ENTRY;
      MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    String entry(int index) {
      return HexFormat.of()
          .formatHex(memory.asSlice((long) index * entry, ENTRY).toArray(ValueLayout.JAVA_BYTE));
    }

    void setShadow(byte[] bytes) {
      MemorySegment.copy(bytes, 0, shadow, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    String shadowHex() {
      return HexFormat.of().formatHex(shadow.toArray(ValueLayout.JAVA_BYTE));
    }

    /** What Linux returned, and how it left everything. */
    void assertState(Json expected, boolean polled) {
      assertEquals(expected.text("ret").equals("OK"), polled, expected.text("ret"));
      assertEquals(expected.integer("cq_head"), ring.head(), "head");
      assertEquals(expected.integer("cq_pol"), ring.polarity(), "polarity");
      assertEquals(expected.number("cq_shadow0"), LittleEndian.getLong(shadow, 0), "shadow");
      assertEquals(expected.integer("sq_tail"), send.tail(), "SQ tail");
      assertEquals(expected.integer("rq_tail"), receive.tail(), "RQ tail");
      if (polled) {
        assertValues(expected);
      }
    }

    void assertValues(Json expected) {
      assertEquals(expected.number("wr_id"), completion.wrId(), "wr_id");
      assertEquals(expected.number("bytes_xfered"), completion.bytes(), "bytes");
      assertEquals(expected.integer("tcp_seq_num_rtt"), completion.roundTripTime(), "time");
      assertEquals(expected.integer("qp_id"), completion.qpn(), "QPN");
      assertEquals(expected.integer("ud_src_qpn"), completion.sourceQpn(), "source QPN");
      assertEquals(expected.flag("imm_valid"), completion.hasImmediate(), "immediate");
      if (completion.hasImmediate()) {
        assertEquals(expected.integer("imm_data"), completion.immediate(), "immediate");
      }
      assertEquals(expected.flag("stag_invalid_set"), completion.hasInvalidatedKey(), "stag");
      if (completion.hasInvalidatedKey()) {
        assertEquals(expected.integer("inv_stag"), completion.invalidatedKey(), "stag");
      }
      assertEquals(status(expected), completion.status());
      assertEquals(expected.integer("major_err"), completion.majorError(), "major");
      assertEquals(expected.integer("minor_err"), completion.minorError(), "minor");
      assertEquals(expected.flag("error"), !completion.isSuccess(), "error");
      assertEquals(expected.flag("ud_vlan_valid"), completion.hasVlan(), "VLAN");
      if (completion.hasVlan()) {
        assertEquals(expected.integer("ud_vlan"), completion.vlan(), "VLAN");
      }
      assertEquals(expected.flag("ud_smac_valid"), completion.hasSourceMac(), "MAC");
      if (completion.hasSourceMac()) {
        assertEquals(expected.text("ud_smac"), "%012x".formatted(completion.sourceMac()));
      }
      assertEquals(expected.integer("op_type"), completion.opcode(), "opcode");
      assertEquals(expected.flag("q_type"), completion.isSend(), "queue");
      assertEquals(expected.flag("push_dropped"), completion.isPushDropped(), "push");
      assertEquals(expected.flag("solicited_event"), completion.isSolicited(), "solicited");
      assertEquals(expected.flag("ipv4"), completion.isIpv4(), "IPv4");
    }

    private static Completion.Status status(Json expected) {
      return switch (expected.integer("comp_status")) {
        case 0 -> Completion.Status.SUCCESS;
        case 1 -> Completion.Status.FLUSHED;
        default -> Completion.Status.ERROR;
      };
    }
  }
}
