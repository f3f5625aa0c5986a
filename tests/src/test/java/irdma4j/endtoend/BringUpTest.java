package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.hmc.SegmentType;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A simulated function comes up from cold, stage by stage, and goes down without leaving anything.
 */
class BringUpTest {
  @ParameterizedTest
  @EnumSource(SegmentType.class)
  void everyStagePassesAndAllMemoryComesBack(SegmentType type) {
    List<String> stages = new ArrayList<>();
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build()) {
      PciFunction function = simulation.function(0);
      DeviceConfig config = DeviceConfig.defaults().withSegmentType(type).withQueuePairs(16);
      try (RdmaDevice device =
          RdmaDevice.open(function, config, (stage, detail, nanos) -> stages.add(stage))) {
        assertTrue(device.usage().hmcSegments() > 0);
        // Each control completion after CEQ 0 is there has its event; one alone is never enough.
        assertTrue(device.usage().interrupts() > 4, "control completions without interrupts");
      }
      assertEquals(0, function.dmaUsage().currentBytes());
      assertEquals(0, simulation.unknownRegisters(0).length);
      assertEquals(0, simulation.statistics(0).dmaFaults());
    }
    assertEquals(
        List.of(
            "function reset",
            "admin queue",
            "capabilities",
            "bus master",
            "firmware",
            "control QP",
            "FPM query",
            "FPM commit",
            "HMC objects",
            "CCQ",
            "RDMA features",
            "CEQ 0",
            "CEQs",
            "PBLEs",
            "AEQ",
            "statistics",
            "local MAC",
            "ARP",
            "queue sets"),
        stages);
  }
}
