package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import irdma4j.driver.AsyncEvent;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Aeqe;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rings of events and of control completions are read as Linux reads them. */
class EventRingVectorsTest {
  /** What the word of the head holds before the first one is published. */
  private static final long UNPUBLISHED = 0xddddddddddddddddL;

  /** What the register of error codes reads in the vectors. */
  private static final int ERROR_CODES = 0xf00bad;

  @Test
  void controlCompletions() {
    VectorSuite.run(
        "ccq",
        vector -> {
          try (Arena arena = Arena.ofConfined()) {
            switch (vector.function()) {
              case "irdma_sc_ccq_get_cqe_info" -> controlCompletion(vector, arena);
              case "irdma_sc_ccq_arm" -> controlArm(vector, arena);
              default -> throw new IllegalArgumentException("unknown function");
            }
          }
          return Verdict.PASSED;
        });
  }

  private static ControlCompletionRing ring(
      MemorySegment memory,
      int size,
      boolean large,
      MemorySegment shadow,
      ControlRing commands,
      int cqId,
      RecordingBar bar) {
    return new ControlCompletionRing(
        memory,
        size,
        large,
        shadow,
        commands,
        cqId,
        bar,
        Registers.PFPE_CQARM.offset(),
        Registers.PFPE_CQPERRCODES.offset());
  }

  private static void controlCompletion(Vector vector, Arena arena) {
    Json in = vector.in();
    Json out = vector.out();
    int size = in.integer("ccq_size");
    int head = in.integer("ccq_head");
    int polarity = in.integer("ccq_polarity");
    boolean large = in.flag("avoid_mem_cflct");
    int entry = large ? 64 : 32;
    MemorySegment memory = arena.allocate((long) size * entry, 64);
    MemorySegment shadow = arena.allocate(64, 64);
    MemorySegment wqes = arena.allocate(in.number("cqp_sq_size") * CqpWqe.SIZE, 64);
    byte[] cqe = in.bytes("cqe");
    MemorySegment.copy(cqe, 0, memory, ValueLayout.JAVA_BYTE, (long) head * entry, cqe.length);
    LittleEndian.setLong(shadow, 0, UNPUBLISHED);
    RecordingBar bar = new RecordingBar();
    bar.answer(ERROR_CODES);
    ControlRing commands = new ControlRing(wqes, in.integer("cqp_sq_size"));
    int tail = in.integer("cqp_sq_tail");
    commands.place((tail + 5) % commands.size(), tail, 1);
    int slot = MemorySegment.ofArray(cqe).get(ValueLayout.JAVA_INT_UNALIGNED, 28) & 0x7fff;
    commands.setCookie(slot, in.number("scratch"));
    LittleEndian.setLong(wqes, (long) slot * CqpWqe.SIZE + CqpWqe.HEADER, in.number("cqp_wqe_qw3"));
    ControlCompletionRing ring = ring(memory, size, large, shadow, commands, 0, bar);
    ring.ring().place(head, polarity);

    ControlCompletion completion = ring.poll();
    if (out.text("ret").equals("OK")) {
      assertNotNull(completion);
      assertEquals(slot, completion.slot());
      assertEquals(out.number("scratch"), completion.cookie());
      assertEquals(out.number("op_ret_val"), completion.value());
      assertEquals(out.flag("error"), completion.isError());
      assertEquals(out.integer("maj_err_code"), completion.majorError());
      assertEquals(out.integer("min_err_code"), completion.minorError());
      assertEquals(out.integer("op_code"), completion.opcode());
      assertEquals(completion.isError() ? ERROR_CODES : 0, completion.errorCodes());
    } else {
      assertEquals("ENOENT", out.text("ret"));
      assertNull(completion);
    }
    assertEquals(out.integer("head_after"), ring.ring().index());
    assertEquals(out.integer("polarity_after"), ring.ring().polarity());
    assertEquals(out.integer("cqp_sq_tail_after"), commands.tail());
    int completed = (commands.tail() - tail) & (commands.size() - 1);
    assertEquals(out.integer("completed_ops_delta"), completed);
    assertEquals(out.text("shadow_area"), hex(shadow));
    assertEquals(accesses(out), bar.take());
  }

