package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.ControlRing;
import irdma4j.driver.ring.RecordingBar;
import irdma4j.driver.ring.RingSizes;
import irdma4j.hmc.FpmLimits;
import irdma4j.hmc.HmcFunction;
import irdma4j.hmc.HmcFunctions;
import irdma4j.hmc.HmcPlan;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SizingPolicy;
import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.FieldRangeException;
import irdma4j.hwregs.Generation;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.ControlQueueContext;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.pble.PblePool;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The way from a cold function to event queues and back, register by register. */
class BringUpVectorsTest {
  private static final long TIMEOUT_NANOS = 10_000_000;
  private static final int PBLE_CHUNK_PAGES = 512;
  private static final int TYPE_SHIFT = 48;

  @Test
  void bringup() {
    VectorSuite.run("bringup", BringUpVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    return switch (vector.function()) {
      case "irdma_sc_cqp_create(host_ctx)" -> hostContext(vector);
      case "irdma_sc_cqp_init(sq_size check)" -> ringSize(vector);
      case "irdma_sc_dev_init" -> firmware(vector);
      case "irq_ops" -> interrupts(vector);
      case "irdma_sc_cqp_create" -> creationFails(vector);
      case "irdma_sc_cqp_destroy" -> destructionFails(vector);
      case "full_bringup_teardown" -> upAndDown(vector);
      case "cqp_error_noccq" -> failureInTail(vector);
      case "cqp_error_ccq" -> failureInCompletion(vector);
      case "irdma_get_rdma_features" -> features(vector);
      default -> throw new IllegalArgumentException("unknown function");
    };
  }

  private static Verdict hostContext(Vector vector) {
    Json in = vector.in();
    Json out = vector.out();
    MemorySegment memory = MemorySegment.ofArray(new long[CqpHostContext.SIZE / Long.BYTES]);
    int slots = in.integer("sq_size");
    ControlRing.requireSize(slots);
    ControlQueueContext context =
        new ControlQueueContext(
                in.integer("struct_ver"),
                in.flag("disable_packed"),
                in.flag("rocev2_rto_policy"),
                ControlQueueContext.Protocol.of(in.integer("protocol_used")),
                0,
                in.integer("ceqs_per_vf"),
                0,
                in.integer("hmc_profile"),
                in.integer("ena_vf_count"),
                in.number("cqp_ptr"),
                in.integer("hw_min_ver"),
                in.integer("hw_maj_ver"),
                new ControlQueueContext.Congestion(
                    in.flag("cc_cfg_valid"),
                    in.integer("min_rate"),
                    in.integer("min_dec_factor"),
                    in.integer("dcqcn_f"),
                    in.integer("rai_factor"),
                    in.integer("hai_factor"),
                    in.integer("dcqcn_t"),
                    in.integer("dcqcn_b"),
                    in.integer("rreduce_mperiod")))
            .withRing(in.number("sq_pa"), RingSizes.encodedControl(slots));
    try {
      context.encode(memory, 0);
    } catch (FieldRangeException e) {
      assertTrue(vector.isOver(), e.getMessage());
      return new Verdict.Refused("wider than " + e.field().name());
    }
    assertEquals(out.integer("hw_sq_size"), RingSizes.encodedControl(slots));
    assertEquals(
        out.text("host_ctx"), HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE)));
    assertEquals(context, ControlQueueContext.decode(memory, 0));
    try (ScriptedCard card = new ScriptedCard()) {
      Bench.control(card, slots).close();
      List<ScriptedCard.Event> theirs = RecordedTrace.events(out.list("events"));
      new RecordedTrace().compare(theirs, card.take().subList(0, theirs.size()));
    }
    return Verdict.PASSED;
  }

  private static Verdict ringSize(Vector vector) {
    int slots = vector.in().integer("sq_size");
    switch (vector.out().text("ret")) {
      case "OK" -> ControlRing.requireSize(slots);
      case "EINVAL" ->
          assertThrows(IllegalArgumentException.class, () -> ControlRing.requireSize(slots));
      default -> throw new IllegalArgumentException(vector.out().text("ret"));
    }
    return Verdict.PASSED;
  }

  private static Verdict firmware(Vector vector) {
    Json out = vector.out();
    try (ScriptedCard card = new ScriptedCard()) {
      card.preset(Registers.GLPE_CPUSTATUS0.offset(), vector.in().integer("GLPE_CPUSTATUS0"));
      card.preset(Registers.GLPE_CPUSTATUS1.offset(), vector.in().integer("GLPE_CPUSTATUS1"));
      card.preset(Registers.GLPE_CPUSTATUS2.offset(), vector.in().integer("GLPE_CPUSTATUS2"));
      card.preset(Registers.GLPCI_LBARCTRL.offset(), vector.in().integer("GLPCI_LBARCTRL"));
      if (out.text("ret").equals("OK")) {
        Firmware.await(card.bar(0), card.clock());
        limits(out);
      } else {
        assertThrows(RdmaException.class, () -> Firmware.await(card.bar(0), card.clock()));
      }
      List<ScriptedCard.Event> ours = card.take();
      assertEquals(out.integer("nevents"), ours.size());
      assertEquals(RecordedTrace.events(out.list("events")), ours);
    }
    return Verdict.PASSED;
  }

  private static void limits(Json out) {
    Generation card = Generation.GEN_2;
    assertEquals(out.number("db_addr_minus_bar"), Registers.DOORBELL_PAGE);
    assertEquals(out.integer("uk.hw_rev"), card.revision());
    assertEquals(out.integer("uk.max_hw_wq_frags"), card.maxFragments());
    assertEquals(out.integer("uk.max_hw_read_sges"), card.maxReadFragments());
    assertEquals(out.integer("uk.max_hw_inline"), card.maxInline());
    assertEquals(out.integer("uk.max_hw_rq_quanta"), card.maxQuanta());
    assertEquals(out.integer("uk.max_hw_wq_quanta"), card.maxQuanta());
    assertEquals(out.integer("uk.max_hw_sq_chunk"), card.quantaPerWqe());
    assertEquals(out.integer("uk.max_hw_cq_size"), card.maxCqEntries());
    assertEquals(out.integer("max_hw_ceq_size"), card.maxCeqEntries());
    assertEquals(out.integer("max_hw_aeq_size"), card.maxAeqEntries());
    assertEquals(out.number("max_hw_outbound_msg_size"), card.maxMessage());
    assertEquals(out.number("max_hw_inbound_msg_size"), card.maxMessage());
    assertEquals(out.number("max_mr_size"), card.maxRegion());
    assertEquals(out.number("page_size_cap"), card.pageSizes());
    assertEquals(out.integer("max_hw_ird"), card.maxReadsIn());
    assertEquals(out.integer("max_hw_ord"), card.maxReadsOut());
    assertEquals(out.integer("max_qp_wr"), card.maxWorkRequests());
    assertEquals(out.integer("max_hw_pds"), card.maxProtectionDomains());
    assertEquals(out.integer("max_hw_ena_vf_count"), card.maxVirtualFunctions());
    assertEquals(out.integer("first_hw_vf_fpm_id"), card.firstVfFunction());
    assertEquals(out.integer("max_hw_vf_fpm_id"), card.lastVfFunction());
    assertEquals(out.integer("max_hw_device_pages"), card.pushPages());
    assertEquals(out.integer("max_stat_inst"), card.statisticsInstances());
  }

  private static Verdict interrupts(Vector vector) {
    Json in = vector.in();
    RecordingBar bar = new RecordingBar();
    InterruptVectors vectors =
        new InterruptVectors(bar, in.integer("aeq_msix_idx"), in.integer("ceq_itr"));
    int vectorIndex = in.integer("idx");
    boolean enable = in.flag("enable");
    assertEquals("en_irq,dis_irq,cfg_ceq,cfg_aeq", vector.out().text("order"));
    vectors.enable(vectorIndex);
    vectors.disable(vectorIndex);
    vectors.configureCeq(in.integer("ceq_id"), vectorIndex, enable);
    vectors.configureAeq(vectorIndex, enable);
    List<RecordingBar.Access> theirs = new ArrayList<>();
    for (Json write : vector.out().list("regs")) {
      theirs.add(
          new RecordingBar.Access(
              write.text("op").equals("W"), write.number("reg"), write.integer("val")));
    }
    List<RecordingBar.Access> ours = bar.take();
    if (theirs.equals(ours)) {
      return Verdict.PASSED;
    }
    // Their CEQ names no throttle (3), so that the interval that they have just set is nobody's.
    assertTrue(in.integer("ceq_itr") > 0 && vectorIndex != in.integer("aeq_msix_idx"));
    long named = Registers.CEQCTL_ITR_INDX.mask();
    for (int i = 0; i < theirs.size(); i++) {
      RecordingBar.Access their = theirs.get(i);
      boolean cause = i == 2;
      assertEquals(
          cause
              ? new RecordingBar.Access(
                  their.write(), their.offset(), (int) (their.value() & ~named))
              : their,
          ours.get(i));
    }
    return new Verdict.Departed("a throttle is set and then not named");
  }

  private static Verdict creationFails(Vector vector) {
    Json out = vector.out();
    boolean silent = out.text("ret").equals("ETIMEDOUT");
    try (ScriptedCard card = new ScriptedCard()) {
      List<ScriptedCard.Event> theirs = List.of();
      if (silent) {
        card.answerCreation(0);
      } else {
        theirs = RecordedTrace.events(out.list("events"));
        card.answerCreation(statusRead(theirs));
      }
      card.preset(Registers.PFPE_CQPERRCODES.offset(), 0xdead_0bad);
      RdmaException e = assertThrows(RdmaException.class, () -> Bench.control(card, 64));
      // Some of the recordings name the codes, and all were made with these.
      if (out.has("maj")) {
        assertEquals(0xdead, out.integer("maj"));
        assertEquals(0xbad, out.integer("min"));
      }
      assertTrue(e.getMessage().contains("major 0xdead, minor 0x0bad"), e.getMessage());
      List<ScriptedCard.Event> ours = card.take();
      // The recording begins after the three registers that are cleared first.
      new RecordedTrace().compare(theirs, ours.subList(3, silent ? 3 : ours.size()));
    }
    return Verdict.PASSED;
  }

  private static int statusRead(List<ScriptedCard.Event> events) {
    for (ScriptedCard.Event event : events) {
      if (event instanceof ScriptedCard.Event.Access(boolean write, long offset, int value)
          && !write
          && offset == Registers.PFPE_CCQPSTATUS.offset()) {
        return value;
      }
    }
    throw new IllegalArgumentException("the status was not read");
  }

  private static Verdict destructionFails(Vector vector) {
    assertEquals("ETIMEDOUT", vector.out().text("ret"));
    try (ScriptedCard card = new ScriptedCard()) {
      ControlQueue control = Bench.control(card, 64);
      card.answerDestruction(1);
      RdmaException e = assertThrows(RdmaException.class, control::close);
      assertTrue(e.getMessage().contains("did not let go"), e.getMessage());
      assertEquals(0, card.dmaUsage().currentBytes());
    }
    return Verdict.PASSED;
  }

  private static Verdict failureInTail(Vector vector) {
    List<Json> trace = vector.out().list("events");
    int codes = 0;
    for (Json event : trace) {
      if (event.text("op").equals("R")
          && event.number("reg") == Registers.PFPE_CQPERRCODES.offset()) {
        codes = event.integer("val");
      }
    }
    try (ScriptedCard card = new ScriptedCard()) {
      ControlQueue control = Bench.control(card, 64);
      fails(
          vector,
          card,
          control,
          new ScriptedCard.Failure(
              (int) Registers.CQPERRCODES_CQP_MAJOR_CODE.decode(codes),
              (int) Registers.CQPERRCODES_CQP_MINOR_CODE.decode(codes)));
      control.close();
    }
    return Verdict.PASSED;
  }

  private static Verdict failureInCompletion(Vector vector) {
    MemorySegment cqe = MemorySegment.ofArray(new long[ControlCqe.SIZE / Long.BYTES]);
    for (Json event : vector.out().list("events")) {
      if (event.text("op").equals("fw_ccqe")) {
        byte[] bytes = event.bytes("hex");
        MemorySegment.copy(bytes, 0, cqe, ValueLayout.JAVA_BYTE, 0, bytes.length);
      }
    }
    try (ScriptedCard card = new ScriptedCard()) {
      ControlQueue control = Bench.control(card, 64);
      ControlCompletions completions = Bench.completions(card, control, 64);
      fails(
          vector,
          card,
          control,
          new ScriptedCard.Failure(
              (int) ControlCqe.MAJERR.get(cqe, 0), (int) ControlCqe.MINERR.get(cqe, 0)));
      Bench.close(control, completions);
    }
    return Verdict.PASSED;
  }

  /** The trace's operation, done again, fails in the same way. */
  private static void fails(
      Vector vector, ScriptedCard card, ControlQueue control, ScriptedCard.Failure failure) {
    assertEquals("EIO", vector.out().text("ret"));
    assertTrue(failure.major() != 0 && failure.minor() != 0, "no failure in the trace");
    List<Json> trace = vector.out().list("events");
    Json recorded =
        trace.stream()
            .filter(event -> event.text("op").equals("cqp_wqe"))
            .findFirst()
            .orElseThrow();
    MemorySegment wqe = MemorySegment.ofArray(new long[CqpWqe.SIZE / Long.BYTES]);
    MemorySegment.copy(
        recorded.bytes("hex"), 0, wqe, ValueLayout.JAVA_BYTE, 0, (int) wqe.byteSize());
    CqpCommand command = CqpCommand.decode(wqe, 0);
    Bench.skipTo(control, recorded.integer("idx"));
    card.fail(command.opcode(), failure);
    card.take();
    ControlQueueException e =
        assertThrows(ControlQueueException.class, () -> control.execute(command));
    assertEquals(failure.major(), e.major());
    assertEquals(failure.minor(), e.minor());
    assertEquals(command.opcode(), e.opcode());
    new RecordedTrace().compare(RecordedTrace.events(trace), card.take());
  }

  private static Verdict features(Vector vector) {
    Json out = vector.out();
    try (ScriptedCard card = new ScriptedCard()) {
      card.answerFeatures(vector.in().bytes("fw_buf"));
      ControlQueue control = Bench.control(card, 64);
      ControlCompletions completions = Bench.completions(card, control, 64);
      List<Json> trace = out.list("events");
      Bench.skipTo(control, trace.get(2).integer("idx"));
      card.take();
      Map<Integer, Long> theirs = new TreeMap<>();
      List<Json> values = out.list("feature_info");
      assertEquals(DeviceFeatures.TYPES, values.size());
      for (int type = 0; type < values.size(); type++) {
        long word = values.get(type).number();
        if (word != 0) {
          assertEquals(type, word >>> TYPE_SHIFT);
          theirs.put(type, word & (1L << TYPE_SHIFT) - 1);
        }
      }
      if (out.text("ret").equals("OK")) {
        assertEquals(theirs, DeviceFeatures.query(card, control).values());
      } else {
        assertThrows(RdmaException.class, () -> DeviceFeatures.query(card, control));
      }
      new RecordedTrace().compare(RecordedTrace.events(trace), card.take());
      Bench.close(control, completions);
      assertEquals(0, card.dmaUsage().currentBytes());
    }
    return Verdict.PASSED;
  }

  private static Verdict upAndDown(Vector vector) {
    Json out = vector.out();
    assertEquals("OK", out.text("ctrl_init_ret"));
    try (ScriptedCard card = new ScriptedCard()) {
      card.answerFpm(vector.in().bytes("query_buf"));
      card.answerFeatures(featuresOf(out));
      ControlQueue control =
          new ControlQueue(
              card,
              card.bar(0),
              DeviceConfig.defaults().controlContext(),
              ControlQueue.SLOTS,
              TIMEOUT_NANOS);
      control.create();
      FunctionMemory memory =
          new FunctionMemory(
              card, control, new HmcFunctions(card, control::programmer), HmcFunction.physical(0));
      FpmLimits limits = memory.query();
      HmcPlan plan =
          SizingPolicy.LINUX.plan(
              limits, new HmcRequest(vector.in().number("qp_count"), HmcProfile.DEFAULT, false));
      HostMemoryCache cache = memory.commit(limits, plan, SegmentType.DIRECT);
      objects(out.get("objs"), limits, cache);
      memory.createObjects(cache);
      ControlCompletions completions = Bench.completions(card, control, ControlQueue.SLOTS);
      DeviceFeatures features = DeviceFeatures.query(card, control);
      Map<Integer, Long> words = new TreeMap<>();
      for (Json word : out.list("feature_info")) {
        words.put((int) (word.number() >>> TYPE_SHIFT), word.number() & (1L << TYPE_SHIFT) - 1);
      }
      assertEquals(words, features.values());
      long queues = cache.layout().of(HmcObject.CQ).count();
      long pairs = cache.layout().of(HmcObject.QP).count();
      EventQueues events =
          new EventQueues(
              card,
              card.bar(0),
              control,
              new InterruptVectors(card.bar(0), 0, 0),
              new EventPlan((int) queues, (int) (pairs + queues), 0, 1));
      events.createCeq();
      completions.arm();
      events.createCeq();
      PblePool pbles = new PblePool(cache, PBLE_CHUNK_PAGES);
      events.createAeq();
      events.destroyAeq();
      pbles.close();
      events.destroyCeq();
      events.destroyCeq();
      Bench.destroy(control, completions);
      memory.deleteObjects(cache);
      control.close();
      assertEquals(0, card.dmaUsage().currentBytes());
      new RecordedTrace()
          .compare(withCauseCleared(RecordedTrace.events(out.list("events"))), card.take());
    }
    return new Verdict.Departed("Linux leaves the cause of CEQ 0's interrupt enabled; ours is off");
  }

  /** Linux's trace with the write that it leaves out: CEQ 0's vector is taken away. */
  private static List<ScriptedCard.Event> withCauseCleared(List<ScriptedCard.Event> events) {
    List<ScriptedCard.Event> all = new ArrayList<>(events);
    var quiet = new ScriptedCard.Event.Access(true, Registers.GLINT_DYN_CTL.offset(1), 0);
    int at = all.lastIndexOf(quiet);
    int cause = (int) (Registers.CEQCTL_MSIX_INDX.encode(1) | Registers.CEQCTL_ITR_INDX.encode(3));
    var missing = new ScriptedCard.Event.Access(true, Registers.GLINT_CEQCTL.offset(0), cause);
    assertTrue(at > 0 && !all.contains(missing), "Linux clears the cause too");
    all.add(at, missing);
    return all;
  }

  /** The buffer that answers QUERY_RDMA_FEATURES with what a vector found in it. */
  static byte[] featuresOf(Json out) {
    List<Json> words = out.list("feature_info");
    MemorySegment bytes = MemorySegment.ofArray(new byte[words.size() * Long.BYTES]);
    for (int i = 0; i < words.size(); i++) {
      bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, (long) i * Long.BYTES, words.get(i).number());
    }
    return bytes.toArray(ValueLayout.JAVA_BYTE);
  }

  private static void objects(Json theirs, FpmLimits limits, HostMemoryCache cache) {
    for (HmcObject kind : HmcObject.values()) {
      Json one = theirs.get(kind.name());
      assertEquals(one.number("max_cnt"), limits.of(kind).maxCount(), kind + " at most");
      assertEquals(one.number("size"), limits.of(kind).size(), kind + " size");
      assertEquals(one.number("cnt"), cache.layout().of(kind).count(), kind + " count");
      assertEquals(one.number("base"), cache.layout().of(kind).base(), kind + " base");
    }
  }
}
