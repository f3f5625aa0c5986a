package irdma4j.driver;

import irdma4j.driver.ring.ControlRing;
import irdma4j.driver.ring.RingSizes;
import irdma4j.hmc.HmcFunction;
import irdma4j.hmc.SegmentProgrammer;
import irdma4j.hmc.SegmentUpdate;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SegmentDescriptor;
import irdma4j.hwregs.cqp.ControlQueueContext;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The control queue pair: creates, changes and destroys everything else, one operation at a time.
 *
 * <p>Until the CCQ exists an operation is done when the tail register moves; afterwards its
 * completion arrives in the CCQ.
 *
 * <p>Source: Linux irdma_sc_cqp_init, irdma_sc_cqp_create, irdma_cqp_poll_registers in ctrl.c.
 */
final class ControlQueue {
  /** Slots of the ring, as in Linux's driver. */
  static final int SLOTS = 2048;

  private static final long CONTEXT_ALIGNMENT = 512;
  private static final int SD_BUFFER = 128;
  private static final int SDS_IN_WQE = 3;
  private static final int SDS_AT_ONCE = 11;
  private static final long POLL_NANOS = 10_000;

  private final PciFunction function;
  private final Bar bar;
  private final DeviceClock clock;
  private final long timeoutNanos;
  private final ControlQueueContext wanted;
  private final DmaBundle bundle;
  private final DmaMemory context;
  private final long contextOffset;
  private final DmaMemory memory;
  private final DmaMemory sdBuffer;
  private final ControlRing ring;
  private final ControlBacklog backlog;
  private @Nullable ControlCompletions completions;
  private @Nullable RdmaException dead;
  private boolean up;
  private long operations;
  private long tickets;

  /**
   * Allocates the memory; the device is not touched yet.
   *
   * @param wanted what the context is to say, but for the ring
   * @param slots of the ring, a power of two, 4 to 2048
   * @param timeoutNanos how long the device may take for one operation
   */
  ControlQueue(
      PciFunction function, Bar bar, ControlQueueContext wanted, int slots, long timeoutNanos) {
    ControlRing.requireSize(slots);
    this.function = function;
    this.bar = bar;
    this.clock = function.clock();
    this.timeoutNanos = timeoutNanos;
    this.bundle = new DmaBundle(function);
    this.context = bundle.allocate(2 * CONTEXT_ALIGNMENT, CONTEXT_ALIGNMENT);
    // Writing 0 to the low half of its address would take the ring away.
    this.contextOffset = (int) context.iova() == 0 ? CONTEXT_ALIGNMENT : 0;
    this.memory = bundle.allocate((long) slots * CqpWqe.SIZE, 512);
    this.sdBuffer = bundle.allocate((long) slots * SD_BUFFER, SD_BUFFER);
    this.ring = new ControlRing(memory.segment(), slots);
    this.backlog = new ControlBacklog(ring, bar);
    this.wanted = wanted.withRing(memory.iova(), RingSizes.encodedControl(slots));
  }

  /** Hands the ring to the device. */
  void create() {
    wanted.encode(context.segment(), contextOffset);
    bar.write32(Registers.PFPE_CQPTAIL.offset(), 0);
    bar.write32(Registers.PFPE_CQPDB.offset(), 0);
    bar.write32(Registers.PFPE_CCQPSTATUS.offset(), 0);
    long address = context.iova(contextOffset);
    bar.write32(Registers.PFPE_CCQPHIGH.offset(), (int) (address >>> 32));
    bar.write32(Registers.PFPE_CCQPLOW.offset(), (int) address);
    long deadline = clock.nanos() + timeoutNanos;
    int status;
    while ((status = bar.read32(Registers.PFPE_CCQPSTATUS.offset())) == 0) {
      if (clock.nanos() > deadline) {
        String reason = reason();
        throw given(
            new RdmaException(
                "the device did not accept the control queue pair"
                    + errorCodes()
                    + (reason == null ? "" : "; " + reason)));
      }
      clock.pause(POLL_NANOS);
    }
    up = true;
    if (status == Firmware.ONES) {
      throw given(new RdmaException(Firmware.GONE));
    }
    if (Registers.CCQPSTATUS_CCQP_ERR.isSet(status)) {
      throw new RdmaException("the device refused the control queue pair" + errorCodes());
    }
  }

