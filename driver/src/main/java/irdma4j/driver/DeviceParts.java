package irdma4j.driver;

import irdma4j.hmc.FpmLimits;
import irdma4j.hmc.HmcFunction;
import irdma4j.hmc.HmcFunctions;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcPlan;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.cqp.AddLocalMac;
import irdma4j.hwregs.cqp.AllocateLocalMac;
import irdma4j.hwregs.cqp.DeleteLocalMac;
import irdma4j.pble.PblePool;
import irdma4j.uapi.Bar;
import irdma4j.uapi.PciFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a device that is up consists of, brought up from cold and taken down stage by stage. A part
 * is there from its stage on, and to be read until the device is closed.
 */
final class DeviceParts {
  private static final int FIRST_ID = 1;
  private static final int FIRST_QUEUE_ID = 3;
  private static final int PORT_INDEX_LIMIT = 4096;

  private final PciFunction function;
  private final Bar bar;
  private final DeviceConfig config;
  private final DeviceObjects objects;
  private final Bringup bringup;

  private @Nullable ControlQueue controlQueue;
  private @Nullable FpmLimits limits;
  private @Nullable FunctionMemory functionMemory;
  private @Nullable HmcPlan plan;
  private @Nullable HmcFunctions hmcFunctions;
  private @Nullable HostMemoryCache hmc;
  private @Nullable ControlCompletions ccq;
  private @Nullable EventQueues eventQueues;
  private @Nullable EventDispatch events;
  private @Nullable PblePool pblePool;
  private @Nullable StatisticsInstance statistics;
  private @Nullable ArpTable arpTable;
  private @Nullable WorkScheduler workScheduler;
  private @Nullable IdPool stags;
  private @Nullable IdPool qps;
  private @Nullable IdPool cqs;
  private @Nullable IdPool addressHandles;
  private @Nullable MulticastGroups multicastGroups;
  private int macIndex = -1;

  DeviceParts(
      PciFunction function, DeviceConfig config, StageListener listener, DeviceObjects objects) {
    this.function = function;
    this.bar = function.bar(0);
    this.config = config;
    this.objects = objects;
    this.bringup = new Bringup(function.clock(), listener);
  }

  /** The order is the hardware's: each stage needs those before it. */
  void bringUp() {
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
    bringup.stage("AEQ", this::upAeq, () -> eventQueues().destroyAeq());
    bringup.stage("statistics", this::upStatistics, () -> statistics().close());
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
    objects.makeRoom((int) layout.of(HmcObject.QP).count());
    return cache.segmentCount() + " segments backed";
  }

  private void downHmcObjects() {
    functionMemory().deleteObjects(hmc());
    hmc().close();
  }

  private String upCcq() {
    ControlCompletions queue =
        new ControlCompletions(function, bar, control().ring(), ControlCompletions.ENTRIES);
    control().useCompletions(queue);
    try {
      control().execute(queue.creation());
    } catch (RuntimeException e) {
      control().useCompletions(null);
      queue.close();
      throw e;
    }
    ccq = queue;
    return ControlCompletions.ENTRIES + " entries";
  }

  private void downCcq() {
    ControlCompletions queue = ccq;
    if (queue != null) {
      // Its own end can't arrive in it, so the tail register tells.
      control().useCompletions(null);
      control()
          .destroy(
              queue.destruction(),
              () -> {
                ccq = null;
                queue.close();
              });
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
    EventDispatch dispatch =
        new EventDispatch(function.clock(), bar, control(), queues, vectors, objects);
    eventQueues = queues;
    events = dispatch;
    ControlCompletions control = ccq;
    if (control != null) {
      control.waitBy(
          nanos -> {
            if (dispatch.awaitMeanwhile(nanos)) {
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
      eventQueues().destroyCeq();
    } finally {
      function.interrupts().disable();
    }
  }

  private String upCeqs() {
    int wanted = Math.min(config.completionEventQueues(), vectorLimit());
    try {
      while (eventQueues().ceqCount() < wanted) {
        eventQueues().createCeq();
      }
    } catch (RuntimeException e) {
      try {
        downCeqs();
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
    return (wanted - 1) + " more";
  }

  private void downCeqs() {
    while (eventQueues().ceqCount() > 1) {
      eventQueues().destroyCeq();
    }
  }

  private String upPbles() {
    PblePool pool = new PblePool(hmc(), config.pbleChunkPages());
    pblePool = pool;
    return "%d backed, %d to grow by".formatted(pool.usage().backed(), pool.usage().unbacked());
  }

  private String upAeq() {
    eventQueues().createAeq();
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

  /** Takes every stage down, last first; a failure is thrown after all were tried. */
  void takeDown() {
    bringup.unwind();
  }

  /** Whether the device was given up, so that only a reset can help. */
  boolean isDead() {
    ControlQueue queue = controlQueue;
    return queue != null && queue.isDead();
  }

  /** Gives back all memory that is left, of a device that was reset. */
  void release() {
    MulticastGroups groups = multicastGroups;
    if (groups != null) {
      groups.abandon();
    }
    EventQueues queues = eventQueues;
    if (queues != null) {
      queues.abandon();
    }
    ControlCompletions refused = ccq;
    if (refused != null) {
      ccq = null;
      refused.close();
    }
    HmcFunctions functions = hmcFunctions;
    if (functions != null) {
      functions.close();
    }
  }

  ControlQueue control() {
    return present(controlQueue);
  }

  /** How many objects of each kind were asked for, and what was given up for that. */
  HmcPlan plan() {
    return present(plan);
  }

  /** The Host Memory Caches of this function and of those that it backs. */
  HmcFunctions hmcFunctions() {
    return present(hmcFunctions);
  }

  /** This function's Host Memory Cache. */
  HostMemoryCache hmc() {
    return present(hmc);
  }

  EventQueues eventQueues() {
    return present(eventQueues);
  }

  EventDispatch events() {
    return present(events);
  }

  PblePool pbles() {
    return present(pblePool);
  }

  /** The instance in which queue pairs count. */
  StatisticsInstance statistics() {
    return present(statistics);
  }

  ArpTable arp() {
    return present(arpTable);
  }

  /** Queue sets of traffic classes, or null if there is one for all. */
  @Nullable WorkScheduler workScheduler() {
    return workScheduler;
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
