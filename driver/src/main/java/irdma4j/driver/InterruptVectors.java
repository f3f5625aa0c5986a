package irdma4j.driver;

import irdma4j.hwregs.Registers;
import irdma4j.uapi.Bar;

/**
 * Which interrupt vector belongs to which event queue, and how often it may interrupt.
 *
 * <p>Source: Linux icrdma_ena_irq, icrdma_disable_irq, icrdma_cfg_ceq in icrdma_hw.c and
 * irdma_cfg_aeq in ctrl.c.
 */
final class InterruptVectors {
  private static final int THROTTLE = 0;
  private static final int NO_THROTTLE = 3;
  private static final int INTERVAL_UNIT_MICROS = 2;

  private final Bar bar;
  private final int aeqVector;
  private final int intervalMicros;

  /**
   * Nothing is enabled yet.
   *
   * @param aeqVector vector of the asynchronous event queue, which is never throttled
   * @param intervalMicros least time between two interrupts of another vector, 0 to 8190
   */
  InterruptVectors(Bar bar, int aeqVector, int intervalMicros) {
    this.bar = bar;
    this.aeqVector = aeqVector;
    this.intervalMicros = intervalMicros;
  }

  /** Lets a vector interrupt once; what is pending is forgotten. */
  void enable(int vector) {
    int interval = vector == aeqVector ? 0 : intervalMicros / INTERVAL_UNIT_MICROS;
    bar.write32(
        Registers.GLINT_DYN_CTL.offset(vector),
        (int)
            (Registers.DYN_CTL_INTERVAL.encode(interval)
                | Registers.DYN_CTL_INTENA.encode(1)
                | Registers.DYN_CTL_CLEARPBA.encode(1)));
  }

  /** Keeps a vector quiet. */
  void disable(int vector) {
    bar.write32(Registers.GLINT_DYN_CTL.offset(vector), 0);
  }

  /** Gives a completion event queue its vector, or takes it away. */
  void configureCeq(int ceq, int vector, boolean enabled) {
    // Linux names no throttle here either way, so that the interval that it sets has no effect.
    int index = intervalMicros > 0 && vector != aeqVector ? THROTTLE : NO_THROTTLE;
    bar.write32(Registers.GLINT_CEQCTL.offset(ceq), cause(vector, index, enabled));
  }

  /** Gives the asynchronous event queue its vector, or takes it away. */
  void configureAeq(int vector, boolean enabled) {
    bar.write32(Registers.PFINT_AEQCTL.offset(), cause(vector, NO_THROTTLE, enabled));
  }

  private static int cause(int vector, int throttle, boolean enabled) {
    return (int)
        (Registers.CEQCTL_CAUSE_ENA.encode(enabled)
            | Registers.CEQCTL_MSIX_INDX.encode(vector)
            | Registers.CEQCTL_ITR_INDX.encode(throttle));
  }
}
