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

  /** What a register reads as when nobody answers. */
  static final int ONES = -1;

  /** What that means. */
  static final String GONE =
      "the device is gone: its registers read as ones, so it was removed or its link is down";

  /**
   * The one value of GLPE_CRITERR with which the device goes on.
   *
   * <p>Source: Linux irdma_iidc_event_handler in main.c.
   */
  static final int Q1_RESOURCE_CHECK = 0x0001_024d;

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
      if (first == ONES && second == ONES && third == ONES) {
        throw new RdmaException(GONE);
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

  /** Whether the processors run. */
  static boolean isReady(Bar bar) {
    return bar.read32(Registers.GLPE_CPUSTATUS0.offset()) == Registers.CPUSTATUS_RUNNING
        && bar.read32(Registers.GLPE_CPUSTATUS1.offset()) == Registers.CPUSTATUS_RUNNING
        && bar.read32(Registers.GLPE_CPUSTATUS2.offset()) == Registers.CPUSTATUS_RUNNING;
  }
}
