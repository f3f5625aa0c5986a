package irdma4j.pble;

/**
 * Free units of one chunk: a bitmap, and above it upper bounds that lead to the lowest run of a
 * size.
 *
 * <pre>
 *   top        8 bytes              bound of 64 words each
 *   groups     8 bytes a long       bound of  8 words each
 *   bounds     8 bytes a long       bound of  1 word
 *   free       64 units a word      1 = free
 * </pre>
 *
 * <p>The bound of a word is at least the longest run that starts in it, counted on into the next
 * word and up to 64; so it depends on two words alone. Taking units leaves all bounds as they are.
 * Giving units back raises them where the new run is longer. A search that trusts a bound and finds
 * less lowers it to the truth and goes on: each taking can cause at most two such disappointments
 * per level, so searches are constant in time on average, and the answer is always the lowest run.
 *
 * <p>Runs longer than 64 units start in a word whose bound is 64; {@link #longest} bounds their
 * length. Not thread-safe.
 */
final class FreeRuns {
  /** The longest run that a word's bound tells. */
  static final int SHORT = 64;

  private static final long ALL_SHORT = PackedBytes.all(SHORT);

  private final int words;

  /** The units, and a word beyond the end that has none. */
  private final long[] free;

  private final long[] bounds;
  private final long[] groups;
  private long top;

  /** At least the longest run, if that is longer than {@link #SHORT}. */
  private int longest;

  /**
   * All units free.
   *
   * @param words 1 to 512 words of 64 units
   */
  FreeRuns(int words) {
    this.words = words;
    free = new long[words + 1];
    bounds = new long[64];
    groups = new long[8];
    longest = words * SHORT;
    for (int word = 0; word < words; word++) {
      free[word] = -1L;
      raise(word, SHORT);
    }
  }

  /** At least the longest run that there is; up to {@link #SHORT} if it is not longer than that. */
  int bound() {
    return longest > SHORT ? longest : PackedBytes.max(top);
  }

  /** The lowest unit that starts a run of {@code size} free units, or -1. */
  int find(int size) {
    return size <= SHORT ? findShort(size) : findLong(size);
  }

  private int findShort(int size) {
    long threshold = PackedBytes.all(size);
    while (true) {
      int group = PackedBytes.first(PackedBytes.atLeast(top, threshold));
      if (group == 8) {
        longest = 0;
        return -1;
      }
      long inGroup = groups[group];
      int line = PackedBytes.first(PackedBytes.atLeast(inGroup, threshold));
      if (line == 8) {
        top = PackedBytes.with(top, group, PackedBytes.max(inGroup));
        continue;
      }
      line += group * 8;
      long inLine = bounds[line];
      int word = PackedBytes.first(PackedBytes.atLeast(inLine, threshold));
      if (word == 8) {
        groups[group] = PackedBytes.with(inGroup, line & 7, PackedBytes.max(inLine));
        continue;
      }
      word += line * 8;
      int start = lowestStart(free[word], free[word + 1], size);
      if (start < 64) {
        return word * 64 + start;
      }
      lower(word);
    }
  }

  /** The lowest bit of {@code low} that starts a run of {@code size} 1s, or 64. */
  private static int lowestStart(long low, long high, int size) {
    long starts = low;
    long beyond = high;
    for (int have = 1; have < size; ) {
      int step = Math.min(have, size - have);
      starts &= (starts >>> step) | (beyond << (64 - step));
      beyond &= beyond >>> step;
      have += step;
    }
    return Long.numberOfTrailingZeros(starts);
  }

  private int findLong(int size) {
    if (longest < size) {
      return -1;
    }
    int found = 0;
    int word = nextFullBound(0);
    while (word < words) {
      int lead = Long.numberOfLeadingZeros(~free[word]);
      int length = lead;
      int next = word + 1;
      if (lead != 0) {
        while (free[next] == -1L && length < size) {
          length += 64;
          next++;
        }
        length += Long.numberOfTrailingZeros(~free[next]);
      }
      if (length >= size) {
        return word * 64 + 64 - lead;
      }
      if (length < SHORT) {
        lower(word);
      }
      found = Math.max(found, length);
      word = nextFullBound(next);
    }
    longest = found;
    return -1;
  }

