package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** WQEs handed over through push pages. */
class PushTest {
  private static final long SLOT = 512;
  private static final int SLOTS = 200;
  private static final long SIZE = SLOT * SLOTS;

  /** Two sides whose first queue pair pushes. */
  private static final class Pushing {
    final RdmaPair rdma;
    final CompletionQueue queue;
    final QueuePair near;
    final DmaMemory source;
    final DmaMemory sink;
    final MemoryRegion local;
    final MemoryRegion remote;
    int posted;
    int done;

    Pushing(long seed, int requests) {
      rdma = new RdmaPair(seed, 0, 1024);
      queue = rdma.a.device.createCompletionQueue(256);
      near = rdma.a.domain.createQueuePair(config(queue, requests).withPush(true));
      QueuePair far = rdma.b.domain.createQueuePair(config(rdma.b.queue, 8));
      rdma.connect(near, far, 1, 2, 1024);
      source = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
      sink = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
      Random random = new Random(seed);
      for (long at = 0; at < SIZE; at += 8) {
        source.segment().set(ValueLayout.JAVA_LONG, at, random.nextLong());
      }
      local = rdma.a.region(source, PbleLevels.ANY);
      remote = rdma.b.region(sink, PbleLevels.ANY);
    }

    private static QueuePairConfig config(CompletionQueue queue, int requests) {
      return QueuePairConfig.of(queue).withRequests(requests, 8).withSges(4, 1).withInline(101);
    }

    /** Writes the next slot of the peer, from memory or inline. */
    boolean write(Random random) {
      long at = posted * SLOT;
      boolean accepted;
      if (random.nextBoolean()) {
        accepted =
            near.postWriteInline(
                posted,
                source.segment(),
                at,
                1 + random.nextInt(101),
                remote.address() + at,
                remote.rkey(),
                QueuePair.SIGNALED);
      } else {
        SgeList parts = new SgeList();
        int pieces = 1 + random.nextInt(4);
        for (int i = 0; i < pieces; i++) {
          parts.add(local.address() + at + i * 100L, 100, local.lkey());
        }
        accepted =
            near.postWrite(posted, parts, remote.address() + at, remote.rkey(), QueuePair.SIGNALED);
      }
      posted += accepted ? 1 : 0;
      return accepted;
    }

    void poll() {
      Completion completion = new Completion();
      while (queue.poll(completion)) {
        assertTrue(completion.isSuccess(), completion::toString);
        assertEquals(done, completion.wrId(), "once each, in order");
        long at = done * SLOT;
        long bytes = completion.bytes();
        assertEquals(
            -1, source.segment().asSlice(at, bytes).mismatch(sink.segment().asSlice(at, bytes)));
        done++;
      }
    }

    void settle() {
      rdma.await(
          () -> {
            poll();
            return done == posted;
          },
          "all completions");
    }
  }

  /**
   * Whatever is pushed, overtakes its own push, or is lost on the page before the device looks,
   * each WQE is done once, in order, with its own bytes. Fails if the device takes what an earlier
   * chunk left on the page, if a lost push is not taken from the ring, or if a WQE is done twice.
   */
  @Property(tries = 60)
  void eachWqeIsDoneOnceWhicheverWayItCame(@ForAll long seed) {
    Random random = new Random(seed);
    Pushing side = new Pushing(seed, 100);
    try {
      while (side.posted < SLOTS) {
        for (int burst = random.nextInt(12); burst >= 0 && side.posted < SLOTS; burst--) {
          if (!side.write(random)) {
            break;
          }
        }
        side.near.ring();
        if (random.nextBoolean()) {
          side.rdma.simulation.advance(random.nextInt(5_000));
        }
        if (random.nextBoolean()) {
          side.poll();
        }
        if (random.nextInt(8) == 0) {
          side.settle();
        }
      }
      side.settle();
      assertTrue(side.rdma.simulation.statistics(0).pushedWqes() > 0);
    } finally {
      assertEquals(0, side.rdma.closeAndBalance());
    }
  }

  /** One at a time, every WQE comes through the page and no doorbell is rung. */
  @Test
  void aLoneWqeIsAlwaysPushed() {
    Pushing side = new Pushing(3, 64);
    try {
      Random random = new Random(3);
      for (int i = 0; i < 50; i++) {
        assertTrue(side.write(random));
        side.near.ring();
        side.settle();
      }
      assertEquals(
          side.rdma.simulation.statistics(0).sendWqes(),
          side.rdma.simulation.statistics(0).pushedWqes());
      assertEquals(0, side.near.sendQueue().doorbellsRung());
    } finally {
      assertEquals(0, side.rdma.closeAndBalance());
    }
  }

  /** A queue pair for which the device has no page left works without; pages come back. */
  @Test
  void withoutAPageEverythingWorks() {
    int pages = 512;
    try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build()) {
      try (RdmaDevice device =
          RdmaDevice.open(
              simulation.function(0),
              DeviceConfig.defaults().withQueuePairs(1024),
              StageListener.none())) {
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(16);
        QueuePairConfig config = QueuePairConfig.of(queue).withRequests(4, 4).withPush(true);
        List<DatagramQueuePair> pairs = new ArrayList<>();
        for (int i = 0; i <= pages; i++) {
          pairs.add(domain.createDatagramQueuePair(config, 1024, 7));
        }
        assertEquals(1, pushed(pairs.getFirst(), queue, simulation));
        assertEquals(0, pushed(pairs.getLast(), queue, simulation));
        pairs.get(17).close();
        assertEquals(1, pushed(domain.createDatagramQueuePair(config, 1024, 7), queue, simulation));
      }
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }

  private static long pushed(DatagramQueuePair pair, CompletionQueue queue, Simulation simulation) {
    assertTrue(pair.sendQueue().nop(5, SendQueue.SIGNALED));
    pair.ring();
    simulation.advance(100_000);
    Completion completion = new Completion();
    assertTrue(queue.poll(completion));
    assertTrue(completion.isSuccess());
    return pair.sendQueue().pushed();
  }
}
