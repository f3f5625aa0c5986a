package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.FieldRangeException;
import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.StaticHmcPages;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcDevice;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The groups {@code hmc} and {@code hmc_squeeze}: reading the FPM buffers, sizing as Linux sizes,
 * and what the device is told when objects come and go.
 *
 * <p>Each case runs alone, from its inputs: a case of step n repeats the steps before it.
 */
final class HmcVectorsTest {
  private static final int IWARP_ONLY = 1;

  /** The order in which the recorded driver makes and removes objects. */
  private static final List<HmcObject> STEPS = steps();

  private static List<HmcObject> steps() {
    List<HmcObject> steps = new ArrayList<>(List.of(HmcObject.values()));
    steps.remove(HmcObject.PBLE);
    steps.add(steps.indexOf(HmcObject.Q1FL) + 1, HmcObject.PBLE);
    return steps;
  }

  private static final Verdict SHARED_SEGMENT_FREED_EARLY =
      new Verdict.Departed(
          "Linux takes the PBLEs off a shared segment or page that it never counted them on, and"
              + " gives it back one object early; here it goes with its last user");

  private static final Verdict BY_HIGHEST_BASE =
      new Verdict.Departed(
          "Linux takes the end of the object with the highest base for the end of all; this answer"
              + " of the device overlaps or leaves the card's segments, and is refused");

  @Test
  void hmc() {
    VectorSuite.run("hmc", HmcVectorsTest::judge);
  }

  @Test
  void hmcSqueeze() {
    VectorSuite.run("hmc_squeeze", HmcVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    return switch (vector.function()) {
      case "irdma_sc_parse_fpm_query_buf" -> parseQuery(vector);
      case "irdma_sc_parse_fpm_commit_buf" -> parseCommit(vector);
      case "irdma_cfg_fpm_val" -> configure(vector);
      case "irdma_sc_create_hmc_obj" -> create(vector);
      case "irdma_sc_create_hmc_obj_args" -> createRange(vector);
      case "irdma_sc_del_hmc_obj" -> delete(vector);
      case "irdma_sc_static_hmc_pages_allocated_trace" -> staticPages(vector);
      case "irdma_set_sd_entry" -> segmentDescriptor(vector);
      default -> throw new IllegalArgumentException(vector.function());
    };
  }

  private static Verdict parseQuery(Vector vector) {
    MemorySegment buffer = words(vector.in().bytes("query_buf"));
    if (!vector.out().text("ret").equals("OK")) {
      assertThrows(HmcException.class, () -> FpmLimits.parse(buffer));
      return Verdict.PASSED;
    }
    FpmLimits limits = FpmLimits.parse(buffer);
    assertLimits(vector.out(), limits);
    return Verdict.PASSED;
  }

  private static void assertLimits(Json out, FpmLimits limits) {
    Json objects = out.get("objs");
    for (HmcObject kind : HmcObject.values()) {
      Json object = objects.get(kind.name());
      assertEquals(object.number("max_cnt"), limits.of(kind).maxCount(), kind + " max_cnt");
      assertEquals(object.number("size"), limits.of(kind).size(), kind + " size");
    }
    Json misc = out.get("misc");
    assertEquals(misc.number("max_ceqs"), limits.maxCeqs());
    assertEquals(misc.number("max_sds"), limits.maxSegments());
    assertEquals(misc.number("xf_block_size"), limits.xfBlockSize());
    assertEquals(misc.number("q1_block_size"), limits.q1BlockSize());
    assertEquals(misc.number("ht_multiplier"), limits.hashTableMultiplier());
    assertEquals(misc.number("timer_bucket"), limits.timerBucket());
    assertEquals(misc.number("rrf_block_size"), limits.rrfBlockSize());
    assertEquals(misc.number("ooiscf_block_size"), limits.ooiscBlockSize());
    assertEquals(misc.number("first_sd_index"), limits.firstSegment());
  }

  private static Verdict parseCommit(Vector vector) {
    MemorySegment buffer = words(vector.in().bytes("commit_buf"));
    List<Json> sizes = vector.in().list("obj_sizes");
    EnumMap<HmcObject, FpmLimits.Limit> objects = new EnumMap<>(HmcObject.class);
    EnumMap<HmcObject, Long> counts = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      objects.put(kind, new FpmLimits.Limit(0xffffffffL, sizes.get(kind.id()).number()));
      counts.put(kind, 1L);
    }
    FpmLimits limits = new FpmLimits(objects, 0, 1 << 13, 0, 1, 1, 1, 1, 1, 1);
    for (HmcObject kind : HmcObject.values()) {
      Json object = vector.out().get("objs").get(kind.name());
      HmcLayout.Area area = HmcLayout.area(buffer, kind, limits);
      assertEquals(object.number("cnt"), area.count(), kind + " cnt");
      assertEquals(object.number("base"), area.base(), kind + " base");
    }
    HmcLayout layout;
    try {
      layout = HmcLayout.parse(buffer, new HmcPlan(counts, 0, 1, List.of()), limits);
    } catch (HmcException e) {
      return BY_HIGHEST_BASE;
    }
    if (vector.out().number("sd_cnt") != layout.segments()) {
      // Only objects at address 0 have no highest base.
      assertTrue(
          HmcLayout.area(buffer, HmcObject.APBVT, limits).base() == 0
              && vector.out().number("sd_cnt") == 0,
          "sd_cnt " + layout.segments());
      return new Verdict.Departed("where all bases are 0, Linux looks at QPs alone");
    }
    return Verdict.PASSED;
  }

