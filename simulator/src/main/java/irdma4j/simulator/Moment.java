package irdma4j.simulator;

import irdma4j.hwregs.cqp.CqpOpcode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * When a {@link Fault} strikes.
 *
 * @param occasion at what
 * @param operation only at this operation of the control queue pair, or null at any
 * @param nth at which of these occasions, counted from the injection; 1 is the next
 */
public record Moment(Occasion occasion, @Nullable CqpOpcode operation, int nth) {
  /** Checks the values. */
  public Moment {
    Objects.requireNonNull(occasion);
    if (nth < 1) {
      throw new IllegalArgumentException("the next occasion is number 1, not " + nth);
    }
    if (operation != null && occasion != Occasion.CONTROL_OPERATION) {
      throw new IllegalArgumentException(operation + " has no meaning at " + occasion);
    }
  }

  /** As soon as the fault is injected. */
  public static Moment now() {
    return new Moment(Occasion.NOW, null, 1);
  }

  /** At the next occasion of a kind. */
  public static Moment next(Occasion occasion) {
    return new Moment(occasion, null, 1);
  }

  /** At the next control operation of a kind. */
  public static Moment next(CqpOpcode operation) {
    return new Moment(Occasion.CONTROL_OPERATION, operation, 1);
  }

  /** At a later occasion of the same kind. */
  public Moment nth(int number) {
    return new Moment(occasion, operation, number);
  }
}
