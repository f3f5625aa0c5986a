package irdma4j.simulator.device;

import irdma4j.hwregs.cqp.ManageStats;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The statistics instances that operations hand out, and the counts of queue pairs that have none.
 * What an instance counted stays in the function's sums when it is freed.
 */
final class StatisticsInstances {
  private static final int INSTANCES = 128;

  private final @Nullable TrafficCounts[] instances = new @Nullable TrafficCounts[INSTANCES];
  private final TrafficCounts others = new TrafficCounts();
  private final TrafficCounts sums = new TrafficCounts();

  void reset() {
    Arrays.fill(instances, null);
    others.clear();
  }

  /**
   * Where the queue pairs of an instance count; those of none, or of a free one, count together.
   */
  TrafficCounts of(int instance) {
    TrafficCounts found = instance < 0 || instance >= INSTANCES ? null : instances[instance];
    return found == null ? others : found;
  }

  /**
   * Takes a free instance.
   *
   * @return its number, or -1
   */
  int take() {
    for (int i = 0; i < INSTANCES; i++) {
      if (instances[i] == null) {
        instances[i] = new TrafficCounts();
        return i;
      }
    }
    return -1;
  }

  ControlStatus free(ManageStats c) {
    TrafficCounts freed = instances[c.instance()];
    if (freed == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    others.add(freed);
    instances[c.instance()] = null;
    return ControlStatus.OK;
  }

  /** The counts of an instance, or null if it is free. */
  @Nullable TrafficCounts counts(int instance) {
    return instance < INSTANCES ? instances[instance] : null;
  }

  /** The counts of the whole function. */
  TrafficCounts sums() {
    sums.clear();
    sums.add(others);
    for (TrafficCounts instance : instances) {
      if (instance != null) {
        sums.add(instance);
      }
    }
    return sums;
  }
}
