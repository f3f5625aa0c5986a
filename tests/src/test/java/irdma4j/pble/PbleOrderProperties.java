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

/**
 * A pool answers as Linux's first fit does: the newest chunk that has a run long enough, and in it
 * the lowest. So it refuses nothing that Linux grants at the same load.
 *
 * <p>Fails if another run is taken, a request is refused or the pool grows though a chunk has room,
 * or what was given back is not found again.
 */
@PropertyDefaults(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
class PbleOrderProperties {
  private static final int UNIT = 8;
  private static final long PBLES = 8L << 18;

  /** Takes PBLEs, or gives back one of the lists in use: 0 is the one taken last. */
  record Step(boolean take, int count, int which) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> count =
        Arbitraries.oneOf(
            Arbitraries.of(1, 8, 100, 512),
            Arbitraries.integers().between(1, 700),
            Arbitraries.integers().between(1, 4096));
    return Combinators.combine(
            Arbitraries.of(true, true, false, false, true),
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
      List<BitSet> used = new ArrayList<>();
      List<PbleAllocation> live = new ArrayList<>();
      for (Step step : steps) {
        if (step.take) {
          live.add(taken(pool, used, step.count));
        } else if (!live.isEmpty()) {
          PbleAllocation gone = live.remove(live.size() - 1 - step.which % live.size());
          pool.free(gone);
          used.get(gone.chunk().number)
              .clear(gone.unit(), gone.unit() + (gone.count() + UNIT - 1) / UNIT);
        }
      }
    }
  }

  private static PbleAllocation taken(PblePool pool, List<BitSet> used, int count) {
    int units = (count + UNIT - 1) / UNIT;
    while (used.size() < pool.chunks().size()) {
      used.add(new BitSet());
    }
    int chunk = used.size() - 1;
    int unit = -1;
    while (chunk >= 0
        && (unit = lowest(used.get(chunk), units, units(pool.chunks().get(chunk)))) < 0) {
      chunk--;
    }
    if (unit < 0) {
      // Linux's pool has no room either: it grows, and the new chunk's first run is taken.
      chunk = used.size();
      unit = 0;
      used.add(new BitSet());
    }
    PbleAllocation allocation = pool.allocate(count, PbleLevels.LEVEL_1_ONLY);
    assertEquals(chunk, allocation.chunk().number, "chunk");
    assertEquals(unit, allocation.unit(), "unit");
    used.get(chunk).set(unit, unit + units);
    return allocation;
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
