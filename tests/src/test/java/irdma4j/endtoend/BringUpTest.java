package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.hmc.SegmentType;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A simulated function comes up from cold, stage by stage, and goes down without leaving anything.
 */
class BringUpTest {
  private static final int COMMAND = 4;
  private static final int BUS_MASTER = 1 << 2;

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

  /**
   * The function may start accesses while a device is up on it, whatever a reset before left, and
   * not afterwards. Fails if bring-up relies on what it finds, or closing leaves it on.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theBusIsTheDevicesWhileItIsUp(boolean before) {
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build()) {
      PciFunction function = simulation.function(0);
      List<String> seen = new ArrayList<>();
      for (int life = 0; life < 2; life++) {
        function.setBusMaster(before);
        function.reset();
        StageListener listener =
            (stage, detail, nanos) -> seen.add(stage + " " + isBusMaster(function));
        try (RdmaDevice device =
            RdmaDevice.open(function, DeviceConfig.defaults().withQueuePairs(16), listener)) {
          assertTrue(isBusMaster(function));
          device.createCompletionQueue(8).close();
        }
        assertFalse(isBusMaster(function));
      }
      assertEquals(List.of(), seen.stream().filter(BringUpTest::isTooLate).toList());
      assertEquals(0, simulation.statistics(0).dmaFaults());
    }
  }

  private static boolean isBusMaster(PciFunction function) {
    return (function.config().read16(COMMAND) & BUS_MASTER) != 0;
  }

  private static boolean isTooLate(String seen) {
    return !seen.endsWith("true")
        && List.of("function reset", "admin queue", "capabilities").stream()
            .noneMatch(seen::startsWith);
  }
}
