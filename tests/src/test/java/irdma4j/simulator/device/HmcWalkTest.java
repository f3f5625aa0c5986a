package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.watch.Watch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * The device's walk over segment and page descriptors that the tests build from the layout alone.
 */
final class HmcWalkTest {
  private static final long TABLE = Iommu.BASE + 0x1000_0000;
  private static final long BLOCK = Iommu.BASE + 0x2000_0000;
  private static final long SEGMENT = 2L << 20;

  private static long direct(long iova) {
    return iova | 512 << 2 | 1 << 1 | 1;
  }

  private static long paged(long table, int pages) {
    return table | (long) pages << 2 | 1;
  }

  /**
   * Every byte of a direct segment and of a paged one is found where the tables say. Fails if an
   * index is cut at the wrong bit, or the two types are confused.
   */
  @Property(tries = 200)
  void findsEveryByte(@ForAll long seed) {
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      HostPages host = new HostPages(arena);
      HmcWalk walk = new HmcWalk(host.iommu, CardProfile.small(), Watch.NONE);
      MemorySegment table = host.map(TABLE, 4096);
      long[] page = new long[512];
      for (int i = 0; i < page.length; i++) {
        page[i] = Iommu.BASE + ((long) random.nextInt(1 << 24) << 12);
        HostPages.word(table, i * 8L, page[i] | 1);
      }
      int directAt = random.nextInt(20);
      int pagedAt = (directAt + 1 + random.nextInt(19)) % 20;
      assertTrue(walk.writeSegment(directAt, direct(BLOCK)));
      assertTrue(walk.writeSegment(pagedAt, paged(TABLE, 512)));
      for (int i = 0; i < 100; i++) {
        long offset = random.nextLong(SEGMENT);
        assertEquals(BLOCK + offset, walk.translate(directAt * SEGMENT + offset));
        assertEquals(
            page[(int) (offset >>> 12)] + (offset & 0xfff),
            walk.translate(pagedAt * SEGMENT + offset));
      }
      assertEquals(0, walk.faults());
    }
  }

  /** A page descriptor is believed until it is invalidated: a driver that forgets is caught. */
  @Test
  void keepsAPageDescriptorUntilItIsInvalidated() {
    try (Arena arena = Arena.ofConfined()) {
      HostPages host = new HostPages(arena);
      HmcWalk walk = new HmcWalk(host.iommu, CardProfile.small(), Watch.NONE);
      MemorySegment table = host.map(TABLE, 4096);
      HostPages.word(table, 7 * 8, BLOCK | 1);
      walk.writeSegment(2, paged(TABLE, 512));
      long address = 2 * SEGMENT + 7 * 4096 + 8;
      assertEquals(BLOCK + 8, walk.translate(address));
      HostPages.word(table, 7 * 8, BLOCK + 0x5000 | 1);
      assertEquals(BLOCK + 8, walk.translate(address), "forgotten");
      walk.invalidatePage(2, 8);
      assertEquals(BLOCK + 8, walk.translate(address), "another page was invalidated");
      walk.invalidatePage(2, 7);
      assertEquals(BLOCK + 0x5008, walk.translate(address));
      assertEquals(2, walk.misses());
    }
  }

  /** An entry seen invalid stays so as well: adding a page asks for an invalidation too. */
  @Test
  void keepsAnInvalidPageDescriptorToo() {
    try (Arena arena = Arena.ofConfined()) {
      HostPages host = new HostPages(arena);
      HmcWalk walk = new HmcWalk(host.iommu, CardProfile.small(), Watch.NONE);
      MemorySegment table = host.map(TABLE, 4096);
      walk.writeSegment(0, paged(TABLE, 512));
      assertEquals(HmcWalk.FAULT, walk.translate(0));
      HostPages.word(table, 0, BLOCK | 1);
      assertEquals(HmcWalk.FAULT, walk.translate(0));
      walk.writeSegment(0, paged(TABLE, 512));
      assertEquals(BLOCK, walk.translate(0), "a new segment descriptor forgets its pages");
    }
  }

  /** No memory: segment invalid, page beyond the count, segment beyond the card, removed again. */
  @Test
  void faultsWhereNothingIs() {
    try (Arena arena = Arena.ofConfined()) {
      HostPages host = new HostPages(arena);
      HmcWalk walk = new HmcWalk(host.iommu, CardProfile.small(), Watch.NONE);
      walk.writeSegment(1, BLOCK | 4 << 2 | 1 << 1 | 1);
      assertEquals(HmcWalk.FAULT, walk.translate(0));
      assertEquals(BLOCK + 4 * 4096 - 1, walk.translate(SEGMENT + 4 * 4096 - 1));
      assertEquals(HmcWalk.FAULT, walk.translate(SEGMENT + 4 * 4096));
      assertEquals(HmcWalk.FAULT, walk.translate(20 * SEGMENT));
      assertEquals(HmcWalk.FAULT, walk.translate(-1));
      assertFalse(walk.writeSegment(20, direct(BLOCK)));
      walk.writeSegment(1, 512 << 2 | 1 << 1);
      assertEquals(HmcWalk.FAULT, walk.translate(SEGMENT));
      assertEquals(5, walk.faults());
    }
  }

  /**
   * PBLEs that are read together are those that are read one by one, at least the first and never
   * more than asked for or committed. Fails if a run goes on behind its page, whose neighbour in
   * the FPM space lies elsewhere in the host's memory, or behind the last PBLE.
   */
  @Property(tries = 200)
  void readsPblesTogetherAsOneByOne(@ForAll long seed) {
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      HostPages host = new HostPages(arena);
      HmcWalk walk = new HmcWalk(host.iommu, CardProfile.small(), Watch.NONE);
      MemorySegment table = host.map(TABLE, 4096);
      int pages = 3;
      MemorySegment block = host.map(BLOCK, 2L * pages * 4096);
      for (long i = 0; i < block.byteSize(); i += 8) {
        HostPages.word(block, i, random.nextLong() & Long.MAX_VALUE);
      }
      for (int i = 0; i < pages; i++) {
        HostPages.word(table, i * 8L, BLOCK + 4096L * (2 * i + random.nextInt(2)) | 1);
      }
      walk.writeSegment(0, paged(TABLE, pages));
      long base = 512L * random.nextInt(8);
      long committed = (4096L * pages - base) / 8 - random.nextInt(500);
      walk.place(HmcObject.PBLE, base, committed);
      long[] target = new long[16];
      for (int i = 0; i < 200; i++) {
        long index = random.nextLong(committed);
        int most = 1 + random.nextInt(target.length);
        int count = walk.pbles(index, most, target);
        assertTrue(count >= 1 && count <= Math.min(most, committed - index), count + " PBLEs");
        for (int k = 0; k < count; k++) {
          assertEquals(walk.pble(index + k), target[k]);
        }
      }
      assertEquals(0, walk.faults());
      assertEquals(0, walk.pbles(committed, 1, target));
      assertEquals(0, walk.pbles(-1, 1, target));
      assertEquals(2, walk.faults());
    }
  }

  /** An object is found by its number below the committed count only. */
  @Test
  void knowsCommittedObjectsOnly() {
    try (Arena arena = Arena.ofConfined()) {
      HostPages host = new HostPages(arena);
      HmcWalk walk = new HmcWalk(host.iommu, CardProfile.small(), Watch.NONE);
      walk.writeSegment(0, direct(BLOCK));
      walk.place(HmcObject.CQ, 0x1200, 10);
      int bytes = walk.bytes(HmcObject.CQ);
      assertEquals(64, bytes);
      assertEquals(BLOCK + 0x1200 + 9 * 64, walk.object(HmcObject.CQ, 9));
      assertEquals(HmcWalk.FAULT, walk.object(HmcObject.CQ, 10));
      assertEquals(HmcWalk.FAULT, walk.object(HmcObject.CQ, -1));
      assertEquals(HmcWalk.FAULT, walk.object(HmcObject.QP, 0));
      walk.reset();
      assertEquals(HmcWalk.FAULT, walk.object(HmcObject.CQ, 0));
    }
  }
}
