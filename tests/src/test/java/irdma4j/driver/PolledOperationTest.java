package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.cqp.Nop;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.PciFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations whose end the tail tells, as all are before there is a completion queue for them. */
class PolledOperationTest {
  private static final int SLOTS = 4;

  /**
   * A reset brings the tail back to 0, which looks like the end of the operation that was on its
   * way. Fails if the driver takes it for that, or goes on using the device.
   *
   * @param done operations before it; the one after 3 ends with the tail at 0 by itself
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 6, 7})
  void aResetIsNotTheEndOfAnOperation(int done) {
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build()) {
      PciFunction function = simulation.function(0);
      function.setBusMaster(true);
      ControlQueue control =
          new ControlQueue(
              function,
              function.bar(0),
              DeviceConfig.defaults().controlContext(),
              SLOTS,
              1_000_000_000);
      control.create();
      for (int i = 0; i < done; i++) {
        control.execute(new Nop());
      }
      simulation.inject(0, new Fault.DeviceReset(Moment.next(Occasion.CONTROL_OPERATION)));
      RdmaException failure = assertThrows(RdmaException.class, () -> control.execute(new Nop()));
      assertTrue(failure.getMessage().contains("was reset"), failure::getMessage);
      assertTrue(control.isDead());
      assertEquals(done, control.operations());
      control.close();
      assertEquals(0, function.dmaUsage().currentBytes());
    }
  }
}