  private String errorCodes() {
    int codes = bar.read32(Registers.PFPE_CQPERRCODES.offset());
    return ": major 0x%04x, minor 0x%04x"
        .formatted(
            Registers.CQPERRCODES_CQP_MAJOR_CODE.decode(codes),
            Registers.CQPERRCODES_CQP_MINOR_CODE.decode(codes));
  }

  /** Takes the ring from the device and gives the memory back, whatever the device says. */
  void close() {
    try {
      if (up && dead == null) {
        bar.write32(Registers.PFPE_CCQPHIGH.offset(), 0);
        bar.write32(Registers.PFPE_CCQPLOW.offset(), 0);
        long deadline = clock.nanos() + timeoutNanos;
        while (bar.read32(Registers.PFPE_CCQPSTATUS.offset()) != 0) {
          if (clock.nanos() > deadline) {
            throw given(new RdmaException("the device did not let go of the control queue pair"));
          }
          clock.pause(POLL_NANOS);
        }
      }
    } finally {
      up = false;
      bundle.close();
    }
  }

  /** The ring of its operations. */
  ControlRing ring() {
    return ring;
  }

  /** From now on, completions arrive there; null for polling the tail register again. */
  void useCompletions(@Nullable ControlCompletions queue) {
    completions = queue;
  }

  /** Operations done. */
  long operations() {
    return operations;
  }

  /**
   * Does an operation.
   *
   * @return the value that it returns
   * @throws ControlQueueException if the device refuses it
   * @throws RdmaException if the device does not answer in time
   */
  long execute(CqpCommand command) {
    RdmaException last = dead;
    if (last != null) {
      throw new RdmaException(
          "%s was not tried: %s".formatted(command.opcode(), last.getMessage()), last);
    }
    ControlCompletions queue = completions;
    int tailBefore = queue == null ? tail() : 0;
    long ticket = ++tickets;
    backlog.submit(command, ticket);
    long value;
    try {
      value = queue != null ? queue.await(this, command, ticket) : awaitTail(command, tailBefore);
    } finally {
      if (queue == null) {
        ring.complete();
      }
      backlog.forget(ticket);
    }
    operations++;
    return value;
  }

  /**
   * Has the device destroy something, then gives back what belonged to it. If the device refuses,
   * nothing is given back, since it may still use it. One that does not answer has lost its access
   * to memory, so that it is given back all the same.
   *
   * @throws ControlQueueException if the device refuses; nothing has changed
   * @throws RdmaException if it does not answer; all is given back
   */
  void destroy(CqpCommand command, Runnable giveBack) {
    try {
      execute(command);
    } catch (ControlQueueException refused) {
      throw refused;
    } catch (RdmaException noAnswer) {
      try {
        giveBack.run();
      } catch (RuntimeException e) {
        noAnswer.addSuppressed(e);
      }
      throw noAnswer;
    }
    giveBack.run();
  }

  /** The oldest operation is done, so that there is room for what waits. */
  void completed() {
    backlog.drain();
  }

  /** How long the device may take for one operation. */
  long timeoutNanos() {
    return timeoutNanos;
  }

  private int tail() {
    return (int) Registers.CQPTAIL_WQTAIL.decode(bar.read32(Registers.PFPE_CQPTAIL.offset()));
  }

  private long awaitTail(CqpCommand command, int before) {
    long deadline = clock.nanos() + timeoutNanos;
    int tail;
    while ((tail = requireNotRefused(command)) == before) {
      if (clock.nanos() > deadline) {
        throw noAnswer(command);
      }
      clock.pause(POLL_NANOS);
    }
    // A reset brings the tail to 0, too.
    if (tail == 0 && bar.read32(Registers.PFPE_CCQPSTATUS.offset()) == 0) {
      throw noAnswer(command);
    }
    return 0;
  }

