package irdma4j.driver;

import irdma4j.hwregs.Statistic;
import irdma4j.hwregs.cqp.GatherStats;
import irdma4j.hwregs.cqp.ManageStats;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.util.Map;

/**
 * A set of the device's counters, in which queue pairs count. Not thread-safe.
 *
 * <p>Source: Linux irdma_vsi_stats_init and irdma_cqp_gather_stats_cmd.
 */
final class StatisticsInstance implements AutoCloseable {
  private static final int ALIGNMENT = 512;

  private final ControlQueue control;
  private final int index;
  private final DmaMemory buffer;
  private final StatisticsTotals totals = new StatisticsTotals();

  private StatisticsInstance(ControlQueue control, int index, DmaMemory buffer) {
    this.control = control;
    this.index = index;
    this.buffer = buffer;
  }

  /** Takes an instance and notes where its counters stand. */
  static StatisticsInstance allocate(PciFunction function, ControlQueue control) {
    DmaMemory buffer = function.allocateDma(Statistic.BUFFER_SIZE, ALIGNMENT);
    StatisticsInstance instance = null;
    try {
      int index = (int) control.execute(new ManageStats(0, 0, false, true));
      instance = new StatisticsInstance(control, index, buffer);
      instance.gather();
      instance.totals.startFrom(buffer.segment());
      return instance;
    } catch (RuntimeException e) {
      if (instance == null) {
        buffer.close();
      } else {
        try {
          instance.close();
        } catch (RuntimeException alsoFailed) {
          e.addSuppressed(alsoFailed);
        }
      }
      throw e;
    }
  }

  /** Number of the instance. */
  int index() {
    return index;
  }

  /** What was counted since it was allocated. */
  Map<Statistic, Long> read() {
    gather();
    totals.add(buffer.segment());
    return totals.values();
  }

  private void gather() {
    control.execute(new GatherStats(buffer.iova(), 0, index, false, true));
  }

  @Override
  public void close() {
    try {
      control.execute(new ManageStats(0, index, false, false));
    } finally {
      buffer.close();
    }
  }
}