  private static HmcPlan plan(Json in, FpmLimits limits) {
    return HmcSizing.linux(
        limits,
        in.number("qp_count"),
        profile(in.integer("hmc_profile")),
        in.number("protocol_used") == IWARP_ONLY);
  }

  private static HmcProfile profile(int code) {
    for (HmcProfile profile : HmcProfile.values()) {
      if (profile.code() == code) {
        return profile;
      }
    }
    throw new IllegalArgumentException("profile " + code);
  }

  private static Verdict configure(Vector vector) {
    FpmLimits limits = FpmLimits.parse(words(vector.in().bytes("query_buf")));
    assertLimits(vector.out(), limits);
    if (!vector.out().text("ret").equals("OK")) {
      assertThrows(HmcException.class, () -> plan(vector.in(), limits));
      return Verdict.PASSED;
    }
    HmcPlan plan = plan(vector.in(), limits);
    assertEquals(vector.out().number("est_sd"), plan.segments(), "est_sd");
    MemorySegment buffer = Arena.ofAuto().allocate(FpmCommitBuffer.SIZE, 8);
    plan.encode(buffer);
    assertArrayEquals(
        vector.out().bytes("commit_in"), buffer.toArray(ValueLayout.JAVA_BYTE), "commit_in");
    Firmware.answer(buffer, limits, vector.in().number("fw_order") == 0);
    assertArrayEquals(
        vector.out().bytes("commit_out"), buffer.toArray(ValueLayout.JAVA_BYTE), "commit_out");
    HmcLayout layout = HmcLayout.parse(buffer, plan, limits);
    assertEquals(
        vector.out().get("misc").number("sd_cnt"), layout.segments(), "segments of the layout");
    for (HmcObject kind : HmcObject.values()) {
      Json object = vector.out().get("objs").get(kind.name());
      assertEquals(object.number("cnt"), plan.count(kind), kind + " planned");
      assertEquals(object.number("cnt"), layout.of(kind).count(), kind + " cnt");
      if (layout.of(kind).count() != 0) {
        assertEquals(object.number("base"), layout.of(kind).base(), kind + " base");
        assertRange(vector.out().get("ranges").get(kind.name()), layout, kind);
      }
    }
    return Verdict.PASSED;
  }

  /** The segments and pages that a kind's objects touch, and the first beyond. */
  private static void assertRange(Json range, HmcLayout layout, HmcObject kind) {
    FakePciFunction function = new FakePciFunction();
    HmcDevice device = new HmcDevice(function, layout.segments());
    try (HostMemoryCache cache =
        new HostMemoryCache(function, device, layout, SegmentType.DIRECT)) {
      FpmLocation first = cache.locate(layout.of(kind).base());
      FpmLocation last = cache.locate(layout.of(kind).end() - 1);
      assertEquals(kind, first.kind());
      assertEquals(layout.of(kind).count() - 1, last.index());
      assertEquals(range.number("sd_idx"), first.segment());
      assertEquals(range.number("sd_lmt"), last.segment() + 1);
      assertEquals(range.number("pd_idx"), first.segment() * 512L + first.page());
      assertEquals(range.number("pd_lmt"), last.segment() * 512L + last.page() + 1);
    }
  }

