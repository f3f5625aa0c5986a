package irdma4j.simulator.device;

import irdma4j.hwregs.Registers;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.watch.Watch;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * From a cause (an event queue) to an MSI-X message: the cause's control register names a vector
 * and may be off; the vector's control register may be off, and then the event is kept until the
 * vector is enabled. A message turns its vector off: the driver enables it again when it has
 * looked.
 *
 * <p>A vector has three throttles, each the least time between two messages, set by INTERVAL and
 * ITR_INDX of its control register. A cause obeys the one that its ITR_INDX names; 3 is none. The
 * rate limit of GLINT_RATE holds for all causes of a vector.
 *
 * <p>CLEARPBA clears the pending bit that the MSI-X table shows, not the event kept here; otherwise
 * a driver that enables a vector after its last look at the queue would lose an event.
 *
 * <p>Source of the throttles: Linux ice_txrx.h, ICE_ITR_NONE; that the time counts from the last
 * message is a belief.
 */
final class InterruptController {
  private static final int THROTTLES = 3;
  private static final long THROTTLE_UNIT_NANOS = 2_000;
  private static final long RATE_UNIT_NANOS = 4_000;
  private static final long LONG_AGO = Long.MIN_VALUE / 2;

  private final RegisterFile registers;
  private final DeviceCounters counters;
  private final IntConsumer message;
  private final LongSupplier clock;
  private final FaultPoint faults;
  private final Watch watch;
  private final boolean[] kept;
  private final long[] notBefore;
  private final long[] lastMessage;
  private final int[] throttle;
  private long timerAt = Long.MAX_VALUE;

  InterruptController(
      RegisterFile registers,
      DeviceCounters counters,
      int vectors,
      IntConsumer message,
      LongSupplier clock,
      FaultPoint faults,
      Watch watch) {
    this.registers = registers;
    this.counters = counters;
    this.message = message;
    this.clock = clock;
    this.faults = faults;
    this.watch = watch;
    this.kept = new boolean[vectors];
    this.notBefore = new long[vectors];
    this.lastMessage = new long[vectors];
    this.throttle = new int[vectors * THROTTLES];
    reset();
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
    int index = (int) Registers.CEQCTL_ITR_INDX.decode(value);
    long earliest =
        index == THROTTLES
            ? LONG_AGO
            : lastMessage[vector] + throttle[vector * THROTTLES + index] * THROTTLE_UNIT_NANOS;
    notBefore[vector] = kept[vector] ? Math.min(notBefore[vector], earliest) : earliest;
    kept[vector] = true;
    fire(vector);
  }

  /** GLINT_DYN_CTL of a vector was written. */
  void controlWritten(int vector) {
    if (vector >= kept.length) {
      return;
    }
    int control = registers.get(Registers.GLINT_DYN_CTL.offset(vector));
    int index = (int) Registers.DYN_CTL_ITR_INDX.decode(control);
    if (index != THROTTLES) {
      throttle[vector * THROTTLES + index] = (int) Registers.DYN_CTL_INTERVAL.decode(control);
    }
    fire(vector);
  }

  /** When {@link #timer} is to be called, or {@link Long#MAX_VALUE}. */
  long timerAt() {
    return timerAt;
  }

  /** Sends the messages whose time has come. */
  void timer() {
    timerAt = Long.MAX_VALUE;
    for (int vector = 0; vector < kept.length; vector++) {
      fire(vector);
    }
  }

  void reset() {
    Arrays.fill(kept, false);
    Arrays.fill(lastMessage, LONG_AGO);
    Arrays.fill(throttle, 0);
    timerAt = Long.MAX_VALUE;
  }

  private void send(int vector) {
    Fault fault = faults.at(Occasion.INTERRUPT);
    if (fault instanceof Fault.DropInterrupt) {
      return;
    }
    message(vector);
    if (fault instanceof Fault.DoubleInterrupt) {
      message(vector);
    }
  }

  private void message(int vector) {
    counters.interrupts++;
    watch.interrupt(vector);
    message.accept(vector);
  }

  private void fire(int vector) {
    int offset = Registers.GLINT_DYN_CTL.offset(vector);
    int control = registers.get(offset);
    if (!kept[vector] || !Registers.DYN_CTL_INTENA.isSet(control)) {
      return;
    }
    long now = clock.getAsLong();
    long earliest = Math.max(notBefore[vector], lastMessage[vector] + rateLimit(vector));
    if (now < earliest) {
      timerAt = Math.min(timerAt, earliest);
      return;
    }
    kept[vector] = false;
    lastMessage[vector] = now;
    registers.set(offset, control & ~(int) Registers.DYN_CTL_INTENA.mask());
    send(vector);
  }

  private long rateLimit(int vector) {
    int rate = registers.get(Registers.GLINT_RATE.offset(vector));
    return Registers.RATE_INTRL_ENA.isSet(rate)
        ? Registers.RATE_INTERVAL.decode(rate) * RATE_UNIT_NANOS
        : 0;
  }
}
