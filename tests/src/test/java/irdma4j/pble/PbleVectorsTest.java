package irdma4j.pble;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.RecordedEvents;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcDevice;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The groups {@code pble} and {@code mr_pbl}: which indices a sequence of requests gets, how the
 * pool grows and what the device is told of it, and what page lists hold.
 */
final class PbleVectorsTest {
  private static final Verdict ZERO_REFUSED =
      new Verdict.Departed(
          "Linux grants a request for no PBLEs, at an index that is someone else's; here it is"
              + " refused");

  @Test
  void pble() {
    VectorSuite.run("pble", PbleVectorsTest::sequence);
  }

  @Test
  void pageLists() {
    VectorSuite.run("mr_pbl", PbleVectorsTest::pageList);
  }

  /** A function with a PBLE area and, before it, queue pairs that share its first segment. */
  private static final class Fixture implements AutoCloseable {
    final FakePciFunction function = new FakePciFunction();
    final HmcDevice device;
    final HostMemoryCache cache;

    Fixture(long base, long count, long segments, SegmentType type) {
      EnumMap<HmcObject, HmcLayout.Area> areas = new EnumMap<>(HmcObject.class);
      areas.put(HmcObject.QP, new HmcLayout.Area(0, base / 512, 512));
      areas.put(HmcObject.PBLE, new HmcLayout.Area(base, count, 8));
      function.startAt(RecordedEvents.FIRST_OBJECT_IOVA);
      device = new HmcDevice(function, segments);
      cache = new HostMemoryCache(function, device, new HmcLayout(areas, segments), type);
    }

    @Override
    public void close() {
      cache.close();
      assertEquals(0, function.dmaUsage().currentBytes());
    }
  }

  /** The recorded driver's counts since the pool was made. */
  private static final class Counts {
    long requested;
    long returned;
    long frees;
    long level1;
    long level2;
    long zeroes;
    long zeroesFreed;
  }

  private static Verdict sequence(Vector vector) {
    Json in = vector.in();
    String before = in.text("preexisting");
    SegmentType type = before.contains("PAGED") ? SegmentType.PAGED : SegmentType.DIRECT;
    try (Fixture fixture =
        new Fixture(in.number("pble_base"), in.number("pble_cnt"), in.number("sd_cnt"), type)) {
      if (!before.equals("none")) {
        fixture.cache.create(HmcObject.QP);
      }
      fixture.function.takeEvents();
      fixture.device.takeUpdates();
      fixture.device.takeInvalidations();
      if (!vector.out().text("init_ret").equals("OK")) {
        assertThrows(PbleException.class, () -> PblePool.linux(fixture.cache));
        for (Json step : vector.out().list("steps")) {
          assertEquals("ENOMEM", step.text("ret"));
        }
        return Verdict.PASSED;
      }
      PblePool pool = PblePool.linux(fixture.cache);
      RecordedEvents.assertSame(vector.out().list("init_events"), fixture.function, fixture.device);
      Counts counts = new Counts();
      assertAccount(vector.out().get("acct"), in, pool.usage(), counts);
      Map<Integer, PbleAllocation> slots = new HashMap<>();
      int number = 0;
      for (Json step : vector.out().list("steps")) {
        try {
          step(step, pool, slots, counts);
          RecordedEvents.assertSame(
              step.has("events") ? step.list("events") : List.of(),
              fixture.function,
              fixture.device);
          assertAccount(step.get("acct"), in, pool.usage(), counts);
          number++;
        } catch (AssertionError e) {
          throw new AssertionError("step " + number + ": " + e.getMessage(), e);
        }
      }
      assertChunks(vector.out().list("chunks"), pool.chunks());
      pool.close();
      return counts.zeroes == 0 ? Verdict.PASSED : ZERO_REFUSED;
    }
  }

