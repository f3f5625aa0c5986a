package irdma4j.driver;

import irdma4j.hwregs.Statistic;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Adds up counters that wrap around: each look at them must come before they have wrapped twice.
 *
 * <p>Source: Linux irdma_update_stats in ctrl.c.
 */
final class StatisticsTotals {
  private final Map<Statistic, Long> last = new EnumMap<>(Statistic.class);
  private final Map<Statistic, Long> sums = new EnumMap<>(Statistic.class);

  /** All is 0, and so are the counters. */
  StatisticsTotals() {
    for (Statistic statistic : Statistic.values()) {
      last.put(statistic, 0L);
      sums.put(statistic, 0L);
    }
  }

  /** Counts from what stands in a statistics buffer on. */
  void startFrom(MemorySegment buffer) {
    for (Statistic statistic : Statistic.values()) {
      last.put(statistic, statistic.field().get(buffer, 0));
      sums.put(statistic, 0L);
    }
  }

  /** Adds what a statistics buffer has more than at the last look. */
  void add(MemorySegment buffer) {
    for (Statistic statistic : Statistic.values()) {
      long now = statistic.field().get(buffer, 0);
      long before = last.put(statistic, now);
      sums.merge(statistic, statistic.difference(before, now), Long::sum);
    }
  }

  /** The sums so far. */
  Map<Statistic, Long> values() {
    return Collections.unmodifiableMap(new EnumMap<>(sums));
  }
}
