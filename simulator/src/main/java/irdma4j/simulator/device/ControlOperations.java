package irdma4j.simulator.device;

import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.RdmaFeature;
import irdma4j.hwregs.RoceContext;
import irdma4j.hwregs.cqp.AddArp;
import irdma4j.hwregs.cqp.AddLocalMac;
import irdma4j.hwregs.cqp.AllocateLocalMac;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CreateAeq;
import irdma4j.hwregs.cqp.CreateCeq;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.CreateQp;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.DeleteArp;
import irdma4j.hwregs.cqp.DeleteLocalMac;
import irdma4j.hwregs.cqp.DestroyAeq;
import irdma4j.hwregs.cqp.DestroyCeq;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.hwregs.cqp.DestroyQp;
import irdma4j.hwregs.cqp.FlushWqes;
import irdma4j.hwregs.cqp.GatherStats;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.hwregs.cqp.ManageApbvt;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import irdma4j.hwregs.cqp.ManageMulticastGroup;
import irdma4j.hwregs.cqp.ManagePushPage;
import irdma4j.hwregs.cqp.ManageQuadHash;
import irdma4j.hwregs.cqp.ManageStats;
import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import irdma4j.hwregs.cqp.ModifyCq;
import irdma4j.hwregs.cqp.ModifyQp;
import irdma4j.hwregs.cqp.Nop;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.QueryRdmaFeatures;
import irdma4j.hwregs.cqp.RegisterMr;
import irdma4j.hwregs.cqp.ResumeQp;
import irdma4j.hwregs.cqp.SetUserPriorityMap;
import irdma4j.hwregs.cqp.StaticHmcPages;
import irdma4j.hwregs.cqp.SuspendQp;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.hwregs.cqp.UploadContext;
import irdma4j.simulator.CardProfile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * What each control operation does to the device. An operation that cannot be done answers with a
 * code and leaves the device as it was.
 */
final class ControlOperations {
  /** States of the control QP's next-state field. */
  private static final int STATE_RTS = 2;

  private static final int STATE_SQD = 3;

  private final Device device;
  private final HmcFunctionTable functions;
  private final HmcWalk hmc;
  private final StagTable stags;
  private final CardProfile profile;
  private final NetworkTables network;
  private final SchedulerTables scheduler = new SchedulerTables();
  private final StatisticsInstances statistics = new StatisticsInstances();
  private final PushPages pushPages = new PushPages();
  private final MemorySegment buffer = Arena.ofAuto().allocate(4096, 64);
  private final Map<Integer, QueuePairState> queuePairs = new HashMap<>();
  private int returnValue;

  ControlOperations(
      Device device, HmcFunctionTable functions, StagTable stags, CardProfile profile) {
    this.device = device;
    this.functions = functions;
    this.hmc = functions.own();
    this.stags = stags;
    this.profile = profile;
    this.network = new NetworkTables(device, hmc, (int) profile.limit(HmcObject.ARP));
  }

  /** A control queue pair comes up. */
  void begin(int virtualFunctions, int hmcProfile) {
    functions.begin(virtualFunctions, hmcProfile);
  }

  void reset() {
    queuePairs.clear();
    network.reset();
    scheduler.reset();
    statistics.reset();
    pushPages.reset();
  }

  /** What the last operation returns in its completion. */
  int returnValue() {
    return returnValue;
  }

  PushPages pushPages() {
    return pushPages;
  }

  StatisticsInstances statistics() {
    return statistics;
  }

  NetworkTables network() {
    return network;
  }

