package irdma4j.simulator.device;

import irdma4j.hwregs.Registers;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * From a cause (an event queue) to an MSI-X message: the cause's control register names a vector
 * and may be off; the vector's control register may be off, and then the event is kept until the
 * vector is enabled. A message turns its vector off: the driver enables it again when it has
 * looked.
 *
 * <p>CLEARPBA clears the pending bit that the MSI-X table shows, not the event kept here; otherwise
 * a driver that enables a vector after its last look at the queue would lose an event.
 */
final class InterruptController {
  private final RegisterFile registers;
  private final DeviceCounters counters;
  private final IntConsumer message;
  private final boolean[] kept;

  InterruptController(
      RegisterFile registers, DeviceCounters counters, int vectors, IntConsumer message) {
    this.registers = registers;
    this.counters = counters;
    this.message = message;
    this.kept = new boolean[vectors];
  }

  /** An event queue has a new entry; {@code control} is GLINT_CEQCTL(n) or PFINT_AEQCTL. */
  void cause(int control) {
    int value = registers.get(control);
    if (!Registers.CEQCTL_CAUSE_ENA.isSet(value)) {
      return;
    }
    int vector = (int) Registers.CEQCTL_MSIX_INDX.decode(value);
    if (vector >= kept.length) {
      return;
    }
    kept[vector] = true;
    fire(vector);
  }

  /** GLINT_DYN_CTL of a vector was written. */
  void controlWritten(int vector) {
    if (vector < kept.length) {
      fire(vector);
    }
  }

  void reset() {
    Arrays.fill(kept, false);
  }

  private void fire(int vector) {
    int offset = Registers.GLINT_DYN_CTL.offset(vector);
    int control = registers.get(offset);
    if (kept[vector] && Registers.DYN_CTL_INTENA.isSet(control)) {
      kept[vector] = false;
      registers.set(offset, control & ~(int) Registers.DYN_CTL_INTENA.mask());
      counters.interrupts++;
      message.accept(vector);
    }
  }
}
