package irdma4j.pble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcDevice;
import irdma4j.uapi.PciException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** When a pool grows, when it does not try, what it counts, and both ways of filling a list. */
class PbleGrowthTest {
  private static final int SEGMENT = 262144;
  private static final ValueLayout.OfLong LE =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FakePciFunction memory = new FakePciFunction();
  private final HmcDevice device = new HmcDevice(memory, 8);

  private HostMemoryCache cache(long base, long count) {
    return new HostMemoryCache(
        memory,
        device,
        new HmcLayout(Map.of(HmcObject.PBLE, new HmcLayout.Area(base, count, 8)), 8),
        SegmentType.PAGED);
  }

  /** A request that no growth can meet is refused without a word to memory or device. */
  private void assertHopeless(PblePool pool, int count, PbleLevels levels) {
    memory.takeEvents();
    device.takeUpdates();
    assertThrows(PbleException.class, () -> pool.allocate(count, levels));
    assertTrue(memory.takeEvents().isEmpty(), "memory");
    assertTrue(device.takeUpdates().isEmpty(), "device");
  }

  @Test
  void hopelessRequestsTryNothing() {
    try (HostMemoryCache cache = cache(HostMemoryCache.SEGMENT_SIZE - 2 * 4096, 5 * 512);
        PblePool pool = new PblePool(cache, 1)) {
      // One page to the end of the segment, three beyond.
      assertHopeless(pool, 513, PbleLevels.LEVEL_1_ONLY);
      assertHopeless(pool, 5 * 512 + 1, PbleLevels.ANY);
      assertHopeless(pool, 5 * 512 + 1, PbleLevels.LEVEL_2_ONLY);
    }
    try (HostMemoryCache cache = cache(HostMemoryCache.SEGMENT_SIZE - 2 * 4096, 6 * 512);
        PblePool pool = new PblePool(cache, 512)) {
      assertEquals(2 * 512, pool.usage().backed());
      assertHopeless(pool, 4 * 512 + 1, PbleLevels.LEVEL_1_ONLY);
      assertEquals(1024, pool.allocate(4 * 512, PbleLevels.LEVEL_1_ONLY).firstIndex());
      pool.allocate(1024, PbleLevels.LEVEL_1_ONLY);
      assertHopeless(pool, 1, PbleLevels.LEVEL_2_ONLY);
      assertHopeless(pool, 1, PbleLevels.ANY);
    }
  }

  @Test
  void noSizeIsTooLargeToBeRefused() {
    try (HostMemoryCache cache = cache(0, 6 * 512);
        PblePool ours = new PblePool(cache, 1)) {
      for (PbleLevels levels : PbleLevels.values()) {
        for (int count : new int[] {Integer.MAX_VALUE, Integer.MAX_VALUE - 7, 1 << 30}) {
          assertHopeless(ours, count, levels);
        }
      }
      assertEquals(512, ours.usage().free());
    }
    try (HostMemoryCache cache = cache(0, 6 * 512);
        PblePool linux = PblePool.linux(cache)) {
      for (PbleLevels levels : PbleLevels.values()) {
        assertThrows(PbleException.class, () -> linux.allocate(Integer.MAX_VALUE, levels));
      }
      assertEquals(6 * 512, linux.usage().free());
    }
  }

  @Test
  void aListThatIsRefusedAfterGrowthLeavesThePoolAsItWas() {
    try (HostMemoryCache cache = cache(0, 3 * 512);
        PblePool pool = new PblePool(cache, 1)) {
      // The leaves would fit, but not the root too.
      assertThrows(PbleException.class, () -> pool.allocate(3 * 512, PbleLevels.LEVEL_2_ONLY));
      assertEquals(1, pool.usage().chunks());
      assertEquals(512, pool.usage().free());
      assertEquals(0, pool.allocate(512, PbleLevels.LEVEL_1_ONLY).firstIndex());
      assertEquals(512, pool.allocate(512, PbleLevels.LEVEL_1_ONLY).firstIndex());
    }
  }

  @Test
  void usesNoEntryThatTheDeviceCannotName() {
    try (HostMemoryCache cache = cache(4096 - 8, 1L << 30);
        PblePool pool = new PblePool(cache, 1)) {
      assertEquals((1L << 28) - 1, pool.usage().backed() + pool.usage().unbacked());
    }
  }

