package irdma4j.driver;

import irdma4j.hmc.HmcPlan;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.HmcView;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.PciIds;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.Statistic;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.pble.PblePool;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An RDMA function that was brought up from cold.
 *
 * <p>Making, changing and closing objects, {@link #processEvents} and {@link #close} are for one
 * thread at a time. Posting to a queue pair and polling a completion queue may go on meanwhile on
 * other threads. Closing the device closes what was made with it; the PCI function stays open, with
 * as much DMA memory in use as before.
 */
public final class RdmaDevice implements AutoCloseable {
  private static final int FIRST_PD = 1;
  private static final int MAX_PDS = 1 << 18;

  /** What the ids of a function read as that does not answer. */
  private static final int NO_FUNCTION = 0xffff;

  private final PciFunction function;
  private final Bar bar;
  private final DeviceConfig config;
  private final SplittableRandom random;
  private final DeviceObjects objects = new DeviceObjects();
  private final DeviceParts parts;
  private final IdPool pdIds = new IdPool("protection domain", FIRST_PD, MAX_PDS);
  private boolean closed;

  private RdmaDevice(PciFunction function, DeviceConfig config, StageListener listener) {
    this.function = function;
    this.bar = function.bar(0);
    this.config = config;
    this.random = new SplittableRandom(config.seed());
    this.parts = new DeviceParts(function, config, listener, objects);
  }

  /**
   * Brings a function up.
   *
   * @param function stays the caller's, and must outlive the device
   * @param listener told of each stage
   * @throws RdmaException if the function is not of the E810 family, which is found out before it
   *     is touched, or a stage fails; what was up is down again and all memory is back
   */
  public static RdmaDevice open(PciFunction function, DeviceConfig config, StageListener listener) {
    requireKnown(function.config().vendorId(), function.config().deviceId());
    RdmaDevice device = new RdmaDevice(function, config, listener);
    try {
      device.parts.bringUp();
    } catch (RuntimeException e) {
      device.makeQuiet(e);
      device.releaseMemory();
      throw e;
    }
    return device;
  }

  /** Brings a function up with the default configuration. */
  public static RdmaDevice open(PciFunction function) {
    return open(function, DeviceConfig.defaults(), StageListener.none());
  }

  private static void requireKnown(int vendor, int id) {
    PciIds.Family family = PciIds.family(vendor, id);
    if (family == PciIds.Family.E810) {
      return;
    }
    if (vendor == NO_FUNCTION && id == NO_FUNCTION) {
      throw new RdmaException(Firmware.GONE);
    }
    String known =
        PciIds.secondGeneration().stream()
            .map("%04x"::formatted)
            .collect(Collectors.joining(", ", "%04x:".formatted(PciIds.INTEL), ""));
    throw new RdmaException(
        "PCI function %04x:%04x is %s; the driver knows %s"
            .formatted(
                vendor,
                id,
                family == PciIds.Family.X722
                    ? "an X722, whose registers are others"
                    : "not of the E810 family",
                known));
  }

  /** The function that this device was brought up on. */
  public PciFunction function() {
    return function;
  }

  /** The port's MAC address, as a 48-bit integer. */
  public long macAddress() {
    return config.macAddress();
  }

  /** How many objects of each kind were asked for, and what was given up for that. */
  public HmcPlan hmcPlan() {
    return parts.plan();
  }

  /** What is in the function's Host Memory Cache; not to be asked after {@link #close}. */
  public HmcView hmcView() {
    return parts.hmc();
  }

  /** Number of completion event queues. */
  public int ceqCount() {
    return parts.eventQueues().ceqCount();
  }

  /** Makes a protection domain. */
  public ProtectionDomain allocateProtectionDomain() {
    requireOpen();
    ProtectionDomain domain = new ProtectionDomain(this, pdIds.take());
    return adopt(domain, domain::release);
  }

  /**
   * Backs a virtual function of this one: takes an HMC function from the device for it, plans and
   * commits what objects it has, and backs all of them but PBLEs. Bad input changes nothing, and
   * after a failure nothing is left of it.
   *
   * @param virtualFunction its number among this function's virtual ones, 0 to 255
   * @param request what it wants
   * @return what it has, until it is closed
   * @throws IllegalStateException if it is backed, or {@link DeviceConfig#virtualFunctions} others
   *     are
   * @throws irdma4j.hmc.HmcException if what is wanted does not fit what the device lets it have
   * @throws RdmaException if the device refuses
   * @throws irdma4j.uapi.PciException if there is no memory
   */
  public BackedFunction backFunction(int virtualFunction, HmcRequest request) {
    requireOpen();
    return BackedFunction.back(this, parts.hmcFunctions(), virtualFunction, request);
  }

  /** Allocates memory that may be registered; it belongs to the function until closed. */
  public DmaMemory allocateMemory(long bytes, DmaPlacement placement) {
    requireOpen();
    return function.allocateDma(bytes, 4096, placement);
  }

  /** Creates a completion queue whose events arrive on CEQ 0. */
  public CompletionQueue createCompletionQueue(int entries) {
    return createCompletionQueue(entries, 0);
  }

  /**
   * Creates a completion queue.
   *
   * @param entries completions that it holds at least
   * @param ceq where its events arrive, 0 to {@link #ceqCount()} - 1
   */
  public CompletionQueue createCompletionQueue(int entries, int ceq) {
    requireOpen();
    CompletionQueue queue = CompletionQueue.create(this, entries, ceq);
    return adopt(queue, queue::release);
  }

  /**
   * From now on, asynchronous events are also given to this; it is called by processEvents.
   *
   * <p>If {@link AsyncEvent#isOverflow} says that others were lost, any queue pair may be in the
   * error state without this device knowing: its work does not complete until {@link
   * QueuePair#toError} is called.
   */
  public void onAsyncEvent(Consumer<AsyncEvent> listener) {
    parts.events().listen(listener);
  }

  /**
   * Handles events, waiting for the first if there is none: completion queues learn of their
   * events, and queue pairs that the device has put into the error state are flushed. Work that was
   * posted to a queue pair after its flush raises its event here, too, if it was posted before the
   * call: for it the device raises none. So does a completion queue that has completions and whose
   * event was lost; it is found after {@value OverdueEvents#INTERVAL_NANOS} ns, or twice that.
   *
   * @param vector the interrupt vector: that of a CEQ; asynchronous events are on vector 0
   * @param timeoutNanos how long to wait at most, in the device's time; 0 only looks
   * @return whether anything was handled
   * @throws RdmaException if nothing happens because the device no longer works: it is gone, was
   *     reset, or has stopped; it can then only be closed
   */
  public boolean processEvents(int vector, long timeoutNanos) {
    requireOpen();
    return parts.events().process(vector, timeoutNanos);
  }

  /**
   * What the device's own counters say of this function since it came up.
   *
   * @throws RdmaException if the device does not answer
   */
  public Map<Statistic, Long> statistics() {
    requireOpen();
    return parts.statistics().read();
  }

  /**
   * Why the device's protocol engine has stopped: its own code, or 0 while it runs. A device that
   * has stopped answers nothing any more and is to be reset.
   *
   * <p>Source: Linux main.c reads the register when the LAN function reports a critical error.
   */
  public int criticalError() {
    requireOpen();
    return bar.read32(Registers.GLPE_CRITERR.offset());
  }

  /** What is in use and was done so far. */
  public DeviceUsage usage() {
    RequestCounts counts = objects.counts();
    EnumMap<HmcObject, Integer> hmcObjects = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      hmcObjects.put(kind, parts.hmc().count(kind));
    }
    return new DeviceUsage(
        counts.sent(),
        counts.received(),
        counts.doorbellsRung(),
        counts.doorbellsSkipped(),
        counts.completions(),
        parts.eventQueues().interrupts(),
        parts.events().overdueEvents(),
        parts.events().asyncEventLosses(),
        control().operations(),
        parts.hmc().segmentCount(),
        hmcObjects,
        pbles().usage());
  }

  /**
   * Closes all that was made with the device, then takes it down stage by stage. Everything is
   * given back even if the device no longer answers, or refuses to destroy something; the first
   * failure is thrown at the end. A device that did not go down as it should is reset before the
   * memory of what it may still have goes back, and can be brought up again. Closing twice does
   * nothing.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    Failures failures = new Failures();
    failures.closing(objects::close);
    closed = true;
    failures.closing(parts::takeDown);
    if (failures.first() == null && parts.isDead()) {
      failures.add(new RdmaException("the device did not go down as it should"));
    }
    RuntimeException first = failures.first();
    if (first != null) {
      makeQuiet(first);
    }
    releaseMemory();
    failures.throwFirst();
  }

  /** Gives back all memory that is left of a device that is off the bus. */
  private void releaseMemory() {
    objects.release();
    parts.release();
  }

  /**
   * The device may still have queues that it was not told to give up, or would not: it is reset, so
   * that it does nothing and can be brought up again.
   */
  private void makeQuiet(RuntimeException because) {
    try {
      function.setBusMaster(false);
      function.reset();
    } catch (PciException e) {
      // A card that was removed has no reset, and needs none.
      because.addSuppressed(e);
    }
  }

  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the device is closed");
    }
  }

  /**
   * The device has something more to close.
   *
   * @param release closes it without telling the device, which has forgotten it or was reset, and
   *     gives its memory back
   */
  <T extends AutoCloseable> T adopt(T object, Runnable release) {
    return objects.adopt(object, release);
  }

  /**
   * Has the device destroy an object, then releases it and gives back what it had of others.
   *
   * @param giveBack called after the release, unless the device refuses
   * @throws ControlQueueException if the device refuses; nothing has changed
   * @throws RdmaException if it does not answer; all is given back
   */
  void destroy(AutoCloseable object, CqpCommand command, Runnable giveBack) {
    control()
        .destroy(
            command,
            () -> {
              objects.ended(object);
              giveBack.run();
            });
  }

  /** A domain, which the device knows nothing of, is closed. */
  void ended(ProtectionDomain domain) {
    objects.ended(domain);
    pdIds.giveBack(domain.id());
  }

  /** What was made with the device and is open. */
  DeviceObjects objects() {
    return objects;
  }

  EventDispatch events() {
    return parts.events();
  }

  int nextKey() {
    return random.nextInt(256);
  }

  Bar bar() {
    return bar;
  }

  DeviceConfig config() {
    return config;
  }

  ControlQueue control() {
    return parts.control();
  }

  PblePool pbles() {
    return parts.pbles();
  }

  /** Queue sets of traffic classes, or null if there is one for all. */
  @Nullable WorkScheduler workScheduler() {
    return parts.workScheduler();
  }

  ArpTable arp() {
    return parts.arp();
  }

  IdPool stagIds() {
    return parts.stagIds();
  }

  IdPool qpIds() {
    return parts.qpIds();
  }

  IdPool cqIds() {
    return parts.cqIds();
  }

  IdPool addressHandleIds() {
    return parts.addressHandleIds();
  }

  MulticastGroups multicastGroups() {
    return parts.multicastGroups();
  }

  /** The instance in which queue pairs count. */
  StatisticsInstance statisticsInstance() {
    return parts.statistics();
  }
}
