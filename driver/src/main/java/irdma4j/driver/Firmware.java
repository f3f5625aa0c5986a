package irdma4j.driver;

import irdma4j.hwregs.Registers;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DeviceClock;

/**
 * Waits until the card's own processors run.
 *
 * <p>Source: Linux irdma_sc_dev_init and irdma_wait_pe_ready in ctrl.c.
 */
final class Firmware {
  private static final int TRIES = 15;
  private static final long PAUSE_NANOS = 1_000_000_000L;
  private static final int DOORBELL_UNIT_MIB = 4;

  private Firmware() {}

  /**
   * Waits for the processors and looks at the size of the doorbell region.
   *
   * @return its size in MiB
   * @throws RdmaException if they do not come up within 15 s, or that size is unknown
   */
  static int await(Bar bar, DeviceClock clock) {
    for (int tries = 1; ; tries++) {
      int first = bar.read32(Registers.GLPE_CPUSTATUS0.offset());
      int second = bar.read32(Registers.GLPE_CPUSTATUS1.offset());
      int third = bar.read32(Registers.GLPE_CPUSTATUS2.offset());
      int ready = Registers.CPUSTATUS_RUNNING;
      if (first == ready && second == ready && third == ready) {
        break;
      }
      if (tries == TRIES) {
        throw new RdmaException(
            "the protocol engine's processors are not ready: 0x%x 0x%x 0x%x"
                .formatted(first, second, third));
      }
      clock.pause(PAUSE_NANOS);
    }
    int control = bar.read32(Registers.GLPCI_LBARCTRL.offset());
    int size = (int) Registers.LBARCTRL_PE_DB_SIZE.decode(control);
    if (size != 1 && size != 2) {
      throw new RdmaException("doorbell region of size code " + size);
    }
    return size * DOORBELL_UNIT_MIB;
  }
}