  private static void controlArm(Vector vector, Arena arena) {
    MemorySegment shadow = arena.allocate(64, 64);
    byte[] before = vector.in().bytes("shadow_area");
    MemorySegment.copy(before, 0, shadow, ValueLayout.JAVA_BYTE, 0, before.length);
    RecordingBar bar = new RecordingBar();
    ControlRing commands = new ControlRing(arena.allocate(4 * 64, 64), 4);
    ring(arena.allocate(128, 64), 4, false, shadow, commands, vector.in().integer("cq_id"), bar)
        .arm();
    assertEquals(vector.out().text("shadow_area"), hex(shadow));
    assertEquals(accesses(vector.out()), bar.take());
  }

  @Test
  void completionEvents() {
    VectorSuite.run(
        "ceqe",
        vector -> {
          try (Arena arena = Arena.ofConfined()) {
            return switch (vector.function()) {
              case "irdma_sc_process_ceq" -> completionEvent(vector, arena);
              case "irdma_sc_cleanup_ceqes" -> forget(vector, arena);
              default -> throw new IllegalArgumentException("unknown function");
            };
          }
        });
  }

  private static CompletionEventRing completionRing(
      Json in, MemorySegment memory, RecordingBar bar) {
    byte[] entries = in.bytes("ceq_ring");
    MemorySegment.copy(entries, 0, memory, ValueLayout.JAVA_BYTE, 0, entries.length);
    CompletionEventRing ring =
        new CompletionEventRing(memory, in.integer("size"), bar, Registers.PFPE_CQACK.offset());
    ring.ring().place(in.integer("tail"), in.integer("polarity"));
    return ring;
  }

  private static Verdict completionEvent(Vector vector, Arena arena) {
    Json in = vector.in();
    // The context of a completion queue is its address, shifted right by one in the entry.
    Set<Long> registered = in.list("reg_cq").stream().map(Json::number).collect(Collectors.toSet());
    boolean check = in.flag("reg_cq_enabled");
    Map<Long, Integer> ids = new HashMap<>();
    in.get("cq_ids").object().forEach((at, id) -> ids.put(Long.decode(at), (int) id.number()));
    RecordingBar bar = new RecordingBar();
    CompletionEventRing ring = completionRing(in, arena.allocate(in.number("size") * 8, 64), bar);
    for (Json call : vector.out().list("calls")) {
      int cqId =
          ring.poll(
              context ->
                  !check || registered.contains(context << 1)
                      ? ids.getOrDefault(context << 1, -1)
                      : -1);
      long expected = call.number("cq");
      assertEquals(expected == 0 ? -1 : ids.get(expected), cqId);
      assertEquals(call.integer("tail"), ring.ring().index());
      assertEquals(call.integer("pol"), ring.ring().polarity());
      assertEquals(accesses(call), bar.take());
    }
    return Verdict.PASSED;
  }

  private static Verdict forget(Vector vector, Arena arena) {
    Json in = vector.in();
    MemorySegment memory = arena.allocate(in.number("size") * 8, 64);
    CompletionEventRing ring = completionRing(in, memory, new RecordingBar());
    ring.forget(in.number("cq_ptr") >>> 1);
    assertEquals(vector.out().integer("tail"), ring.ring().index());
    assertEquals(vector.out().integer("polarity"), ring.ring().polarity());
    assertEquals(vector.out().text("ceq_ring"), hex(memory));
    return Verdict.PASSED;
  }

  @Test
  void asyncEvents() {
    VectorSuite.run(
        "aeqe",
        vector -> {
          try (Arena arena = Arena.ofConfined()) {
            switch (vector.function()) {
              case "irdma_sc_get_next_aeqe" -> asyncEvent(vector, arena);
              case "aeq_sequence" -> asyncSequence(vector, arena);
              case "irdma_sc_repost_aeq_entries" -> {
                RecordingBar bar = new RecordingBar();
                asyncRing(arena.allocate(64, 64), 4, bar).giveBack(vector.in().integer("count"));
                assertEquals(accesses(vector.out()), bar.take());
              }
              default -> throw new IllegalArgumentException("unknown function");
            }
          }
          return Verdict.PASSED;
        });
  }

