package irdma4j.simulator;

import java.util.EnumSet;
import java.util.Set;

/** Something that goes wrong on purpose, once, in a simulated device. */
public sealed interface Fault {
  /** When it strikes. */
  Moment when();

  /** A control operation is refused with these error codes, and nothing is done. */
  record FailControlOperation(Moment when, int majorCode, int minorCode) implements Fault {
    /** Checks the values: codes have 16 bits. */
    public FailControlOperation {
      requireOneOf(when, Occasion.CONTROL_OPERATION);
      if (majorCode >>> 16 != 0 || minorCode >>> 16 != 0) {
        throw new IllegalArgumentException(
            "codes 0x%x and 0x%x: 16 bits each".formatted(majorCode, minorCode));
      }
    }
  }

  /** A control operation, and those behind it, take this much longer. */
  record DelayControlOperation(Moment when, long nanos) implements Fault {
    /** Checks the values: more than nothing. */
    public DelayControlOperation {
      requireOneOf(when, Occasion.CONTROL_OPERATION);
      if (nanos < 1) {
        throw new IllegalArgumentException(nanos + " ns");
      }
    }
  }

  /** The firmware answers nothing any more until the function is reset; queue pairs go on. */
  record SilentFirmware(Moment when) implements Fault {}

  /** An MSI-X message is lost: its vector is masked as if it had been sent. */
  record DropInterrupt(Moment when) implements Fault {
    /** Checks the values. */
    public DropInterrupt {
      requireOneOf(when, Occasion.INTERRUPT);
    }
  }

  /** An MSI-X message is sent twice. */
  record DoubleInterrupt(Moment when) implements Fault {
    /** Checks the values. */
    public DoubleInterrupt {
      requireOneOf(when, Occasion.INTERRUPT);
    }
  }

  /**
   * A descriptor in host memory is changed just before the device reads it: the header word of a
   * control WQE or of a send WQE, a page descriptor or a PBLE, as the moment says.
   *
   * @param bits the bits of the little-endian word that are inverted, not 0
   */
  record CorruptDescriptor(Moment when, long bits) implements Fault {
    /** Checks the values. */
    public CorruptDescriptor {
      requireOneOf(
          when,
          Occasion.CONTROL_OPERATION,
          Occasion.SEND_WQE,
          Occasion.PAGE_DESCRIPTOR,
          Occasion.PBLE);
      if (bits == 0) {
        throw new IllegalArgumentException("no bit is inverted");
      }
    }
  }

  /** An invalidation is not obeyed: the device believes a page descriptor that it read before. */
  record SkipInvalidation(Moment when) implements Fault {
    /** Checks the values. */
    public SkipInvalidation {
      requireOneOf(when, Occasion.INVALIDATION);
    }
  }

  /** A doorbell does not arrive. */
  record LoseDoorbell(Moment when) implements Fault {
    /** Checks the values. */
    public LoseDoorbell {
      requireOneOf(when, Occasion.CONTROL_DOORBELL, Occasion.SEND_DOORBELL, Occasion.ARM_DOORBELL);
    }
  }

  /** A completion queue has no room for a completion, whatever its size. */
  record OverflowCompletionQueue(Moment when) implements Fault {
    /** Checks the values. */
    public OverflowCompletionQueue {
      requireOneOf(when, Occasion.COMPLETION);
    }
  }

  /**
   * An event queue has no room for an event, whatever its size, and the event is lost. A completion
   * queue waits for its next request; the next asynchronous event says that one was lost.
   */
  record OverflowEventQueue(Moment when) implements Fault {
    /** Checks the values. */
    public OverflowEventQueue {
      requireOneOf(when, Occasion.COMPLETION_EVENT, Occasion.ASYNC_EVENT);
    }
  }

  /**
   * The device finds its Host Memory Cache broken: its protocol engine stops with a critical error,
   * takes register writes and does nothing until it is reset.
   *
   * @param code what GLPE_CRITERR says from then on, not 0
   */
  record HmcError(Moment when, int code) implements Fault {
    /** Checks the values. */
    public HmcError {
      if (code == 0) {
        throw new IllegalArgumentException("code 0 is no error");
      }
    }
  }

  /**
   * An uncorrectable error on the PCI Express link: the function reads as ones and does nothing
   * until it is reset.
   */
  record PciError(Moment when) implements Fault {}

  /** The card is pulled out; it reads as ones until {@link Simulation#reinsert}. */
  record SurpriseRemoval(Moment when) implements Fault {}

  /** The device is reset by someone else and forgets everything it was told. */
  record DeviceReset(Moment when) implements Fault {}

  private static void requireOneOf(Moment when, Occasion first, Occasion... others) {
    Set<Occasion> allowed = EnumSet.of(first, others);
    if (!allowed.contains(when.occasion())) {
      throw new IllegalArgumentException(
          "this fault strikes at %s, not at %s".formatted(allowed, when.occasion()));
    }
  }
}