  /** The first word from there on whose bound is {@link #SHORT}, or the number of words. */
  private int nextFullBound(int from) {
    if (from >= words) {
      return words;
    }
    int line = from >>> 3;
    long places = PackedBytes.atLeast(bounds[line], ALL_SHORT) & (-1L << ((from & 7) * 8));
    while (places == 0) {
      line++;
      if (line * 8 >= words) {
        return words;
      }
      places = PackedBytes.atLeast(bounds[line], ALL_SHORT);
    }
    return line * 8 + PackedBytes.first(places);
  }

  /** Free units in a row from a unit on, counted up to {@code most}. */
  int length(int unit, int most) {
    int word = unit >>> 6;
    int run = Long.numberOfTrailingZeros(~(free[word] >>> (unit & 63)));
    if ((unit & 63) + run == 64) {
      for (word++; run < most && free[word] == -1L; word++) {
        run += 64;
      }
      run += Long.numberOfTrailingZeros(~free[word]);
    }
    return Math.min(run, most);
  }

  /** Marks free units as used. */
  void take(int start, int size) {
    int word = start >>> 6;
    int bit = start & 63;
    int left = size;
    while (left > 0) {
      int here = Math.min(left, 64 - bit);
      free[word] &= ~((-1L >>> (64 - here)) << bit);
      left -= here;
      bit = 0;
      word++;
    }
  }

  /**
   * Marks used units as free.
   *
   * @return at least the run that they are part of now
   */
  int give(int start, int size) {
    int word = start >>> 6;
    int bit = start & 63;
    int end = start + size;
    int last = (end - 1) >>> 6;
    int right = freeFrom(end);
    // Words in which the given units continue a run from the word before.
    for (int w = last; w > word; w--) {
      raise(w, Math.min(SHORT, end - w * 64 + right));
    }
    int left = bit == 0 ? 0 : Long.numberOfLeadingZeros(~(free[word] << (64 - bit)));
    int run = Math.min(SHORT, left + size + right);
    raise(word, run);
    if (left == bit && word > 0) {
      int before = Long.numberOfLeadingZeros(~free[word - 1]);
      if (before != 0) {
        run = Math.min(SHORT, before + left + size + right);
        raise(word - 1, run);
      }
    }
    int unit = start;
    for (int w = word; w <= last; w++) {
      int here = Math.min(end, (w + 1) * 64) - unit;
      free[w] |= (-1L >>> (64 - here)) << (unit & 63);
      unit += here;
    }
    if (run < SHORT) {
      return run;
    }
    longest = words * SHORT;
    return longest;
  }

  /** Free units in a row from a unit on, up to the end of the next word. */
  private int freeFrom(int unit) {
    int word = unit >>> 6;
    int bit = unit & 63;
    int run = Long.numberOfTrailingZeros(~(free[word] >>> bit));
    return bit + run == 64 ? run + Long.numberOfTrailingZeros(~free[word + 1]) : run;
  }

  private void raise(int word, int bound) {
    int line = word >>> 3;
    long inLine = bounds[line];
    if (PackedBytes.get(inLine, word & 7) >= bound) {
      return;
    }
    bounds[line] = PackedBytes.with(inLine, word & 7, bound);
    int group = line >>> 3;
    long inGroup = groups[group];
    if (PackedBytes.get(inGroup, line & 7) >= bound) {
      return;
    }
    groups[group] = PackedBytes.with(inGroup, line & 7, bound);
    if (PackedBytes.get(top, group) < bound) {
      top = PackedBytes.with(top, group, bound);
    }
  }

  /** Sets a word's bound to the longest run that does start in it. */
  private void lower(int word) {
    int longestHere = 0;
    long bits = free[word];
    while (bits != 0) {
      int start = Long.numberOfTrailingZeros(bits);
      int run = Long.numberOfTrailingZeros(~(bits >>> start));
      bits = start + run == 64 ? 0 : bits & (-1L << (start + run));
      if (start + run == 64) {
        run = Math.min(SHORT, run + Long.numberOfTrailingZeros(~free[word + 1]));
      }
      longestHere = Math.max(longestHere, run);
    }
    bounds[word >>> 3] = PackedBytes.with(bounds[word >>> 3], word & 7, longestHere);
  }
}
