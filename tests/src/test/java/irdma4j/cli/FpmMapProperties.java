package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hmc.FpmLocation;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.HmcDevice;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The picture of an FPM space against the questions that the cache answers. */
class FpmMapProperties {
  /**
   * Fails if a byte is drawn as another kind than {@code locate} finds there, as backed where it
   * finds no memory, or if a strip stands for segments unlike it.
   */
  @Property(tries = 300)
  void drawsWhatLocateFinds(
      @ForAll("layouts") HmcLayout layout, @ForAll SegmentType type, @ForAll long seed) {
    Random random = new Random(seed);
    FakePciFunction function = new FakePciFunction();
    try (HostMemoryCache cache =
        new HostMemoryCache(function, new HmcDevice(function, layout.segments()), layout, type)) {
      for (HmcObject kind : layout.areas().keySet()) {
        long count = layout.of(kind).count();
        long first = random.nextLong(count);
        cache.create(kind, first, random.nextLong(count - first + 1));
      }
      FpmMap map = FpmMap.of(cache);
      long next = 0;
      for (FpmMap.Strip strip : map.strips()) {
        assertEquals(next, strip.first());
        next = strip.last() + 1;
      }
      assertEquals(layout.segments(), next);
      for (int i = 0; i < 200; i++) {
        long address = random.nextLong(layout.segments() * FpmMap.SEGMENT);
        FpmLocation found = cache.locate(address);
        List<FpmMap.Block> drawn =
            map.strips().stream()
                .filter(strip -> address / FpmMap.SEGMENT >= strip.first())
                .filter(strip -> address / FpmMap.SEGMENT <= strip.last())
                .flatMap(strip -> strip.blocks().stream())
                .filter(block -> block.from() <= address % FpmMap.SEGMENT)
                .filter(block -> block.to() > address % FpmMap.SEGMENT)
                .toList();
        if (found == null) {
          assertTrue(drawn.isEmpty(), () -> drawn + " at " + address);
        } else {
          assertEquals(1, drawn.size(), () -> drawn + " for " + found);
          assertEquals(found.kind(), drawn.getFirst().kind());
          assertEquals(found.iova() != 0, drawn.getFirst().backed(), () -> found.toString());
        }
      }
      assertEquals(cache.segmentCount(), map.backedSegments());
      assertEquals(
          cache.segments().stream().mapToLong(use -> use.pages() * 4096L).sum(), map.backedBytes());
    }
  }

  @Provide
  Arbitrary<HmcLayout> layouts() {
    return HmcArbitraries.layouts();
  }
}
