package irdma4j.simulator.device;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which page of host memory stands behind each page of an IOVA space. An entry is one word, so that
 * a page that was not used for long costs one cache miss; the allocations that the words name are
 * few.
 *
 * <pre>
 *   63 ........ 32 | 31 ............. 0
 *   memory, from 1   page in that memory     0: not mapped
 * </pre>
 *
 * <p>Threads: as for {@link Iommu}.
 */
final class IommuTable {
  /** The entry of a page that is not mapped. */
  static final long NONE = 0;

  private static final int LEAF_BITS = 12;
  private static final int LEAF = 1 << LEAF_BITS;
  private static final int PAGE_SHIFT = 12;
  private static final int MEMORY_SHIFT = 32;
  private static final long PAGE_MASK = (1L << MEMORY_SHIFT) - 1;
  private static final int FIRST_MEMORIES = 16;

  private final long @Nullable [][] leaves;
  private final short[] mappedInLeaf;

  /** By number; the first is none. */
  private @Nullable MemorySegment[] memories = new @Nullable MemorySegment[FIRST_MEMORIES];

  private int[] mappedOfMemory = new int[FIRST_MEMORIES];
  private int[] freeNumbers = new int[FIRST_MEMORIES];
  private int freeCount;
  private int numbers = 1;
  private int newest;

  /** A table with nothing in it, of a number of pages that is a multiple of 4096. */
  IommuTable(int pages) {
    leaves = new long[pages >>> LEAF_BITS][];
    mappedInLeaf = new short[leaves.length];
  }

  /** The entry of a page, {@link #NONE} if it is not mapped. */
  long entry(int page) {
    long[] leaf = leaves[page >>> LEAF_BITS];
    return leaf == null ? NONE : leaf[page & LEAF - 1];
  }

  /** The memory that an entry names. */
  MemorySegment memory(long entry) {
    return memories[(int) (entry >>> MEMORY_SHIFT)];
  }

  /** Where in it the page begins. */
  static long offset(long entry) {
    return (entry & PAGE_MASK) << PAGE_SHIFT;
  }

  /** As {@link Iommu#map}. */
  synchronized void map(int page, MemorySegment memory, long offset) {
    if ((offset & Iommu.PAGE - 1) != 0 || offset < 0 || offset >>> PAGE_SHIFT > PAGE_MASK) {
      throw new IllegalArgumentException("no page begins at " + offset);
    }
    if (entry(page) != NONE) {
      throw new IllegalStateException("page " + page + " is mapped");
    }
    int number = numberOf(memory);
    mappedOfMemory[number]++;
    long[] leaf = leaves[page >>> LEAF_BITS];
    if (leaf == null) {
      leaf = new long[LEAF];
      leaves[page >>> LEAF_BITS] = leaf;
    }
    mappedInLeaf[page >>> LEAF_BITS]++;
    leaf[page & LEAF - 1] = (long) number << MEMORY_SHIFT | offset >>> PAGE_SHIFT;
  }

  /** As {@link Iommu#unmap}. */
  synchronized void unmap(int page) {
    long[] leaf = leaves[page >>> LEAF_BITS];
    long entry = entry(page);
    if (leaf == null || entry == NONE) {
      throw new IllegalStateException("page " + page + " is not mapped");
    }
    leaf[page & LEAF - 1] = NONE;
    if (--mappedInLeaf[page >>> LEAF_BITS] == 0) {
      leaves[page >>> LEAF_BITS] = null;
    }
    int number = (int) (entry >>> MEMORY_SHIFT);
    if (--mappedOfMemory[number] == 0) {
      memories[number] = null;
      free(number);
    }
  }

  /** The memory's number: pages of one allocation are mapped one after the other. */
  private int numberOf(MemorySegment memory) {
    if (memories[newest] == memory) {
      return newest;
    }
    if (freeCount > 0) {
      newest = freeNumbers[--freeCount];
    } else {
      if (numbers == memories.length) {
        mappedOfMemory = Arrays.copyOf(mappedOfMemory, 2 * numbers);
        memories = Arrays.copyOf(memories, 2 * numbers);
      }
      newest = numbers++;
    }
    memories[newest] = memory;
    return newest;
  }

  private void free(int number) {
    if (freeCount == freeNumbers.length) {
      freeNumbers = Arrays.copyOf(freeNumbers, 2 * freeCount);
    }
    freeNumbers[freeCount++] = number;
  }
}
