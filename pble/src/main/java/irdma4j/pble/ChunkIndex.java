package irdma4j.pble;

import java.util.Arrays;

/**
 * Finds the newest chunk that may have a run of a size: an upper bound for each chunk, and above
 * them a tree of eight to a node.
 *
 * <p>Bounds of up to 64 units are exact; longer ones are told apart to a quarter of a power of two.
 * A bound that proves too high is lowered on the way, as in {@link FreeRuns}.
 */
final class ChunkIndex {
  /** Level 0 has a byte for each chunk, each further level a byte for each long of the last. */
  private long[][] levels = {new long[1]};

  /** What a run of this length is called here; grows with the length. */
  static int code(int run) {
    if (run <= FreeRuns.SHORT) {
      return run;
    }
    int log = 31 - Integer.numberOfLeadingZeros(run);
    return FreeRuns.SHORT + ((log - 6) << 2) + ((run >>> (log - 2)) & 3);
  }

  /** Makes room for chunks 0 to {@code chunks} - 1. */
  void grow(int chunks) {
    if (chunks <= levels[0].length * 8) {
      return;
    }
    long[] lowest = Arrays.copyOf(levels[0], levels[0].length * 2);
    int count = 1;
    for (int length = lowest.length; length > 1; length = (length + 7) / 8) {
      count++;
    }
    long[][] grown = new long[count][];
    grown[0] = lowest;
    for (int level = 1; level < count; level++) {
      long[] below = grown[level - 1];
      grown[level] = new long[(below.length + 7) / 8];
      for (int line = 0; line < below.length; line++) {
        grown[level][line >>> 3] |= (long) PackedBytes.max(below[line]) << ((line & 7) * 8);
      }
    }
    levels = grown;
  }

  /** The last chunk before {@code before} whose bound is at least {@code code}, or -1. */
  int last(int code, int before) {
    long threshold = PackedBytes.all(code);
    int level = 0;
    int end = before;
    while (end > 0) {
      int line = (end - 1) >>> 3;
      int within = ((end - 1) & 7) + 1;
      long bytes = levels[level][line];
      long places = PackedBytes.atLeast(bytes, threshold) & (-1L >>> (64 - 8 * within));
      if (places != 0) {
        int place = line * 8 + PackedBytes.last(places);
        if (level == 0) {
          return place;
        }
        level--;
        end = place * 8 + 8;
      } else {
        if (level == levels.length - 1) {
          return -1;
        }
        if (within == 8) {
          set(level + 1, line, PackedBytes.max(bytes));
        }
        level++;
        end = line;
      }
    }
    return -1;
  }

  /** Says that a chunk may have a run of this code. */
  void raise(int chunk, int code) {
    int place = chunk;
    for (int level = 0; level < levels.length; level++) {
      if (PackedBytes.get(levels[level][place >>> 3], place & 7) >= code) {
        return;
      }
      set(level, place, code);
      place >>>= 3;
    }
  }

  /** Says that a chunk has no run beyond this code. */
  void lower(int chunk, int code) {
    set(0, chunk, code);
  }

  private void set(int level, int place, int code) {
    long[] lines = levels[level];
    lines[place >>> 3] = PackedBytes.with(lines[place >>> 3], place & 7, code);
  }
}