  /** The cache of a case, after the steps before it. */
  private static final class Replay implements AutoCloseable {
    final FakePciFunction function = new FakePciFunction();
    final HmcDevice device;
    final HmcLayout layout;
    final HostMemoryCache cache;

    Replay(Json in) {
      FpmLimits limits = FpmLimits.parse(words(in.bytes("query_buf")));
      layout = Firmware.layout(plan(in, limits), limits, in.number("fw_order") == 0);
      function.startAt(RecordedEvents.FIRST_OBJECT_IOVA);
      device = new HmcDevice(function, layout.segments());
      cache =
          new HostMemoryCache(function, device, layout, SegmentType.valueOf(in.text("sd_type")));
    }

    void createBefore(int step) {
      STEPS.subList(0, step).forEach(this::create);
    }

    void create(HmcObject kind) {
      // The PBLE pool backs its own.
      if (kind != HmcObject.PBLE) {
        cache.create(kind);
      }
    }

    void forgetEvents() {
      function.takeEvents();
      device.takeUpdates();
      device.takeInvalidations();
    }

    @Override
    public void close() {
      cache.close();
      assertEquals(0, function.dmaUsage().currentBytes());
    }
  }

  private static Verdict create(Vector vector) {
    try (Replay replay = new Replay(vector.in())) {
      HmcObject kind = HmcObject.valueOf(vector.in().text("rsrc"));
      assertEquals(vector.in().number("step"), STEPS.indexOf(kind));
      replay.createBefore(STEPS.indexOf(kind));
      replay.forgetEvents();
      assertEquals(vector.in().number("base"), replay.layout.of(kind).base());
      assertEquals(vector.in().number("size"), replay.layout.of(kind).size());
      assertEquals(vector.in().number("cnt"), replay.layout.of(kind).count());
      replay.create(kind);
      RecordedEvents.assertSame(vector.out().list("events"), replay.function, replay.device);
      return Verdict.PASSED;
    }
  }

  private static Verdict createRange(Vector vector) {
    Json in = vector.in();
    long first = in.number("start_idx");
    long count = in.number("count");
    EnumMap<HmcObject, HmcLayout.Area> areas = new EnumMap<>(HmcObject.class);
    areas.put(HmcObject.QP, new HmcLayout.Area(0, in.number("obj_cnt"), 512));
    FakePciFunction function = new FakePciFunction();
    HmcDevice device = new HmcDevice(function, 4);
    function.startAt(RecordedEvents.FIRST_OBJECT_IOVA);
    try (HostMemoryCache cache =
        new HostMemoryCache(function, device, new HmcLayout(areas, 4), SegmentType.DIRECT)) {
      if (vector.out().text("ret").equals("EINVAL")) {
        assertThrows(HmcException.class, () -> cache.create(HmcObject.QP, first, count));
        assertTrue(function.takeEvents().isEmpty());
        return Verdict.PASSED;
      }
      cache.create(HmcObject.QP, first, count);
      if (vector.out().text("ret").startsWith("SKIPPED")) {
        assertTrue(function.takeEvents().isEmpty());
        return new Verdict.Departed("no objects from 0 on: Linux underflows; here nothing happens");
      }
      RecordedEvents.assertSame(vector.out().list("events"), function, device);
      return Verdict.PASSED;
    }
  }

  private static Verdict delete(Vector vector) {
    try (Replay replay = new Replay(vector.in())) {
      replay.createBefore(STEPS.size());
      HmcObject kind = HmcObject.valueOf(vector.in().text("rsrc"));
      STEPS.subList(0, STEPS.indexOf(kind)).forEach(replay.cache::delete);
      replay.forgetEvents();
      replay.cache.delete(kind);
      assertEquals("OK", vector.out().text("ret"));
      Map<Integer, Long> table = replay.device.table();
      try {
        RecordedEvents.assertSame(vector.out().list("events"), replay.function, replay.device);
        assertEquals(recordedSegments(vector.out()), table.keySet());
        return Verdict.PASSED;
      } catch (AssertionError difference) {
        // From the deletion of the PBLEs on, Linux lacks a user on each segment that they share.
        if (!sharesWithPbles(replay.layout, kind)) {
          throw difference;
        }
        Set<Integer> expected = liveSegments(replay, kind);
        assertEquals(expected, table.keySet());
        return SHARED_SEGMENT_FREED_EARLY;
      }
    }
  }

