package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.FieldRangeException;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The receive queue writes Linux's bytes, and rings are sized as Linux sizes them. */
class ReceiveQueueVectorsTest {
  private static final String TOO_WIDE = "an input is wider than its field";
  private static final String TOO_MANY = "more entries than the device takes";

  @Test
  void kernelReceives() {
    VectorSuite.run("rq_wqe_kernel", ReceiveQueueVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    return switch (vector.function()) {
      case "irdma_uk_post_receive" -> receive(vector);
      case "rq_sequence" -> sequence(vector);
      case "irdma_uk_calc_depth_shift" -> depth(vector);
      case "irdma_fragcnt_to_x" -> fragments(vector);
      case "inline_size_to_quanta" -> inline(vector);
      default -> throw new IllegalArgumentException("unknown function");
    };
  }

  private static ReceiveQueue queue(Arena arena, Json in, MemorySegment[] memory) {
    int multiplier = in.integer("rq_wqe_size_multiplier");
    int quanta = in.integer("rq_size") * multiplier;
    memory[0] = arena.allocate((long) quanta * RingSizes.QUANTUM, 64);
    int shift = Integer.numberOfTrailingZeros(multiplier);
    int fragments = Math.min(RingSizes.MAX_FRAGMENTS, 2 * multiplier - 1);
    return new ReceiveQueue(memory[0], quanta, shift, fragments);
  }

  private static Verdict receive(Vector vector) {
    Json in = vector.in();
    Json out = vector.out();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment[] memory = new MemorySegment[1];
      ReceiveQueue queue = queue(arena, in, memory);
      int head = in.integer("rq_head");
      queue.place(head, head, in.integer("rwqe_polarity"));
      memory[0].fill((byte) in.integer("rq_prefill_byte"));
      byte[] before = memory[0].toArray(ValueLayout.JAVA_BYTE);
      Runnable post = () -> assertTrue(queue.receive(in.number("wr_id"), sges(in)), "full");

      boolean wide = in.list("sges").stream().anyMatch(s -> s.number("length") >>> 31 != 0);
      if (wide || !out.text("ret").equals("OK")) {
        RuntimeException error = assertThrows(IllegalArgumentException.class, post::run);
        assertEquals(wide, error instanceof FieldRangeException, error.toString());
        assertFalse(MemorySegment.ofArray(before).mismatch(memory[0]) >= 0, "written to");
        assertEquals(head, queue.head());
        assertEquals(wide, vector.isOver() && out.text("ret").equals("OK"));
        return new Verdict.Refused(wide ? TOO_WIDE : TOO_MANY);
      }
      post.run();
      long bytes = (long) in.integer("rq_wqe_size_multiplier") * RingSizes.QUANTUM;
      String actual = hex(memory[0].asSlice(head * bytes, bytes));
      String expected = out.text("wqe");
      assertEquals(out.integer("rq_head_after"), queue.head());
      assertEquals(out.integer("rwqe_polarity_after"), queue.polarity());
      assertEquals(in.number("wr_id"), queue.wrId(head));
      assertFalse(out.has("doorbell"));
      if (in.list("sges").isEmpty() && in.text("sg_list").startsWith("non-NULL")) {
        assertEquals("0".repeat(30), actual.substring(0, 30), "fragment 0");
        assertEquals(expected.substring(32), actual.substring(32));
        return new Verdict.Departed(
            "Linux emits element 0 of an empty list if there is one in memory:"
                + " nothing is to be received into");
      }
      assertEquals(expected, actual);
      return Verdict.PASSED;
    }
  }

  private static SgeList sges(Json in) {
    SgeList sges = new SgeList();
    for (Json sge : in.list("sges")) {
      sges.add(sge.number("addr"), sge.integer("length"), sge.integer("lkey"));
    }
    return sges;
  }

  private static Verdict sequence(Vector vector) {
    Json in = vector.in();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment[] memory = new MemorySegment[1];
      ReceiveQueue queue = queue(arena, in, memory);
      SgeList sges = new SgeList();
      for (Json step : vector.out().list("steps")) {
        int k = step.integer("k");
        boolean posted =
            queue.receive(0xcc00 + k, sges.set(0x1000L * (k + 1), 0x40 + k, 0x900 + k));
        assertEquals(step.text("ret").equals("OK"), posted, step.toString());
        if (!posted || k % 10 == 9) {
          queue.complete((queue.tail() + 6) % queue.size());
        }
        assertEquals(step.integer("head"), queue.head(), step.toString());
        assertEquals(step.integer("tail"), queue.tail(), step.toString());
        assertEquals(step.integer("pol"), queue.polarity(), step.toString());
      }
      Json ring = vector.out().get("rq_mem");
      assertEquals(ring.text(), hex(memory[0]));
      return Verdict.PASSED;
    }
  }

  private static Verdict depth(Vector vector) {
    Json in = vector.in();
    Json out = vector.out();
    int size = in.integer("size");
    int fragments = in.integer("frag_cnt");
    // Immediate data takes the place of a fragment.
    int sendShift = RingSizes.shift(fragments + 1, in.integer("max_inline"));
    int receiveShift = RingSizes.shift(fragments, 0);
    assertEquals(out.integer("sq_shift"), sendShift);
    assertEquals(out.integer("rq_shift"), receiveShift);
    boolean refused = false;
    if (out.text("sq_ret").equals("OK")) {
      assertEquals(out.integer("sq_depth"), RingSizes.sendQuanta(size, sendShift));
    } else {
      assertThrows(IllegalArgumentException.class, () -> RingSizes.sendQuanta(size, sendShift));
      refused = true;
    }
    if (out.text("rq_ret").equals("OK")) {
      assertEquals(out.integer("rq_depth"), RingSizes.receiveQuanta(size, receiveShift));
    } else {
      assertThrows(
          IllegalArgumentException.class, () -> RingSizes.receiveQuanta(size, receiveShift));
      refused = true;
    }
    return refused ? new Verdict.Refused("the device has no ring that large") : Verdict.PASSED;
  }

  private static Verdict fragments(Vector vector) {
    int count = vector.in().integer("frag_cnt");
    Json out = vector.out();
    if (!out.text("sq_ret").equals("OK")) {
      assertTrue(count > RingSizes.MAX_FRAGMENTS + 1);
      return new Verdict.Refused("no queue can be created for so many fragments");
    }
    assertEquals(out.integer("quanta"), RingSizes.quanta(count));
    if (out.text("rq_ret").equals("OK")) {
      assertEquals(out.integer("rq_wqe_size"), RingSizes.QUANTUM << RingSizes.shift(count, 0));
    }
    return Verdict.PASSED;
  }

  private static Verdict inline(Vector vector) {
    int bytes = vector.in().integer("len");
    int expected = vector.out().integer("quanta");
    int actual = RingSizes.inlineQuanta(bytes);
    if (bytes > RingSizes.WQE_INLINE) {
      assertTrue(actual > expected);
      return new Verdict.Refused("no queue can be created for so much inline data");
    }
    assertEquals(expected, actual);
    return Verdict.PASSED;
  }

  private static String hex(MemorySegment memory) {
    return HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE));
  }
}
