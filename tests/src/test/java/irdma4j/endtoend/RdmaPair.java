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

/** Two devices on one wire, each with a connected queue pair, in virtual time. */
final class RdmaPair implements AutoCloseable {
  static final int DEPTH = 32;
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
    simulation =
        Simulation.builder().functions(2).seed(seed).stepped().lossPercent(lossPercent).build();
    DeviceConfig config =
        DeviceConfig.defaults().withQueuePairs(8).withSeed(seed).withPbleChunkPages(2);
    a = new Side(simulation, 0, config.withMacAddress(0x0200_0000_000aL));
    b = new Side(simulation, 1, config.withMacAddress(0x0200_0000_000bL));
    int psnA = (int) (seed & 0xffffff);
    int psnB = (int) (~seed & 0xffffff);
    connect(a, "10.0.0.1", b, "10.0.0.2", psnA, psnB, mtu);
    connect(b, "10.0.0.2", a, "10.0.0.1", psnB, psnA, mtu);
  }

  private static void connect(
      Side from, String local, Side to, String remote, int localPsn, int remotePsn, int mtu) {
    from.pair.connect(
        RcPath.of(
                Gid.of(local),
                Gid.of(remote),
                to.device.macAddress(),
                to.pair.qpn(),
                localPsn,
                remotePsn)
            .withMtu(mtu));
  }

  /** Waits for the next completion of a side. */
  Completion await(Side side) {
    Completion completion = new Completion();
    long deadline = simulation.function(0).clock().nanos() + PATIENCE;
    while (!side.queue.poll(completion)) {
      if (simulation.function(0).clock().nanos() > deadline) {
        throw new AssertionError("no completion: " + simulation.statistics(0));
      }
      a.device.processEvents(0, 0);
      b.device.processEvents(0, 0);
      simulation.function(0).clock().pause(1_000);
    }
    return completion;
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
