package irdma4j.pble;

/**
 * Free units of one chunk: a bitmap, and above it upper bounds that lead to the lowest run of a
 * size.
 *
 * <pre>
 *   bounds[2]   8 bytes              bound of 64 words each
 *   bounds[1]   8 bytes a long       bound of  8 words each
 *   bounds[0]   8 bytes a long       bound of  1 word
 *   free        64 units a word      1 = free
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
  private static final int TOP = 2;

  private final int words;

  /** The units, and a word beyond the end that has none. */
  private final long[] free;

  private final long[][] bounds = {new long[64], new long[8], new long[1]};

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
    longest = words * SHORT;
    for (int word = 0; word < words; word++) {
      free[word] = -1L;
      raise(word, SHORT);
    }
  }

  /** At least the longest run that there is; up to {@link #SHORT} if it is not longer than that. */
  int bound() {
    return longest > SHORT ? longest : PackedBytes.max(bounds[TOP][0]);
  }

  /** Whether the unit before this one is free. */
  boolean isFreeBefore(int unit) {
    return unit != 0 && (free[(unit - 1) >>> 6] >>> (unit - 1) & 1) != 0;
  }

  /**
   * The lowest unit that starts a run of {@code size} free units, or -1.
   *
   * @param from a unit before which no such run starts
   */
  int find(int size, int from) {
    return size < SHORT ? findShort(size, from) : findLong(size, from);
  }

  private int findShort(int size, int from) {
    long threshold = PackedBytes.all(size);
    for (int word = next(from >>> 6, threshold); word >= 0; word = next(word + 1, threshold)) {
      int start = lowestStart(free[word], free[word + 1], size);
      if (start < 64) {
        return word * 64 + start;
      }
      lower(word);
    }
    longest = 0;
    return -1;
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

  private int findLong(int size, int from) {
    if (Math.max(longest, SHORT) < size) {
      return -1;
    }
    // Before from there may be runs of any shorter length.
    int found = from == 0 ? 0 : size - 1;
    int word = next(from >>> 6, ALL_SHORT);
    while (word >= 0) {
      int lead = Long.numberOfLeadingZeros(~free[word]);
      int length = lead;
      int behind = word + 1;
      if (lead != 0) {
        while (free[behind] == -1L && length < size) {
          length += 64;
          behind++;
        }
        length += Long.numberOfTrailingZeros(~free[behind]);
      }
      if (length >= size) {
        return word * 64 + 64 - lead;
      }
      if (length < SHORT) {
        lower(word);
      }
      found = Math.max(found, length);
      word = next(behind, ALL_SHORT);
    }
    longest = found;
    return -1;
  }

  /**
   * The first word from there on whose bound is that high, or -1. Bounds of several words that
   * prove too high on the way are lowered.
   */
  private int next(int from, long threshold) {
    int level = 0;
    int place = from;
    while (true) {
      int line = place >>> 3;
      if (line < bounds[level].length) {
        long bytes = bounds[level][line];
        long places = PackedBytes.atLeast(bytes, threshold) & (-1L << ((place & 7) * 8));
        if (places != 0) {
          place = line * 8 + PackedBytes.first(places);
          if (level == 0) {
            return place;
          }
          level--;
          place *= 8;
          continue;
        }
        if (level < TOP) {
          set(level + 1, line, PackedBytes.max(bytes));
        }
      }
      if (level == TOP) {
        return -1;
      }
      level++;
      place = line + 1;
    }
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
    int run = left + size + right;
    raise(word, Math.min(SHORT, run));
    int before = 0;
    if (left == bit && word > 0) {
      before = Long.numberOfLeadingZeros(~free[word - 1]);
      if (before != 0) {
        run += before;
        raise(word - 1, Math.min(SHORT, run));
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
    // What was counted up to a word's end may go on there, in a run no longer than the longest.
    int more = before == 64 && isFreeBefore((word - 1) * 64) ? longest : 0;
    more += isFreeBefore(end + right + 1) ? longest : 0;
    longest = Math.max(longest, Math.min(run + more, words * SHORT));
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
    int place = word;
    for (int level = 0; level <= TOP; level++) {
      if (PackedBytes.get(bounds[level][place >>> 3], place & 7) >= bound) {
        return;
      }
      set(level, place, bound);
      place >>>= 3;
    }
  }

  private void set(int level, int place, int bound) {
    long[] lines = bounds[level];
    lines[place >>> 3] = PackedBytes.with(lines[place >>> 3], place & 7, bound);
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
    set(0, word, longestHere);
  }
}
