package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.HmcPlan;
import irdma4j.hmc.HmcView;
import irdma4j.hmc.SizingPolicy;
import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Simulation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A device is sized by the rule that its configuration names. */
class SizingTest {
  private static final int SEGMENTS = 32;

  private static Simulation card(CardProfile profile) {
    return Simulation.builder().functions(1).seed(1).stepped().profile(profile).build();
  }

  private static RdmaDevice open(Simulation simulation, DeviceConfig config) {
    return RdmaDevice.open(simulation.function(0), config, StageListener.none());
  }

  /** Fails if the device has other numbers than the plan, or another rule made the plan. */
  @ParameterizedTest
  @EnumSource(SizingPolicy.class)
  void theDeviceHasWhatThePlanSays(SizingPolicy policy) {
    try (Simulation simulation = card(CardProfile.small().withMaxSegments(14));
        RdmaDevice device =
            open(simulation, DeviceConfig.defaults().withQueuePairs(64).withSizing(policy))) {
      HmcPlan plan = device.hmcPlan();
      HmcView hmc = device.hmcView();
      for (HmcObject kind : HmcObject.values()) {
        assertEquals(plan.count(kind), hmc.layout().of(kind).count(), kind.name());
      }
      assertEquals(64, plan.count(HmcObject.QP));
      // Linux's search says nothing of what it gave up.
      assertEquals(policy == SizingPolicy.LINUX, plan.notes().isEmpty());
      hmc.objects()
          .forEach(
              use ->
                  assertEquals(
                      use.kind() == HmcObject.PBLE ? 0 : use.count(),
                      use.existing(),
                      use.kind().name()));
    }
  }

  /** Fails if the default is Linux's rule, which refuses this card. */
  @Test
  void theDefaultComesUpWhereLinuxsSearchFails() {
    try (Simulation simulation = card(CardProfile.e810().withMaxSegments(SEGMENTS))) {
      DeviceConfig config = DeviceConfig.defaults().withQueuePairs(128);
      assertEquals(SizingPolicy.FIT, config.sizing());
      try (RdmaDevice device = open(simulation, config)) {
        assertEquals(128, device.hmcPlan().count(HmcObject.QP));
        assertTrue(device.hmcPlan().segments() <= SEGMENTS);
      }
      DeviceConfig linux = config.withSizing(SizingPolicy.LINUX);
      RdmaException refused = assertThrows(RdmaException.class, () -> open(simulation, linux));
      assertTrue(
          refused.getMessage().contains("FPM commit")
              && String.valueOf(refused.getCause()).contains("no object counts fit"),
          refused.toString());
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }
}