  ControlStatus execute(CqpCommand command) {
    returnValue = 0;
    return switch (command) {
      case QueryFpm c -> functions.query(c);
      case CommitFpm c -> commitFpm(c);
      case UpdatePeSds c -> updateSegments(c);
      case StaticHmcPages c -> functions.pagesAllocated(c);
      case QueryRdmaFeatures c -> queryFeatures(c);
      case CreateCq c -> createCq(c);
      case ModifyCq c -> modifyCq(c);
      case DestroyCq c -> device.removeCompletionQueue(c.cqId());
      case CreateCeq c -> createCeq(c);
      case DestroyCeq c -> device.removeEventQueue(c.ceqId());
      case CreateAeq c -> createAeq(c);
      case DestroyAeq c -> device.removeAsyncQueue();
      case CreateQp c -> createQp(c);
      case ModifyQp c -> modifyQp(c);
      case DestroyQp c -> destroyQp(c);
      case UploadContext c -> uploadContext(c);
      case FlushWqes c -> flush(c);
      case SuspendQp c -> changeState(c.qpId(), STATE_SQD);
      case ResumeQp c -> changeState(c.qpId(), STATE_RTS);
      case AllocateStag c -> allocateStag(c);
      case RegisterMr c -> registerMr(c);
      case AllocateMw c -> allocateMw(c);
      case DeallocateStag c -> deallocateStag(c);
      case AddArp c -> network.addArp(c);
      case DeleteArp c -> network.deleteArp(c);
      case AllocateLocalMac c -> allocateLocalMac();
      case AddLocalMac c -> network.addLocalMac(c);
      case DeleteLocalMac c -> network.deleteLocalMac(c);
      case ManageAddressHandle c -> network.manageAddressHandle(c);
      case ManageMulticastGroup c -> network.multicast().manage(c);
      case ManageApbvt c -> network.managePort(c);
      case ManageQuadHash c -> network.manageHash(c);
      case ManageStats c -> manageStats(c);
      case ManageWorkSchedNode c -> returning(scheduler.manageNode(c), scheduler.returnValue());
      case ManagePushPage c -> managePushPage(c);
      case ManageHmcFunctionTable c -> returning(functions.manage(c), functions.returnValue());
      case SetUserPriorityMap c -> scheduler.setPriorityMap(c);
      case GatherStats c -> gatherStats(c);
      case Nop c -> ControlStatus.OK;
    };
  }

  private ControlStatus returning(ControlStatus status, int value) {
    if (status == ControlStatus.OK) {
      returnValue = value;
    }
    return status;
  }

  private ControlStatus allocateLocalMac() {
    int index = network.takeLocalMac();
    if (index < 0) {
      return ControlStatus.TABLE_FULL;
    }
    returnValue = index;
    return ControlStatus.OK;
  }

  // The Host Memory Cache.

  private ControlStatus commitFpm(CommitFpm c) {
    if (HmcFunctionTable.isOwn(c.hmcFunction()) && !queuePairs.isEmpty()) {
      return ControlStatus.OBJECT_IN_USE;
    }
    stags.dropCopies();
    return functions.commit(c);
  }

  private ControlStatus updateSegments(UpdatePeSds c) {
    stags.dropCopies();
    return functions.update(c);
  }

  private ControlStatus queryFeatures(QueryRdmaFeatures c) {
    long[] words = {
      (long) profile.firmwareMajor() << 16 | profile.firmwareMinor(), 0x0000_0002_0000L, 0x80
    };
    long fitting = Math.min(words.length, Integer.toUnsignedLong(c.bufferLength()) / 8);
    for (int i = 0; i < fitting; i++) {
      long value = words[i] | RdmaFeature.FEATURE_TYPE.encode(i);
      if (i == 0) {
        value |= RdmaFeature.FEATURE_CNT.encode(words.length);
      }
      LittleEndian.setLong(buffer, i * 8L, value);
    }
    return write(c.bufferAddress(), fitting * 8);
  }

  // Completion and event queues.