  /**
   * Looks at the registers of an operation that no CCQ tells of.
   *
   * @return the ring's tail
   * @throws ControlQueueException if the device has refused it
   */
  int requireNotRefused(CqpCommand command) {
    int tail = bar.read32(Registers.PFPE_CQPTAIL.offset());
    if (tail == Firmware.ONES) {
      throw noAnswer(command);
    }
    if (Registers.CQPTAIL_CQP_OP_ERR.isSet(Integer.toUnsignedLong(tail))) {
      int codes = bar.read32(Registers.PFPE_CQPERRCODES.offset());
      throw new ControlQueueException(
          command.opcode(),
          (int) Registers.CQPERRCODES_CQP_MAJOR_CODE.decode(codes),
          (int) Registers.CQPERRCODES_CQP_MINOR_CODE.decode(codes));
    }
    return (int) Registers.CQPTAIL_WQTAIL.decode(tail);
  }

  /** Whether the device has been given up, so that only a reset can help. */
  boolean isDead() {
    return dead != null;
  }

  /**
   * Fails if the device says that it no longer works; one that has only fallen silent is not found
   * out here.
   */
  void requireAlive() {
    String reason = reason();
    if (reason != null) {
      throw given(new RdmaException(reason));
    }
  }

  /**
   * The device did not answer in time, and nothing it does can be trusted any more: its accesses to
   * memory are forbidden, and every further operation fails at once.
   */
  RdmaException noAnswer(CqpCommand command) {
    String reason = reason();
    return given(
        new RdmaException(
            command.opcode()
                + ": the device did not answer"
                + (reason == null ? "" : "; " + reason)));
  }

  private RdmaException given(RdmaException failure) {
    if (dead == null) {
      dead = failure;
      function.setBusMaster(false);
    }
    return failure;
  }

  private @Nullable String reason() {
    int status = bar.read32(Registers.PFPE_CCQPSTATUS.offset());
    if (status == Firmware.ONES) {
      return Firmware.GONE;
    }
    int critical = bar.read32(Registers.GLPE_CRITERR.offset());
    if (critical != 0 && critical != Firmware.Q1_RESOURCE_CHECK) {
      return "the device has stopped with critical error 0x%08x".formatted(critical);
    }
    if (status == 0 && up) {
      return "the device was reset and knows of no control queue pair";
    }
    if (Registers.CCQPSTATUS_CCQP_ERR.isSet(status)) {
      return "the device has stopped the control queue pair" + errorCodes();
    }
    return Firmware.isReady(bar) ? null : "the device's processors do not run";
  }

  /** How a function's segments are told to the device through this queue. */
  SegmentProgrammer programmer(HmcFunction owner) {
    return new SegmentProgrammer() {
      @Override
      public void updateSegments(List<SegmentUpdate> updates) {
        for (int from = 0; from < updates.size(); from += SDS_AT_ONCE) {
          int to = Math.min(updates.size(), from + SDS_AT_ONCE);
          execute(encode(owner.id(), updates.subList(from, to)));
        }
      }

      @Override
      public void invalidatePage(int segment, int page) {
        bar.write32(owner.invalidationRegister(), owner.invalidation(segment, page));
        // A write is posted: the page may be unmapped only when the device has it, which an answer
        // to a read says. Linux leaves that to chance where no segment goes with the page.
        bar.read32(Registers.GLPE_CRITERR.offset());
      }
    };
  }

  private UpdatePeSds encode(int owner, List<SegmentUpdate> updates) {
    int inBuffer = Math.max(0, updates.size() - SDS_IN_WQE);
    long offset = (long) ring.nextSlot() * SD_BUFFER;
    for (int i = 0; i < inBuffer; i++) {
      SegmentUpdate update = updates.get(SDS_IN_WQE + i);
      long at = offset + (long) i * SegmentDescriptor.SIZE;
      LittleEndian.setLong(sdBuffer.segment(), at, Integer.toUnsignedLong(update.command()));
      LittleEndian.setLong(sdBuffer.segment(), at + 8, update.data());
    }
    SegmentUpdate first = updates.get(0);
    SegmentUpdate second = updates.size() > 1 ? updates.get(1) : null;
    SegmentUpdate third = updates.size() > 2 ? updates.get(2) : null;
    return new UpdatePeSds(
        first.command(),
        first.data(),
        owner,
        inBuffer == 0 ? 0 : sdBuffer.iova(offset) / SD_BUFFER,
        second == null ? 0 : second.command(),
        second != null,
        second == null ? 0 : second.data(),
        third == null ? 0 : third.command(),
        third != null,
        third == null ? 0 : third.data(),
        inBuffer,
        false);
  }
}
