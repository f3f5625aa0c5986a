package irdma4j.bench;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;

/** Two simulated functions and queue pairs connected between them, for benchmarks. */
final class Fabric implements AutoCloseable {
  private static final int WINDOW = 256;

  final RdmaDevice near;
  final RdmaDevice far;
  final CompletionQueue nearQueue;
  final CompletionQueue farQueue;
  final QueuePair[] senders;
  final QueuePair[] receivers;
  final DmaMemory from;
  final DmaMemory to;
  final MemoryRegion source;
  final MemoryRegion sink;
  private final Completion completion = new Completion();
  private final Simulation simulation;

  /**
   * Brings two functions up and connects queue pairs between them.
   *
   * @param simulation closed with this
   * @param pairs number of connections
   * @param depth work requests of each that may be outstanding
   * @param bytes of memory registered on each side
   */
  Fabric(Simulation simulation, int pairs, int depth, long bytes) {
    this.simulation = simulation;
    near = open(0, pairs);
    far = open(1, pairs);
    ProtectionDomain nearDomain = near.allocateProtectionDomain();
    ProtectionDomain farDomain = far.allocateProtectionDomain();
    from = near.allocateMemory(bytes, DmaPlacement.SCATTERED);
    to = far.allocateMemory(bytes, DmaPlacement.SCATTERED);
    from.segment().fill((byte) 7);
    to.segment().fill((byte) 8);
    source = nearDomain.registerMemory(from, Access.LOCAL_WRITE);
    sink = farDomain.registerMemory(to, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    nearQueue = near.createCompletionQueue(4 * WINDOW);
    farQueue = far.createCompletionQueue(4 * WINDOW);
    senders = new QueuePair[pairs];
    receivers = new QueuePair[pairs];
    Gid nearGid = Gid.of("10.0.0.1");
    Gid farGid = Gid.of("10.0.0.2");
    for (int i = 0; i < pairs; i++) {
      QueuePair sender =
          nearDomain.createQueuePair(QueuePairConfig.of(nearQueue).withRequests(depth, 4));
      QueuePair receiver =
          farDomain.createQueuePair(QueuePairConfig.of(farQueue).withRequests(4, depth));
      sender.connect(RcPath.of(nearGid, farGid, far.macAddress(), receiver.qpn(), 1, 1));
      receiver.connect(RcPath.of(farGid, nearGid, near.macAddress(), sender.qpn(), 1, 1));
      senders[i] = sender;
      receivers[i] = receiver;
    }
  }

  private RdmaDevice open(int index, int pairs) {
    return RdmaDevice.open(
        simulation.function(index),
        DeviceConfig.defaults()
            .withMacAddress(0x02_00_00_00_00_01L + index)
            .withQueuePairs(Math.max(16, 2 * pairs)),
        StageListener.none());
  }

  /** A simulation of two cards of full size. */
  static Simulation.Builder cards() {
    return Simulation.builder().seed(1).profile(CardProfile.e810());
  }

  /** Polls all that is there; answers how much it was. */
  int polled(CompletionQueue queue) {
    int count = 0;
    while (queue.poll(completion)) {
      if (!completion.isSuccess()) {
        throw new IllegalStateException(completion.toString());
      }
      count++;
    }
    return count;
  }

  /** Lets the simulation work, if it is stepped. */
  void step() {
    near.function().clock().pause(0);
  }

  @Override
  public void close() {
    near.close();
    far.close();
    simulation.close();
  }
}
