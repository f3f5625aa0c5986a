package irdma4j.simulator.device;

import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.Fault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The control queue pair: created by the address of its host context in CCQPHIGH and CCQPLOW, then
 * fed through a ring of 64-byte WQEs whose doorbell names the new head.
 *
 * <p>WQEs are executed in order, one in each {@link #run}. Each is done when CQPTAIL has moved past
 * it and, once the CCQ exists, when its completion stands there.
 */
final class ControlQueue {
  private final Device device;
  private final CompletionUnit completions;
  private final ControlOperations operations;
  private final MemorySegment wqe = Arena.ofAuto().allocate(CqpWqe.SIZE, 64);
  private boolean created;
  private long ring;
  private int size;
  private int next;
  private int head;
  private boolean polarity;
  private long completionContext;
  private boolean silent;
  private long heldUntil;

  ControlQueue(Device device, CompletionUnit completions, ControlOperations operations) {
    this.device = device;
    this.completions = completions;
    this.operations = operations;
  }

  /** CCQPLOW was written. */
  void lowWritten(int value) {
    RegisterFile registers = device.registers();
    long context =
        Integer.toUnsignedLong(registers.get(Registers.PFPE_CCQPHIGH.offset())) << 32
            | Integer.toUnsignedLong(value);
    if (silent) {
      return;
    }
    destroy();
    if (context == 0) {
      return;
    }
    ControlStatus status = create(context);
    registers.set(Registers.PFPE_CQPTAIL.offset(), 0);
    if (status == ControlStatus.OK) {
      created = true;
      registers.set(
          Registers.PFPE_CCQPSTATUS.offset(), (int) Registers.CCQPSTATUS_CCQP_DONE.mask());
    } else {
      setErrorCodes(status);
      registers.set(Registers.PFPE_CCQPSTATUS.offset(), (int) Registers.CCQPSTATUS_CCQP_ERR.mask());
    }
  }

  private ControlStatus create(long context) {
    MemorySegment copy = wqe;
    if (!device.readHost(context, copy, 0, CqpHostContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    int encodedSize = (int) CqpHostContext.SQSIZE.get(copy, 0);
    ring = CqpHostContext.SQBASE.get(copy, 0) << CqpHostContext.SQBASE.shift();
    completionContext = CqpHostContext.QPCTX.get(copy, 0);
    if (encodedSize < 1 || encodedSize > 10) {
      return ControlStatus.BAD_PARAMETER;
    }
    size = 4 << (encodedSize - 1);
    next = 0;
    head = 0;
    polarity = true;
    operations.begin(
        (int) CqpHostContext.ENABLED_VFS.get(copy, 0),
        (int) CqpHostContext.HMC_PROFILE.get(copy, 0));
    return ControlStatus.OK;
  }

  /** Forgets everything, a silence too. */
  void reset() {
    silent = false;
    destroy();
  }

  /** From now on nothing is answered. */
  void fallSilent() {
    silent = true;
  }

  void destroy() {
    created = false;
    heldUntil = 0;
    next = 0;
    head = 0;
    device.registers().set(Registers.PFPE_CCQPSTATUS.offset(), 0);
  }

  /** Whether there is a ring. */
  boolean isCreated() {
    return created;
  }

  /** CQPDB was written, with a ring there: WQEs up to this index, exclusive, are there. */
  void doorbell(int newHead) {
    if (newHead >= 0 && newHead < size) {
      head = newHead;
      // A new operation's outcome is not that of the one before.
      RegisterFile registers = device.registers();
      int tail = registers.get(Registers.PFPE_CQPTAIL.offset());
      registers.set(
          Registers.PFPE_CQPTAIL.offset(), tail & ~(int) Registers.CQPTAIL_CQP_OP_ERR.mask());
    }
  }

  /** Executes the next WQE, if there is one. */
  boolean run() {
    if (!created || next == head || silent) {
      return false;
    }
    if (heldUntil != 0) {
      if (device.now() < heldUntil) {
        device.requestTimer(heldUntil);
        return false;
      }
      heldUntil = 0;
      return execute(null);
    }
    Fault fault = strikes();
    switch (fault) {
      case Fault.DelayControlOperation delay -> {
        heldUntil = device.now() + delay.nanos();
        device.requestTimer(heldUntil);
        return true;
      }
      case Fault.CorruptDescriptor corrupt -> {
        long header = ring + (long) next * CqpWqe.SIZE + CqpWqe.HEADER;
        device.writeHostWord(header, device.readHostWord(header) ^ corrupt.bits());
        return execute(null);
      }
      case Fault.FailControlOperation refusal -> {
        return execute(refusal);
      }
      case null -> {
        return execute(null);
      }
      default -> {
        // It strikes the whole device before anything else happens.
        return true;
      }
    }
  }

  private @Nullable Fault strikes() {
    if (device.faults().size() == 0) {
      return null;
    }
    long header = device.readHostWord(ring + (long) next * CqpWqe.SIZE + CqpWqe.HEADER);
    return device.faults().atOperation(CqpOpcode.of((int) CqpWqe.OPCODE.decode(header)));
  }

  private boolean execute(Fault.@Nullable FailControlOperation refusal) {
    int index = next;
    if (!device.readHost(ring + (long) index * CqpWqe.SIZE, wqe, 0, CqpWqe.SIZE)) {
      stop(ControlStatus.DMA_FAULT);
      return true;
    }
    device.watch().wqe(DeviceEvent.Ring.CONTROL, 0, index, false, wqe, CqpWqe.SIZE);
    if ((CqpWqe.VALID.get(wqe, 0) != 0) != polarity) {
      stop(ControlStatus.BAD_PARAMETER);
      return true;
    }
    if (++next == size) {
      next = 0;
      polarity = !polarity;
    }
    if (refusal != null) {
      device.counters().controlOperations++;
      complete(index, true, refusal.majorCode(), refusal.minorCode(), 0);
      return true;
    }
    // It may give the driver back memory that packets on their way still lie in.
    device.carryAll();
    CqpCommand command = CqpCommand.decode(wqe, 0);
    long faultsBefore = device.counters().dmaFaults;
    ControlStatus status =
        command == null ? ControlStatus.UNKNOWN_OPERATION : operations.execute(command);
    if (status == ControlStatus.OK && device.counters().dmaFaults != faultsBefore) {
      status = ControlStatus.DMA_FAULT;
    }
    device.counters().controlOperations++;
    complete(
        index,
        status != ControlStatus.OK,
        status.major(),
        status.minor(),
        operations.returnValue());
    return true;
  }

  private void complete(int index, boolean failed, int major, int minor, int returnValue) {
    device.watch().controlDone(index, (int) CqpWqe.OPCODE.get(wqe, 0), major, minor, returnValue);
    CompletionQueue ccq = completions.controlCompletions();
    if (failed) {
      setErrorCodes(major, minor);
    }
    device
        .registers()
        .set(
            Registers.PFPE_CQPTAIL.offset(),
            (int)
                (Registers.CQPTAIL_WQTAIL.encode(next)
                    | Registers.CQPTAIL_CQP_OP_ERR.encode(failed)));
    if (ccq != null) {
      long header =
          ControlCqe.WQEIDX.encode(index)
              | ControlCqe.SQ.mask()
              | ControlCqe.ERROR.encode(failed)
              | ControlCqe.MAJERR.encode(major)
              | ControlCqe.MINERR.encode(minor);
      completions.completeControl(
          ccq, completionContext, Integer.toUnsignedLong(returnValue), header, failed);
    }
  }

  /** A WQE that cannot be read ends the queue: nothing after it can be trusted. */
  private void stop(ControlStatus status) {
    created = false;
    setErrorCodes(status);
    RegisterFile registers = device.registers();
    registers.set(
        Registers.PFPE_CQPTAIL.offset(),
        (int) (Registers.CQPTAIL_WQTAIL.encode(next) | Registers.CQPTAIL_CQP_OP_ERR.mask()));
    registers.set(Registers.PFPE_CCQPSTATUS.offset(), (int) Registers.CCQPSTATUS_CCQP_ERR.mask());
  }

  private void setErrorCodes(ControlStatus status) {
    setErrorCodes(status.major(), status.minor());
  }

  private void setErrorCodes(int major, int minor) {
    device
        .registers()
        .set(
            Registers.PFPE_CQPERRCODES.offset(),
            (int)
                (Registers.CQPERRCODES_CQP_MAJOR_CODE.encode(major)
                    | Registers.CQPERRCODES_CQP_MINOR_CODE.encode(minor)));
  }

  /** Whether WQEs wait. */
  boolean hasWork() {
    return created && next != head;
  }
}
