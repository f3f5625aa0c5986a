package irdma4j.endtoend;

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
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Two devices on one wire, each with a connected queue pair, in virtual time. */
final class RdmaPair implements AutoCloseable {
  static final int DEPTH = 32;
  static final Gid A = Gid.of("10.0.0.1");
  static final Gid B = Gid.of("10.0.0.2");
  private static final long PATIENCE = 120_000_000_000L;

  /** One device with what a test needs of it. */
  static final class Side implements AutoCloseable {
    final RdmaDevice device;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    final QueuePair pair;
    final List<DmaMemory> memories = new ArrayList<>();

    Side(Simulation simulation, int index, DeviceConfig config) {
      device = RdmaDevice.open(simulation.function(index), config, StageListener.none());
      domain = device.allocateProtectionDomain();
      queue = device.createCompletionQueue(4 * DEPTH);
      pair =
          domain.createQueuePair(
              QueuePairConfig.of(queue).withRequests(DEPTH, DEPTH).withSges(4, 4).withInline(101));
    }

    DmaMemory memory(long bytes, DmaPlacement placement) {
      DmaMemory memory = device.allocateMemory(bytes, placement);
      memories.add(memory);
      return memory;
    }

    MemoryRegion region(DmaMemory memory, PbleLevels levels) {
      return domain.registerMemory(
          memory,
          0,
          memory.size(),
          levels,
          Access.LOCAL_WRITE,
          Access.REMOTE_READ,
          Access.REMOTE_WRITE);
    }

    @Override
    public void close() {
      device.close();
      memories.forEach(DmaMemory::close);
    }
  }

  final Simulation simulation;
  final Side a;
  final Side b;

  RdmaPair(long seed, double lossPercent, int mtu) {
    this(Simulation.builder().seed(seed).lossPercent(lossPercent), seed, mtu);
  }

  /** Devices on a simulation that the test has described. */
  RdmaPair(Simulation.Builder described, long seed, int mtu) {
    this(described.stepped(), DeviceConfig.defaults(), seed, mtu);
  }

  /** Devices of a configuration, on a simulation that the test has described. */
  RdmaPair(Simulation.Builder described, DeviceConfig wanted, long seed, int mtu) {
    simulation = described.functions(2).build();
    DeviceConfig config = wanted.withQueuePairs(8).withSeed(seed).withPbleChunkPages(2);
    a = new Side(simulation, 0, config.withMacAddress(0x0200_0000_000aL));
    b = new Side(simulation, 1, config.withMacAddress(0x0200_0000_000bL));
    int psnA = (int) (seed & 0xffffff);
    int psnB = (int) (~seed & 0xffffff);
    connect(a.pair, b.pair, psnA, psnB, mtu);
  }

  /** Connects a queue pair of side a with one of side b. */
  void connect(QueuePair left, QueuePair right, int leftPsn, int rightPsn, int mtu) {
    left.connect(
        RcPath.of(A, B, b.device.macAddress(), right.qpn(), leftPsn, rightPsn).withMtu(mtu));
    right.connect(
        RcPath.of(B, A, a.device.macAddress(), left.qpn(), rightPsn, leftPsn).withMtu(mtu));
  }

  /** Waits for the next completion of a side. */
  Completion await(Side side) {
    return await(side.queue);
  }

  /** Waits for the next completion of a queue. */
  Completion await(CompletionQueue queue) {
    Completion completion = new Completion();
    await(() -> queue.poll(completion), "a completion");
    return completion;
  }

  /** Waits until something holds. */
  void await(BooleanSupplier holds, String what) {
    long deadline = simulation.function(0).clock().nanos() + PATIENCE;
    while (!holds.getAsBoolean()) {
      if (simulation.function(0).clock().nanos() > deadline) {
        throw new AssertionError("no sign of " + what + ": " + simulation.statistics(0));
      }
      process();
      simulation.function(0).clock().pause(1_000);
    }
  }

  /** Lets both devices handle their events. */
  void process() {
    a.device.processEvents(0, 0);
    b.device.processEvents(0, 0);
  }

  /** Lets time pass, and both devices handle what happens. */
  void settle(long nanos) {
    long end = simulation.function(0).clock().nanos() + nanos;
    while (simulation.function(0).clock().nanos() < end) {
      process();
      simulation.function(0).clock().pause(10_000);
    }
  }

  /** Closes everything and returns the DMA memory that is left. */
  long closeAndBalance() {
    a.close();
    b.close();
    long left =
        simulation.function(0).dmaUsage().currentBytes()
            + simulation.function(1).dmaUsage().currentBytes();
    simulation.close();
    return left;
  }

  @Override
  public void close() {
    a.close();
    b.close();
    simulation.close();
  }
}
