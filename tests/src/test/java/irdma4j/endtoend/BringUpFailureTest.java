package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.FpmWalk;
import irdma4j.simulator.Simulation;
import irdma4j.tests.FailingAllocation;
import irdma4j.tests.FunctionWatcher;
import irdma4j.tests.WatchedFunction;
import irdma4j.uapi.DmaMemory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bring-up that runs out of DMA memory, at each allocation in turn, gives everything back, says at
 * which stage it failed, and can be done again on the same function. It fails if any stage forgets
 * what it had when it is refused more.
 */
class BringUpFailureTest {
  private static final int SEGMENTS = 20;
  private static final int PAGE = 4096;

  /** Fails an allocation, and sees to it that nothing goes that the device still believes in. */
  private record NothingInUseGoes(FailingAllocation failing, Simulation simulation)
      implements FunctionWatcher {
    @Override
    public void allocating() {
      failing.allocating();
    }

    @Override
    public void closing(DmaMemory memory) {
      for (int segment = 0; segment < SEGMENTS; segment++) {
        long found = simulation.translate(0, 0, segment * HostMemoryCache.SEGMENT_SIZE);
        for (long at = 0; found != FpmWalk.FAULT && at < memory.size(); at += PAGE) {
          assertNotEquals(memory.iova(at), found, "the device finds segment " + segment + " there");
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(SegmentType.class)
  void eachAllocationInTurn(SegmentType type) {
    DeviceConfig config =
        DeviceConfig.defaults().withSegmentType(type).withQueuePairs(8).withSeed(1);
    try (Simulation simulation =
        Simulation.builder().functions(1).seed(1).stepped().profile(CardProfile.small()).build()) {
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
            new WatchedFunction(
                simulation.function(0), new NothingInUseGoes(new FailingAllocation(n), simulation));
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
