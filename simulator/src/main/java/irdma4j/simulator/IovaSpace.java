package irdma4j.simulator;

import irdma4j.simulator.device.Iommu;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Hands out IOVA pages. Addresses go up and come back only when the space has been walked through,
 * so that an address used after it was freed meets the IOMMU and not someone else's memory.
 */
final class IovaSpace {
  private static final int GUARD_PAGES = 1;

  private final Iommu iommu;
  private final SplittableRandom random;
  private final int pages;
  private int next;

  /** A space of a number of pages, at most {@link Iommu#PAGES}. */
  IovaSpace(Iommu iommu, long seed, int pages) {
    this.iommu = iommu;
    this.pages = pages;
    this.random = new SplittableRandom(seed);
  }

  /**
   * A run of free pages.
   *
   * @param alignment in pages, a power of two
   * @return the first page's number, or -1 if no run is free
   */
  int run(int length, int alignment) {
    int from = next;
    for (int round = 0; round < 2; round++) {
      int at = align(from, alignment);
      int runStart = at;
      while (at >= 0 && at - runStart < length && at < pages) {
        if (iommu.isMapped(at)) {
          runStart = align(at + 1, alignment);
          at = runStart;
        } else {
          at++;
        }
      }
      if (at - runStart >= length && runStart >= 0) {
        next = Math.min(at + GUARD_PAGES, pages);
        return runStart;
      }
      from = 0;
    }
    return -1;
  }

  /**
   * Free pages for an allocation whose pages shall not lie side by side: no page is followed by the
   * one that comes after it in the IOVA space.
   *
   * @return the page numbers in the order of the allocation, or null if there are too few
   */
  int @Nullable [] scatter(int count) {
    int slots = count + count / 4 + 2;
    int base = run(slots, 1);
    if (base < 0) {
      return null;
    }
    int[] numbers = new int[slots];
    for (int i = 0; i < slots; i++) {
      numbers[i] = base + i;
    }
    for (int i = slots - 1; i > 0; i--) {
      swap(numbers, i, random.nextInt(i + 1));
    }
    for (int i = 1; i < count; i++) {
      int tries = i + 1;
      while (numbers[i] == numbers[i - 1] + 1) {
        swap(numbers, i, tries++);
      }
    }
    return Arrays.copyOf(numbers, count);
  }

  private static int align(int page, int alignment) {
    return (page + alignment - 1) & -alignment;
  }

  private static void swap(int[] numbers, int i, int j) {
    int kept = numbers[i];
    numbers[i] = numbers[j];
    numbers[j] = kept;
  }
}
