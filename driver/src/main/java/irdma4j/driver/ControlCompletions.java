package irdma4j.driver;

import irdma4j.driver.ring.EventRing;
import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.LittleEndian;
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
 * <p>Source: Linux irdma_create_ccq in hw.c, irdma_sc_ccq_get_cqe_info and irdma_sc_ccq_arm in
 * ctrl.c.
 */
final class ControlCompletions {
  /** The CCQ's number. */
  static final int CQ_ID = 0;

  private static final int ENTRIES = ControlQueue.SLOTS + 2;
  private static final int ENTRY = 32;
  private static final int SHADOW_READ_THRESHOLD = 16;
  private static final long POLL_NANOS = 1_000;

  private final Bar bar;
  private final DeviceClock clock;
  private final DmaBundle bundle;
  private final DmaMemory memory;
  private final DmaMemory shadow;
  private final EventRing ring;
  private LongConsumer waiter;
  private int head;

  ControlCompletions(PciFunction function, Bar bar) {
    this.bar = bar;
    this.clock = function.clock();
    this.bundle = new DmaBundle(function);
    this.memory = bundle.allocate((long) ENTRIES * ENTRY, 256);
    this.shadow = bundle.allocate(CqShadow.SIZE, 128);
    this.ring = new EventRing(memory.segment(), ENTRIES, ENTRY);
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
    long word = LittleEndian.getLong(shadow.segment(), 32);
    long sequence = (CqShadow.ARM_SEQ_NUM.decode(word) + 1) & 3;
    LittleEndian.setLongRelease(
        shadow.segment(),
        32,
        CqShadow.ARM_SEQ_NUM.encode(sequence)
            | CqShadow.SW_CQ_SELECT.encode(CqShadow.SW_CQ_SELECT.decode(word))
            | CqShadow.ARM_NEXT_SE.encode(CqShadow.ARM_NEXT_SE.decode(word))
            | CqShadow.ARM_NEXT.encode(1));
    bar.write32(Registers.PFPE_CQARM.offset(), CQ_ID);
  }

  /** Waits for the completion of the operation in a slot. */
  long await(CqpCommand command, int slot, DeviceConfig config) {
    long deadline = clock.nanos() + config.timeoutNanos();
    while (!ring.hasNext()) {
      if (clock.nanos() > deadline) {
        throw new RdmaException(command.opcode() + ": the device did not answer");
      }
      waiter.accept(POLL_NANOS);
    }
    long word3 = ring.word(24);
    long value = ControlCqe.OPRETVAL.decode(ring.word(16));
    int done = (int) ControlCqe.WQEIDX.decode(word3);
    ring.consume();
    head = head + 1 == ENTRIES ? 0 : head + 1;
    LittleEndian.setLongRelease(shadow.segment(), 0, head);
    if (done != slot) {
      throw new RdmaException(
          "%s in slot %d: the device completed slot %d".formatted(command.opcode(), slot, done));
    }
    if (ControlCqe.ERROR.isSet(word3)) {
      throw new ControlQueueException(
          command.opcode(),
          (int) ControlCqe.MAJERR.decode(word3),
          (int) ControlCqe.MINERR.decode(word3));
    }
    return value;
  }

  void close() {
    bundle.close();
  }
}
