package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.PageSize;
import irdma4j.pble.PageList;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Which pages a region's list names, for memory whose IOVAs lie in runs of any size. */
final class RegionPagesProperties {
  private static final long PAGE = 4096;
  private static final List<PageSize> SIZES = List.of(PageSize.values());

  /** Memory that has addresses and no bytes: runs of equal length, each at an IOVA of its own. */
  private static final class Runs implements DmaMemory {
    private final long unit;
    private final long[] iovas;

    Runs(long unit, long[] iovas) {
      this.unit = unit;
      this.iovas = iovas;
    }

    static Runs random(Random random) {
      long unit = SIZES.get(random.nextInt(3)).bytes();
      long[] iovas = new long[1 + random.nextInt(unit == PageSize.SIZE_1G.bytes() ? 3 : 5)];
      long skew = random.nextInt(4) == 0 ? PAGE * random.nextInt(600) : 0;
      for (int i = 0; i < iovas.length; i++) {
        iovas[i] =
            i > 0 && random.nextInt(3) == 0
                ? iovas[i - 1] + unit
                : unit * (1 + random.nextInt(1000)) + skew;
      }
      return new Runs(unit, iovas);
    }

    @Override
    public long iova(long offset) {
      return iovas[(int) (offset / unit)] + offset % unit;
    }

    @Override
    public long size() {
      return unit * iovas.length;
    }

    @Override
    public MemorySegment segment() {
      throw new UnsupportedOperationException();
    }

    @Override
    public DmaPlacement placement() {
      return DmaPlacement.SCATTERED;
    }

    @Override
    public void close() {}
  }

  /**
   * Walking the list gives every byte its own IOVA, the pages are the largest with which that is
   * possible, and there is one for each page's worth of addresses that the region touches. Fails if
   * a page size is chosen across a jump, the place in the first page is left out, or a larger size
   * that fits is not taken.
   */
  @Property(tries = 120)
  void theListNamesEveryByteInTheLargestPages(@ForAll long seed) {
    Random random = new Random(seed);
    Runs memory = Runs.random(random);
    long offset = random.nextLong(memory.size());
    long length = 1 + random.nextLong(memory.size() - offset);
    long fit = SIZES.get(random.nextInt(3)).bytes();
    long address =
        (random.nextLong() >>> 16 & -fit)
            | (memory.iova(offset) & (fit - 1) & -PAGE)
            | offset % PAGE;
    RegionPages pages = RegionPages.of(memory, offset, length, address);

    long size = pages.size().bytes();
    long inPage = address & (size - 1);
    for (int i = 0; i < 200; i++) {
      long at = i == 0 ? 0 : i == 1 ? length - 1 : random.nextLong(length);
      long place = inPage + at;
      assertEquals(memory.iova(offset + at), pages.list().iova(place / size) + place % size);
    }
    assertEquals((address + length - 1) / size - address / size + 1, pages.count());
    assertTrue(fits(memory, offset, length, address, size));
    if (!pages.contiguous()) {
      for (PageSize larger : PageSize.values()) {
        if (larger.bytes() > size) {
          assertTrue(!fits(memory, offset, length, address, larger.bytes()), larger::toString);
        }
      }
    }
    assertEquals(isOneRun(memory, offset, length), pages.contiguous());
  }

  /**
   * Pages of a wanted size are taken exactly if the bytes lie so, and then their list gives every
   * byte its own IOVA. Fails if a jump inside a page, or an address that has another place in one,
   * is let through, or if a fitting size is refused.
   */
  @Property(tries = 120)
  void aWantedSizeIsTakenExactlyIfItFits(@ForAll long seed) {
    Random random = new Random(seed);
    Runs memory = Runs.random(random);
    long offset = random.nextLong(memory.size());
    long length = 1 + random.nextLong(memory.size() - offset);
    long fit = random.nextInt(4) == 0 ? 1 : SIZES.get(random.nextInt(3)).bytes();
    long address = (random.nextLong() >>> 16 & -fit) | (memory.iova(offset) & (fit - 1));
    for (PageSize wanted : SIZES) {
      long size = wanted.bytes();
      if (!fits(memory, offset, length, address, size)) {
        assertThrows(
            IllegalArgumentException.class,
            () -> RegionPages.requireFit(memory, offset, length, address, wanted));
        continue;
      }
      RegionPages.requireFit(memory, offset, length, address, wanted);
      PageList list = RegionPages.list(memory, offset, address, wanted);
      for (int i = 0; i < 50; i++) {
        long at = i == 0 ? 0 : i == 1 ? length - 1 : random.nextLong(length);
        long place = (address & (size - 1)) + at;
        assertEquals(memory.iova(offset + at), list.iova(place / size) + place % size);
      }
      assertEquals(
          (address + length - 1) / size - address / size + 1,
          RegionPages.count(length, address, wanted));
    }
  }

  /** Whether the bytes of each page, by address, lie together and in their places. */
  private static boolean fits(Runs memory, long offset, long length, long address, long size) {
    long page = -1;
    long base = 0;
    for (long at = 0; at < length; at += PAGE - (address + at) % PAGE) {
      long here = memory.iova(offset + at) - (address + at) % size;
      if (here % size != 0) {
        return false;
      }
      if ((address + at) / size == page && here != base) {
        return false;
      }
      page = (address + at) / size;
      base = here;
    }
    return true;
  }

  private static boolean isOneRun(Runs memory, long offset, long length) {
    for (long at = 0; at < length; at += PAGE) {
      if (memory.iova(offset + at) != memory.iova(offset) + at) {
        return false;
      }
    }
    return memory.iova(offset + length - 1) == memory.iova(offset) + length - 1;
  }
}
