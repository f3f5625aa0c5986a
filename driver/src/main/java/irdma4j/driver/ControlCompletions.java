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

  /** What its events carry: an event with 0 is nobody's, and no other queue has number 1. */
  static final long CONTEXT = 1;

  /** More than the control ring has slots, so that it never overflows. */
  static final int ENTRIES = ControlQueue.SLOTS + 2;

  private static final int ENTRY = 32;
  private static final int SHADOW_READ_THRESHOLD = 16;
  private static final long POLL_NANOS = 1_000;

  private final DeviceClock clock;
  private final DmaBundle bundle;
  private final DmaMemory memory;
  private final DmaMemory shadow;
  private final ControlCompletionRing ring;
  private final int entries;
  private LongConsumer waiter;
  private boolean created;

  ControlCompletions(PciFunction function, Bar bar, ControlRing commands, int entries) {
    this.entries = entries;
    this.clock = function.clock();
    this.bundle = new DmaBundle(function);
    this.memory = bundle.allocate((long) entries * ENTRY, 256);
    this.shadow = bundle.allocate(CqShadow.SIZE, 128);
    this.ring =
        new ControlCompletionRing(
            memory.segment(),
            entries,
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
        entries,
        CONTEXT,
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
        CQ_ID, entries, CONTEXT, shadow.iova(), 0, 0, 0, false, false, true, false, false);
  }

  /** Asks for an event at the next completion. */
  void arm() {
    ring.arm();
  }

  /**
   * Waits for the completion of an operation. Completions of operations that nobody waits for any
   * more are passed over.
   */
  long await(ControlQueue control, CqpCommand command, long ticket) {
    long deadline = clock.nanos() + control.timeoutNanos();
    while (true) {
      ControlCompletion done = ring.poll();
      if (done == null) {
        if (clock.nanos() > deadline) {
          throw control.noAnswer(command);
        }
        if (!created) {
          // Its own creation completes here, but a refusal has only the registers to go to.
          control.requireNotRefused(command);
        }
        waiter.accept(POLL_NANOS);
        continue;
      }
      created = true;
      control.completed();
      if (done.cookie() == ticket) {
        if (done.isError()) {
          throw new ControlQueueException(command.opcode(), done.majorError(), done.minorError());
        }
        return done.value();
      }
    }
  }

  void close() {
    bundle.close();
  }
}