  private static void step(
      Json step, PblePool pool, Map<Integer, PbleAllocation> slots, Counts counts) {
    int slot = step.integer("slot");
    if (step.text("op").equals("free")) {
      PbleAllocation allocation = slots.remove(slot);
      if (allocation != null) {
        counts.returned += allocation.count();
        pool.free(allocation);
      } else {
        counts.zeroesFreed++;
      }
      counts.frees++;
      return;
    }
    int count = step.integer("cnt");
    PbleLevels levels = step.flag("level1_only") ? PbleLevels.LEVEL_1_ONLY : PbleLevels.ANY;
    if (count == 0) {
      assertThrows(IllegalArgumentException.class, () -> pool.allocate(count, levels));
      counts.zeroes++;
      counts.level1++;
      return;
    }
    if (!step.text("ret").equals("OK")) {
      assertThrows(PbleException.class, () -> pool.allocate(count, levels));
      return;
    }
    PbleAllocation allocation = pool.allocate(count, levels);
    slots.put(slot, allocation);
    counts.requested += count;
    assertEquals(step.integer("level"), allocation.level());
    assertEquals(count, allocation.count());
    if (allocation.level() == 1) {
      counts.level1++;
      assertEquals(step.integer("idx"), allocation.firstIndex());
      return;
    }
    counts.level2++;
    assertEquals(step.integer("root_idx"), allocation.firstIndex());
    assertEquals(step.integer("leaf_cnt"), allocation.leafCount());
    List<Integer> leaves = new ArrayList<>();
    for (int leaf = 0; leaf < allocation.leafCount(); leaf++) {
      leaves.add(allocation.leafIndex(leaf));
      assertEquals(allocation.leafIndex(leaf), allocation.rootEntry(leaf));
    }
    assertEquals(
        step.list("leaf_idx").stream().map(Json::number).map(Long::intValue).toList(), leaves);
    assertEquals(step.integer("leaf_last_cnt"), allocation.leafSize(allocation.leafCount() - 1));
    assertEquals(step.number("root_mem_first"), allocation.rootEntry(0));
  }

  private static void assertAccount(Json account, Json in, PbleUsage usage, Counts counts) {
    assertEquals(account.number("unallocated_pble"), usage.unbacked(), "unallocated");
    assertEquals(account.number("total_pble_alloc"), usage.backed(), "total");
    assertEquals(account.number("free_pble_cnt"), usage.free(), "free");
    assertEquals(
        account.number("next_fpm_addr"),
        in.number("pble_base") + (in.number("pble_cnt") - usage.unbacked()) * 8,
        "next address");
    assertEquals(account.number("alloc_ok"), usage.granted() + counts.zeroes, "granted");
    assertEquals(account.number("alloc_fail"), usage.refused(), "refused");
    assertEquals(account.number("lvl1"), counts.level1, "level 1");
    assertEquals(account.number("lvl2"), counts.level2, "level 2");
    assertEquals(account.number("allocdpbles"), counts.requested, "requested");
    assertEquals(account.number("freedpbles"), counts.returned, "returned");
    assertEquals(account.number("alloc_freed"), counts.frees, "frees");
    assertEquals(
        usage.granted() - (counts.frees - counts.zeroesFreed),
        usage.level1() + usage.level2(),
        "live");
  }

  private static void assertChunks(List<Json> recorded, List<Chunk> chunks) {
    assertEquals(recorded.size(), chunks.size());
    for (int i = 0; i < recorded.size(); i++) {
      Chunk chunk = chunks.get(chunks.size() - 1 - i);
      assertEquals(recorded.get(i).number("fpm_addr"), chunk.extent.address());
      assertEquals(recorded.get(i).number("size"), chunk.entries() * 8);
      // 0 is a direct segment that was there before.
      assertEquals(
          recorded.get(i).number("type") == 2 ? SegmentType.PAGED : SegmentType.DIRECT,
          chunk.extent.type());
    }
  }