  private static AsyncEventRing asyncRing(MemorySegment memory, int size, RecordingBar bar) {
    return new AsyncEventRing(memory, size, bar, Registers.PFPE_AEQALLOC.offset());
  }

  private static void asyncEvent(Vector vector, Arena arena) {
    Json in = vector.in();
    Json out = vector.out();
    int size = in.integer("aeq_size");
    int tail = in.integer("aeq_tail");
    MemorySegment memory = arena.allocate((long) size * Aeqe.SIZE, 64);
    byte[] entry = in.bytes("aeqe");
    MemorySegment.copy(
        entry, 0, memory, ValueLayout.JAVA_BYTE, (long) tail * Aeqe.SIZE, entry.length);
    AsyncEventRing ring = asyncRing(memory, size, new RecordingBar());
    ring.ring().place(tail, in.integer("aeq_polarity"));

    AsyncEvent event = ring.poll();
    assertEquals(out.integer("tail_after"), ring.ring().index());
    assertEquals(out.integer("polarity_after"), ring.ring().polarity());
    if (!out.text("ret").equals("OK")) {
      assertEquals("ENOENT", out.text("ret"));
      assertNull(event);
      return;
    }
    assertNotNull(event);
    assertEquals(out.integer("qp_cq_id"), event.queueId());
    assertEquals(out.integer("ae_id"), event.code());
    assertEquals(out.integer("ae_src"), event.source());
    assertEquals(out.integer("tcp_state"), event.tcpState());
    assertEquals(out.integer("iwarp_state"), event.queuePairState());
    assertEquals(out.integer("q2_data_written"), event.receivedData());
    assertEquals(out.flag("aeqe_overflow"), event.isOverflow());
    assertEquals(out.flag("qp"), event.isQueuePair(), "QP");
    assertEquals(out.flag("cq"), event.isCompletionQueue(), "CQ");
    assertEquals(out.flag("sq"), event.isSendQueue(), "SQ");
    assertEquals(out.flag("rq"), event.isReceiveQueue(), "RQ");
    assertEquals(out.flag("in_rdrsp_wr"), event.isIncoming(), "incoming");
    assertEquals(out.flag("out_rdrsp"), event.isOutgoingRead(), "outgoing");
    // What Linux leaves unset is of no meaning here, and a completion queue's context is shifted.
    if (event.isSendQueue() || event.isReceiveQueue()) {
      assertEquals(out.integer("wqe_idx"), event.wqe());
    }
    if (event.isCompletionQueue()) {
      assertEquals(out.number("compl_ctx"), event.queueContext() << 1);
    } else if (event.isQueuePair()) {
      assertEquals(out.number("compl_ctx"), event.queueContext());
    }
  }

  private static void asyncSequence(Vector vector, Arena arena) {
    int size = vector.in().integer("aeq_size");
    MemorySegment memory = arena.allocate((long) size * Aeqe.SIZE, 64);
    AsyncEventRing ring = asyncRing(memory, size, new RecordingBar());
    for (Json step : vector.out().list("steps")) {
      int n = step.integer("n");
      boolean there = step.text("ret").equals("OK");
      if (there) {
        long at = (long) (n % size) * Aeqe.SIZE;
        LittleEndian.setLong(memory, at, n);
        LittleEndian.setLongRelease(
            memory,
            at + 8,
            Aeqe.QPCQID_LOW.encode(n)
                | Aeqe.AECODE.encode(0x102)
                | Aeqe.AESRC.encode(AeSource.SQ.code())
                | Aeqe.VALID.encode(1 ^ ((n / size) & 1)));
      }
      AsyncEvent event = ring.poll();
      assertEquals(there, event != null, step.toString());
      if (event != null) {
        assertEquals(step.integer("qp_cq_id"), event.queueId());
      }
      assertEquals(step.integer("tail"), ring.ring().index());
      assertEquals(step.integer("pol"), ring.ring().polarity());
    }
  }

  private static List<RecordingBar.Access> accesses(Json out) {
    return out.list("regs").stream()
        .map(
            reg ->
                new RecordingBar.Access(
                    reg.text("op").equals("W"), reg.number("reg"), reg.integer("val")))
        .toList();
  }

  private static String hex(MemorySegment memory) {
    return HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE));
  }
}
