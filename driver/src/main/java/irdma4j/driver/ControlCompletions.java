package irdma4j.driver;

import irdma4j.driver.ring.ControlCompletion;
import irdma4j.driver.ring.ControlCompletionRing;
import irdma4j.driver.ring.ControlRing;
import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.util.function.LongConsumer;

/**
 * The completion queue of the control queue pair (CCQ), which is completion queue 0.
 *
 * <p>Source: Linux irdma_create_ccq in hw.c.
 */
final class ControlCompletions {
  /** The CCQ's number. */
  static final int CQ_ID = 0;

  private static final int ENTRIES = ControlQueue.SLOTS + 2;
  private static final int ENTRY = 32;
  private static final int SHADOW_READ_THRESHOLD = 16;
  private static final long POLL_NANOS = 1_000;

  private final DeviceClock clock;
  private final DmaBundle bundle;
  private final DmaMemory memory;
  private final DmaMemory shadow;
  private final ControlCompletionRing ring;
  private LongConsumer waiter;

  ControlCompletions(PciFunction function, Bar bar, ControlRing commands) {
    this.clock = function.clock();
    this.bundle = new DmaBundle(function);
    this.memory = bundle.allocate((long) ENTRIES * ENTRY, 256);
    this.shadow = bundle.allocate(CqShadow.SIZE, 128);
    this.ring =
        new ControlCompletionRing(
            memory.segment(),
            ENTRIES,
            false,
            shadow.segment(),
            commands,
            CQ_ID,
            bar,
            Registers.PFPE_CQARM.offset(),
            Registers.PFPE_CQPERRCODES.offset());
    this.waiter = clock::pause;
  }

  /** Waits for events by this from now on, not by polling; it is given nanoseconds. */
  void waitBy(LongConsumer events) {
    waiter = events;
  }

  CreateCq creation() {
    return new CreateCq(
        CQ_ID,
        ENTRIES,
        CQ_ID,
        SHADOW_READ_THRESHOLD,
        memory.iova(),
        shadow.iova(),
        0,
        0,
        0,
        0,
        0,
        true,
        false,
        false,
        true,
        false,
        false);
  }

  DestroyCq destruction() {
    return new DestroyCq(
        CQ_ID, ENTRIES, CQ_ID, shadow.iova(), 0, 0, 0, false, false, true, false, false);
  }

  /** Asks for an event at the next completion. */
  void arm() {
    ring.arm();
  }

  /** Waits for the completion of the operation in a slot. */
  long await(CqpCommand command, int slot, DeviceConfig config) {
    long deadline = clock.nanos() + config.timeoutNanos();
    ControlCompletion done;
    while ((done = ring.poll()) == null) {
      if (clock.nanos() > deadline) {
        throw new RdmaException(command.opcode() + ": the device did not answer");
      }
      waiter.accept(POLL_NANOS);
    }
    if (done.slot() != slot) {
      throw new RdmaException(
          "%s in slot %d: the device completed slot %d"
              .formatted(command.opcode(), slot, done.slot()));
    }
    if (done.isError()) {
      throw new ControlQueueException(command.opcode(), done.majorError(), done.minorError());
    }
    return done.value();
  }

  void close() {
    bundle.close();
  }
}
