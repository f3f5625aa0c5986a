package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import irdma4j.driver.ring.SendQueueVectorsTest.Fixture;
import irdma4j.hwregs.LittleEndian;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A send queue stands where Linux's and rdma-core's stand after each of many posts. */
class SendSequenceVectorsTest {
  private static final int QP_ID = 0x1a2b3;
  private static final int SIZE = 512;

  @Test
  void kernelSequences() {
    VectorSuite.run("sq_seq_kernel", v -> judge(v, DoorbellPolicy.SHADOW));
  }

  @Test
  void rdmaCoreSequences() {
    VectorSuite.run("sq_seq_rdmacore", v -> judge(v, DoorbellPolicy.ALWAYS));
  }

  private static Verdict judge(Vector vector, DoorbellPolicy policy) {
    try (Arena arena = Arena.ofConfined()) {
      Fixture fixture = new Fixture(arena, SIZE, QP_ID, RingSizes.MAX_INLINE, policy);
      return switch (vector.function()) {
        case "sq_sequence" -> sequence(vector, arena, fixture);
        case "irdma_uk_qp_post_wr" -> ring(vector, fixture, policy);
        case "sq_full_boundary" -> boundary(vector, fixture);
        default -> throw new IllegalArgumentException("unknown function");
      };
    }
  }

  private static Verdict ring(Vector vector, Fixture fixture, DoorbellPolicy policy) {
    Json in = vector.in();
    Json out = vector.out();
    SendQueue queue = fixture.queue;
    int head = in.integer("sq_head");
    queue.place(head, head, 1);
    queue.placeRung(in.integer("initial_head(last doorbell head)"));
    LittleEndian.setLong(fixture.shadow, 0, in.number("shadow_qword0"));
    if (in.flag("push_dropped")) {
      queue.pushDropped();
    }
    queue.ring();
    boolean rung = out.has("doorbell");
    assertEquals(
        rung ? List.of(new RecordingBar.Access(true, 0x504400, QP_ID)) : List.of(),
        fixture.bar.take());
    assertEquals(rung ? 1 : 0, queue.doorbellsRung());
    assertEquals(out.integer("initial_head_after"), queue.rungHead());
    if (policy == DoorbellPolicy.SHADOW) {
      // rdma-core keeps the flag for ever; here ALWAYS has no use for it.
      assertEquals(out.flag("push_dropped_after"), queue.isPushDropped());
    }
    return Verdict.PASSED;
  }

  private static Verdict boundary(Vector vector, Fixture fixture) {
    Json in = vector.in();
    SendQueue queue = fixture.queue;
    queue.place(in.integer("head"), in.integer("tail"), 1);
    assertEquals(in.integer("used"), queue.used());
    SgeList sges = new SgeList();
    for (int i = 0; i < in.integer("num_sges"); i++) {
      sges.add(0x1000, 16, 1);
    }
    byte[] before = fixture.memory.toArray(ValueLayout.JAVA_BYTE);
    boolean overfull = queue.free() < 0;
    boolean posted = queue.send(1, 0, 0, 0, sges);
    if (overfull) {
      assertFalse(posted);
      assertEquals("OK", vector.out().text("ret"));
      return new Verdict.Departed(
          "Linux's number of free quanta wraps below zero, so that an overfull ring takes more");
    }
    assertEquals(vector.out().text("ret").equals("OK"), posted);
    assertEquals(vector.out().integer("head_after"), queue.head());
    if (!posted) {
      assertFalse(MemorySegment.ofArray(before).mismatch(fixture.memory) >= 0, "written to");
    }
    return Verdict.PASSED;
  }

