package irdma4j.uapi.vfio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.uapi.PciException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * IOVAs are handed out once at a time, aligned, and inside the ranges that the IOMMU has.
 *
 * <p>Fails if two runs overlap, a run leaves its range or is not aligned, one is refused though it
 * has room, or what was given back does not join its neighbours again.
 */
class IovaAllocatorProperties {
  private static final long PAGE = 4096;
  private static final List<IovaRange> RANGES =
      List.of(
          new IovaRange(0, 0xfff_ffffL),
          new IovaRange(0x2000_0000L, 0x2000_0fffL),
          new IovaRange(0x3000_0000L, 0x3fff_ffffL),
          new IovaRange(0xffff_ffff_0000_0000L, -1L));

  /** Takes a run, or gives one back. */
  record Step(boolean take, int pages, int alignment, int which) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.of(true, true, false),
            Arbitraries.oneOf(
                Arbitraries.integers().between(1, 8), Arbitraries.integers().between(1, 70_000)),
            Arbitraries.integers().between(12, 24),
            Arbitraries.integers().between(0, 1000))
        .as(Step::new)
        .list()
        .ofMaxSize(100);
  }

  @Property
  void runsAreApartAndInRange(@ForAll("steps") List<Step> steps) {
    IovaAllocator allocator = new IovaAllocator(RANGES);
    TreeMap<Long, Long> taken = new TreeMap<>();
    List<Long> order = new ArrayList<>();
    for (Step step : steps) {
      if (step.take) {
        long bytes = step.pages * PAGE;
        long alignment = 1L << step.alignment;
        long expected = lowest(taken, bytes, alignment);
        if (expected < 0) {
          assertThrows(PciException.class, () -> allocator.take(bytes, alignment));
        } else {
          assertEquals(expected, allocator.take(bytes, alignment));
          taken.put(expected, bytes);
          order.add(expected);
        }
      } else if (!order.isEmpty()) {
        long first = order.remove(step.which % order.size());
        allocator.give(first, taken.remove(first));
      }
    }
    order.forEach(first -> allocator.give(first, taken.get(first)));
    // All is one run again, but for the lowest 64 KiB.
    assertEquals(0x1_0000, allocator.take(0xfff_0000L, PAGE));
    assertTrue(allocator.take(0x1000_0000L, PAGE) == 0x3000_0000L);
  }

  /** The lowest run that is free, looked for page by page of the ranges' gaps. */
  private static long lowest(NavigableMap<Long, Long> taken, long bytes, long alignment) {
    for (IovaRange range : RANGES) {
      if (range.first() < 0) {
        continue;
      }
      long at = align(Math.max(range.first(), 0x1_0000), alignment);
      while (at + bytes - 1 <= range.last()) {
        var below = taken.lowerEntry(at + bytes);
        if (below == null || below.getKey() + below.getValue() <= at) {
          return at;
        }
        at = align(below.getKey() + below.getValue(), alignment);
      }
    }
    return -1;
  }

  private static long align(long value, long alignment) {
    return (value + alignment - 1) & -alignment;
  }
}
