package irdma4j.simulator.device;

import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The faults that wait for their moment in one device. Without any, an occasion costs one look at a
 * field. For the engine's thread.
 */
final class Faults implements FaultPoint {
  private final List<Waiting> waiting = new ArrayList<>();
  private boolean any;
  private @Nullable Fault struck;

  void add(Fault fault) {
    waiting.add(new Waiting(fault));
    any = true;
  }

  void clear() {
    waiting.clear();
    any = false;
  }

  boolean isEmpty() {
    return !any;
  }

  int size() {
    return waiting.size();
  }

  /**
   * The fault that strikes here and now, which then is done with, or null. One that concerns the
   * whole device strikes before the device's next turn.
   */
  @Override
  public @Nullable Fault at(Occasion occasion) {
    return any ? look(occasion, null) : null;
  }

  /** As {@link #at}, for a control operation; null is one that is not known. */
  @Nullable Fault atOperation(@Nullable CqpOpcode operation) {
    return any ? look(Occasion.CONTROL_OPERATION, operation) : null;
  }

  /** This one strikes the whole device now. */
  void strike(Fault fault) {
    struck = fault;
  }

  /** Whether one has struck the whole device, which has not felt it yet. */
  boolean hasStruck() {
    return struck != null;
  }

  /** The one that has struck the whole device, which feels it now; null if there is none. */
  @Nullable Fault takeStruck() {
    Fault fault = struck;
    struck = null;
    return fault;
  }

  private @Nullable Fault look(Occasion occasion, @Nullable CqpOpcode operation) {
    Waiting found = null;
    for (Waiting one : waiting) {
      Moment when = one.fault.when();
      if (when.occasion() == occasion
          && (when.operation() == null || when.operation() == operation)) {
        // Two at one occasion strike one after the other.
        if (one.left > 1) {
          one.left--;
        } else if (found == null) {
          found = one;
        }
      }
    }
    if (found == null) {
      return null;
    }
    waiting.remove(found);
    any = !waiting.isEmpty();
    Fault fault = found.fault;
    switch (fault) {
      case Fault.SilentFirmware f -> struck = f;
      case Fault.HmcError f -> struck = f;
      case Fault.PciError f -> struck = f;
      case Fault.SurpriseRemoval f -> struck = f;
      case Fault.DeviceReset f -> struck = f;
      default -> {}
    }
    return fault;
  }

  private static final class Waiting {
    final Fault fault;
    int left;

    Waiting(Fault fault) {
      this.fault = fault;
      this.left = fault.when().nth();
    }
  }
}