  /** The arguments of step i are not in the file; the bytes at its end show the rule. */
  private static Verdict sequence(Vector vector, Arena arena, Fixture fixture) {
    Json out = vector.out();
    SendQueue queue = fixture.queue;
    assertEquals(SIZE, vector.in().integer("sq_size"));
    int connection = out.integer("conn_wqes");
    if (vector.in().flag("first_sq_wq")) {
      queue.reserveConnectionWqes(connection);
    }
    assertEquals(out.integer("init_head"), queue.head());
    assertEquals(out.integer("init_polarity"), queue.polarity());
    boolean batches = vector.in().text("lag_mode").contains("batches");
    MemorySegment inline = arena.allocate(RingSizes.MAX_INLINE);
    for (int i = 0; i < RingSizes.MAX_INLINE; i++) {
      inline.set(ValueLayout.JAVA_BYTE, i, (byte) (0x10 + 7 * i));
    }
    boolean[] empty = new boolean[SIZE];
    Deque<Integer> outstanding = new ArrayDeque<>();
    List<Json> steps = out.list("steps");
    for (int i = 0; i < steps.size(); i++) {
      Json step = steps.get(i);
      String where = "step " + i + " " + step;
      assertEquals(step.integer("head_before"), queue.head(), where);
      assertEquals(step.integer("tail"), queue.tail(), where);
      fixture.setDeviceTail(step.integer("shadow_hw_tail"));
      boolean posted = post(queue, step, i, inline);
      assertEquals(step.text("ret").equals("OK"), posted, where);
      if (!batches) {
        queue.ring();
      } else if (step.has("post_wr_db")) {
        assertEquals(List.of(), fixture.bar.take(), where);
        queue.ring();
      }
      int rung = step.has("post_wr_db") ? step.integer("post_wr_db") : step.integer("db");
      assertEquals(rung, fixture.bar.take().size(), where);
      assertEquals(step.integer("head"), queue.head(), where);
      assertEquals(step.integer("pol"), queue.polarity(), where);
      if (posted) {
        int index = step.integer("wqe_idx");
        assertEquals(step.integer("quanta"), queue.quanta(index), where);
        outstanding.add(index);
        for (int k = step.integer("head_before"); k != queue.head(); k = (k + 1) % SIZE) {
          empty[k] = false;
        }
        empty[index] = !step.flag("n") && List.of("write", "read").contains(step.text("op"));
      }
      if (step.has("completed")) {
        for (int k = step.integer("completed"); k > 0; k--) {
          queue.complete(outstanding.remove());
        }
        assertEquals(step.integer("tail_after_completion"), queue.tail(), where);
      }
    }
    List<Json> ring = out.list("sq_ring");
    boolean departed = false;
    for (int i = 0; i < SIZE; i++) {
      String expected = ring.get(i).text();
      String actual = fixture.quantum(i);
      if (empty[i] && !expected.equals(actual)) {
        assertEquals("0".repeat(30), actual.substring(0, 30), "fragment 0 of quantum " + i);
        departed = true;
        expected = expected.substring(32);
        actual = actual.substring(32);
      }
      assertEquals(expected, actual, "quantum " + i);
    }
    return departed ? new Verdict.Departed(SendQueueVectorsTest.STALE_ENTRY) : Verdict.PASSED;
  }

  private static boolean post(SendQueue queue, Json step, int i, MemorySegment inline) {
    int count = step.integer("n");
    int flags = step.flag("signaled") ? SendQueue.SIGNALED : 0;
    SgeList sges = new SgeList();
    if (!step.text("op").equals("inline_send")) {
      for (int k = 0; k < count; k++) {
        sges.add(((i + 1L) << 32) | ((long) k << 12), 0x100 + k, 0x5000 + 16 * i + k);
      }
    }
    return switch (step.text("op")) {
      case "send" -> queue.send(i, flags, 0, 0, sges);
      case "write" -> queue.write(i, flags, 0, 0x9000 + i, 0x33, sges);
      case "read" -> queue.read(i, flags, 0x9000 + i, 0x33, sges);
      case "inline_send" -> queue.sendInline(i, flags, 0, 0, inline, 0, count);
      case "inv" -> queue.invalidate(i, flags, 0x1234500 + i);
      case "nop" -> queue.nop(i, flags);
      default -> throw new IllegalArgumentException(step.text("op"));
    };
  }
}
