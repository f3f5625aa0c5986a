package irdma4j.simulator.device;

import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RdmaFeature;
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

/**
 * What each control operation does to the device. An operation that cannot be done answers with a
 * code and leaves the device as it was.
 */
final class ControlOperations {
  /** States of a queue pair, as the control operations call them. */
  private static final int STATE_RTS = 2;

  private static final int STATE_SQD = 3;

  private final Device device;
  private final HmcFunctionTable functions;
  private final StagTable stags;
  private final CardProfile profile;
  private final CompletionUnit queues;
  private final CompletionOperations completions;
  private final QueuePairOperations queuePairs;
  private final StagOperations regions;
  private final NetworkTables network;
  private final SchedulerTables scheduler = new SchedulerTables();
  private final StatisticsInstances statistics = new StatisticsInstances();
  private final PushPages pushPages = new PushPages();
  private final MemorySegment buffer = Arena.ofAuto().allocate(4096, 64);
  private int returnValue;

  ControlOperations(
      Device device,
      CompletionUnit queues,
      HmcFunctionTable functions,
      StagTable stags,
      CardProfile profile) {
    HmcWalk hmc = functions.own();
    this.device = device;
    this.queues = queues;
    this.functions = functions;
    this.stags = stags;
    this.profile = profile;
    this.completions = new CompletionOperations(device, queues, hmc, profile.maxCeqs());
    this.queuePairs = new QueuePairOperations(device, queues, hmc);
    this.regions = new StagOperations(stags, hmc);
    this.network = new NetworkTables(device, hmc, (int) profile.limit(HmcObject.ARP));
  }

  /** A control queue pair comes up. */
  void begin(int virtualFunctions, int hmcProfile) {
    functions.begin(virtualFunctions, hmcProfile);
  }

  void reset() {
    queuePairs.reset();
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
      case CreateCq c -> completions.create(c);
      case ModifyCq c -> completions.modify(c);
      case DestroyCq c -> queues.removeCompletionQueue(c.cqId());
      case CreateCeq c -> completions.create(c);
      case DestroyCeq c -> queues.removeEventQueue(c.ceqId());
      case CreateAeq c -> completions.create(c);
      case DestroyAeq c -> queues.removeAsyncQueue();
      case CreateQp c -> queuePairs.create(c);
      case ModifyQp c -> queuePairs.modify(c);
      case DestroyQp c -> queuePairs.destroy(c);
      case UploadContext c -> queuePairs.uploadContext(c);
      case FlushWqes c -> queuePairs.flush(c);
      case SuspendQp c -> queuePairs.changeState(c.qpId(), STATE_SQD);
      case ResumeQp c -> queuePairs.changeState(c.qpId(), STATE_RTS);
      case AllocateStag c -> regions.allocate(c);
      case RegisterMr c -> regions.register(c);
      case AllocateMw c -> regions.allocate(c);
      case DeallocateStag c -> regions.deallocate(c);
      case AddArp c -> network.addArp(c);
      case DeleteArp c -> network.deleteArp(c);
      case AllocateLocalMac c -> taken(network.takeLocalMac());
      case AddLocalMac c -> network.addLocalMac(c);
      case DeleteLocalMac c -> network.deleteLocalMac(c);
      case ManageAddressHandle c -> network.manageAddressHandle(c);
      case ManageMulticastGroup c -> network.multicast().manage(c);
      case ManageApbvt c -> network.managePort(c);
      case ManageQuadHash c -> network.manageHash(c);
      case ManageStats c -> c.allocate() ? taken(statistics.take()) : statistics.free(c);
      case ManageWorkSchedNode c -> returning(scheduler.manageNode(c), scheduler.returnValue());
      case ManagePushPage c -> c.free() ? pushPages.free(c) : taken(pushPages.take());
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

  /** Answers with the number that was taken, if one was free. */
  private ControlStatus taken(int number) {
    return number < 0 ? ControlStatus.TABLE_FULL : returning(ControlStatus.OK, number);
  }

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

  private ControlStatus gatherStats(GatherStats c) {
    TrafficCounts counts = c.useInstance() ? statistics.counts(c.instance()) : statistics.sums();
    if (counts == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    counts.store(buffer);
    return write(c.bufferAddress(), TrafficCounts.BYTES);
  }

  private ControlStatus write(long address, long bytes) {
    return device.writeHost(address, buffer, 0, bytes) ? ControlStatus.OK : ControlStatus.DMA_FAULT;
  }
}
