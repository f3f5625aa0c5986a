package irdma4j.hwregs.qp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import irdma4j.driver.ring.RingSizes;
import irdma4j.hwregs.FieldRangeException;
import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.RoceContext;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Every queue pair context, byte for byte as Linux's driver writes it. */
class QpContextVectorsTest {
  private static final int UNKNOWN_READS_CODE = 0;
  private static final Verdict TOO_MANY_READS =
      new Verdict.Departed(
          "more than 127 READs accepted at once: Linux encodes them as the least size, ours are"
              + " refused; all other bytes are the same");

  @Test
  void qpContext() {
    VectorSuite.run("qp_ctx", QpContextVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    Json in = vector.in();
    return switch (vector.function()) {
      case "irdma_sc_qp_setctx_roce" -> context(vector, memory -> roce(in).encode(memory, 0));
      case "irdma_sc_qp_setctx" -> context(vector, memory -> iwarp(in).encode(memory, 0));
      case "irdma_sc_get_encoded_ird_size" -> reads(vector);
      case "irdma_get_encoded_wqe_size" -> {
        int size = in.integer("wqsize");
        assertEquals(vector.out().integer("sq_rq"), RingSizes.encoded(size));
        assertEquals(vector.out().integer("cqp"), RingSizes.encodedControl(size));
        yield Verdict.PASSED;
      }
      case "irdma_sc_qp_init" -> sizes(vector);
      default -> fail("unknown function " + vector.function());
    };
  }

  private static Verdict reads(Vector vector) {
    int reads = vector.in().integer("ird_size");
    if (reads > Access.MAX_READS) {
      assertThrows(IllegalArgumentException.class, () -> Access.encodedReads(reads));
      return new Verdict.Refused("more than 127 READs accepted at once");
    }
    assertEquals(vector.out().integer("encoded"), Access.encodedReads(reads));
    return Verdict.PASSED;
  }

  private static Verdict sizes(Vector vector) {
    Json in = vector.in();
    int fragments = in.integer("max_rq_frag_cnt");
    if (fragments > RingSizes.MAX_FRAGMENTS) {
      assertEquals("EINVAL", vector.out().text("ret"));
      return Verdict.PASSED;
    }
    assertEquals("OK", vector.out().text("ret"));
    int shift = RingSizes.shift(fragments, 0);
    int sendQuanta = in.integer("sq_size") << in.integer("sq_shift");
    assertEquals(vector.out().integer("rq_wqe_size"), shift);
    assertEquals(vector.out().integer("sq_ring_size"), sendQuanta);
    assertEquals(vector.out().integer("hw_sq_size"), RingSizes.encoded(sendQuanta));
    assertEquals(
        vector.out().integer("hw_rq_size"), RingSizes.encoded(in.integer("rq_size") << shift));
    return Verdict.PASSED;
  }

  private static Verdict context(Vector vector, Consumer<MemorySegment> encode) {
    byte prefill = (byte) vector.in().integer("ctx_prefill");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(RoceContext.SIZE, 8).fill(prefill);
      try {
        encode.accept(memory);
      } catch (FieldRangeException e) {
        if (!vector.isOver()) {
          throw e;
        }
        assertEquals(-1, memory.mismatch(arena.allocate(RoceContext.SIZE).fill(prefill)));
        return new Verdict.Refused("wider than " + e.field().name());
      }
      assertEquals(
          vector.out().text("ctx"),
          HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE)));
      if (vector.function().endsWith("roce")) {
        MemorySegment again = arena.allocate(RoceContext.SIZE, 8).fill(prefill);
        RoceQpContext.decode(memory, 0).encode(again, 0);
        assertEquals(-1, memory.mismatch(again), "decoded and encoded again");
      } else if (vector.in().flag("iwarp_info_valid") && vector.in().flag("tcp_info_valid")) {
        MemorySegment again = arena.allocate(RoceContext.SIZE, 8).fill(prefill);
        IwarpQpContext.decode(memory, 0).encode(again, 0);
        assertEquals(-1, memory.mismatch(again), "decoded and encoded again");
      }
    }
    return vector.in().integer("ird_size") > Access.MAX_READS + 1
            && (vector.function().endsWith("roce") || vector.in().flag("iwarp_info_valid"))
        ? TOO_MANY_READS
        : Verdict.PASSED;
  }

  private static Queues queues(Json in) {
    return new Queues(
        in.number("sq_pa"),
        in.number("rq_pa"),
        in.integer("hw_sq_size"),
        in.integer("hw_rq_size"),
        in.integer("rq_wqe_size"),
        in.integer("send_cq_num"),
        in.integer("rcv_cq_num"),
        in.number("qp_compl_ctx"),
        in.integer("qs_handle"),
        in.integer("push_idx"),
        new Steering(
            in.flag("rcv_tph_en"),
            in.flag("xmit_tph_en"),
            in.flag("rq_tph_en"),
            in.flag("sq_tph_en"),
            in.integer("rq_tph_val"),
            in.integer("sq_tph_val")));
  }

  private static IpAddress address(Json in, String name) {
    return new IpAddress(
        in.flag("ipv4"),
        in.integer(name + "[0]"),
        in.integer(name + "[1]"),
        in.integer(name + "[2]"),
        in.integer(name + "[3]"));
  }

  private static Path path(Json in) {
    return new Path(
        address(in, "local_ipaddr"),
        address(in, "dest_ip_addr"),
        in.integer("src_port"),
        in.integer("dst_port"),
        in.integer("ttl"),
        in.integer("tos"),
        in.integer("flow_label"),
        in.flag("insert_vlan_tag"),
        in.integer("vlan_tag"),
        in.integer("snd_mss"),
        in.integer("arp_idx"),
        in.integer("rem_endpoint_idx"));
  }

  private static Access access(Json in) {
    int reads = in.integer("ird_size");
    return new Access(
        in.integer("pd_id"),
        in.integer("ord_size"),
        reads == Access.MAX_READS + 1
            ? Access.encodedReads(Access.MAX_READS)
            : reads > Access.MAX_READS ? UNKNOWN_READS_CODE : Access.encodedReads(reads),
        in.flag("wr_rdresp_en"),
        in.flag("rd_en"),
        in.flag("bind_en"),
        in.flag("fast_reg_en"),
        in.flag("priv_mode_en"));
  }

  private static Common common(Json in) {
    return new Common(
        Long.parseUnsignedLong(in.text("mac_addr"), 16),
        in.integer("stats_idx"),
        in.flag("stats_idx_valid"),
        in.integer("err_rq_idx"),
        in.flag("err_rq_idx_valid"),
        in.integer("rtomin"));
  }

  private static RoceQpContext roce(Json in) {
    return new RoceQpContext(
        queues(in),
        path(in),
        access(in),
        common(in),
        new RoceQpContext.Transport(
            in.integer("roce_tver"),
            in.integer("dest_qp"),
            in.integer("qkey"),
            in.integer("p_key"),
            in.integer("psn_nxt"),
            in.integer("lsn"),
            in.integer("epsn"),
            in.integer("psn_max"),
            in.integer("psn_una"),
            in.integer("cwnd"),
            in.integer("rexmit_thresh"),
            in.integer("rnr_nak_thresh"),
            in.integer("ack_credits")),
        new RoceQpContext.Congestion(
            in.flag("dcqcn_en"),
            in.flag("dctcp_en"),
            in.flag("timely_en"),
            in.flag("fw_cc_enable"),
            in.integer("t_high"),
            in.integer("t_low")),
        in.flag("is_qp1"),
        in.flag("udprivcq_en"),
        in.flag("rcv_no_icrc"));
  }

  private static IwarpQpContext iwarp(Json in) {
    return new IwarpQpContext(
        queues(in),
        in.integer("ieq_qp"),
        new IwarpQpContext.Congestion(
            in.flag("ecn_en"),
            in.flag("dctcp_en"),
            in.flag("timely_en"),
            in.integer("t_high"),
            in.integer("t_low")),
        in.flag("iwarp_info_valid") ? rdmap(in) : null,
        in.flag("tcp_info_valid") ? tcp(in) : null);
  }

  private static IwarpQpContext.Rdmap rdmap(Json in) {
    return new IwarpQpContext.Rdmap(
        access(in),
        common(in),
        in.integer("ddp_ver"),
        in.integer("rdmap_ver"),
        in.flag("ib_rd_en"),
        in.number("q2_pa") >>> 8,
        in.integer("last_byte_sent"),
        in.flag("snd_mark_en"),
        in.flag("rcv_mark_en"),
        in.flag("align_hdrs"),
        in.flag("rcv_no_mpa_crc"),
        IwarpQpContext.Rdmap.markerOffset(in.integer("rcv_mark_offset"), in.integer("rcv_nxt")),
        IwarpQpContext.Rdmap.markerOffset(in.integer("snd_mark_offset"), in.integer("snd_nxt")));
  }

  private static IwarpQpContext.Tcp tcp(Json in) {
    return new IwarpQpContext.Tcp(
        path(in),
        in.flag("no_nagle"),
        in.flag("time_stamp"),
        in.integer("cwnd_inc_limit"),
        in.flag("drop_ooo_seg"),
        in.integer("dup_ack_thresh"),
        in.flag("avoid_stretch_ack"),
        in.integer("syn_rst_handling"),
        in.flag("wscale"),
        in.flag("ignore_tcp_opt"),
        in.flag("ignore_tcp_uns_opt"),
        in.integer("tcp_state"),
        in.integer("rcv_wscale"),
        in.integer("snd_wscale"),
        in.integer("time_stamp_recent"),
        in.integer("time_stamp_age"),
        in.integer("snd_nxt"),
        in.integer("snd_wnd"),
        in.integer("rcv_nxt"),
        in.integer("rcv_wnd"),
        in.integer("snd_max"),
        in.integer("snd_una"),
        in.integer("srtt"),
        in.integer("rtt_var"),
        in.integer("ss_thresh"),
        in.integer("cwnd"),
        in.integer("snd_wl1"),
        in.integer("snd_wl2"),
        in.integer("max_snd_window"),
        in.integer("rexmit_thresh"));
  }
}