  @Test
  void growsByASinglePageToTheLast() {
    try (HostMemoryCache cache = cache(0, 6 * 512);
        PblePool pool = new PblePool(cache, 1)) {
      pool.allocate(512, PbleLevels.LEVEL_1_ONLY);
      // Two full leaves and a root, each in a page of its own.
      PbleAllocation list = pool.allocate(1023, PbleLevels.ANY);
      assertEquals(2, list.level());
      assertEquals(4, pool.usage().chunks());
      pool.allocate(512, PbleLevels.LEVEL_1_ONLY);
      pool.allocate(512, PbleLevels.LEVEL_1_ONLY);
      assertEquals(0, pool.usage().unbacked());
      assertEquals(6 * 512, pool.usage().backed());
    }
  }

  /** Linux tries once for each full chunk that a request has, and once more; once for level 1. */
  @Test
  void linuxCountsItsAttempts() {
    try (HostMemoryCache cache = cache(0, 6 * SEGMENT);
        PblePool pool = PblePool.linux(cache)) {
      pool.allocate(SEGMENT, PbleLevels.LEVEL_1_ONLY);
      assertThrows(PbleException.class, () -> pool.allocate(SEGMENT + 1, PbleLevels.LEVEL_1_ONLY));
      assertEquals(2, pool.usage().chunks());
      pool.allocate(SEGMENT, PbleLevels.LEVEL_1_ONLY);
      // The leaves fill a chunk, so that the root has no room.
      assertThrows(PbleException.class, () -> pool.allocate(SEGMENT - 1, PbleLevels.LEVEL_2_ONLY));
      assertEquals(3, pool.usage().chunks());
    }
  }

  @Test
  void memoryThatIsRefusedIsNamedAsTheCause() {
    try (HostMemoryCache cache = cache(0, 4 * 512);
        PblePool pool = new PblePool(cache, 1)) {
      pool.allocate(512, PbleLevels.LEVEL_1_ONLY);
      memory.failAllocation(1);
      PbleException refused =
          assertThrows(PbleException.class, () -> pool.allocate(1, PbleLevels.ANY));
      assertInstanceOf(PciException.class, refused.getCause());
      assertEquals(1, pool.usage().chunks());
      assertEquals(1, pool.usage().refused());
      assertEquals(512, pool.allocate(1, PbleLevels.ANY).firstIndex());
    }
  }

  /** A run just given back does not hide the newest chunk. */
  @Test
  void theRootComesFromTheNewestChunk() {
    try (HostMemoryCache cache = cache(0, 4 * 512);
        PblePool pool = new PblePool(cache, 1)) {
      pool.free(pool.allocate(8, PbleLevels.ANY));
      PbleAllocation list = pool.allocate(600, PbleLevels.LEVEL_2_ONLY);
      assertEquals(512, list.firstIndex());
      assertEquals(0, list.leafIndex(0));
      assertEquals(520, list.leafIndex(1));
    }
  }

  @Test
  void countsLevelsAndEntries() {
    try (HostMemoryCache cache = cache(0, SEGMENT);
        PblePool pool = new PblePool(cache, 512)) {
      PbleAllocation one = pool.allocate(700, PbleLevels.LEVEL_1_ONLY);
      PbleAllocation two = pool.allocate(1300, PbleLevels.LEVEL_2_ONLY);
      pool.allocate(1, PbleLevels.LEVEL_2_ONLY);
      assertEquals(
          new PbleUsage(SEGMENT, SEGMENT - 704 - 8 - 1304 - 16, 0, 1, 1, 2, 3, 0), pool.usage());
      assertEquals(700, one.entries());
      assertEquals(1303, two.entries());
      pool.free(two);
      assertEquals(new PbleUsage(SEGMENT, SEGMENT - 704 - 16, 0, 1, 1, 1, 3, 0), pool.usage());
      pool.free(one);
      assertEquals(new PbleUsage(SEGMENT, SEGMENT - 16, 0, 1, 0, 1, 3, 0), pool.usage());
    }
  }

  /** Leaves that lie side by side are full ones; the last may be anywhere. */
  @Test
  void leavesTakeTheLowestRuns() {
    try (HostMemoryCache cache = cache(0, SEGMENT);
        PblePool pool = new PblePool(cache, 512)) {
      PbleAllocation hole = pool.allocate(512, PbleLevels.ANY);
      pool.allocate(8, PbleLevels.ANY);
      PbleAllocation small = pool.allocate(64, PbleLevels.ANY);
      pool.allocate(8, PbleLevels.ANY);
      pool.free(hole);
      pool.free(small);
      // Root in the first hole, full leaves behind all, the last in the hole's rest.
      PbleAllocation list = pool.allocate(1024 + 64, PbleLevels.LEVEL_2_ONLY);
      assertEquals(0, list.firstIndex());
      assertEquals(592, list.leafIndex(0));
      assertEquals(1104, list.leafIndex(1));
      assertEquals(8, list.leafIndex(2));
    }
  }

