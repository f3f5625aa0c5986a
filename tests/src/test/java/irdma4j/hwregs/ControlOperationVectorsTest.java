package irdma4j.hwregs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import irdma4j.driver.ring.ControlRing;
import irdma4j.hwregs.cqp.AddArp;
import irdma4j.hwregs.cqp.AddLocalMac;
import irdma4j.hwregs.cqp.AllocateLocalMac;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.hwregs.cqp.CreateAeq;
import irdma4j.hwregs.cqp.CreateCeq;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.CreateQp;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.DeleteArp;
import irdma4j.hwregs.cqp.DeleteLocalMac;
import irdma4j.hwregs.cqp.DestroyAeq;
import irdma4j.hwregs.cqp.DestroyCeq;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.hwregs.cqp.DestroyQp;
import irdma4j.hwregs.cqp.FlushWqes;
import irdma4j.hwregs.cqp.GatherStats;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.hwregs.cqp.ManageApbvt;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import irdma4j.hwregs.cqp.ManageMulticastGroup;
import irdma4j.hwregs.cqp.ManagePushPage;
import irdma4j.hwregs.cqp.ManageQuadHash;
import irdma4j.hwregs.cqp.ManageStats;
import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import irdma4j.hwregs.cqp.ModifyCq;
import irdma4j.hwregs.cqp.ModifyQp;
import irdma4j.hwregs.cqp.Nop;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.QueryRdmaFeatures;
import irdma4j.hwregs.cqp.RegisterMr;
import irdma4j.hwregs.cqp.ResumeQp;
import irdma4j.hwregs.cqp.SetUserPriorityMap;
import irdma4j.hwregs.cqp.StaticHmcPages;
import irdma4j.hwregs.cqp.SuspendQp;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.hwregs.cqp.UploadContext;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every control operation's WQE, byte for byte as Linux's driver writes it. */
class ControlOperationVectorsTest {
  private static final int QHASH_TCP_ESTABLISHED = 1;
  private static final int STATE_TERMINATE = 5;
  private static final int REMOTE_RIGHTS = 0xc;
  private static final int RIGHTS = 0x1f;
  private static final int MULTICAST_GROUPS = 4096;

