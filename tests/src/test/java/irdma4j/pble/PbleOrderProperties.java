package irdma4j.pble;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.campaign.FewerTries;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcDevice;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
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
import org.jspecify.annotations.Nullable;

/**
 * A pool answers as Linux's first fit does: the newest chunk that has a run long enough, and in it
 * the lowest. So it refuses nothing that Linux grants at the same load.
 *
 * <p>Fails if another run is taken, for a list in one run, a root or a leaf; a request is refused
 * or the pool grows though a chunk has room; or what was given back is not found again.
 */
@PropertyDefaults(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
class PbleOrderProperties {
  private static final int UNIT = 8;
  private static final int LEAF = 512;
  private static final long PBLES = 8L << 18;

  /** A run of units in the books of the model. */
  private record Run(int chunk, int unit, int units) {}

  /**
   * Takes PBLEs in one run, or as root and leaves if there is room; or gives back one of the lists
   * in use: 0 is the one taken last.
   */
  record Step(What what, int count, int which) {
    enum What {
      RUN,
      LEAVES,
      GIVE
    }
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> count =
        Arbitraries.oneOf(
            Arbitraries.of(1, 8, 100, 512),
            Arbitraries.integers().between(1, 700),
            Arbitraries.integers().between(1, 4096));
    return Combinators.combine(
            Arbitraries.of(
                Step.What.RUN, Step.What.RUN, Step.What.LEAVES, Step.What.GIVE, Step.What.GIVE),
            count,
            Arbitraries.oneOf(Arbitraries.just(0), Arbitraries.integers().between(0, 100)))
        .as(Step::new)
        .list()
        .ofMaxSize(120);
  }

  @Property
  void newestChunkAndInItTheLowestRun(
      @ForAll @IntRange(min = 8, max = 40) int chunkPages, @ForAll("steps") List<Step> steps) {
    FakePciFunction function = new FakePciFunction();
    EnumMap<HmcObject, HmcLayout.Area> areas = new EnumMap<>(HmcObject.class);
    areas.put(HmcObject.PBLE, new HmcLayout.Area(0, PBLES, 8));
    HostMemoryCache cache =
        new HostMemoryCache(
            function, new HmcDevice(function, 8), new HmcLayout(areas, 8), SegmentType.PAGED);
    try (function;
        cache;
        PblePool pool = new PblePool(cache, chunkPages)) {
      List<BitSet> used = new ArrayList<>(List.of(new BitSet()));
      List<PbleAllocation> live = new ArrayList<>();
      for (Step step : steps) {
        PbleAllocation taken =
            switch (step.what) {
              case RUN -> run(pool, used, step.count);
              case LEAVES -> leaves(pool, used, step.count);
              case GIVE -> null;
            };
        if (taken != null) {
          live.add(taken);
        } else if (!live.isEmpty()) {
          PbleAllocation gone = live.remove(live.size() - 1 - step.which % live.size());
          pool.free(gone);
          runs(gone).forEach(run -> used.get(run.chunk).clear(run.unit, run.unit + run.units));
        }
      }
    }
  }

  /** What a list takes: its one run, or its root and its leaves. */
  private static List<Run> runs(PbleAllocation list) {
    int leaves = list.leafCount();
    List<Run> runs = new ArrayList<>();
    int first = leaves == 0 ? list.count() : leaves;
    runs.add(new Run(list.chunk().number, list.unit(), units(first)));
    for (int leaf = 0; leaf < leaves; leaf++) {
      runs.add(
          new Run(
              list.leafChunks()[leaf].number, list.leafUnits()[leaf], units(list.leafSize(leaf))));
    }
    return runs;
  }

  private static PbleAllocation run(PblePool pool, List<BitSet> used, int count) {
    Run expected = lowest(pool, used, count);
    if (expected == null) {
      // Linux's pool has no room either: it grows, and the new chunk's first run is taken.
      expected = new Run(pool.chunks().size(), 0, units(count));
    }
    PbleAllocation allocation = pool.allocate(count, PbleLevels.LEVEL_1_ONLY);
    while (used.size() < pool.chunks().size()) {
      used.add(new BitSet());
    }
    assertEquals(List.of(expected), runs(allocation));
    mark(used, expected);
    return allocation;
  }

  /** Null if there is no room without growth. */
  private static @Nullable PbleAllocation leaves(PblePool pool, List<BitSet> used, int count) {
    List<Run> expected = new ArrayList<>();
    int leaves = (count + LEAF - 1) / LEAF;
    for (int i = -1; i < leaves; i++) {
      Run run = lowest(pool, used, i < 0 ? leaves : Math.min(LEAF, count - i * LEAF));
      if (run == null) {
        expected.forEach(r -> used.get(r.chunk).clear(r.unit, r.unit + r.units));
        return null;
      }
      mark(used, run);
      expected.add(run);
    }
    PbleAllocation allocation = pool.allocate(count, PbleLevels.LEVEL_2_ONLY);
    assertEquals(expected, runs(allocation));
    return allocation;
  }

  private static void mark(List<BitSet> used, Run run) {
    used.get(run.chunk).set(run.unit, run.unit + run.units);
  }

  /** The lowest run of the newest chunk that has one, or null. */
  private static @Nullable Run lowest(PblePool pool, List<BitSet> used, int count) {
    for (int chunk = used.size() - 1; chunk >= 0; chunk--) {
      int unit = lowest(used.get(chunk), units(count), units(pool.chunks().get(chunk)));
      if (unit >= 0) {
        return new Run(chunk, unit, units(count));
      }
    }
    return null;
  }

  private static int units(int count) {
    return (count + UNIT - 1) / UNIT;
  }

  private static int units(Chunk chunk) {
    return (int) (chunk.entries() / UNIT);
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
}
