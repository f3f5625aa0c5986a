package irdma4j.simulator.device;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Aeqe;
import irdma4j.hwregs.Ceqe;
import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.ExtendedCqe;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.PbleEntry;
import irdma4j.hwregs.Register;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.watch.Watch;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One simulated RDMA function behind its registers: what it does with a register write, and what it
 * offers to its queue engine. Everything but {@link #registers()}, {@link #mailbox()} and {@link
 * #counters()} runs on the engine's thread.
 */
public final class Device implements DeviceServices {
  /** Bytes of BAR 0: registers and doorbells. */
  public static final long BAR_BYTES = 16L << 20;

  private static final int WRITES_AT_ONCE = 256;
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

  private final long burnedInMac;
  private final Watch watch;
  private final Environment environment;
  private final Iommu iommu;
  private final DeviceCounters counters;
  private final RegisterFile registers = new RegisterFile(BAR_BYTES);
  private final Mailbox mailbox = new Mailbox();
  private final InterruptController interrupts;
  private final HmcFunctionTable functions;
  private final HmcWalk hmc;
  private final StagTable stags;
  private final ControlOperations operations;
  private final ControlQueue control;
  private final QueueEngine queues;
  private final EventRing.@Nullable Completion[] eventQueues;
  private @Nullable CompletionQueue[] completionQueues = new @Nullable CompletionQueue[64];
  private EventRing.@Nullable Asynchronous asyncQueue;
  private long timerAt = Long.MAX_VALUE;
  private boolean stopped;
  private long mac;
  private final Faults faults = new Faults();
  private @Nullable Fault struck;
  private volatile Presence presence = Presence.PRESENT;

  /** What lies around a device. */
  public interface Environment {
    /** The engine's time in nanoseconds. */
    long now();

    /** Where the device's doings can be watched. */
    default Watch watch() {
      return Watch.NONE;
    }

    /** Where to build the next frame; as {@link DeviceServices#frameBuffer}. */
    MemorySegment frameBuffer();

    /** Puts a frame of this device on the wire; as {@link DeviceServices#transmit}. */
    void transmit(MemorySegment frame, int bytes);

    /** Whether the wire takes more frames for now. */
    boolean hasRoom();

    /** Whether only devices of this simulation see the frames, unchanged. */
    default boolean isPrivate() {
      return false;
    }

    /** A frame arrived that is not RoCE, so that it is for the LAN side of the port. */
    default void other(long ownMac, MemorySegment frame, int bytes) {}

    /** The device listens to another MAC address. */
    void attach(long mac);

    /** A frame comes back to this device without having been on the wire; its bytes are copied. */
    default void loopBack(MemorySegment frame, int bytes) {}
  }

  /**
   * A device just after reset.
   *
   * @param profile what the card says of itself
   * @param mac the port's MAC address, a 48-bit integer
   * @param iommu what lies between it and host memory
   * @param counters its counters
   * @param interruptMessage takes the MSI-X messages, by vector
   * @param environment what lies around it
   * @param queueEngine makes its queue engine
   */
  @SuppressWarnings("this-escape")
  public Device(
      CardProfile profile,
      long mac,
      Iommu iommu,
      DeviceCounters counters,
      IntConsumer interruptMessage,
      Environment environment,
      Function<DeviceServices, QueueEngine> queueEngine) {
    this.burnedInMac = mac;
    this.mac = mac;
    this.environment = environment;
    this.watch = environment.watch();
    this.iommu = iommu;
    iommu.watch(watch);
    this.counters = counters;
    this.interrupts =
        new InterruptController(
            registers,
            counters,
            profile.vectors(),
            interruptMessage,
            environment::now,
            this::faultAt,
            watch);
    this.functions =
        new HmcFunctionTable(this, new DescriptorReads(iommu, this::faultAt), profile, watch);
    this.hmc = functions.own();
    this.stags = new StagTable(this, hmc, iommu, watch);
    this.operations = new ControlOperations(this, functions, stags, profile);
    this.control = new ControlQueue(this, operations);
    this.eventQueues = new EventRing.@Nullable Completion[profile.maxCeqs()];
    this.queues = queueEngine.apply(this);
    setResetValues();
  }

  private void setResetValues() {
    registers.set(Registers.GLPE_CPUSTATUS0.offset(), Registers.CPUSTATUS_RUNNING);
    registers.set(Registers.GLPE_CPUSTATUS1.offset(), Registers.CPUSTATUS_RUNNING);
    registers.set(Registers.GLPE_CPUSTATUS2.offset(), Registers.CPUSTATUS_RUNNING);
    registers.set(
        Registers.GLPCI_LBARCTRL.offset(),
        (int) Registers.LBARCTRL_PE_DB_SIZE.encode(DOORBELL_8_MIB));
  }

  /**
   * The function reset: the device forgets everything it was told. Writes on their way are lost.
   */
  public void reset() {
    while (mailbox.peek() != 0) {
      mailbox.handledOldest();
    }
    queues.reset();
    control.reset();
    operations.reset();
    functions.reset();
    stags.dropCopies();
    interrupts.reset();
    Arrays.fill(eventQueues, null);
    Arrays.fill(completionQueues, null);
    asyncQueue = null;
    timerAt = Long.MAX_VALUE;
    stopped = false;
    setPortMac(burnedInMac);
    registers.clear();
    setResetValues();
  }

  // The engine's side.

  /** The register file; reading it is safe from any thread. */
  public RegisterFile registers() {
    return registers;
  }

  /** The posted writes on their way here; filling it is safe from any thread. */
  public Mailbox mailbox() {
    return mailbox;
  }

  /** Whether the link to it works. Any thread. */
  public Presence presence() {
    return presence;
  }

  /** The link works again, after a reset or because the card is back in its slot. */
  public void reconnect() {
    presence = Presence.PRESENT;
  }

  /** From now on a fault waits for its moment. */
  public void inject(Fault fault) {
    if (fault.when().occasion() == Occasion.NOW) {
      struck = fault;
      strike();
    } else {
      faults.add(fault);
    }
  }

  /** Faults whose moment has not come are forgotten. */
  public void clearFaults() {
    faults.clear();
  }

  /** How many faults wait for their moment. */
  public int waitingFaults() {
    return faults.size();
  }

  boolean faultsWait() {
    return faults.size() != 0;
  }

  /**
   * The fault that strikes here and now, or null. One that concerns the whole device strikes before
   * the device's next turn.
   */
  @Nullable Fault faultAt(Occasion occasion) {
    return noted(faults.at(occasion));
  }

  /** As {@link #faultAt}, for a control operation; null is one that is not known. */
  @Nullable Fault faultAtOperation(@Nullable CqpOpcode operation) {
    return noted(faults.atOperation(operation));
  }

  private @Nullable Fault noted(@Nullable Fault fault) {
    if (fault != null) {
      switch (fault) {
        case Fault.SilentFirmware f -> struck = f;
        case Fault.HmcError f -> struck = f;
        case Fault.PciError f -> struck = f;
        case Fault.SurpriseRemoval f -> struck = f;
        case Fault.DeviceReset f -> struck = f;
        default -> {}
      }
    }
    return fault;
  }

  private void strike() {
    Fault fault = struck;
    struck = null;
    switch (fault) {
      case Fault.SilentFirmware f -> {
        control.fallSilent();
        registers.set(Registers.GLPE_CPUSTATUS0.offset(), 0);
        registers.set(Registers.GLPE_CPUSTATUS1.offset(), 0);
        registers.set(Registers.GLPE_CPUSTATUS2.offset(), 0);
      }
      case Fault.HmcError f -> stop(f.code());
      case Fault.PciError f -> disconnect(Presence.FROZEN);
      case Fault.SurpriseRemoval f -> disconnect(Presence.REMOVED);
      case Fault.DeviceReset f -> reset();
      case null, default -> {}
    }
  }

  private void disconnect(Presence now) {
    reset();
    presence = now;
    iommu.setBusMaster(false);
  }

  private void stop(int code) {
    stopped = true;
    registers.set(Registers.GLPE_CRITERR.offset(), code);
  }

  /** Does a bounded amount of pending work. */
  public boolean run() {
    if (struck != null) {
      strike();
    }
    if (stopped || presence != Presence.PRESENT) {
      boolean taken = mailbox.peek() != 0;
      while (mailbox.peek() != 0) {
        mailbox.handledOldest();
      }
      return taken;
    }
    boolean worked = false;
    for (int i = 0; i < WRITES_AT_ONCE; i++) {
      long write = mailbox.peek();
      if (write == 0) {
        break;
      }
      written(Mailbox.offset(write), Mailbox.value(write));
      mailbox.handledOldest();
      worked = true;
    }
    worked |= control.run();
    worked |= queues.run();
    return worked;
  }

  /** When {@link #runTimer} wants to be called, or {@link Long#MAX_VALUE}. */
  public long timerAt() {
    return stopped ? Long.MAX_VALUE : Math.min(timerAt, interrupts.timerAt());
  }

  /** Does what is due: messages that a throttle kept back, and the queue engine's timers. */
  public boolean runTimer(long now) {
    if (stopped) {
      return false;
    }
    boolean worked = false;
    if (interrupts.timerAt() <= now) {
      interrupts.timer();
      worked = true;
    }
    if (timerAt <= now) {
      timerAt = Long.MAX_VALUE;
      queues.timer(now);
      worked = true;
    }
    return worked;
  }

  /** A frame arrived from the wire. */
  public void receive(MemorySegment frame, int bytes) {
    faultAt(Occasion.FRAME_RECEIVED);
    if (stopped || struck != null || presence != Presence.PRESENT) {
      return;
    }
    counters.framesReceived++;
    counters.bytesReceived += bytes;
    watch.frameReceived(frame, bytes);
    if (RoceFrame.isRoce(frame, bytes)) {
      queues.receive(frame, bytes);
    } else {
      environment.other(mac, frame, bytes);
    }
  }

  private void written(int offset, int value) {
    watch.registerWrite(offset, value);
    if (offset == WQEALLOC) {
      if (faultAt(Occasion.SEND_DOORBELL) instanceof Fault.LoseDoorbell) {
        return;
      }
      counters.doorbells++;
      queues.doorbell((int) Registers.WQEALLOC_QPID.decode(value));
    } else if (offset == CQARM) {
      CompletionQueue cq = completionQueue((int) Registers.CQARM_CQID.decode(value));
      if (cq != null && !(faultAt(Occasion.ARM_DOORBELL) instanceof Fault.LoseDoorbell)) {
        cq.arm(this);
        // The doorbell took its time: a completion may have come after the driver's last look.
        if (cq.hasUnread(this)) {
          raiseIfArmed(cq, cq.isUnreadSolicited());
        }
      }
    } else if (offset == CQACK) {
      acknowledge((int) Registers.CQACK_CQID.decode(value));
    } else if (offset == CQPDB) {
      registers.set(offset, value);
      if (control.isCreated()
          && !(faultAt(Occasion.CONTROL_DOORBELL) instanceof Fault.LoseDoorbell)) {
        control.doorbell(value);
      }
    } else if (offset >= DYN_CTL && offset < DYN_CTL_END) {
      registers.set(offset, value & ~(int) Registers.DYN_CTL_CLEARPBA.mask());
      interrupts.controlWritten((offset - DYN_CTL) >>> 2);
    } else if (offset == AEQALLOC) {
      if (asyncQueue != null) {
        asyncQueue.outstanding =
            Math.max(0, asyncQueue.outstanding - Integer.toUnsignedLong(value));
      }
    } else if (offset == PDINV) {
      if (!(faultAt(Occasion.INVALIDATION) instanceof Fault.SkipInvalidation)) {
        hmc.invalidate(value);
      }
    } else if (offset >= VFPDINV && offset < VFPDINV_END) {
      if (!(faultAt(Occasion.INVALIDATION) instanceof Fault.SkipInvalidation)) {
        functions.invalidate((offset - VFPDINV) >>> 2, value);
      }
    } else {
      otherWritten(offset, value);
    }
  }

  private void otherWritten(int offset, int value) {
    if (PushPages.covers(offset)) {
      operations.pushPages().written(offset, value, queues);
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

  // Completion queues and events.

  @Nullable CompletionQueue completionQueue(int id) {
    return id < completionQueues.length ? completionQueues[id] : null;
  }

  @Nullable CompletionQueue controlCompletions() {
    return completionQueues[0];
  }

  void addCompletionQueue(CompletionQueue cq) {
    if (cq.id >= completionQueues.length) {
      completionQueues =
          Arrays.copyOf(completionQueues, Math.max(cq.id + 1, completionQueues.length * 2));
    }
    completionQueues[cq.id] = cq;
  }

  ControlStatus removeCompletionQueue(int id) {
    if (completionQueue(id) == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    CompletionQueue gone = completionQueues[id];
    completionQueues[id] = null;
    EventRing.Completion queue = gone.hasEventQueue ? eventQueues[gone.eventQueue] : null;
    if (queue != null) {
      queue.waiting -= gone.eventWaits ? 1 : 0;
      // Linux does not acknowledge the events of a queue that it has destroyed.
      if (gone.unacknowledged) {
        release(queue);
      }
    }
    return ControlStatus.OK;
  }

  ControlStatus addEventQueue(EventRing.Completion queue) {
    if (eventQueues[queue.id] != null) {
      return ControlStatus.OBJECT_EXISTS;
    }
    eventQueues[queue.id] = queue;
    return ControlStatus.OK;
  }

  ControlStatus removeEventQueue(int id) {
    if (id >= eventQueues.length || eventQueues[id] == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    eventQueues[id] = null;
    for (CompletionQueue cq : completionQueues) {
      if (cq != null && cq.hasEventQueue && cq.eventQueue == id) {
        cq.unacknowledged = false;
        cq.eventWaits = false;
      }
    }
    return ControlStatus.OK;
  }

  ControlStatus addAsyncQueue(EventRing.Asynchronous queue) {
    if (asyncQueue != null) {
      return ControlStatus.OBJECT_EXISTS;
    }
    asyncQueue = queue;
    return ControlStatus.OK;
  }

  ControlStatus removeAsyncQueue() {
    if (asyncQueue == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    asyncQueue = null;
    return ControlStatus.OK;
  }

  @Override
  public void complete(int cqId, CompletionEntry c) {
    CompletionQueue cq = completionQueue(cqId);
    if (cq == null || cq.overflowed) {
      return;
    }
    boolean datagram = c.sourceMacValid;
    boolean tagged = datagram && c.vlanTag >= 0;
    boolean extended = c.immediateValid || datagram;
    long word16 =
        Cqe.QPID.encode(c.qpId)
            | Integer.toUnsignedLong(c.stagInvalidated ? c.invalidatedStag : c.sourceQpn);
    long header =
        Cqe.MINERR.encode(c.error ? c.minorError : 0)
            | Cqe.MAJERR.encode(c.error ? c.majorError : 0)
            | Cqe.WQEIDX.encode(c.wqeIndex)
            | Cqe.PSHDROP.encode(c.pushDropped)
            | Cqe.EXTCQE.encode(extended)
            | Cqe.STAG.encode(c.stagInvalidated || c.ipv4)
            | Cqe.SOEVENT.encode(c.solicited)
            | Cqe.ERROR.encode(c.error)
            | Cqe.OP.encode(c.opcode)
            | Cqe.SQ.encode(c.sq);
    boolean written =
        !(faultAt(Occasion.COMPLETION) instanceof Fault.OverflowCompletionQueue)
            && cq.write(
                this,
                Cqe.PAYLDLEN.encode(Integer.toUnsignedLong(c.payloadLength)),
                c.completionContext,
                word16,
                header,
                extended,
                Integer.toUnsignedLong(c.immediate),
                (datagram ? ExtendedCqe.UDSMAC.encode(c.sourceMac) : 0)
                    | (tagged ? ExtendedCqe.UDVLAN.encode(c.vlanTag) : 0),
                ExtendedCqe.IMMVALID.encode(c.immediateValid)
                    | ExtendedCqe.UDVLANVALID.encode(tagged)
                    | ExtendedCqe.UDSMACVALID.encode(datagram));
    if (written) {
      counters.completions++;
      raise(cq, c.solicited || c.error);
    } else {
      cq.overflowed = true;
      asyncEvent(cqId, AeCode.CQ_OPERATION_ERROR.code(), AeSource.CQ.code(), 0, cq.context);
    }
  }

  void completeControl(
      CompletionQueue ccq, long context, long returnValue, long header, boolean failed) {
    boolean written =
        ccq.write(
            this, 0, context, ControlCqe.OPRETVAL.encode(returnValue), header, false, 0, 0, 0);
    if (written) {
      counters.completions++;
      raise(ccq, failed);
    }
  }

  private void raise(CompletionQueue cq, boolean solicited) {
    cq.added(solicited);
    raiseIfArmed(cq, solicited);
  }

  private void raiseIfArmed(CompletionQueue cq, boolean solicited) {
    if (cq.takeEvent(solicited) && cq.hasEventQueue) {
      EventRing.Completion queue = eventQueues[cq.eventQueue];
      if (queue != null) {
        writeEvent(queue, cq);
      }
    }
  }

  private void writeEvent(EventRing.Completion queue, CompletionQueue cq) {
    if (cq.unacknowledged || queue.outstanding >= queue.ring.entries) {
      queue.waiting += cq.eventWaits ? 0 : 1;
      cq.eventWaits = true;
      return;
    }
    queue.waiting -= cq.eventWaits ? 1 : 0;
    cq.eventWaits = false;
    if (faultAt(Occasion.COMPLETION_EVENT) instanceof Fault.OverflowEventQueue) {
      return;
    }
    long at = queue.ring.next(this);
    boolean written =
        writeHostWord(at, Ceqe.CQCTX.encode(cq.context) | Ceqe.VALID.encode(queue.ring.polarity));
    if (written) {
      queue.ring.advance();
      queue.outstanding++;
      cq.unacknowledged = true;
      counters.completionEvents++;
      watch.completionEvent(queue.id, cq.id);
      interrupts.cause(Registers.GLINT_CEQCTL.offset(queue.id));
    }
  }

  private void acknowledge(int cqId) {
    CompletionQueue cq = completionQueue(cqId);
    if (cq == null || !cq.unacknowledged) {
      return;
    }
    cq.unacknowledged = false;
    EventRing.Completion queue = eventQueues[cq.eventQueue];
    if (queue != null) {
      release(queue);
    }
  }

  /** An event has left its queue: there is room for one that waits, by turns. */
  private void release(EventRing.Completion queue) {
    queue.outstanding--;
    for (int i = 0; queue.waiting > 0 && i < completionQueues.length; i++) {
      int id = (queue.nextWaiting + i) % completionQueues.length;
      CompletionQueue waiting = completionQueues[id];
      if (waiting != null
          && waiting.eventWaits
          && !waiting.unacknowledged
          && waiting.eventQueue == queue.id) {
        queue.nextWaiting = id + 1;
        writeEvent(queue, waiting);
        return;
      }
    }
  }

  @Override
  public void asyncEvent(
      int qpOrCqId, int aeCode, int aeSource, int wqeIndex, long completionContext) {
    EventRing.Asynchronous queue = asyncQueue;
    if (queue == null) {
      return;
    }
    if (queue.outstanding >= queue.ring.entries
        || faultAt(Occasion.ASYNC_EVENT) instanceof Fault.OverflowEventQueue) {
      queue.lost = true;
      watch.asyncEvent(qpOrCqId, aeCode, aeSource, wqeIndex, completionContext, false);
      return;
    }
    long at = queue.ring.next(this);
    long word =
        Aeqe.QPCQID_LOW.encode(qpOrCqId & Aeqe.QPCQID_LOW.max())
            | Aeqe.QPCQID_HI.encode((qpOrCqId >>> 18) & 1)
            | Aeqe.WQDESCIDX.encode(wqeIndex)
            | Aeqe.OVERFLOW.encode(queue.lost)
            | Aeqe.AECODE.encode(aeCode)
            | Aeqe.AESRC.encode(aeSource)
            | Aeqe.VALID.encode(queue.ring.polarity);
    if (writeHostWord(at, completionContext) && writeHostWord(at + 8, word)) {
      queue.lost = false;
      queue.ring.advance();
      queue.outstanding++;
      counters.asyncEvents++;
      watch.asyncEvent(qpOrCqId, aeCode, aeSource, wqeIndex, completionContext, true);
      interrupts.cause(Registers.PFINT_AEQCTL.offset());
    }
  }

  // What the queue engine asks for.

  @Override
  public long now() {
    return environment.now();
  }

  @Override
  public boolean readHost(long iova, MemorySegment target, long targetOffset, long bytes) {
    return iommu.read(iova, target, targetOffset, bytes);
  }

  @Override
  public boolean writeHost(long iova, MemorySegment source, long sourceOffset, long bytes) {
    return iommu.write(iova, source, sourceOffset, bytes);
  }

  @Override
  public long readHostWord(long iova) {
    return iommu.readWord(iova);
  }

  @Override
  public long readSendHeader(long iova, long polarity) {
    long header = iommu.readWord(iova);
    if (header >>> 63 == polarity
        && faultAt(Occasion.SEND_WQE) instanceof Fault.CorruptDescriptor fault) {
      header ^= fault.bits();
      iommu.writeWord(iova, header);
    }
    return header;
  }

  @Override
  public boolean writeHostWord(long iova, long value) {
    return iommu.writeWord(iova, value);
  }

  @Override
  public long ringAddress(long base, boolean virtual, long byteOffset) {
    if (!virtual) {
      return base + byteOffset;
    }
    long pble = hmc.pble(base + (byteOffset >>> 12));
    return pble == HmcWalk.FAULT
        ? HmcWalk.FAULT
        : (pble & PbleEntry.ADDRESS.mask()) + (byteOffset & 0xfff);
  }

  @Override
  public int checkAccess(int stag, long address, long bytes, int rights, int pdId, int qpId) {
    return stags.check(stag, address, bytes, rights, pdId, qpId);
  }

  @Override
  public boolean readRegion(
      int stag, long address, MemorySegment target, long targetOffset, long bytes) {
    return stags.read(stag, address, target, targetOffset, bytes);
  }

  @Override
  public boolean writeRegion(
      int stag, long address, MemorySegment source, long sourceOffset, long bytes) {
    return stags.write(stag, address, source, sourceOffset, bytes);
  }

  @Override
  public int invalidateStag(int stag, int pdId, int qpId, boolean remote) {
    return stags.invalidate(stag, pdId, qpId, remote);
  }

  @Override
  public int bindWindow(long word0, long word1, long word2, long header, int pdId, int qpId) {
    return stags.bind(word0, word1, word2, header, pdId, qpId);
  }

  @Override
  public int fastRegister(long word0, long word1, long word2, long header, int pdId, int qpId) {
    return stags.fastRegister(word0, word1, word2, header, pdId);
  }

  @Override
  public long arpMac(int arpIndex) {
    return operations.network().arpMac(arpIndex);
  }

  @Override
  public long portMac() {
    return mac;
  }

  @Override
  public MemorySegment frameBuffer() {
    return environment.frameBuffer();
  }

  @Override
  public void transmit(MemorySegment frame, int bytes) {
    faultAt(Occasion.FRAME_SENT);
    counters.framesSent++;
    counters.bytesSent += bytes;
    watch.frameSent(frame, bytes);
    environment.transmit(frame, bytes);
  }

  @Override
  public boolean wireIsPrivate() {
    return environment.isPrivate();
  }

  @Override
  public boolean transmitReady() {
    return environment.hasRoom();
  }

  @Override
  public void requestTimer(long atNanos) {
    timerAt = Math.min(timerAt, atNanos);
  }

  @Override
  public Watch watch() {
    return watch;
  }

  @Override
  public DeviceCounters counters() {
    return counters;
  }

  /** The port listens to this address from now on. */
  void setPortMac(long address) {
    mac = address;
    environment.attach(address);
  }

  /** Back to the address that the card came with. */
  void forgetPortMac() {
    setPortMac(burnedInMac);
  }

  @Override
  public TrafficCounts traffic(int instance) {
    return operations.statistics().of(instance);
  }

  QueueEngine queueEngine() {
    return queues;
  }

  @Override
  public @Nullable ManageAddressHandle addressHandle(int id) {
    return operations.network().addressHandle(id);
  }

  @Override
  public @Nullable MulticastGroup multicastGroup(
      long groupMac, boolean ipv4, long ipHigh, long ipLow, int vlanTag) {
    return operations.network().multicast().find(groupMac, ipv4, ipHigh, ipLow, vlanTag);
  }

  @Override
  public void loopBack(MemorySegment frame, int bytes) {
    environment.loopBack(frame, bytes);
  }

  /** Page descriptors that the device had at hand. */
  public long pageDescriptorHits() {
    return hmc.hits();
  }

  /** Page descriptors fetched from host memory. */
  public long pageDescriptorMisses() {
    return hmc.misses();
  }

  /** FPM addresses with nothing behind them. */
  public long hmcFaults() {
    return hmc.faults();
  }

  /** PBLEs fetched from host memory. */
  public long pblesRead() {
    return stags.pblesRead();
  }

  /** Page translations that needed no PBLE. */
  public long translationHits() {
    return stags.translationHits();
  }

  /** Whether an IOVA is that of memory behind the Host Memory Cache. */
  public boolean isObjectMemory(long iova) {
    return functions.isBacking(iova);
  }

  /**
   * Where a byte of an HMC function's FPM space lies, for tests: its IOVA, or {@link HmcWalk#FAULT}
   * if nothing is there or there is no such function. A page descriptor that is read is believed
   * from now on, as always.
   */
  public long translate(int hmcFunction, long address) {
    HmcWalk walk = functions.walk(hmcFunction);
    return walk == null ? HmcWalk.FAULT : walk.translate(address);
  }

  /** Where the HMC object of a number lies, for tests: its IOVA or -1. */
  public long objectAddress(HmcObject kind, long index) {
    return hmc.object(kind, index);
  }
}
