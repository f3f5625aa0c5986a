package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.FieldRangeException;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.QpShadow;
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
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The send queue writes the bytes that Linux's and rdma-core's irdma code write.
 *
 * <p>A case that a public operation can express goes through it. The cases sweep fields without
 * regard to sense, so many set fields that exclude one another (a stag to invalidate and an address
 * handle) or that no operation offers (a UDP header's length); those go through the inner writer
 * that all operations share. Both counts are printed.
 */
class SendQueueVectorsTest {
  private static final int QUANTUM = RingSizes.QUANTUM;
  private static final int DOORBELL = 0x504400;
  private static final String TOO_WIDE = "an input is wider than its field";
  private static final String TOO_MANY = "more entries than the device takes";
  private static final String TOO_LONG = "more inline data than the queue was created for";
  private static final String INLINE_LIST =
      "inline data comes from one place in memory, not from a list of 14";
  static final String STALE_ENTRY =
      "Linux emits element 0 of an empty list if there is one in memory: nothing is to be sent";

  private static int throughOperations;
  private static int throughWriter;

  @BeforeAll
  static void reset() {
    throughOperations = 0;
    throughWriter = 0;
  }

  @AfterAll
  static void report() {
    System.out.printf(
        "send queue: %d cases through the operations, %d through their common writer%n",
        throughOperations, throughWriter);
    assertTrue(throughOperations > 0, "no case through the operations");
  }

  @Test
  void kernelWqes() {
    VectorSuite.run("sq_wqe_kernel", v -> wqe(v, DoorbellPolicy.SHADOW));
  }

  @Test
  void rdmaCoreWqes() {
    VectorSuite.run("sq_wqe_rdmacore", v -> wqe(v, DoorbellPolicy.ALWAYS));
  }

  private static Verdict wqe(Vector vector, DoorbellPolicy policy) {
    Json in = vector.in();
    int inline = Math.min(in.integer("max_inline_data"), RingSizes.WQE_INLINE);
    try (Arena arena = Arena.ofConfined()) {
      Fixture fixture =
          new Fixture(arena, in.integer("sq_size"), in.integer("qp_id"), inline, policy);
      fixture.memory.fill((byte) in.integer("sq_prefill_byte"));
      SendQueue queue = fixture.queue;
      int head = in.integer("sq_head");
      // The first WQE of a ring flips the polarity, and the vectors give the one before the call.
      queue.place(head, in.integer("sq_tail"), in.integer("swqe_polarity"));
      fixture.setDeviceTail(head);
      byte[] before = fixture.memory.toArray(ValueLayout.JAVA_BYTE);

      Call call = new Call(vector, arena, queue);
      if (call.tooWide()) {
        assertTrue(vector.isOver(), "too wide, but not said to be");
        assertThrows(FieldRangeException.class, call::post);
        fixture.assertUntouched(before, head);
        return new Verdict.Refused(TOO_WIDE);
      }
      if (!vector.out().text("ret").equals("OK")) {
        assertEquals("EINVAL", vector.out().text("ret"));
        fixture.assertUntouched(before, head);
        return refused(vector, call, fixture, before, head);
      }
      assertTrue(call.post(), "full");
      queue.ring();
      Json out = vector.out();
      boolean stale =
          in.has("sg_list_when_num_sges_0")
              && in.text("sg_list_when_num_sges_0").startsWith("non-NULL")
              && !vector.function().equals("irdma_uk_send")
              && !in.flag("imm_data_valid");
      List<Json> quanta = out.list("quanta");
      for (int i = 0; i < quanta.size(); i++) {
        String expected = quanta.get(i).text();
        String actual = fixture.quantum((head + i) % queue.size());
        if (stale && i == 0) {
          assertEquals("0".repeat(30), actual.substring(0, 30), "fragment 0");
          expected = expected.substring(32);
          actual = actual.substring(32);
        }
        assertEquals(expected, actual, "quantum " + i);
      }
      assertEquals(out.integer("head_after"), queue.head());
      assertEquals(out.integer("polarity_after"), queue.polarity());
      for (Json track : out.list("wrtrk")) {
        int index = track.integer("idx");
        assertEquals(track.number("wrid"), queue.wrId(index), "wr_id " + index);
        assertEquals(track.number("quanta"), queue.quanta(index), "quanta " + index);
        assertEquals(track.number("wr_len"), queue.length(index), "length " + index);
      }
      assertEquals(doorbells(out), fixture.bar.take());
      return stale ? new Verdict.Departed(STALE_ENTRY) : Verdict.PASSED;
    }
  }

  private static Verdict refused(
      Vector vector, Call call, Fixture fixture, byte[] before, int head) {
    if (call.inlineEntries() > RingSizes.MAX_FRAGMENTS) {
      return new Verdict.Refused(INLINE_LIST);
    }
    assertThrows(IllegalArgumentException.class, call::post);
    fixture.assertUntouched(before, head);
    return new Verdict.Refused(vector.in().has("inline_data") ? TOO_LONG : TOO_MANY);
  }

  private static List<RecordingBar.Access> doorbells(Json out) {
    return out.has("doorbell")
        ? List.of(new RecordingBar.Access(true, DOORBELL, out.integer("doorbell")))
        : List.of();
  }

  /** A call of the real code, expressed as a call of ours. */
  private static final class Call {
    private final Vector vector;
    private final Json in;
    private final SendQueue queue;
    private final MemorySegment inline;
    private final int flags;

    Call(Vector vector, Arena arena, SendQueue queue) {
      this.vector = vector;
      this.in = vector.in();
      this.queue = queue;
      byte[] data = in.has("inline_data") ? in.bytes("inline_data") : new byte[0];
      inline = arena.allocate(Math.max(1, data.length));
      MemorySegment.copy(data, 0, inline, ValueLayout.JAVA_BYTE, 0, data.length);
      flags =
          flag("signaled", SendQueue.SIGNALED)
              | flag("read_fence", SendQueue.READ_FENCE)
              | flag("local_fence", SendQueue.LOCAL_FENCE)
              | flag("imm_data_valid", SendQueue.IMMEDIATE)
              | flag("report_rtt", SendQueue.REPORT_RTT);
    }

    private int flag(String name, int bit) {
      return in.flag(name) ? bit : 0;
    }

    int inlineEntries() {
      return in.has("inline_sge_lengths") ? in.list("inline_sge_lengths").size() : 0;
    }

    boolean tooWide() {
      boolean datagram = vector.function().endsWith("send");
      if (datagram && (wide("ah_id", 17) || wide("dest_qp", 24) || wide("l4len", 4))) {
        return true;
      }
      return in.has("sges")
          && in.list("sges").stream().anyMatch(sge -> sge.number("length") >>> 31 != 0);
    }

    private boolean wide(String name, int width) {
      return in.number(name) >>> width != 0;
    }

    private SgeList sges() {
      SgeList sges = new SgeList();
      for (Json sge : in.list("sges")) {
        sges.add(sge.number("addr"), sge.integer("length"), sge.integer("lkey"));
      }
      return sges;
    }

    boolean post() {
      long wrId = in.number("wr_id");
      return switch (vector.function()) {
        case "irdma_uk_send", "irdma_uk_inline_send" -> send(wrId);
        case "irdma_uk_rdma_write", "irdma_uk_inline_rdma_write" -> write(wrId);
        case "irdma_uk_rdma_read" -> {
          throughOperations++;
          yield queue.read(
              wrId,
              flags & ~SendQueue.IMMEDIATE,
              in.number("rem_addr"),
              in.integer("rem_key"),
              sges());
        }
        case "irdma_uk_rdma_read(inv_stag)" -> {
          throughOperations++;
          yield queue.readInvalidate(
              wrId,
              flags & ~SendQueue.IMMEDIATE,
              in.number("rem_addr"),
              in.integer("rem_key"),
              sges());
        }
        case "irdma_uk_stag_local_invalidate" -> {
          throughOperations++;
          yield queue.invalidate(wrId, flags & fences(), in.integer("target_stag"));
        }
        case "irdma_nop" -> {
          throughOperations++;
          yield queue.nop(wrId, flags & SendQueue.SIGNALED);
        }
        case "irdma_uk_mw_bind" -> {
          throughOperations++;
          yield queue.bindWindow(
              wrId,
              flags & fences(),
              in.integer("mw_stag"),
              in.integer("mr_stag"),
              in.number("va"),
              in.number("bind_len"),
              in.flag("ena_reads"),
              in.flag("ena_writes"),
              in.flag("addressing_type"),
              in.flag("mem_window_type_1"));
        }
        default -> throw new IllegalArgumentException("unknown function");
      };
    }

    private static int fences() {
      return SendQueue.SIGNALED | SendQueue.READ_FENCE | SendQueue.LOCAL_FENCE;
    }

    private boolean send(long wrId) {
      int opcode = in.integer("op_type");
      int immediate = in.integer("imm_data");
      int stag = in.integer("stag_to_inv");
      int handle = in.integer("ah_id");
      int qpn = in.integer("dest_qp");
      int key = in.integer("qkey");
      boolean invalidates =
          opcode == SqOpcode.SEND_INV.code() || opcode == SqOpcode.SEND_SOL_INV.code();
      boolean solicited =
          opcode == SqOpcode.SEND_SOL.code() || opcode == SqOpcode.SEND_SOL_INV.code();
      boolean known = invalidates || solicited || opcode == SqOpcode.SEND.code();
      int all = flags | (solicited ? SendQueue.SOLICITED : 0);
      boolean plain = known && !in.flag("udp_hdr") && !in.flag("l4len");
      if (plain && handle == 0 && qpn == 0 && key == 0 && invalidates == (stag != 0)) {
        throughOperations++;
        return in.has("inline_data")
            ? queue.sendInline(wrId, all, immediate, stag, inline, 0, inlineBytes())
            : queue.send(wrId, all, immediate, stag, sges());
      }
      if (plain && stag == 0 && !invalidates) {
        throughOperations++;
        return in.has("inline_data")
            ? queue.sendDatagramInline(
                wrId, all, immediate, handle, qpn, key, inline, 0, inlineBytes())
            : queue.sendDatagram(wrId, all, immediate, handle, qpn, key, sges());
      }
      throughWriter++;
      long destination =
          SqWqe.DESTQKEY.encode(in.number("qkey")) | SqWqe.DESTQPN.encode(in.number("dest_qp"));
      long low =
          SqWqe.REMSTAGINV.encode(in.number("stag_to_inv"))
              | SqWqe.AHID.encode(in.number("ah_id"))
              | SqWqe.L4LEN.encode(in.number("l4len"))
              | SqWqe.UDPHEADER.encode(in.flag("udp_hdr"));
      return in.has("inline_data")
          ? queue.inline(wrId, opcode, flags, immediate, destination, low, inline, 0, inlineBytes())
          : queue.gather(wrId, opcode, flags, immediate, destination, low, sges());
    }

    private boolean write(long wrId) {
      int opcode = in.integer("op_type");
      int immediate = in.integer("imm_data");
      long address = in.number("rem_addr");
      int key = in.integer("rem_key");
      boolean solicited = opcode == SqOpcode.RDMA_WRITE_SOL.code();
      if (solicited || opcode == SqOpcode.RDMA_WRITE.code()) {
        throughOperations++;
        int all = flags | (solicited ? SendQueue.SOLICITED : 0);
        return in.has("inline_data")
            ? queue.writeInline(wrId, all, immediate, address, key, inline, 0, inlineBytes())
            : queue.write(wrId, all, immediate, address, key, sges());
      }
      throughWriter++;
      long low = SqWqe.REMSTAG.encode(Integer.toUnsignedLong(key));
      return in.has("inline_data")
          ? queue.inline(wrId, opcode, flags, immediate, address, low, inline, 0, inlineBytes())
          : queue.gather(wrId, opcode, flags, immediate, address, low, sges());
    }

    private int inlineBytes() {
      return in.text("inline_data").length() / 2;
    }
  }

  @Test
  void controlWqes() {
    VectorSuite.run("sq_wqe_ctrl", SendQueueVectorsTest::control);
  }

  private static Verdict control(Vector vector) {
    Json in = vector.in();
    return switch (vector.function()) {
      case "irdma_sc_mr_fast_register" -> fastRegister(vector);
      case "irdma_sc_send_lsmm" ->
          connection(
              vector,
              wqes ->
                  wqes.lastStreamMessage(
                      in.number("lsmm_buf"), in.integer("size"), in.integer("stag")));
      case "irdma_sc_send_rtt" ->
          connection(
              vector,
              wqes -> {
                if (in.flag("read")) {
                  wqes.readNothing();
                } else {
                  wqes.writeNothing();
                }
              });
      default -> throw new IllegalArgumentException("unknown function");
    };
  }

  private static Verdict connection(Vector vector, Consumer<ConnectionWqes> action) {
    try (Arena arena = Arena.ofConfined()) {
      Fixture fixture = new Fixture(arena, 512, 1, 0, DoorbellPolicy.SHADOW);
      fixture.queue.place(3, 3, vector.in().integer("swqe_polarity"));
      ConnectionWqes wqes = new ConnectionWqes(fixture.queue, true);
      if (vector.in().has("size") && vector.in().number("size") >>> 31 != 0) {
        assertThrows(FieldRangeException.class, () -> action.accept(wqes));
        assertEquals("00".repeat(QUANTUM), fixture.quantum(0));
        return new Verdict.Refused(TOO_WIDE);
      }
      action.accept(wqes);
      assertEquals(
          vector.out().text("sq_0_2"),
          fixture.quantum(0) + fixture.quantum(1) + fixture.quantum(2));
      return Verdict.PASSED;
    }
  }

  private static Verdict fastRegister(Vector vector) {
    Json in = vector.in();
    Json out = vector.out();
    long page =
        in.has("reg_addr_pa_used") ? in.number("reg_addr_pa_used") : in.number("reg_addr_pa");
    long index = in.number("first_pm_pbl_index");
    long pageSize = in.number("page_size");
    boolean wide =
        wide(in, "total_len", 41)
            || wide(in, "stag_idx", 24)
            || wide(in, "access_rights", 5)
            || wide(in, "chunk_size", 2)
            || wide(in, "stag_key", 8)
            || index >>> 28 != 0;
    try (Arena arena = Arena.ofConfined()) {
      Fixture fixture = new Fixture(arena, 512, 0x155, 0, DoorbellPolicy.ALWAYS);
      int at = in.integer("wqe_idx");
      fixture.queue.place(at, at, in.integer("swqe_polarity"));
      byte[] before = fixture.memory.toArray(ValueLayout.JAVA_BYTE);
      BooleanSupplier post =
          () ->
              fixture.queue.fastRegister(
                  in.number("wr_id"),
                  (in.flag("signaled") ? SendQueue.SIGNALED : 0)
                      | (in.flag("read_fence") ? SendQueue.READ_FENCE : 0)
                      | (in.flag("local_fence") ? SendQueue.LOCAL_FENCE : 0),
                  in.integer("stag_idx"),
                  in.integer("stag_key"),
                  in.integer("access_rights"),
                  in.flag("addr_type") ? in.number("va") : in.number("fbo"),
                  in.number("total_len"),
                  in.flag("addr_type"),
                  pageSize,
                  in.integer("chunk_size"),
                  in.integer("first_pm_pbl_index"),
                  page);
      String rule =
          wide
              ? TOO_WIDE
              : (page & 0xfff) != 0
                  ? "the first page does not start at a multiple of 4 KiB"
                  : pageSize != 0x1000 && pageSize != 0x200000 && pageSize != 0x40000000
                      ? "the device has no such page size, and Linux says 4 KiB"
                      : null;
      if (rule != null) {
        assertThrows(IllegalArgumentException.class, post::getAsBoolean);
        fixture.assertUntouched(before, at);
        return new Verdict.Refused(rule);
      }
      assertTrue(post.getAsBoolean());
      fixture.queue.ring();
      assertEquals(out.number("wrtrk.wrid"), fixture.queue.wrId(at));
      assertEquals(out.number("wrtrk.quanta"), fixture.queue.quanta(at));
      assertEquals(out.number("wrtrk.wr_len"), fixture.queue.length(at));
      assertEquals(
          out.list("regs").stream()
              .map(r -> new RecordingBar.Access(true, r.number("reg"), r.integer("val")))
              .toList(),
          fixture.bar.take());
      if (page >>> 52 != 0) {
        String expected = HexFormat.of().formatHex(out.bytes("wqe"));
        assertEquals(expected.substring(0, 28), fixture.quantum(at).substring(0, 28));
        assertEquals(expected.substring(32), fixture.quantum(at).substring(32));
        return new Verdict.Departed(
            "Linux shifts the mask of the page's address, and so loses its bits 63 to 52");
      }
      assertEquals(out.text("wqe"), fixture.quantum(at));
      return Verdict.PASSED;
    }
  }

  private static boolean wide(Json in, String name, int width) {
    return in.number(name) >>> width != 0;
  }

  /** A queue with what it needs around it. */
  static final class Fixture {
    final MemorySegment memory;
    final MemorySegment shadow;
    final RecordingBar bar = new RecordingBar();
    final SendQueue queue;

    Fixture(Arena arena, int size, int qpId, int inline, DoorbellPolicy policy) {
      memory = arena.allocate((long) size * QUANTUM, 64);
      shadow = arena.allocate(QpShadow.SIZE, 64);
      queue =
          new SendQueue(
              memory,
              size,
              shadow,
              0,
              bar,
              DOORBELL,
              qpId,
              RingSizes.MAX_FRAGMENTS,
              inline,
              policy);
    }

    void setDeviceTail(int index) {
      LittleEndian.setLong(shadow, 0, QpShadow.HW_SQ_TAIL.encode(index));
    }

    String quantum(int index) {
      byte[] bytes = memory.asSlice((long) index * QUANTUM, QUANTUM).toArray(ValueLayout.JAVA_BYTE);
      return HexFormat.of().formatHex(bytes);
    }

    void assertUntouched(byte[] before, int head) {
      assertFalse(MemorySegment.ofArray(before).mismatch(memory) >= 0, "the ring was written to");
      assertEquals(head, queue.head());
      assertEquals(0, queue.posted());
      assertEquals(List.of(), bar.take());
    }
  }
}
