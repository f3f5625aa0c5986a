package irdma4j.simulator.device;

import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.PbleEntry;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.watch.Watch;
import irdma4j.simulator.wire.Payload;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
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
  private final long burnedInMac;
  private final Faults faults = new Faults();
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
  private final CompletionUnit completions;
  private final ControlOperations operations;
  private final ControlQueue control;
  private final QueueEngine queues;
  private final RegisterWrites writes;
  private long timerAt = Long.MAX_VALUE;
  private boolean stopped;
  private long mac;
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

    /** As {@link DeviceServices#lend}. */
    default @Nullable Payload lend() {
      return null;
    }

    /** As {@link DeviceServices#trainRoom}. */
    default int trainRoom(int bytes) {
      return 0;
    }

    /** Copies all payloads that were lent. */
    default void carryAll() {}

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
            faults,
            watch);
    this.functions = new HmcFunctionTable(this, new DescriptorReads(iommu, faults), profile, watch);
    this.hmc = functions.own();
    this.stags = new StagTable(this, hmc, iommu, watch);
    this.completions = new CompletionUnit(this, faults, interrupts, watch, profile.maxCeqs());
    this.operations = new ControlOperations(this, completions, functions, stags, profile);
    this.control = new ControlQueue(this, completions, operations);
    this.queues = queueEngine.apply(this);
    this.writes =
        new RegisterWrites(
            registers,
            watch,
            faults,
            counters,
            interrupts,
            functions,
            completions,
            control,
            operations.pushPages(),
            queues);
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
    carryAll();
    functions.reset();
    stags.dropCopies();
    interrupts.reset();
    completions.reset();
    timerAt = Long.MAX_VALUE;
    stopped = false;
    setPortMac(burnedInMac);
    writes.reset();
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
      faults.strike(fault);
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

  /** The faults that wait, for the parts of the device. */
  Faults faults() {
    return faults;
  }

  private void strike() {
    switch (faults.takeStruck()) {
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
    carryAll();
    registers.set(Registers.GLPE_CRITERR.offset(), code);
  }

  /** Does a bounded amount of pending work. */
  public boolean run() {
    if (faults.hasStruck()) {
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
      writes.written(Mailbox.offset(write), Mailbox.value(write));
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

  /**
   * A frame arrived from the wire.
   *
   * @param lent where its payload lies, or null if that stands in the frame
   */
  public void receive(MemorySegment frame, int bytes, @Nullable Payload lent) {
    if (lent != null && lent.packets() > 1 && !faults.isEmpty()) {
      // A fault may strike at any of them.
      int end = lent.first() + lent.packets();
      for (int packet = lent.first(); packet < end; packet++) {
        lent.handle(packet, 1);
        receive(frame, bytes, lent);
      }
      return;
    }
    faults.at(Occasion.FRAME_RECEIVED);
    if (stopped || faults.hasStruck() || presence != Presence.PRESENT) {
      return;
    }
    int packets = lent == null ? 1 : lent.packets();
    counters.framesReceived += packets;
    counters.bytesReceived += (long) bytes * packets;
    watch.frameReceived(frame, bytes);
    if (RoceFrame.isRoce(frame, bytes)) {
      queues.receive(frame, bytes, lent);
    } else {
      environment.other(mac, frame, bytes);
    }
  }

  // What the queue engine asks for.

  @Override
  public void complete(int cqId, CompletionEntry c) {
    completions.complete(cqId, c);
  }

  @Override
  public void asyncEvent(
      int qpOrCqId, int aeCode, int aeSource, int wqeIndex, long completionContext) {
    completions.asyncEvent(qpOrCqId, aeCode, aeSource, wqeIndex, completionContext);
  }

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
        && faults.at(Occasion.SEND_WQE) instanceof Fault.CorruptDescriptor fault) {
      header ^= fault.bits();
      iommu.writeWord(iova, header);
    }
    return header;
  }

  @Override
  public boolean writeHostWord(long iova, long value) {
    return iommu.writeWord(iova, value);
  }

  /** Whether there is memory behind an IOVA; the IOMMU counts a fault if not. */
  boolean reaches(long iova) {
    long before = counters.dmaFaults;
    readHostWord(iova);
    return counters.dmaFaults == before;
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
  public boolean lendRegion(int stag, long address, Payload payload, long bytes) {
    return stags.lend(stag, address, payload, bytes);
  }

  @Override
  public boolean writeRegion(int stag, long address, Payload source, long from, long bytes) {
    return stags.write(stag, address, source, from, bytes);
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
  public @Nullable Payload lend() {
    return watch.seesPayloads() ? null : environment.lend();
  }

  @Override
  public int trainRoom(int bytes) {
    return watch.seesFrames() || !faults.isEmpty() ? 0 : environment.trainRoom(bytes);
  }

  /** Packets on their way no longer lie in memory of the host, which may change and go. */
  public void carryAll() {
    environment.carryAll();
  }

  @Override
  public void transmit(MemorySegment frame, int bytes, int packets) {
    faults.at(Occasion.FRAME_SENT);
    counters.framesSent += packets;
    counters.bytesSent += (long) bytes * packets;
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

  CompletionUnit completions() {
    return completions;
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
