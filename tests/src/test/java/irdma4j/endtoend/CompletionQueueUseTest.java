package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.QueuePairState;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaPlacement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Completion queues that are moved, and one that is too small, under traffic. */
class CompletionQueueUseTest {
  private static final int CEQ = 1;
  private static final int REQUESTS = 200;
  private static final long PATIENCE = 2_000_000_000;

  /** A queue pair on side a with a completion queue of its own. */
  private static final class Stage implements AutoCloseable {
    final RdmaPair rdma;
    final CompletionQueue queue;
    final QueuePair near;
    final MemoryRegion local;
    final MemoryRegion remote;
    final List<AsyncEvent> events = new ArrayList<>();
    int posted;
    int polled;

    Stage(long seed, int completions) {
      rdma = new RdmaPair(seed, 0, 1024);
      queue = rdma.a.device.createCompletionQueue(completions, CEQ);
      near =
          rdma.a.domain.createQueuePair(
              QueuePairConfig.of(queue).withRequests(REQUESTS, 1).withInline(8));
      QueuePair far = rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue));
      rdma.connect(near, far, 7, 9, 1024);
      local = rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      remote = rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      rdma.a.device.onAsyncEvent(events::add);
    }

    void post() {
      assertTrue(
          near.postWrite(
              posted++,
              local.lkey(),
              local.address(),
              8,
              remote.address(),
              remote.rkey(),
              QueuePair.SIGNALED));
      near.ring();
    }

    boolean poll() {
      Completion completion = new Completion();
      if (!queue.poll(completion)) {
        return false;
      }
      assertTrue(completion.isSuccess(), completion::toString);
      assertEquals(polled++, completion.wrId(), "once each, in order");
      return true;
    }

    @Override
    public void close() {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /**
   * Moved while work is on its way, with completions unread and with an event asked for, a queue
   * gives each completion once and in order, and the event comes. Fails if an entry of either ring
   * is lost or taken twice, a request for an event stays with the old ring, or its memory goes
   * before the last entry was read.
   */
  @Property(tries = 60)
  void movedUnderTraffic(@ForAll long seed) {
    Random random = new Random(seed);
    try (Stage stage = new Stage(seed, 50)) {
      int holds = 50;
      for (int step = 0; step < 150; step++) {
        switch (random.nextInt(8)) {
          case 0 -> {
            boolean within = stage.posted - stage.polled <= 20;
            if (within && stage.queue.entries() >= holds * 2) {
              int wanted = 20 + random.nextInt(60);
              try {
                stage.queue.resize(wanted);
                holds = wanted;
              } catch (IllegalStateException resizing) {
                assertTrue(resizing.getMessage().contains("resized"), resizing::getMessage);
              }
            }
          }
          case 1 -> stage.queue.arm();
          case 2 -> stage.rdma.simulation.advance(random.nextInt(3_000));
          case 3, 4 -> stage.poll();
          default -> {
            if (stage.posted - stage.polled < Math.min(20, holds)) {
              stage.post();
            }
          }
        }
      }
      for (int round = 0; round < 3; round++) {
        stage.rdma.a.device.processEvents(CEQ, 0);
        stage.queue.takeEvent();
        // Something comes after the last resize, so that the next one may be.
        stage.post();
        stage.queue.arm();
        while (stage.polled < stage.posted) {
          if (!stage.poll()) {
            sleep(stage);
            stage.queue.arm();
          }
        }
        stage.queue.resize(20 + round);
        stage.post();
        sleep(stage);
        assertTrue(stage.poll());
      }
      assertEquals(0, stage.rdma.a.device.usage().overdueEvents());
      assertEquals(List.of(), stage.events);
    }
  }

  /** Waits for the event that was asked for. */
  private static void sleep(Stage stage) {
    while (!stage.queue.takeEvent()) {
      assertTrue(stage.rdma.a.device.processEvents(CEQ, PATIENCE), "asleep for ever");
    }
  }

  /**
   * A queue that is full but for one entry loses what comes next and says so once; what it holds
   * stays, and other queues are as before. Fails if an entry is overwritten, the event comes early,
   * twice or for another queue, or traffic elsewhere stops.
   */
  @Test
  void aQueueThatIsTooSmallOverflows() {
    try (Stage stage = new Stage(3, 3)) {
      int holds = stage.queue.entries() - 1;
      for (int i = 0; i < holds; i++) {
        stage.post();
      }
      stage.rdma.settle(1_000_000);
      assertEquals(List.of(), stage.events);
      for (int i = 0; i < 3; i++) {
        stage.post();
      }
      stage.rdma.settle(1_000_000);
      assertEquals(1, stage.events.size(), stage.events::toString);
      AsyncEvent event = stage.events.getFirst();
      assertEquals(AeCode.CQ_OPERATION_ERROR.code(), event.code());
      assertEquals(AeSource.CQ, AeSource.of(event.source()));
      assertEquals(stage.queue.id(), event.queueId());
      assertEquals(QueuePairState.READY_TO_SEND, stage.near.state());
      for (int i = 0; i < holds; i++) {
        assertTrue(stage.poll());
      }
      assertFalse(stage.poll(), "nothing comes into a queue that has overflowed");
      assertTrue(
          stage.rdma.a.pair.postWrite(
              9,
              stage.local.lkey(),
              stage.local.address(),
              8,
              stage.remote.address(),
              stage.remote.rkey(),
              QueuePair.SIGNALED));
      stage.rdma.a.pair.ring();
      assertEquals(9, stage.rdma.await(stage.rdma.a).wrId());
    }
  }
}