  @Test
  void cqpWqe() {
    VectorSuite.run("cqp_wqe", ControlOperationVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    if (vector.function().equals("cqp_ring_sequence")) {
      return ringSequence(vector);
    }
    if (vector.function().equals("cqp_ring_full")) {
      return ringFull(vector);
    }
    String expected = vector.out().text("ret");
    CqpCommand command;
    byte[] wqe;
    try {
      command = command(vector.function(), vector.in());
      wqe = encode(command, vector.in().integer("cqp_polarity"));
    } catch (FieldRangeException e) {
      if (vector.isOver() || !expected.equals("OK")) {
        return new Verdict.Refused("wider than " + e.field().name());
      }
      throw e;
    } catch (IllegalArgumentException e) {
      if (vector.isOver()) {
        return new Verdict.Refused("wider than any field of 32 bits");
      }
      throw e;
    } catch (Refusal e) {
      assertEquals(e.errno, expected);
      return Verdict.PASSED;
    }
    assertEquals("OK", expected);
    if (command instanceof ManageMulticastGroup) {
      members(vector);
    }
    assertEquals(vector.out().text("wqe"), HexFormat.of().formatHex(wqe));
    assertEquals(command, CqpCommand.decode(MemorySegment.ofBuffer(direct(wqe)), 0));
    return Verdict.PASSED;
  }

  private static java.nio.ByteBuffer direct(byte[] bytes) {
    return java.nio.ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  /** What the driver's own checks refuse, with the error number that Linux gives. */
  private static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String errno;

    Refusal(String errno) {
      super(errno);
      this.errno = errno;
    }
  }

  private static byte[] encode(CqpCommand command, int polarity) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment wqe = arena.allocate(CqpWqe.SIZE, 8).fill((byte) 0xee);
      long header = command.encode(wqe, 0);
      LittleEndian.setLong(wqe, CqpWqe.HEADER, header | CqpWqe.VALID.encode(polarity));
      return wqe.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  private static long mac(Json in, String name) {
    return Long.parseUnsignedLong(in.text(name), 16);
  }

  private static CqpCommand command(String function, Json in) {
    return switch (function) {
      case "irdma_sc_qp_create" ->
          new CreateQp(
              in.integer("qp_id"),
              in.integer("qp_type"),
              in.number("hw_host_ctx_pa"),
              in.number("shadow_area_pa"),
              in.flag("virtual_map"),
              in.flag("ord_valid"),
              in.flag("tcp_ctx_valid"),
              in.flag("cq_num_valid"),
              in.flag("arp_cache_idx_valid"),
              in.flag("mac_valid"),
              in.flag("force_lpb"),
              in.integer("next_iwarp_state"));
      case "irdma_sc_qp_modify" -> modifyQp(in);
      case "irdma_sc_qp_destroy" ->
          new DestroyQp(
              in.integer("qp_id"),
              in.integer("qp_type"),
              in.number("hw_host_ctx_pa"),
              in.number("shadow_area_pa"),
              in.flag("remove_hash_idx"),
              in.flag("ignore_mw_bnd"));
      case "irdma_sc_qp_flush_wqes" -> flush(in);
      case "irdma_sc_gen_ae" ->
          new FlushWqes(
              in.integer("ae_code"),
              in.integer("ae_src"),
              0,
              0,
              0,
              0,
              in.integer("qp_id"),
              true,
              false,
              false,
              false);
      case "irdma_sc_qp_upload_context" ->
          new UploadContext(
              in.number("buf_pa"),
              in.integer("qp_id"),
              in.integer("qp_type"),
              in.flag("raw_format"),
              in.flag("freeze_qp"));
      case "irdma_sc_manage_push_page" -> {
        boolean free = in.flag("free_page");
        yield new ManagePushPage(
            in.integer("qs_handle"), in.integer("push_idx"), in.integer("push_page_type"), free);
      }
      case "irdma_sc_suspend_qp" -> new SuspendQp(in.integer("qp_id"));
      case "irdma_sc_resume_qp" -> new ResumeQp(in.integer("qs_handle"), in.integer("qp_id"));
      case "irdma_sc_cq_create" -> createCq(in);
      case "irdma_sc_cq_destroy" -> destroyCq(in, in.integer("cq_id"));
      case "irdma_sc_ccq_destroy" -> destroyCq(in, 0);
      case "irdma_sc_cq_modify" -> modifyCq(in);
      case "irdma_sc_ceq_create" -> {
        boolean virtual = in.flag("virtual_map");
        yield new CreateCeq(
            in.integer("elem_cnt"),
            virtual ? 0 : in.number("ceq_elem_pa"),
            virtual ? in.integer("first_pm_pbl_idx") : 0,
            in.integer("tph_val"),
            in.integer("vsi_idx"),
            in.integer("ceq_id"),
            in.integer("pbl_chunk_size"),
            in.flag("itr_no_expire"),
            virtual,
            in.flag("tph_en"));
      }
      case "irdma_sc_ceq_destroy" ->
          new DestroyCeq(
              in.integer("elem_cnt"),
              in.integer("first_pm_pbl_idx"),
              in.integer("ceq_id"),
              in.integer("pbl_chunk_size"),
              in.flag("virtual_map"),
              in.flag("tph_en"));
      case "irdma_sc_aeq_create" -> {
        boolean virtual = in.flag("virtual_map");
        yield new CreateAeq(
            in.integer("elem_cnt"),
            virtual ? 0 : in.number("aeq_elem_pa"),
            virtual ? in.integer("first_pm_pbl_idx") : 0,
            in.integer("pbl_chunk_size"),
            virtual);
      }
      case "irdma_sc_aeq_destroy" ->
          new DestroyAeq(
              in.integer("elem_cnt"),
              in.integer("first_pm_pbl_idx"),
              in.integer("pbl_chunk_size"),
              in.flag("virtual_map"));
      case "irdma_sc_alloc_stag" -> allocateStag(in);
      case "irdma_sc_mr_reg_non_shared" -> registerMr(in);
      case "irdma_sc_dealloc_stag" ->
          new DeallocateStag(in.integer("pd_id"), in.integer("stag_idx"), in.flag("mr"));
      case "irdma_sc_mw_alloc" ->
          new AllocateMw(
              in.integer("pd_id"),
              in.integer("mw_stag_index"),
              in.flag("mw_wide"),
              in.flag("mw1_bind_dont_vldt_key"));
      case "irdma_sc_add_arp_cache_entry" ->
          new AddArp(
              in.integer("reach_max"),
              mac(in, "mac_addr"),
              in.integer("arp_index"),
              true,
              in.flag("permanent"));
      case "irdma_sc_del_arp_cache_entry" -> new DeleteArp(in.integer("arp_index"));
      case "irdma_sc_manage_apbvt_entry" -> new ManageApbvt(in.integer("port"), in.flag("add"));
      case "irdma_sc_manage_qhash_table_entry" -> quadHash(in);
      case "irdma_sc_alloc_local_mac_entry" -> new AllocateLocalMac();
      case "irdma_sc_add_local_mac_entry" ->
          new AddLocalMac(mac(in, "mac_addr"), in.integer("entry_idx"));
      case "irdma_sc_del_local_mac_entry" ->
          new DeleteLocalMac(in.integer("entry_idx"), in.flag("ignore_ref_count"), true);
      case "irdma_sc_manage_stats_inst" ->
          new ManageStats(
              in.integer("hmc_fn_id"),
              in.integer("stats_idx"),
              in.flag("use_hmc_fcn_index"),
              in.flag("alloc"));
      case "irdma_sc_gather_stats" ->
          new GatherStats(
              in.number("stats_buff_mem.pa"),
              in.integer("hmc_fcn_index"),
              in.integer("stats_inst_index"),
              in.flag("use_hmc_fcn_index"),
              in.flag("use_stats_inst"));
      case "irdma_sc_manage_ws_node" ->
          new ManageWorkSchedNode(
              in.integer("weight"),
              in.integer("vsi"),
              in.integer("id"),
              in.integer("parent_id"),
              0,
              in.integer("node_op"),
              0,
              in.integer("tc"),
              in.integer("prio_type"),
              in.flag("type_leaf"),
              in.flag("enable"));
      case "irdma_sc_set_up_map" -> {
        long map = 0;
        for (int i = 7; i >= 0; i--) {
          map = (map << 8) | in.number("map[" + i + "]");
        }
        yield new SetUserPriorityMap(
            map,
            in.integer("hmc_fcn_idx"),
            in.integer("cnp_up_override"),
            in.flag("use_cnp_up_override"),
            in.flag("use_vlan"));
      }
      case "irdma_sc_query_fpm_val" ->
          new QueryFpm(in.integer("hmc_fn_id"), in.number("fpm_val_pa"));
      case "irdma_sc_commit_fpm_val" ->
          new CommitFpm(in.integer("hmc_fn_id"), FpmCommitBuffer.SIZE, in.number("fpm_val_pa"));
      case "irdma_sc_static_hmc_pages_allocated" -> new StaticHmcPages(in.integer("hmc_fn_id"));
      case "irdma_sc_manage_hmc_pm_func_table" ->
          new ManageHmcFunctionTable(in.integer("vf_id"), in.flag("free_fcn"));
      case "irdma_sc_query_rdma_features" ->
          new QueryRdmaFeatures(in.number("buf_pa"), in.integer("buf_size"));
      case "cqp_sds_wqe_fill(update_pe_sds)" -> updateSds(in);
      case "irdma_sc_access_ah" -> addressHandle(in);
      case "irdma_access_mcast_grp" -> multicastGroup(in);
      default -> fail("unknown function " + function);
    };
  }

  private static CqpCommand modifyQp(Json in) {
    int next = in.integer("next_iwarp_state");
    int action = 0;
    int length = 0;
    if (next == STATE_TERMINATE) {
      action = (in.flag("dont_send_fin") ? 1 : 0) | (in.flag("dont_send_term") ? 2 : 0);
      length = in.flag("dont_send_term") ? 0 : in.integer("termlen");
    }
    return new ModifyQp(
        in.integer("qp_id"),
        in.integer("qp_type"),
        in.number("hw_host_ctx_pa"),
        in.number("shadow_area_pa"),
        in.flag("virtual_map"),
        in.integer("new_mss"),
        length,
        in.flag("ord_valid"),
        in.flag("tcp_ctx_valid"),
        in.flag("cached_var_valid"),
        in.flag("cq_num_valid"),
        in.flag("force_lpb"),
        in.flag("mac_valid"),
        in.flag("mss_change"),
        in.flag("remove_hash_idx"),
        action,
        in.flag("reset_tcp_conn"),
        in.flag("arp_cache_idx_valid"),
        next);
  }

  private static CqpCommand flush(Json in) {
    boolean sq = in.flag("sq") && !in.flag("qp_flush_sq_already");
    boolean rq = in.flag("rq") && !in.flag("qp_flush_rq_already");
    if (!sq && !rq) {
      throw new Refusal("EALREADY");
    }
    boolean codes = in.flag("userflushcode");
    boolean event = in.flag("generate_ae");
    return new FlushWqes(
        event ? in.integer("ae_code") : 0,
        event ? in.integer("ae_src") : 0,
        codes && rq ? in.integer("rq_minor_code") : 0,
        codes && rq ? in.integer("rq_major_code") : 0,
        codes && sq ? in.integer("sq_minor_code") : 0,
        codes && sq ? in.integer("sq_major_code") : 0,
        in.integer("qp_id"),
        event,
        codes,
        sq,
        rq);
  }

  private static CqpCommand createCq(Json in) {
    boolean virtual = in.flag("virtual_map");
    return new CreateCq(
        in.integer("cq_id"),
        in.integer("cq_size"),
        in.number("cq_ptr") >>> 1,
        in.integer("shadow_read_threshold"),
        virtual ? 0 : in.number("cq_pa"),
        in.number("shadow_area_pa"),
        virtual ? in.integer("first_pm_pbl_idx") : 0,
        in.integer("tph_val"),
        in.integer("vsi_idx"),
        in.flag("ceq_id_valid") ? in.integer("ceq_id") : 0,
        in.integer("pbl_chunk_size"),
        in.flag("check_overflow"),
        virtual,
        in.flag("ceqe_mask"),
        in.flag("ceq_id_valid"),
        in.flag("tph_en"),
        in.flag("avoid_mem_cflct"));
  }

  private static CqpCommand destroyCq(Json in, int cqId) {
    boolean ccq = cqId == 0 && in.has("cq_id_forced");
    boolean virtual = !ccq && in.flag("virtual_map");
    return new DestroyCq(
        cqId,
        in.integer("cq_size"),
        in.number("cq_ptr") >>> 1,
        in.number("shadow_area_pa"),
        virtual ? in.integer("first_pm_pbl_idx") : 0,
        in.flag("ceq_id_valid") ? in.integer("ceq_id") : 0,
        ccq ? 0 : in.integer("pbl_chunk_size"),
        virtual,
        in.flag("ceqe_mask"),
        in.flag("ceq_id_valid"),
        in.flag("tph_en"),
        in.flag("avoid_mem_cflct"));
  }

  private static CqpCommand modifyCq(Json in) {
    return new ModifyCq(
        in.integer("cq_id"),
        in.integer("info.cq_size"),
        in.number("cq_ptr") >>> 1,
        in.integer("info.shadow_read_threshold"),
        in.number("info.cq_pa"),
        in.number("shadow_area_pa"),
        in.integer("info.first_pm_pbl_idx"),
        in.integer("tph_val"),
        in.integer("vsi_idx"),
        in.flag("info.cq_resize"),
        in.integer("info.pbl_chunk_size"),
        in.flag("info.check_overflow"),
        in.flag("info.virtual_map"),
        in.flag("ceqe_mask"),
        in.flag("tph_en"),
        in.flag("avoid_mem_cflct"));
  }

  private static PageSize pageSize(long bytes) {
    for (PageSize size : PageSize.values()) {
      if (size.bytes() == bytes) {
        return size;
      }
    }
    return PageSize.SIZE_4K;
  }

  private static CqpCommand allocateStag(Json in) {
    if (in.number("total_len") == 0 && !in.flag("all_memory")) {
      throw new Refusal("EINVAL");
    }
    int level = in.integer("chunk_size");
    return new AllocateStag(
        in.number("total_len"),
        in.integer("pd_id"),
        in.integer("stag_idx"),
        in.integer("hmc_fcn_index"),
        level != 0 ? in.integer("first_pm_pbl_idx") : 0,
        true,
        level,
        pageSize(in.number("page_size")).code(),
        in.integer("access_rights"),
        in.flag("remote_access"),
        in.flag("use_hmc_fcn_index"),
        in.flag("use_pf_rid"));
  }

  private static CqpCommand registerMr(Json in) {
    if (in.number("total_len") == 0 && !in.flag("all_memory")) {
      throw new Refusal("EINVAL");
    }
    PageSize size;
    try {
      size = PageSize.of(in.number("page_size"));
    } catch (IllegalArgumentException e) {
      throw new Refusal("EINVAL");
    }
    boolean virtualAddress = in.integer("addr_type") == 1;
    int level = in.integer("chunk_size");
    int rights = in.integer("access_rights");
    return new RegisterMr(
        virtualAddress ? in.number("va") : in.number("va") & (size.bytes() - 1),
        in.number("total_len"),
        in.integer("pd_id"),
        in.integer("stag_key"),
        in.integer("stag_idx"),
        level == 0 ? in.number("reg_addr_pa") : 0,
        in.integer("hmc_fcn_index"),
        level == 0 ? 0 : in.integer("first_pm_pbl_index"),
        true,
        level,
        size.code(),
        rights & RIGHTS,
        (rights & REMOTE_RIGHTS) != 0,
        virtualAddress,
        in.flag("use_hmc_fcn_index"),
        in.flag("use_pf_rid"));
  }

  private static CqpCommand quadHash(Json in) {
    boolean ipv4 = in.flag("ipv4_valid");
    boolean established = in.integer("entry_type") == QHASH_TCP_ESTABLISHED;
    int[] to = words(in, "dest_ip", ipv4);
    int[] from = established ? words(in, "src_ip", ipv4) : new int[4];
    return new ManageQuadHash(
        mac(in, "mac_addr"),
        in.integer("dest_port"),
        established ? in.integer("src_port") : 0,
        in.integer("qp_num"),
        in.has("qs_handle(qos[user_pri])")
            ? in.integer("qs_handle(qos[user_pri])")
            : in.integer("qs_handle"),
        in.flag("vlan_valid") ? in.integer("vlan_id") : 0,
        from[3],
        from[2],
        from[1],
        from[0],
        to[3],
        to[2],
        to[1],
        to[0],
        in.integer("entry_type"),
        in.flag("vlan_valid"),
        ipv4,
        in.integer("manage"));
  }

  /** An IPv4 address is word 0 for the driver and word 3 for the device. */
  private static int[] words(Json in, String name, boolean ipv4) {
    if (ipv4) {
      return new int[] {0, 0, 0, in.integer(name + "[0]")};
    }
    int[] words = new int[4];
    for (int i = 0; i < 4; i++) {
      words[i] = in.integer(name + "[" + i + "]");
    }
    return words;
  }

  private static CqpCommand updateSds(Json in) {
    int count = in.integer("cnt");
    int inBuffer = Math.max(0, count - 3);
    long buffer = in.number("sdbuf_pa") + in.number("cqp_wqe_idx") * 128;
    return new UpdatePeSds(
        in.integer("entry[0].cmd"),
        in.number("entry[0].data"),
        in.integer("hmc_fn_id"),
        inBuffer == 0 ? 0 : buffer / 128,
        count > 1 ? in.integer("entry[1].cmd") : 0,
        count > 1,
        count > 1 ? in.number("entry[1].data") : 0,
        count > 2 ? in.integer("entry[2].cmd") : 0,
        count > 2,
        count > 2 ? in.number("entry[2].data") : 0,
        inBuffer,
        false);
  }

  private static CqpCommand addressHandle(Json in) {
    return new ManageAddressHandle(
        CqpOpcode.of(in.integer("op")),
        in.integer("ah_idx"),
        in.integer("pd_idx"),
        mac(in, "mac_addr"),
        in.flag("insert_vlan_tag"),
        in.integer("vlan_tag"),
        in.integer("tc_tos"),
        in.integer("flow_label"),
        in.integer("hop_ttl"),
        in.integer("dst_arpindex"),
        address(in, "dest_ip_addr"),
        address(in, "src_ip_addr"),
        in.flag("do_lpbk"));
  }

  private static CqpCommand multicastGroup(Json in) {
    if (Integer.compareUnsigned(in.integer("mg_id"), MULTICAST_GROUPS) >= 0) {
      throw new Refusal("EINVAL");
    }
    return new ManageMulticastGroup(
        CqpOpcode.of(in.integer("op")),
        in.integer("mg_id"),
        address(in, "dest_ip_addr"),
        mac(in, "dest_mac_addr"),
        in.flag("vlan_valid"),
        in.integer("vlan_id"),
        in.integer("hmc_fcn_id"),
        in.integer("qs_handle"),
        in.number("dma_mem_mc.pa"));
  }

  private static IpAddress address(Json in, String name) {
    int[] words = words(in, name, in.flag("ipv4_valid"));
    return new IpAddress(in.flag("ipv4_valid"), words[0], words[1], words[2], words[3]);
  }

  /** The group's members, as they stand in host memory before its WQE is posted. */
  private static void members(Vector vector) {
    List<MulticastContext.Member> members = new ArrayList<>();
    for (int i = 0; i < MulticastContext.MEMBERS; i++) {
      String entry = "mg_ctx_info[" + i + "].";
      if (vector.in().flag(entry + "valid_entry")) {
        members.add(
            new MulticastContext.Member(
                vector.in().integer(entry + "qp_id"), vector.in().integer(entry + "dest_port")));
      }
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(MulticastContext.SIZE, 8).fill((byte) 0xee);
      MulticastContext.encode(memory, 0, members);
      assertEquals(
          vector.out().text("mc_ctx"),
          HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE)));
      assertEquals(members, MulticastContext.decode(memory, 0));
    }
  }

  private static Verdict ringSequence(Vector vector) {
    int size = vector.in().integer("sq_size");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate((long) size * CqpWqe.SIZE, 64);
      ControlRing ring = new ControlRing(memory, size);
      int rounds = vector.in().integer("polarity") == 0 && vector.in().integer("head") != 0 ? 1 : 0;
      for (int i = 0; i < rounds * size + vector.in().integer("head"); i++) {
        ring.post(new Nop());
        ring.complete();
      }
      int i = 0;
      for (Json step : vector.out().list("steps")) {
        if (i++ >= 40) {
          ring.complete();
        }
        int slot = ring.post(new Nop());
        long header = LittleEndian.getLong(memory, (long) slot * CqpWqe.SIZE + CqpWqe.HEADER);
        assertEquals(step.list().get(0).number(), slot);
        assertEquals(step.list().get(1).number(), CqpWqe.VALID.decode(header));
        assertEquals(step.list().get(2).number(), ring.head());
      }
    }
    return Verdict.PASSED;
  }

  private static Verdict ringFull(Vector vector) {
    int size = vector.in().integer("sq_size");
    try (Arena arena = Arena.ofConfined()) {
      ControlRing ring = new ControlRing(arena.allocate((long) size * CqpWqe.SIZE, 64), size);
      int posts = 0;
      while (ring.post(new Nop()) >= 0) {
        posts++;
      }
      assertEquals(vector.out().integer("posts_until_full"), posts);
    }
    return Verdict.PASSED;
  }
}