  private ControlStatus createCq(CreateCq c) {
    if (device.completionQueue(c.cqId()) != null) {
      return ControlStatus.OBJECT_EXISTS;
    }
    if (c.cqSize() < 4 || (c.ceqIdValid() && c.ceqId() >= profile.maxCeqs())) {
      return ControlStatus.BAD_PARAMETER;
    }
    long object = hmc.object(HmcObject.CQ, c.cqId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    EventRing ring =
        ring(c.cqSize(), c.avoidConflict(), c.virtualRing(), c.ringAddress(), c.firstPbleIndex());
    if (c.virtualRing() && !pblesBacked(ring)) {
      return ControlStatus.PBLE_NOT_BACKED;
    }
    CompletionQueue cq =
        new CompletionQueue(
            c.cqId(),
            c.context(),
            c.ceqId(),
            c.ceqIdValid(),
            c.checkOverflow(),
            c.avoidConflict(),
            c.shadowAddress(),
            ring);
    if (!reachable(c.shadowAddress())) {
      return ControlStatus.DMA_FAULT;
    }
    cq.store(device, object);
    device.addCompletionQueue(cq);
    return ControlStatus.OK;
  }

  private ControlStatus modifyCq(ModifyCq c) {
    CompletionQueue cq = device.completionQueue(c.cqId());
    if (cq == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    if (!c.resize()) {
      return ControlStatus.OK;
    }
    long object = hmc.object(HmcObject.CQ, c.cqId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (c.cqSize() < 4) {
      return ControlStatus.BAD_PARAMETER;
    }
    EventRing ring =
        ring(c.cqSize(), cq.wideEntries, c.virtualRing(), c.ringAddress(), c.firstPbleIndex());
    if (c.virtualRing() && !pblesBacked(ring)) {
      return ControlStatus.PBLE_NOT_BACKED;
    }
    CompletionQueue resized = cq.resized(c.checkOverflow(), ring, device);
    resized.store(device, object);
    device.addCompletionQueue(resized);
    return ControlStatus.OK;
  }

  private static EventRing ring(
      int entries, boolean wide, boolean virtual, long address, int firstPble) {
    return new EventRing(
        entries, wide ? 2 * Cqe.SIZE : Cqe.SIZE, virtual ? firstPble : address, virtual);
  }

  private boolean pblesBacked(EventRing ring) {
    long pages = ((long) ring.entries * ring.entryBytes + Iommu.PAGE - 1) / Iommu.PAGE;
    return hmc.pble(ring.base) != HmcWalk.FAULT && hmc.pble(ring.base + pages - 1) != HmcWalk.FAULT;
  }

  private ControlStatus createCeq(CreateCeq c) {
    if (c.ceqId() >= profile.maxCeqs() || c.size() < 1) {
      return ControlStatus.BAD_PARAMETER;
    }
    EventRing ring =
        new EventRing(
            c.size(), 8, c.virtualRing() ? c.firstPbleIndex() : c.ringAddress(), c.virtualRing());
    return device.addEventQueue(new EventRing.Completion(c.ceqId(), ring));
  }

  private ControlStatus createAeq(CreateAeq c) {
    if (c.size() < 1) {
      return ControlStatus.BAD_PARAMETER;
    }
    EventRing ring =
        new EventRing(
            c.size(), 16, c.virtualRing() ? c.firstPbleIndex() : c.ringAddress(), c.virtualRing());
    return device.addAsyncQueue(new EventRing.Asynchronous(ring));
  }

  // Queue pairs.

  private ControlStatus createQp(CreateQp c) {
    if (queuePairs.containsKey(c.qpId())) {
      return ControlStatus.OBJECT_EXISTS;
    }
    long object = hmc.object(HmcObject.QP, c.qpId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (!device.readHost(c.contextAddress(), buffer, 0, RoceContext.SIZE)
        || !reachable(c.shadowAddress())) {
      return ControlStatus.DMA_FAULT;
    }
    ControlStatus queues = checkQueues();
    if (queues != ControlStatus.OK) {
      return queues;
    }
    if (!device.writeHost(object, buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    QueuePairState qp =
        new QueuePairState(c.qpId(), c.qpType(), c.shadowAddress(), c.virtualQueues());
    qp.state = c.nextState();
    queuePairs.put(c.qpId(), qp);
    QueueEngine queueEngine = device.queueEngine();
    queueEngine.contextWritten(
        c.qpId(),
        buffer,
        new QpAttributes(c.qpType(), c.virtualQueues(), c.shadowAddress(), c.nextState()));
    if (c.nextState() != 0) {
      queueEngine.stateChanged(c.qpId(), c.nextState());
    }
    return ControlStatus.OK;
  }

  private ControlStatus checkQueues() {
    int send = (int) RoceContext.TXCQNUM.get(buffer, 0);
    int receive = (int) RoceContext.RXCQNUM.get(buffer, 0);
    return device.completionQueue(send) == null || device.completionQueue(receive) == null
        ? ControlStatus.NO_SUCH_OBJECT
        : ControlStatus.OK;
  }

  private ControlStatus modifyQp(ModifyQp c) {
    QueuePairState qp = queuePairs.get(c.qpId());
    if (qp == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    long object = hmc.object(HmcObject.QP, c.qpId());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    long old = RoceContext.SIZE;
    if (!device.readHost(object, buffer, old, RoceContext.SIZE)
        || !device.readHost(c.contextAddress(), buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    if (!c.cqNumbersValid()) {
      RoceContext.TXCQNUM.set(buffer, 0, RoceContext.TXCQNUM.get(buffer, old));
      RoceContext.RXCQNUM.set(buffer, 0, RoceContext.RXCQNUM.get(buffer, old));
    }
    if (!c.arpIndexValid()) {
      RoceContext.ARPIDX.set(buffer, 0, RoceContext.ARPIDX.get(buffer, old));
    }
    if (!c.ordValid()) {
      RoceContext.ORDSIZE.set(buffer, 0, RoceContext.ORDSIZE.get(buffer, old));
      RoceContext.IRDSIZE.set(buffer, 0, RoceContext.IRDSIZE.get(buffer, old));
    }
    if (c.mssChange()) {
      RoceContext.SNDMSS.set(buffer, 0, c.newMss());
    }
    ControlStatus queues = checkQueues();
    if (queues != ControlStatus.OK) {
      return queues;
    }
    if (!device.writeHost(object, buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    QueueEngine queueEngine = device.queueEngine();
    queueEngine.contextWritten(
        c.qpId(), buffer, new QpAttributes(qp.type, qp.virtualQueues, qp.shadow, c.nextState()));
    return c.nextState() == 0 ? ControlStatus.OK : changeState(c.qpId(), c.nextState());
  }

  private ControlStatus changeState(int qpId, int state) {
    QueuePairState qp = queuePairs.get(qpId);
    if (qp == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    qp.state = state;
    device.queueEngine().stateChanged(qpId, state);
    return ControlStatus.OK;
  }

  private ControlStatus destroyQp(DestroyQp c) {
    if (queuePairs.remove(c.qpId()) == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    device.queueEngine().destroyed(c.qpId());
    return clear(HmcObject.QP, c.qpId());
  }

  private ControlStatus uploadContext(UploadContext c) {
    if (!queuePairs.containsKey(c.qpId())) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    long object = hmc.object(HmcObject.QP, c.qpId());
    if (object == HmcWalk.FAULT || !device.readHost(object, buffer, 0, RoceContext.SIZE)) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    device.queueEngine().storeContext(c.qpId(), buffer);
    return write(c.bufferAddress(), RoceContext.SIZE);
  }

  private ControlStatus flush(FlushWqes c) {
    if (!queuePairs.containsKey(c.qpId())) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    if (c.flushSq() || c.flushRq()) {
      boolean codes = c.userCodes();
      device
          .queueEngine()
          .flush(
              c.qpId(),
              c.flushSq(),
              codes ? c.sqMajor() : 1,
              codes ? c.sqMinor() : 1,
              c.flushRq(),
              codes ? c.rqMajor() : 1,
              codes ? c.rqMinor() : 1);
    }
    if (c.generateAe()) {
      device.asyncEvent(c.qpId(), c.aeCode(), c.aeSource(), 0, completionContext(c.qpId()));
    }
    return ControlStatus.OK;
  }

  private long completionContext(int qpId) {
    long object = hmc.object(HmcObject.QP, qpId);
    return object == HmcWalk.FAULT
        ? 0
        : device.readHostWord(object + RoceContext.QPCOMPCTX.offset());
  }

  // Stags.

  private ControlStatus allocateStag(AllocateStag c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (entry.state != Stag.FREE || c.stagIndex() == 0) {
      return ControlStatus.STAG_INVALID;
    }
    PageSize pageSize = PageSize.ofCode(c.pageSize());
    if (pageSize == null) {
      return ControlStatus.BAD_PARAMETER;
    }
    entry.state = Stag.INVALID;
    entry.kind = Stag.REGION;
    entry.key = 0;
    entry.pdId = c.pdId();
    entry.rights = c.rights();
    entry.remote = c.remoteAccess();
    entry.addressBased = false;
    entry.level = level(c.pbleLevel());
    entry.pageBits = pageSize.shift();
    entry.address = 0;
    entry.length = 0;
    entry.capacity = c.length();
    entry.physical = 0;
    entry.firstPble = c.firstPbleIndex();
    entry.parent = 0;
    entry.qpId = 0;
    entry.windows = 0;
    return store(c.stagIndex(), entry);
  }

  private ControlStatus registerMr(RegisterMr c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (entry.state != Stag.FREE || c.stagIndex() == 0 || !c.isRegion()) {
      return ControlStatus.STAG_INVALID;
    }
    PageSize pageSize = PageSize.ofCode(c.pageSize());
    if (pageSize == null || c.pbleLevel() == 2) {
      return ControlStatus.BAD_PARAMETER;
    }
    boolean inFirstPage = Long.compareUnsigned(c.address(), pageSize.bytes()) < 0;
    if (!c.virtualAddressBased() && !inFirstPage) {
      return ControlStatus.BAD_PARAMETER;
    }
    entry.state = Stag.VALID;
    entry.kind = Stag.REGION;
    entry.key = c.stagKey();
    entry.pdId = c.pdId();
    entry.rights = c.rights();
    entry.remote = c.remoteAccess();
    entry.addressBased = c.virtualAddressBased();
    entry.level = level(c.pbleLevel());
    entry.pageBits = pageSize.shift();
    entry.address = c.address();
    entry.length = c.length();
    entry.physical = c.physicalAddress() & -Iommu.PAGE;
    entry.firstPble = c.firstPbleIndex();
    entry.parent = 0;
    entry.qpId = 0;
    entry.windows = 0;
    if (!pblesCommitted(entry)) {
      entry.state = Stag.FREE;
      return ControlStatus.PBLE_NOT_BACKED;
    }
    return store(c.stagIndex(), entry);
  }

  /** The field's 3 means a root with leaves. */
  private static int level(int field) {
    return field == 3 ? 2 : field;
  }

  private boolean pblesCommitted(Stag entry) {
    if (entry.level == 0 || entry.length == 0) {
      return true;
    }
    long first = entry.addressBased ? entry.address & ((1L << entry.pageBits) - 1) : entry.address;
    long pages = (first + entry.length + (1L << entry.pageBits) - 1) >>> entry.pageBits;
    long entries = entry.level == 1 ? pages : (pages + 511) / 512;
    return hmc.pble(entry.firstPble) != HmcWalk.FAULT
        && hmc.pble(entry.firstPble + entries - 1) != HmcWalk.FAULT;
  }

  private ControlStatus allocateMw(AllocateMw c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (entry.state != Stag.FREE || c.stagIndex() == 0) {
      return ControlStatus.STAG_INVALID;
    }
    entry.state = Stag.INVALID;
    entry.kind = c.narrow() ? Stag.WINDOW_TYPE_1 : Stag.WINDOW_TYPE_2;
    entry.key = 0;
    entry.pdId = c.pdId();
    entry.rights = 0;
    entry.remote = true;
    entry.level = 0;
    entry.pageBits = PageSize.SIZE_4K.shift();
    entry.length = 0;
    entry.windows = 0;
    return store(c.stagIndex(), entry);
  }

  private ControlStatus deallocateStag(DeallocateStag c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    boolean region = entry.kind == Stag.REGION;
    if (entry.state == Stag.FREE || entry.pdId != c.pdId() || region != c.isRegion()) {
      return ControlStatus.STAG_INVALID;
    }
    if (entry.windows > 0) {
      return ControlStatus.OBJECT_IN_USE;
    }
    stags.unbind(entry);
    entry.state = Stag.FREE;
    return store(c.stagIndex(), entry);
  }

  private ControlStatus store(int index, Stag entry) {
    return stags.store(index, entry) ? ControlStatus.OK : ControlStatus.OBJECT_NOT_BACKED;
  }

  // Statistics.

  private ControlStatus managePushPage(ManagePushPage c) {
    if (c.free()) {
      return pushPages.free(c);
    }
    int index = pushPages.take();
    if (index < 0) {
      return ControlStatus.TABLE_FULL;
    }
    returnValue = index;
    return ControlStatus.OK;
  }

  private ControlStatus manageStats(ManageStats c) {
    if (!c.allocate()) {
      return statistics.free(c);
    }
    int index = statistics.take();
    if (index < 0) {
      return ControlStatus.TABLE_FULL;
    }
    returnValue = index;
    return ControlStatus.OK;
  }

  private ControlStatus gatherStats(GatherStats c) {
    TrafficCounts counts = c.useInstance() ? statistics.counts(c.instance()) : statistics.sums();
    if (counts == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    counts.store(buffer);
    return write(c.bufferAddress(), TrafficCounts.BYTES);
  }

  // Host memory.

  private ControlStatus write(long address, long bytes) {
    return device.writeHost(address, buffer, 0, bytes) ? ControlStatus.OK : ControlStatus.DMA_FAULT;
  }

  private boolean reachable(long address) {
    long before = device.counters().dmaFaults;
    device.readHostWord(address);
    return device.counters().dmaFaults == before;
  }

  private ControlStatus clear(HmcObject kind, int index) {
    long object = hmc.object(kind, index);
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    int bytes = hmc.bytes(kind);
    buffer.asSlice(0, bytes).fill((byte) 0);
    return write(object, bytes);
  }
}