  private static Verdict pageList(Vector vector) {
    Json in = vector.in();
    Json out = vector.out();
    int count = in.integer("page_cnt");
    long pageSize = in.number("page_size");
    long[] blocks = blocks(in, count);
    PageList pages = page -> blocks[(int) page];
    assertEquals("OK", out.text("ret"));
    boolean contiguous = pages.isContiguous(count, pageSize);
    if (!out.flag("use_pbles")) {
      assertTrue(contiguous);
      assertEquals(0, out.number("stag.chunk_size"));
      assertEquals(blocks[0], out.number("stag.reg_addr_pa"));
      return Verdict.PASSED;
    }
    assertEquals(out.flag("contiguous"), contiguous);
    try (Fixture fixture = new Fixture(0x20_0000, 524288, 8, SegmentType.DIRECT)) {
      PblePool pool = PblePool.linux(fixture.cache);
      if (!in.text("pble_state").startsWith("fresh")) {
        List<PbleAllocation> filled = new ArrayList<>();
        for (int i = 0; i < 1024; i++) {
          filled.add(pool.allocate(512, PbleLevels.LEVEL_1_ONLY));
        }
        for (int i = 0; i < 1024; i += 2) {
          pool.free(filled.get(i));
        }
      }
      PbleAllocation list = pool.allocate(count, PbleLevels.ANY);
      list.fill(pages);
      assertEquals(out.integer("level"), list.level());
      if (list.level() == 1) {
        assertEquals(out.integer("first_pble_idx"), list.firstIndex());
        assertRun(fixture, list.firstIndex(), out.bytes("pbl"));
      } else {
        assertLeaves(fixture, out, list, blocks);
      }
      if (out.has("pbl_xor(v+i)")) {
        long xor = 0;
        for (int page = 0; page < count; page++) {
          xor ^= list.page(page) + page;
        }
        assertEquals(out.number("pbl_xor(v+i)"), xor);
      }
      if (contiguous) {
        assertEquals(0, out.number("stag.chunk_size"));
        assertEquals(blocks[0], out.number("stag.reg_addr_pa"));
      } else {
        assertEquals(list.level() == 1 ? 1 : 3, out.number("stag.chunk_size"));
        assertEquals(out.integer("stag.first_pm_pbl_index"), list.firstIndex());
      }
      pool.close();
      return Verdict.PASSED;
    }
  }

  private static long[] blocks(Json in, int count) {
    long[] blocks = new long[count];
    if (in.has("blocks")) {
      List<Json> list = in.list("blocks");
      for (int i = 0; i < count; i++) {
        blocks[i] = list.get(i).number();
      }
      return blocks;
    }
    byte[] bytes = in.bytes("blocks_le64");
    for (int i = 0; i < count * 8; i++) {
      blocks[i / 8] |= (bytes[i] & 0xffL) << (i % 8 * 8);
    }
    return blocks;
  }

  /** What the device reads at an index. */
  private static long entry(Fixture fixture, long index) {
    return fixture.device.read(0x20_0000 + index * 8);
  }

  private static void assertRun(Fixture fixture, int firstIndex, byte[] expected) {
    assertArrayEquals(expected, read(fixture, firstIndex, expected.length / 8));
  }

  private static byte[] read(Fixture fixture, int firstIndex, int count) {
    byte[] bytes = new byte[count * 8];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (entry(fixture, firstIndex + i / 8) >>> (i % 8 * 8));
    }
    return bytes;
  }

  private static void assertLeaves(Fixture fixture, Json out, PbleAllocation list, long[] blocks) {
    assertEquals(out.integer("root_idx"), list.firstIndex());
    byte[] root = out.bytes("root_mem");
    assertRun(fixture, list.firstIndex(), root);
    List<Json> leaves = out.list("leaves");
    assertEquals(leaves.size(), list.leafCount());
    for (int leaf = 0; leaf < leaves.size(); leaf++) {
      Json recorded = leaves.get(leaf);
      assertEquals(recorded.integer("idx"), list.leafIndex(leaf));
      assertEquals(recorded.integer("cnt"), list.leafSize(leaf));
      assertEquals(recorded.number("first"), entry(fixture, list.leafIndex(leaf)));
      assertEquals(
          recorded.number("last"), entry(fixture, list.leafIndex(leaf) + list.leafSize(leaf) - 1L));
      for (int entry = 0; entry < list.leafSize(leaf); entry++) {
        assertEquals(
            blocks[leaf * PbleAllocation.LEAF + entry],
            entry(fixture, list.leafIndex(leaf) + entry));
      }
    }
  }
}
