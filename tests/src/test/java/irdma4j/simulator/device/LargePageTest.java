package irdma4j.simulator.device;

import static irdma4j.simulator.device.DeviceServices.LOCAL_READ;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.cqp.RegisterMr;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Regions whose page lists name pages of 2 MiB and 1 GiB, seen through the device. */
final class LargePageTest {
  private static final int SMALL = 4096;
  private static final int PD = 5;
  private static final int KEY = 0x41;
  private static final int INDEX = 9;
  private static final long AREA = 1L << 36;

  /**
   * A byte is found in the page that the list names for it, at its place there, over a border too;
   * what lies beside the region is refused. Fails if a page's size is taken for another, or the
   * walk of a level is wrong for large pages.
   */
  @Property(tries = 100)
  void bytesAreFoundInLargePages(@ForAll long seed) {
    Random random = new Random(seed);
    PageSize size = random.nextBoolean() ? PageSize.SIZE_2M : PageSize.SIZE_1G;
    long bytes = size.bytes();
    int level = random.nextBoolean() ? 1 : 3;
    int pages = 2 + random.nextInt(level == 3 ? 600 : 40);
    if (size == PageSize.SIZE_1G) {
      pages = Math.min(pages, 12);
    }
    long inPage = random.nextLong(bytes);
    long address = (random.nextLong() >>> 20 & -bytes) | inPage;
    long length = pages * bytes - inPage - random.nextLong(bytes);
    int border = 1 + random.nextInt(pages - 1);
    try (BareCard card = new BareCard().up()) {
      long[] where = new long[pages];
      for (int i = 0; i < pages; i++) {
        where[i] = Iommu.BASE + AREA + bytes * ((i * 2 + random.nextInt(2)) % 1000);
      }
      list(card, level, where);
      card.require(
          card.execute(
              new RegisterMr(
                  address,
                  length,
                  PD,
                  KEY,
                  INDEX,
                  0,
                  0,
                  8,
                  true,
                  level,
                  size.code(),
                  LOCAL_READ,
                  false,
                  true,
                  false,
                  false)));
      // Only the last bytes of one page and the first of the next have memory behind them.
      MemorySegment last = card.host.map(where[border - 1] + bytes - SMALL, SMALL);
      MemorySegment first = card.host.map(where[border], SMALL);
      last.fill((byte) 7);
      first.fill((byte) 9);
      long at = address - inPage + border * bytes - 5;
      int stag = INDEX << 8 | KEY;
      MemorySegment found = card.arena.allocate(10);
      if (at >= address && at + 10 <= address + length) {
        assertEquals(0, card.device.checkAccess(stag, at, 10, LOCAL_READ, PD, 1));
        assertTrue(card.device.readRegion(stag, at, found, 0, 10));
        for (int i = 0; i < 10; i++) {
          assertEquals(i < 5 ? 7 : 9, found.get(ValueLayout.JAVA_BYTE, i));
        }
      }
      assertFalse(0 == card.device.checkAccess(stag, address + length, 1, LOCAL_READ, PD, 1));
    }
  }

  private static void list(BareCard card, int level, long[] where) {
    for (int i = 0; i < where.length; i++) {
      if (level == 1) {
        card.pble(8 + i, where[i]);
      } else {
        card.pble(8 + i / 512, 1024 + i / 512 * 1024L);
        card.pble(1024 + i / 512 * 1024L + i % 512, where[i]);
      }
    }
  }
}
