package irdma4j.simulator.device;

import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpWqe;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The control queue pair: created by the address of its host context in CCQPHIGH and CCQPLOW, then
 * fed through a ring of 64-byte WQEs whose doorbell names the new head.
 *
 * <p>WQEs are executed in order, one in each {@link #run}. Each is done when CQPTAIL has moved past
 * it and, once the CCQ exists, when its completion stands there.
 */
final class ControlQueue {
  private final Device device;
  private final ControlOperations operations;
  private final MemorySegment wqe = Arena.ofAuto().allocate(CqpWqe.SIZE, 64);
  private boolean created;
  private long ring;
  private int size;
  private int next;
  private int head;
  private boolean polarity;
  private long completionContext;

  ControlQueue(Device device, ControlOperations operations) {
    this.device = device;
    this.operations = operations;
  }

  /** CCQPLOW was written. */
  void lowWritten(int value) {
    RegisterFile registers = device.registers();
    long context =
        Integer.toUnsignedLong(registers.get(Registers.PFPE_CCQPHIGH.offset())) << 32
            | Integer.toUnsignedLong(value);
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
    return ControlStatus.OK;
  }

  void destroy() {
    created = false;
    next = 0;
    head = 0;
    device.registers().set(Registers.PFPE_CCQPSTATUS.offset(), 0);
  }

  /** CQPDB was written: WQEs up to this index, exclusive, are there. */
  void doorbell(int newHead) {
    if (created && newHead >= 0 && newHead < size) {
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
    if (!created || next == head) {
      return false;
    }
    int index = next;
    if (!device.readHost(ring + (long) index * CqpWqe.SIZE, wqe, 0, CqpWqe.SIZE)) {
      stop(ControlStatus.DMA_FAULT);
      return true;
    }
    if ((CqpWqe.VALID.get(wqe, 0) != 0) != polarity) {
      stop(ControlStatus.BAD_PARAMETER);
      return true;
    }
    if (++next == size) {
      next = 0;
      polarity = !polarity;
    }
    CqpCommand command = CqpCommand.decode(wqe, 0);
    long faultsBefore = device.counters().dmaFaults;
    ControlStatus status =
        command == null ? ControlStatus.UNKNOWN_OPERATION : operations.execute(command);
    if (status == ControlStatus.OK && device.counters().dmaFaults != faultsBefore) {
      status = ControlStatus.DMA_FAULT;
    }
    device.counters().controlOperations++;
    complete(index, status, operations.returnValue());
    return true;
  }

  private void complete(int index, ControlStatus status, int returnValue) {
    boolean failed = status != ControlStatus.OK;
    CompletionQueue ccq = device.controlCompletions();
    if (failed) {
      setErrorCodes(status);
    }
    device
        .registers()
        .set(
            Registers.PFPE_CQPTAIL.offset(),
            (int)
                (Registers.CQPTAIL_WQTAIL.encode(next)
                    | Registers.CQPTAIL_CQP_OP_ERR.encode(failed && ccq == null)));
    if (ccq != null) {
      long header =
          ControlCqe.WQEIDX.encode(index)
              | ControlCqe.SQ.mask()
              | ControlCqe.ERROR.encode(failed)
              | ControlCqe.MAJERR.encode(status.major())
              | ControlCqe.MINERR.encode(status.minor());
      device.completeControl(
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
    device
        .registers()
        .set(
            Registers.PFPE_CQPERRCODES.offset(),
            (int)
                (Registers.CQPERRCODES_CQP_MAJOR_CODE.encode(status.major())
                    | Registers.CQPERRCODES_CQP_MINOR_CODE.encode(status.minor())));
  }

  /** Whether WQEs wait. */
  boolean hasWork() {
    return created && next != head;
  }
}
