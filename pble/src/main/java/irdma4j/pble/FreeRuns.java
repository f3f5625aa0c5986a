package irdma4j.pble;

/**
 * Free space of one chunk: a bitmap of units with a tree above it that knows, for each block of 64
 * units and each pair of blocks, its longest run of free units.
 *
 * <pre>
 *              [prefix, best, suffix]              root: the whole chunk
 *             /                      \
 *     [p, b, s]                  [p, b, s]
 *      /     \                    /     \
 *   word    word               word    word        64 units each, 1 = free
 * </pre>
 *
 * <p>The lowest run of a size is found, taken or given back in time that grows with the logarithm
 * of the number of words, however full or fragmented the chunk is. Not thread-safe.
 */
final class FreeRuns {
  private final int units;
  private final int leaves;
  private final long[] free;
  private final int[] prefix;
  private final int[] best;
  private final int[] suffix;

  /** All units free. */
  FreeRuns(int units) {
    this.units = units;
    int words = (units + 63) / 64;
    leaves = words == 1 ? 1 : Integer.highestOneBit(words - 1) << 1;
    free = new long[leaves];
    prefix = new int[2 * leaves];
    best = new int[2 * leaves];
    suffix = new int[2 * leaves];
    for (int unit = 0; unit < units; unit += 64) {
      int here = Math.min(64, units - unit);
      free[unit / 64] = here == 64 ? -1L : (1L << here) - 1;
    }
    for (int leaf = 0; leaf < leaves; leaf++) {
      summarise(leaf);
    }
    for (int node = leaves - 1; node >= 1; node--) {
      merge(node, spanOf(node));
    }
  }

  int units() {
    return units;
  }

  /** Length of the longest run of free units. */
  int longest() {
    return best[1];
  }

  /** The lowest unit that starts a run of {@code size} free units, or -1. */
  int find(int size) {
    if (best[1] < size) {
      return -1;
    }
    int node = 1;
    int start = 0;
    int span = leaves * 64;
    while (node < leaves) {
      int half = span / 2;
      int left = 2 * node;
      if (best[left] >= size) {
        node = left;
      } else if (suffix[left] + prefix[left + 1] >= size) {
        return start + half - suffix[left];
      } else {
        node = left + 1;
        start += half;
      }
      span = half;
    }
    return start + lowestRun(free[node - leaves], size);
  }

  /** Marks units as used. */
  void take(int start, int size) {
    change(start, size, false);
  }

  /** Marks units as free. */
  void give(int start, int size) {
    change(start, size, true);
  }

  /** Whether all of the units are in use. */
  boolean allUsed(int start, int size) {
    for (int unit = start; unit < start + size; unit++) {
      if (((free[unit / 64] >>> unit) & 1) != 0) {
        return false;
      }
    }
    return true;
  }

  private void change(int start, int size, boolean give) {
    int first = start / 64;
    int last = (start + size - 1) / 64;
    for (int word = first; word <= last; word++) {
      int low = word == first ? start % 64 : 0;
      int high = word == last ? (start + size - 1) % 64 : 63;
      long mask = (-1L >>> (63 - high)) & (-1L << low);
      free[word] = give ? free[word] | mask : free[word] & ~mask;
      summarise(word);
    }
    int low = (first + leaves) / 2;
    int high = (last + leaves) / 2;
    for (int span = 128; low >= 1; low /= 2, high /= 2, span *= 2) {
      for (int node = low; node <= high; node++) {
        merge(node, span);
      }
    }
  }

  private int spanOf(int node) {
    return (leaves * 64) >> (31 - Integer.numberOfLeadingZeros(node));
  }

  private void summarise(int word) {
    long bits = free[word];
    int node = leaves + word;
    prefix[node] = Long.numberOfTrailingZeros(~bits);
    suffix[node] = Long.numberOfLeadingZeros(~bits);
    best[node] = longestRun(bits);
  }

  private void merge(int node, int span) {
    int left = 2 * node;
    int right = left + 1;
    int half = span / 2;
    prefix[node] = prefix[left] == half ? half + prefix[right] : prefix[left];
    suffix[node] = suffix[right] == half ? half + suffix[left] : suffix[right];
    best[node] = Math.max(Math.max(best[left], best[right]), suffix[left] + prefix[right]);
  }

  /**
   * Shifting a word onto itself shortens each run by one: the last one to survive is the longest.
   */
  private static int longestRun(long bits) {
    if (bits == -1L) {
      return 64;
    }
    int length = 0;
    for (long left = bits; left != 0; left &= left << 1) {
      length++;
    }
    return length;
  }

  private static int lowestRun(long bits, int size) {
    long starts = bits;
    int have = 1;
    while (have < size) {
      int step = Math.min(have, size - have);
      starts &= starts >>> step;
      have += step;
    }
    return Long.numberOfTrailingZeros(starts);
  }
}
