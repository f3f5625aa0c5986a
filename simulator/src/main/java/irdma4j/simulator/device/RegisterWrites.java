package irdma4j.simulator.device;

import irdma4j.hwregs.Register;
import irdma4j.hwregs.Registers;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.watch.Watch;

/** What a write to a register makes of it, and whom it is for. For the engine's thread. */
final class RegisterWrites {
  private static final int DOORBELL_8_MIB = 2;

  private static final int WQEALLOC = Registers.PFPE_WQEALLOC.offset();
  private static final int CQARM = Registers.PFPE_CQARM.offset();
  private static final int CQACK = Registers.PFPE_CQACK.offset();
  private static final int AEQALLOC = Registers.PFPE_AEQALLOC.offset();
  private static final int CQPDB = Registers.PFPE_CQPDB.offset();
  private static final int CCQPLOW = Registers.PFPE_CCQPLOW.offset();
  private static final int PDINV = Registers.PFHMC_PDINV.offset();
  private static final int VFPDINV = Registers.GLHMC_VFPDINV.offset();
  private static final int VFPDINV_END =
      VFPDINV + Registers.GLHMC_VFPDINV.count() * Registers.GLHMC_VFPDINV.stride();
  private static final int DYN_CTL = Registers.GLINT_DYN_CTL.offset();
  private static final int DYN_CTL_END =
      DYN_CTL + Registers.GLINT_DYN_CTL.count() * Registers.GLINT_DYN_CTL.stride();
  private static final int[] READ_ONLY = {
    Registers.PFPE_CQPTAIL.offset(),
    Registers.PFPE_CCQPSTATUS.offset(),
    Registers.PFPE_CQPERRCODES.offset(),
    Registers.GLPE_CPUSTATUS0.offset(),
    Registers.GLPE_CPUSTATUS1.offset(),
    Registers.GLPE_CPUSTATUS2.offset(),
    Registers.GLPE_CRITERR.offset(),
    Registers.GLPCI_LBARCTRL.offset()
  };

  private final RegisterFile registers;
  private final Watch watch;
  private final Faults faults;
  private final DeviceCounters counters;
  private final InterruptController interrupts;
  private final HmcFunctionTable functions;
  private final CompletionUnit completions;
  private final ControlQueue control;
  private final PushPages pushPages;
  private final QueueEngine queues;

  RegisterWrites(
      RegisterFile registers,
      Watch watch,
      Faults faults,
      DeviceCounters counters,
      InterruptController interrupts,
      HmcFunctionTable functions,
      CompletionUnit completions,
      ControlQueue control,
      PushPages pushPages,
      QueueEngine queues) {
    this.registers = registers;
    this.watch = watch;
    this.faults = faults;
    this.counters = counters;
    this.interrupts = interrupts;
    this.functions = functions;
    this.completions = completions;
    this.control = control;
    this.pushPages = pushPages;
    this.queues = queues;
    reset();
  }

  /** The registers as they are after a reset. */
  void reset() {
    registers.clear();
    registers.set(Registers.GLPE_CPUSTATUS0.offset(), Registers.CPUSTATUS_RUNNING);
    registers.set(Registers.GLPE_CPUSTATUS1.offset(), Registers.CPUSTATUS_RUNNING);
    registers.set(Registers.GLPE_CPUSTATUS2.offset(), Registers.CPUSTATUS_RUNNING);
    registers.set(
        Registers.GLPCI_LBARCTRL.offset(),
        (int) Registers.LBARCTRL_PE_DB_SIZE.encode(DOORBELL_8_MIB));
  }

  /** The driver has written a register. */
  void written(int offset, int value) {
    watch.registerWrite(offset, value);
    if (offset == WQEALLOC) {
      if (faults.at(Occasion.SEND_DOORBELL) instanceof Fault.LoseDoorbell) {
        return;
      }
      counters.doorbells++;
      queues.doorbell((int) Registers.WQEALLOC_QPID.decode(value));
    } else if (offset == CQARM) {
      completions.arm((int) Registers.CQARM_CQID.decode(value));
    } else if (offset == CQACK) {
      completions.acknowledge((int) Registers.CQACK_CQID.decode(value));
    } else if (offset == CQPDB) {
      registers.set(offset, value);
      if (control.isCreated()
          && !(faults.at(Occasion.CONTROL_DOORBELL) instanceof Fault.LoseDoorbell)) {
        control.doorbell(value);
      }
    } else if (offset >= DYN_CTL && offset < DYN_CTL_END) {
      registers.set(offset, value & ~(int) Registers.DYN_CTL_CLEARPBA.mask());
      interrupts.controlWritten((offset - DYN_CTL) >>> 2);
    } else if (offset == AEQALLOC) {
      completions.releaseAsync(Integer.toUnsignedLong(value));
    } else if (offset == PDINV) {
      if (!(faults.at(Occasion.INVALIDATION) instanceof Fault.SkipInvalidation)) {
        functions.own().invalidate(value);
      }
    } else if (offset >= VFPDINV && offset < VFPDINV_END) {
      if (!(faults.at(Occasion.INVALIDATION) instanceof Fault.SkipInvalidation)) {
        functions.invalidate((offset - VFPDINV) >>> 2, value);
      }
    } else {
      otherWritten(offset, value);
    }
  }

  private void otherWritten(int offset, int value) {
    if (PushPages.covers(offset)) {
      pushPages.written(offset, value, queues);
      return;
    }
    Register register = Registers.at(offset);
    if (register == null) {
      registers.touchedUnknown(offset);
      return;
    }
    for (int readOnly : READ_ONLY) {
      if (offset == readOnly) {
        return;
      }
    }
    registers.set(offset, value);
    if (offset == CCQPLOW) {
      control.lowWritten(value);
    }
  }
}
