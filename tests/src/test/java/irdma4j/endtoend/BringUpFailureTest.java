package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.SegmentType;
import irdma4j.simulator.Simulation;
import irdma4j.tests.FailingAllocation;
import irdma4j.tests.WatchedFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bring-up that runs out of DMA memory, at each allocation in turn, gives everything back, says at
 * which stage it failed, and can be done again on the same function. It fails if any stage forgets
 * what it had when it is refused more.
 */
class BringUpFailureTest {
  @ParameterizedTest
  @EnumSource(SegmentType.class)
  void eachAllocationInTurn(SegmentType type) {
    DeviceConfig config =
        DeviceConfig.defaults().withSegmentType(type).withQueuePairs(8).withSeed(1);
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build()) {
      FailingAllocation counting = new FailingAllocation(-1);
      RdmaDevice.open(
              new WatchedFunction(simulation.function(0), counting), config, StageListener.none())
          .close();
      int allocations = counting.allocations();
      assertTrue(allocations > 10, "only " + allocations);
      // The many pages of one paged object are alike, so every one of the first and last is tried.
      int stride = Math.max(1, allocations / 30);
      for (int n = 0; n < allocations; n += n < 25 || n > allocations - 25 ? 1 : stride) {
        WatchedFunction failing =
            new WatchedFunction(simulation.function(0), new FailingAllocation(n));
        RdmaException failure =
            assertThrows(
                RdmaException.class, () -> RdmaDevice.open(failing, config, StageListener.none()));
        assertTrue(failure.getMessage().contains("stage '"), failure.getMessage());
        assertEquals(0, failing.dmaUsage().currentBytes(), "after failure at allocation " + n);
      }
      RdmaDevice.open(simulation.function(0), config, StageListener.none()).close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
      assertEquals(0, simulation.statistics(0).dmaFaults());
    }
  }
}
