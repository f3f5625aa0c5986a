package irdma4j.driver;

import irdma4j.driver.ring.QueueLookup;
import irdma4j.driver.ring.QueuePairRings;
import irdma4j.hmc.FpmLimits;
import irdma4j.hmc.HmcFunction;
import irdma4j.hmc.HmcFunctions;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcPlan;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.HmcView;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.PciIds;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.Statistic;
import irdma4j.hwregs.cqp.AddLocalMac;
import irdma4j.hwregs.cqp.AllocateLocalMac;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.DeleteLocalMac;
import irdma4j.pble.PblePool;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
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
  private static final int FIRST_ID = 1;
  private static final int FIRST_QUEUE_ID = 3;
  private static final int MAX_PDS = 1 << 18;
  private static final int PORT_INDEX_LIMIT = 4096;

  /** What the ids of a function read as that does not answer. */
  private static final int NO_FUNCTION = 0xffff;

  private final PciFunction function;
  private final Bar bar;
  private final DeviceConfig config;
  private final SplittableRandom random;
  private final Bringup bringup;
  // Each with what gives its memory back once the device has been reset.
  private final IdentityHashMap<AutoCloseable, Runnable> children = new IdentityHashMap<>();
  // Memory of what the device would not destroy.
  private final List<Runnable> leftovers = new ArrayList<>();
  private final IdPool pdIds = new IdPool("protection domain", FIRST_ID, MAX_PDS);
  private QueuePairRings[] ringsByQpn = new QueuePairRings[0];
  private final Map<Integer, CompletionQueue> queuesById = new java.util.HashMap<>();
  private final Map<Integer, QueuePairCore> pairsByQpn = new java.util.HashMap<>();
  // Those of all queues into which a flushed queue pair has completed.
  private final List<CompletionQueue> flushedQueues = new ArrayList<>();
  private final List<AsyncEvent> pendingEvents = new ArrayList<>();
  private Consumer<AsyncEvent> asyncListener = event -> {};
  // Since processEvents was last called.
  private boolean raisedMeanwhile;
  private long asyncEventLosses;
  private @Nullable OverdueEvents overdue;
  private boolean closed;

  private @Nullable ControlQueue controlQueue;
  private @Nullable FpmLimits limits;
  private @Nullable FunctionMemory functionMemory;
  private @Nullable HmcPlan plan;
  private @Nullable HmcFunctions hmcFunctions;
  private @Nullable HostMemoryCache hmc;
  private @Nullable ControlCompletions ccq;
  private @Nullable EventQueues events;
  private @Nullable PblePool pblePool;
  private @Nullable StatisticsInstance statistics;
  private @Nullable ArpTable arpTable;
  private @Nullable WorkScheduler workScheduler;
  private @Nullable IdPool stags;
  private @Nullable IdPool qps;
  private @Nullable IdPool cqs;
  private @Nullable IdPool addressHandles;
  private @Nullable MulticastGroups multicastGroups;
  private boolean generalServicesTaken;
  private int macIndex = -1;
  private long sendRequests;
  private long receiveRequests;
  private long doorbellsRung;
  private long doorbellsSkipped;
  private long completions;

  private RdmaDevice(PciFunction function, DeviceConfig config, StageListener listener) {
    this.function = function;
    this.bar = function.bar(0);
    this.config = config;
    this.random = new SplittableRandom(config.seed());
    this.bringup = new Bringup(function.clock(), listener);
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
      device.bringUp();
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

  /** The order is the hardware's: each stage needs those before it. */
  private void bringUp() {
    bringup.omitted("function reset", "not used");
    bringup.omitted("admin queue", "not used");
    bringup.omitted("capabilities", "not used");
    bringup.stage("bus master", this::upBusMaster, () -> function.setBusMaster(false));
    bringup.stage("firmware", this::upFirmware, () -> {});
    bringup.stage("control QP", this::upControlQueue, () -> control().close());
    bringup.stage("FPM query", this::upFpmQuery, () -> {});
    bringup.stage("FPM commit", this::upFpmCommit, () -> {});
    bringup.stage("HMC objects", this::upHmcObjects, this::downHmcObjects);
    bringup.stage("CCQ", this::upCcq, this::downCcq);
    bringup.stage("RDMA features", this::upFeatures, () -> {});
    bringup.stage("CEQ 0", this::upCeq0, this::downCeq0);
    bringup.stage("CEQs", this::upCeqs, this::downCeqs);
    bringup.stage("PBLEs", this::upPbles, () -> pbles().close());
    bringup.stage("AEQ", this::upAeq, () -> events().destroyAeq());
    bringup.stage("statistics", this::upStatistics, () -> statisticsInstance().close());
    bringup.stage("local MAC", this::upLocalMac, this::downLocalMac);
    bringup.stage("ARP", this::upArp, () -> {});
    bringup.stage("queue sets", this::upQueueSets, this::downQueueSets);
  }

  private String upBusMaster() {
    function.setBusMaster(true);
    return "%04x:%04x".formatted(function.config().vendorId(), function.config().deviceId());
  }

  private String upFirmware() {
    return "doorbells %d MiB".formatted(Firmware.await(bar, function.clock()));
  }

  private String upControlQueue() {
    ControlQueue queue =
        new ControlQueue(
            function, bar, config.controlContext(), ControlQueue.SLOTS, config.timeoutNanos());
    controlQueue = queue;
    try {
      queue.create();
    } catch (RuntimeException e) {
      try {
        queue.close();
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
    return ControlQueue.SLOTS + " slots";
  }

  private String upFpmQuery() {
    HmcFunctions functions = new HmcFunctions(function, owner -> control().programmer(owner));
    hmcFunctions = functions;
    FunctionMemory memory =
        new FunctionMemory(
            function, control(), functions, HmcFunction.physical(config.hmcFunction()));
    FpmLimits found = memory.query();
    functionMemory = memory;
    limits = found;
    return "up to %d QPs, %d CQs, %d regions, %d PBLEs in %d segments"
        .formatted(
            found.of(HmcObject.QP).maxCount(),
            found.of(HmcObject.CQ).maxCount(),
            found.of(HmcObject.MR).maxCount(),
            found.of(HmcObject.PBLE).maxCount(),
            found.maxSegments());
  }

  private String upFpmCommit() {
    FpmLimits found = limits();
    HmcPlan counts =
        config.sizing().plan(found, new HmcRequest(config.queuePairs(), config.profile(), false));
    HostMemoryCache cache = functionMemory().commit(found, counts, config.segmentType());
    plan = counts;
    hmc = cache;
    return "%d QPs, %d CQs, %d regions, %d PBLEs in %d segments"
        .formatted(
            counts.count(HmcObject.QP),
            counts.count(HmcObject.CQ),
            counts.count(HmcObject.MR),
            counts.count(HmcObject.PBLE),
            cache.layout().segments());
  }

  private String upHmcObjects() {
    HostMemoryCache cache = hmc();
    try {
      functionMemory().createObjects(cache);
    } catch (RuntimeException e) {
      cache.close();
      throw e;
    }
    // The card's answer counts, not what was asked for.
    HmcLayout layout = cache.layout();
    qps = new IdPool("queue pair", FIRST_QUEUE_ID, (int) layout.of(HmcObject.QP).count());
    cqs = new IdPool("completion queue", FIRST_QUEUE_ID, (int) layout.of(HmcObject.CQ).count());
    addressHandles =
        new IdPool("address handle", FIRST_ID, (int) layout.of(HmcObject.FSIAV).count());
    multicastGroups =
        new MulticastGroups(
            function, control(), config.hmcFunction(), layout.of(HmcObject.FSIMC).count());
    stags = new IdPool("stag", FIRST_ID, (int) layout.of(HmcObject.MR).count());
    ringsByQpn = new QueuePairRings[(int) layout.of(HmcObject.QP).count()];
    return cache.segmentCount() + " segments backed";
  }

  private void downHmcObjects() {
    functionMemory().deleteObjects(hmc());
    hmc().close();
  }

  private String upCcq() {
    ControlCompletions queue =
        new ControlCompletions(function, bar, control().ring(), ControlCompletions.ENTRIES);
    ccq = queue;
    control().useCompletions(queue);
    try {
      control().execute(queue.creation());
    } catch (RuntimeException e) {
      control().useCompletions(null);
      queue.close();
      throw e;
    }
    return ControlCompletions.ENTRIES + " entries";
  }

  private void downCcq() {
    ControlCompletions queue = ccq;
    if (queue != null) {
      // Its own end can't arrive in it, so the tail register tells.
      control().useCompletions(null);
      try {
        destroy(queue.destruction(), queue::close);
      } catch (ControlQueueException refused) {
        keepUntilReset(queue::close);
        throw refused;
      }
    }
  }

  private String upFeatures() {
    return "firmware " + DeviceFeatures.query(function, control()).firmwareVersion();
  }

  private String upCeq0() {
    int vectors = Math.min(config.completionEventQueues(), vectorLimit());
    function.interrupts().enable(vectors);
    EventPlan eventPlan =
        EventPlan.shared(
            hmc().layout(), config.completionEventEntries(), config.asyncEventEntries());
    EventQueues queues =
        new EventQueues(
            function,
            bar,
            control(),
            new InterruptVectors(bar, eventPlan.aeqVector(), config.interruptIntervalMicros()),
            eventPlan);
    try {
      queues.createCeq();
    } catch (RuntimeException e) {
      function.interrupts().disable();
      throw e;
    }
    events = queues;
    ControlCompletions control = ccq;
    if (control != null) {
      control.waitBy(
          nanos -> {
            if (queues.await(0, nanos, this::raiseMeanwhile, pendingEvents::add)) {
              control.arm();
            }
          });
      control.arm();
    }
    return vectors + " vectors";
  }

  private int vectorLimit() {
    return Math.max(1, Math.min(function.interrupts().count(), limits().maxCeqs()));
  }

  private void downCeq0() {
    ControlCompletions control = ccq;
    if (control != null) {
      control.waitBy(function.clock()::pause);
    }
    try {
      events().destroyCeq();
    } finally {
      function.interrupts().disable();
    }
  }

  private String upCeqs() {
    int wanted = Math.min(config.completionEventQueues(), vectorLimit());
    try {
      while (events().ceqCount() < wanted) {
        events().createCeq();
      }
    } catch (RuntimeException e) {
      try {
        downCeqs();
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
    overdue = new OverdueEvents(wanted);
    return (wanted - 1) + " more";
  }

  private void downCeqs() {
    while (events().ceqCount() > 1) {
      events().destroyCeq();
    }
  }

  private String upPbles() {
    PblePool pool = new PblePool(hmc(), config.pbleChunkPages());
    pblePool = pool;
    return "%d backed, %d to grow by".formatted(pool.usage().backed(), pool.usage().unbacked());
  }

  private String upAeq() {
    events().createAeq();
    return "vector 0";
  }

  private String upStatistics() {
    StatisticsInstance instance = StatisticsInstance.allocate(function, control());
    statistics = instance;
    return "instance " + instance.index();
  }

  private String upLocalMac() {
    int index = (int) control().execute(new AllocateLocalMac());
    try {
      control().execute(new AddLocalMac(config.macAddress(), index));
    } catch (RuntimeException e) {
      control().execute(new DeleteLocalMac(index, true, true));
      throw e;
    }
    macIndex = index;
    return "%012x".formatted(config.macAddress()).replaceAll("(..)(?!$)", "$1:");
  }

  private void downLocalMac() {
    control().execute(new DeleteLocalMac(macIndex, true, true));
  }

  private String upArp() {
    int entries = (int) Math.min(PORT_INDEX_LIMIT, hmc().layout().of(HmcObject.ARP).count());
    arpTable = new ArpTable(control(), entries);
    return entries + " entries";
  }

  private String upQueueSets() {
    QualityOfService quality = config.qualityOfService();
    if (quality == null) {
      return "the device's own";
    }
    UserPriorityMap map = quality.priorityMap();
    if (map != null) {
      control().execute(map.operation(config.hmcFunction()));
    }
    workScheduler = new WorkScheduler(control(), quality);
    return "one for each traffic class in use";
  }

  private void downQueueSets() {
    WorkScheduler scheduler = workScheduler;
    if (scheduler != null) {
      scheduler.close();
    }
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
    return present(plan);
  }

  /** What is in the function's Host Memory Cache; not to be asked after {@link #close}. */
  public HmcView hmcView() {
    return hmc();
  }

  /** Number of completion event queues. */
  public int ceqCount() {
    return events().ceqCount();
  }

  /** Makes a protection domain. */
  public ProtectionDomain allocateProtectionDomain() {
    requireOpen();
    return adopt(new ProtectionDomain(this, pdIds.take()), () -> {});
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
    return BackedFunction.back(this, present(hmcFunctions), virtualFunction, request);
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
    adopt(queue, queue::release);
    queuesById.put(queue.id(), queue);
    return queue;
  }

  /**
   * From now on, asynchronous events are also given to this; it is called by processEvents.
   *
   * <p>If {@link AsyncEvent#isOverflow} says that others were lost, any queue pair may be in the
   * error state without this device knowing: its work does not complete until {@link
   * QueuePair#toError} is called.
   */
  public void onAsyncEvent(Consumer<AsyncEvent> listener) {
    asyncListener = listener;
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
    long now = function.clock().nanos();
    long end = now + Math.min(timeoutNanos, Long.MAX_VALUE - now);
    boolean handled = raisedMeanwhile || !pendingEvents.isEmpty();
    raisedMeanwhile = false;
    for (CompletionQueue queue : flushedQueues) {
      handled |= queue.raiseForFlushedWork();
    }
    while (true) {
      long wait = handled ? 0 : Math.min(end - now, OverdueEvents.INTERVAL_NANOS);
      handled |= events().await(vector, wait, this::raise, pendingEvents::add);
      deliverEvents();
      if (handled) {
        return true;
      }
      now = function.clock().nanos();
      if (overdue().raise(events().ceqOf(vector), now, queuesById.values())) {
        return true;
      }
      if (timeoutNanos > 0) {
        control().requireAlive();
      }
      if (now >= end) {
        return false;
      }
    }
  }

  private void deliverEvents() {
    while (!pendingEvents.isEmpty()) {
      AsyncEvent event = pendingEvents.removeFirst();
      QueuePairCore pair = event.isCompletionQueue() ? null : pairsByQpn.get(event.queueId());
      if (pair != null) {
        pair.happened(event);
      }
      if (event.isOverflow()) {
        asyncEventLosses++;
      }
      asyncListener.accept(event);
    }
  }

  /**
   * Takes the events of a completion event queue, until none is left of a queue that completes
   * nothing any more: the device gives the place of its event to another as it is destroyed, and
   * one that is not read yet would be overwritten, or be taken for one of the next queue with its
   * number.
   *
   * @param closing a queue whose events nobody is told of
   */
  void takeEvents(int ceq, CompletionQueue closing) {
    // Each round lets one more event in that waited for room; they come by turns.
    for (int rounds = queuesById.size() + 1; rounds >= 0; rounds--) {
      boolean taken =
          events()
              .drainCompletions(
                  ceq,
                  id -> {
                    if (id != closing.id()) {
                      raiseMeanwhile(id);
                    }
                  });
      // The device has handled what was acknowledged once it answers.
      int unused = bar.read32(Registers.GLPE_CRITERR.offset());
      if (!taken) {
        return;
      }
    }
  }

  /** An event that processEvents is to tell of when it is called the next time. */
  private void raiseMeanwhile(int cqId) {
    raise(cqId);
    raisedMeanwhile |= queuesById.containsKey(cqId);
  }

  private void raise(int cqId) {
    CompletionQueue queue = queuesById.get(cqId);
    if (queue != null) {
      queue.raiseEvent();
    }
  }

  /**
   * What the device's own counters say of this function since it came up.
   *
   * @throws RdmaException if the device does not answer
   */
  public Map<Statistic, Long> statistics() {
    requireOpen();
    return statisticsInstance().read();
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
    long send = sendRequests;
    long receive = receiveRequests;
    long rung = doorbellsRung;
    long skipped = doorbellsSkipped;
    for (QueuePairCore pair : pairsByQpn.values()) {
      send += pair.send().posted();
      receive += pair.receive().posted();
      rung += pair.send().doorbellsRung();
      skipped += pair.send().doorbellsSkipped();
    }
    long polled = completions;
    for (CompletionQueue queue : queuesById.values()) {
      polled += queue.polled();
    }
    EnumMap<HmcObject, Integer> objects = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      objects.put(kind, hmc().count(kind));
    }
    return new DeviceUsage(
        send,
        receive,
        rung,
        skipped,
        polled,
        events().interrupts(),
        overdue().found(),
        asyncEventLosses,
        control().operations(),
        hmc().segmentCount(),
        objects,
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
    RuntimeException first = null;
    // Queue pairs use completion queues, windows and regions, so they go first; domains go last.
    for (Class<?> kind :
        List.of(
            QueuePair.class,
            DatagramQueuePair.class,
            AddressHandle.class,
            CompletionQueue.class,
            MemoryWindow.class,
            FastRegion.class,
            MemoryRegion.class,
            ProtectionDomain.class,
            BackedFunction.class)) {
      for (AutoCloseable child : List.copyOf(children.keySet())) {
        if (kind.isInstance(child)) {
          first = closing(child, first);
        }
      }
    }
    closed = true;
    first = closing(bringup::unwind, first);
    if (first == null && isDead()) {
      first = new RdmaException("the device did not go down as it should");
    }
    if (first != null) {
      makeQuiet(first);
    }
    releaseMemory();
    if (first != null) {
      throw first;
    }
  }

  /** Gives back all memory that is left of a device that is off the bus. */
  private void releaseMemory() {
    children.values().forEach(Runnable::run);
    children.clear();
    MulticastGroups groups = multicastGroups;
    if (groups != null) {
      groups.abandon();
    }
    EventQueues queues = events;
    if (queues != null) {
      queues.abandon();
    }
    leftovers.forEach(Runnable::run);
    HmcFunctions functions = hmcFunctions;
    if (functions != null) {
      functions.close();
    }
  }

  private boolean isDead() {
    ControlQueue queue = controlQueue;
    return queue != null && queue.isDead();
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

  private static @Nullable RuntimeException closing(
      AutoCloseable child, @Nullable RuntimeException first) {
    try {
      child.close();
      return first;
    } catch (RuntimeException e) {
      if (first == null) {
        return e;
      }
      first.addSuppressed(e);
      return first;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the device is closed");
    }
  }

  /**
   * Destroys something: has the device do it, then gives back what belonged to it. If the device
   * refuses, nothing is given back, since it may still use it. One that does not answer has lost
   * its access to memory, so that it is given back all the same.
   *
   * @throws ControlQueueException if the device refuses; nothing has changed
   * @throws RdmaException if it does not answer; all is given back
   */
  void destroy(CqpCommand command, Runnable giveBack) {
    try {
      control().execute(command);
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

  /** Something that the device would not destroy; its memory goes back after the reset. */
  void keepUntilReset(Runnable memory) {
    leftovers.add(memory);
  }

  /**
   * The device has something more to close.
   *
   * @param release gives its memory back without telling the device, which was reset
   */
  <T extends AutoCloseable> T adopt(T child, Runnable release) {
    children.put(child, release);
    switch (child) {
      case QueuePair pair -> adopted(pair.core());
      case DatagramQueuePair pair -> adopted(pair.core());
      default -> {}
    }
    return child;
  }

  private void adopted(QueuePairCore pair) {
    pairsByQpn.put(pair.qpn(), pair);
    ringsByQpn[pair.qpn()] = pair.rings();
  }

  Collection<QueuePairCore> queuePairs() {
    return pairsByQpn.values();
  }

  /** From now on, work of a queue pair that was flushed may raise the queue's event. */
  void watchFlushed(CompletionQueue queue) {
    if (!flushedQueues.contains(queue)) {
      flushedQueues.add(queue);
    }
  }

  /** What was made with the device and is open. */
  Collection<AutoCloseable> children() {
    return Collections.unmodifiableCollection(children.keySet());
  }

  void forget(AutoCloseable child) {
    children.remove(child);
    switch (child) {
      case QueuePair pair -> forgotten(pair.core());
      case DatagramQueuePair pair -> forgotten(pair.core());
      case CompletionQueue queue -> {
        queuesById.remove(queue.id());
        flushedQueues.remove(queue);
        completions += queue.polled();
      }
      default -> {}
    }
  }

  private void forgotten(QueuePairCore pair) {
    pairsByQpn.remove(pair.qpn());
    ringsByQpn[pair.qpn()] = null;
    sendRequests += pair.send().posted();
    receiveRequests += pair.receive().posted();
    doorbellsRung += pair.send().doorbellsRung();
    doorbellsSkipped += pair.send().doorbellsSkipped();
  }

  void takeGeneralServices() {
    if (generalServicesTaken) {
      throw new IllegalStateException("there is a queue pair for general services already");
    }
    generalServicesTaken = true;
  }

  void giveBackGeneralServices() {
    generalServicesTaken = false;
  }

  void closed(ProtectionDomain pd, int id) {
    children.remove(pd);
    pdIds.giveBack(id);
  }

  QueueLookup queueLookup() {
    QueuePairRings[] rings = ringsByQpn;
    return context -> context >= 0 && context < rings.length ? rings[(int) context] : null;
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
    return present(controlQueue);
  }

  PblePool pbles() {
    return present(pblePool);
  }

  /** Queue sets of traffic classes, or null if there is one for all. */
  @Nullable WorkScheduler workScheduler() {
    return workScheduler;
  }

  ArpTable arp() {
    return present(arpTable);
  }

  IdPool stagIds() {
    return present(stags);
  }

  IdPool qpIds() {
    return present(qps);
  }

  IdPool cqIds() {
    return present(cqs);
  }

  IdPool addressHandleIds() {
    return present(addressHandles);
  }

  MulticastGroups multicastGroups() {
    return present(multicastGroups);
  }

  private FunctionMemory functionMemory() {
    return present(functionMemory);
  }

  /** The instance in which queue pairs count. */
  StatisticsInstance statisticsInstance() {
    return present(statistics);
  }

  private EventQueues events() {
    return present(events);
  }

  private OverdueEvents overdue() {
    return present(overdue);
  }

  private HostMemoryCache hmc() {
    return present(hmc);
  }

  private FpmLimits limits() {
    return present(limits);
  }

  private static <T> T present(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("this part of the device is not up");
    }
    return part;
  }
}