  private static Set<Integer> recordedSegments(Json out) {
    Set<Integer> valid = new TreeSet<>();
    for (Json entry : out.list("sd_table")) {
      if (entry.flag("valid")) {
        valid.add(entry.integer("sd"));
      }
    }
    return valid;
  }

  /** Whether an object of the kind lies in a segment in which PBLEs lie too. */
  private static boolean sharesWithPbles(HmcLayout layout, HmcObject kind) {
    HmcLayout.Area pbles = layout.of(HmcObject.PBLE);
    HmcLayout.Area area = layout.of(kind);
    long segment = HostMemoryCache.SEGMENT_SIZE;
    return STEPS.indexOf(kind) >= STEPS.indexOf(HmcObject.PBLE)
        && area.base() / segment <= (pbles.end() - 1) / segment
        && pbles.base() / segment <= (area.end() - 1) / segment;
  }

  /** The segments in which objects of later kinds lie. */
  private static Set<Integer> liveSegments(Replay replay, HmcObject deleted) {
    Set<Integer> live = new TreeSet<>();
    for (HmcObject kind : HmcObject.values()) {
      HmcLayout.Area area = replay.layout.of(kind);
      if (STEPS.indexOf(kind) > STEPS.indexOf(deleted)
          && kind != HmcObject.PBLE
          && area.count() != 0) {
        for (long at = area.base(); at < area.end(); at += area.size()) {
          live.add((int) (at / HostMemoryCache.SEGMENT_SIZE));
        }
        live.add((int) ((area.end() - 1) / HostMemoryCache.SEGMENT_SIZE));
      }
    }
    return live;
  }

  private static Verdict staticPages(Vector vector) {
    // The case has no inputs; what it records is the same in each: one operation, and its opcode.
    for (Json event : vector.out().list("events")) {
      if (event.text("op").equals("cqp_wqe")) {
        assertEquals(
            UpdateBytes.withoutRing(List.of(event.text("hex"))),
            UpdateBytes.of(new StaticHmcPages(0)));
      }
    }
    return Verdict.PASSED;
  }

  private static Verdict segmentDescriptor(Vector vector) {
    Json in = vector.in();
    SegmentType type = SegmentType.valueOf(in.text("type"));
    int index = in.integer("sd_idx");
    SegmentUpdate set = new SegmentUpdate(index, type, in.number("pa"), true);
    assertEquals(vector.out().integer("set_cmd"), set.command());
    assertEquals(vector.out().number("set_data"), set.data());
    SegmentUpdate clear = new SegmentUpdate(index, type, 0, false);
    assertEquals(vector.out().integer("clr_cmd"), clear.command());
    assertEquals(vector.out().number("clr_data"), clear.data());
    if (index > Registers.PDINV_PMSDIDX.max()) {
      assertThrows(FieldRangeException.class, () -> Registers.PDINV_PMSDIDX.encode(index));
      return new Verdict.Departed(
          "PDINV names a segment in 12 bits: Linux invalidates another one, here it is refused");
    }
    int page = (int) (in.number("pd_idx") % Segment.PAGES);
    for (Json event : vector.out().list("pdinv_regs")) {
      assertEquals(Registers.PFHMC_PDINV.offset(), event.number("reg"));
      assertEquals(
          event.number("val"),
          Registers.PDINV_PMSDIDX.encode(index)
              | Registers.PDINV_PMSDPARTSEL.encode(1)
              | Registers.PDINV_PMPDIDX.encode(page));
    }
    return Verdict.PASSED;
  }

  private static MemorySegment words(byte[] bytes) {
    MemorySegment segment = Arena.ofAuto().allocate(bytes.length, 8);
    MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return segment;
  }
}