  /** Fails if a list filled by copy reads otherwise than one filled page by page. */
  @Test
  void bothWaysOfFillingWriteTheSame() {
    try (HostMemoryCache cache = cache(0, SEGMENT);
        PblePool pool = new PblePool(cache, 512);
        Arena arena = Arena.ofConfined()) {
      for (PbleLevels levels : new PbleLevels[] {PbleLevels.ANY, PbleLevels.LEVEL_2_ONLY}) {
        PbleAllocation list = pool.allocate(1300, levels);
        MemorySegment iovas = arena.allocate(1300 * 8);
        for (int page = 0; page < 1300; page++) {
          iovas.setAtIndex(LE, page, (page + 3L) << 12);
        }
        list.fill(iovas);
        for (int page = 0; page < 1300; page++) {
          int index =
              list.level() == 1
                  ? list.firstIndex() + page
                  : list.leafIndex(page / 512) + page % 512;
          assertEquals((page + 3L) << 12, device.read(index * 8L));
          assertEquals((page + 3L) << 12, list.page(page));
        }
        list.fill(page -> page << 21);
        assertEquals(1299L << 21, list.page(1299));
        assertThrows(
            IndexOutOfBoundsException.class, () -> list.fill(iovas.asSlice(0, 1300 * 8 - 1)));
      }
    }
  }

  /** Fails if a list that takes all that is left, to the last entry, is refused. */
  @Test
  void growsForAListOfAllThatIsLeft() {
    try (HostMemoryCache cache = cache(HostMemoryCache.SEGMENT_SIZE - 2 * 4096, 6 * 512);
        PblePool pool = new PblePool(cache, 512)) {
      pool.allocate(1024, PbleLevels.ANY);
      PbleAllocation list = pool.allocate(4 * 512, PbleLevels.ANY);
      assertEquals(1, list.level());
      assertEquals(1024, list.firstIndex());
      assertEquals(0, pool.usage().free() + pool.usage().unbacked());
    }
  }

  /** Fails if a refusal hides that the device would not take back what the pool grew by. */
  @Test
  void aRefusalTellsWhatCouldNotBeUndone() {
    try (HostMemoryCache cache = cache(0, 3 * 512);
        PblePool pool = new PblePool(cache, 1)) {
      // Leaves take all, so that the root has no room. Two pages are announced, then taken back.
      device.failCall(3, true);
      PbleException refused =
          assertThrows(PbleException.class, () -> pool.allocate(3 * 512, PbleLevels.LEVEL_2_ONLY));
      assertEquals(1, refused.getSuppressed().length);
      assertInstanceOf(HmcDevice.Refused.class, refused.getSuppressed()[0]);
      assertEquals(pool.usage().backed(), pool.usage().free());
      device.failCall(0, false);
    }
  }

  /** Fails if a chunk that does not close keeps the others open, or if its error is lost. */
  @Test
  void closingGoesOnAfterAFailure() {
    int ofTwo = failToClose(2).getSuppressed().length;
    RuntimeException failure = failToClose(3);
    assertInstanceOf(HmcDevice.Refused.class, failure);
    assertEquals(ofTwo + 1, failure.getSuppressed().length);
    assertInstanceOf(HmcDevice.Refused.class, failure.getSuppressed()[ofTwo]);
  }

  /** What a pool throws that is closed while the device refuses everything. */
  private RuntimeException failToClose(int chunks) {
    HostMemoryCache cache = cache(0, chunks * 512L);
    PblePool pool = new PblePool(cache, 1);
    for (int chunk = 0; chunk < chunks; chunk++) {
      pool.allocate(512, PbleLevels.ANY);
    }
    device.failCall(1, true);
    RuntimeException failure = assertThrows(RuntimeException.class, pool::close);
    assertEquals(new PbleUsage(0, 0, 0, 0, 0, 0, chunks, 0), pool.usage());
    pool.close();
    assertThrows(IllegalStateException.class, () -> pool.allocate(1, PbleLevels.ANY));
    device.failCall(0, false);
    cache.close();
    assertEquals(0, memory.dmaUsage().currentBytes());
    return failure;
  }
}
