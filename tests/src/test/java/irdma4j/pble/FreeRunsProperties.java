package irdma4j.pble;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.campaign.FewerTries;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;

/** Free space against a bitmap that is searched bit by bit. */
@PropertyDefaults(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
class FreeRunsProperties {
  /** Takes a run of a size, or gives back a part of what is taken. */
  record Step(boolean take, int size, int which) {}

  /**
   * Fails if the run found is not the lowest, or one is missed, or the bound is too low; wherever
   * the search begins, if no such run starts before that.
   */
  @Property
  void findsTheLowestRun(
      @ForAll @IntRange(min = 1, max = 40) int words, @ForAll("steps") List<Step> steps) {
    FreeRuns runs = new FreeRuns(words);
    int units = words * 64;
    BitSet used = new BitSet();
    List<int[]> taken = new ArrayList<>();
    for (Step step : steps) {
      if (step.take || taken.isEmpty()) {
        int size = Math.min(step.size, units);
        int expected = lowest(used, size, units);
        int from = step.which % (expected < 0 ? units : expected + 1);
        assertEquals(expected, runs.find(size, from), "run of " + size);
        if (expected >= 0) {
          runs.take(expected, size);
          used.set(expected, expected + size);
          taken.add(new int[] {expected, size});
        }
      } else {
        int[] run = taken.remove(step.which % taken.size());
        used.clear(run[0], run[0] + run[1]);
        int joined = runs.give(run[0], run[1]);
        int from = used.previousSetBit(run[0]) + 1;
        int to = used.nextSetBit(run[0]);
        assertTrue(joined >= Math.min(64, (to < 0 ? units : to) - from));
      }
      assertTrue(runs.bound() >= longest(used, units));
    }
  }

  private static int lowest(BitSet used, int size, int units) {
    for (int unit = used.nextClearBit(0); unit + size <= units; ) {
      int end = used.nextSetBit(unit);
      if (end < 0 || end - unit >= size) {
        return unit;
      }
      unit = used.nextClearBit(end);
    }
    return -1;
  }

  private static int longest(BitSet used, int units) {
    int longest = 0;
    for (int unit = used.nextClearBit(0); unit < units; ) {
      int end = used.nextSetBit(unit);
      int stop = end < 0 ? units : end;
      longest = Math.max(longest, stop - unit);
      unit = used.nextClearBit(stop);
    }
    return longest;
  }

  /** Fails if the last chunk with a bound that high is not found, in a tree of any depth. */
  @Property
  void findsTheNewestChunk(
      @ForAll("bounds") List<Integer> bounds, @ForAll @IntRange(min = 1, max = 100) int code) {
    ChunkIndex index = new ChunkIndex();
    for (int chunk = 0; chunk < bounds.size(); chunk++) {
      index.grow(chunk + 1);
      index.raise(chunk, 100);
    }
    for (int chunk = 0; chunk < bounds.size(); chunk++) {
      index.lower(chunk, bounds.get(chunk));
    }
    int expected = bounds.size() - 1;
    int before = bounds.size();
    do {
      while (expected >= 0 && bounds.get(expected) < code) {
        expected--;
      }
      assertEquals(expected, index.last(code, before));
      before = expected;
      expected--;
    } while (before >= 0);
  }

  /** Fails if a longer run has a lower code, or a code that a byte can't hold. */
  @Property
  void codesGrowWithRuns(@ForAll @IntRange(min = 1, max = 32767) int run) {
    assertTrue(ChunkIndex.code(run) <= ChunkIndex.code(run + 1));
    assertTrue(ChunkIndex.code(run + 1) < 128);
  }

  /** Fails if two runs of up to 64, or longer ones a quarter of a power apart, share a code. */
  @Property
  void codesTellRunsApart(@ForAll @IntRange(min = 1, max = 20000) int run) {
    if (run <= 64) {
      assertEquals(run, ChunkIndex.code(run));
    } else {
      assertTrue(ChunkIndex.code(run) < ChunkIndex.code(run + Integer.highestOneBit(run) / 4));
    }
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> size =
        Arbitraries.oneOf(
            Arbitraries.integers().between(1, 8),
            Arbitraries.integers().between(1, 70),
            Arbitraries.of(63, 64, 65, 128),
            Arbitraries.integers().between(1, 2560));
    return Combinators.combine(
            Arbitraries.of(true, true, false), size, Arbitraries.integers().between(0, 1000))
        .as(Step::new)
        .list()
        .ofMaxSize(150);
  }

  @Provide
  Arbitrary<List<Integer>> bounds() {
    return Arbitraries.integers().between(0, 100).list().ofMinSize(1).ofMaxSize(700);
  }
}
