package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaPlacement;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a message costs in the heap, through the driver, both devices and the wire. */
class AllocationTest {
  private static final int BATCH = 64;
  private static final int ROUNDS = 40;
  private static final int BATCHES = 100;
  private static final int MESSAGES = BATCHES * BATCH;
  private static final int SMALL = 64;
  private static final int LARGE = 12_000;
  private static final int KEY = 7;

  private final Completion completion = new Completion();

  private enum Kind {
    SEND,
    WRITE,
    READ,
    DATAGRAM
  }

  /**
   * Of many rounds the least one is looked at, since the compiler and its tiers allocate in the
   * others. Fails if a message or a packet of it makes an object that is not optimized away.
   */
  @ParameterizedTest
  @EnumSource(Kind.class)
  void aMessageAllocatesNothing(Kind kind) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    try {
      Stage stage = new Stage(rdma);
      long least = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS && least > 0; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int batch = 0; batch < BATCHES; batch++) {
          stage.move(kind);
        }
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      assertEquals(0, least, "bytes for " + MESSAGES + " messages");
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  private final class Stage {
    private final DeviceClock clock;
    private final CompletionQueue nearQueue;
    private final CompletionQueue farQueue;
    private final QueuePair near;
    private final QueuePair far;
    private final DatagramQueuePair nearDatagrams;
    private final DatagramQueuePair farDatagrams;
    private final AddressHandle handle;
    private final MemoryRegion source;
    private final MemoryRegion sink;

    Stage(RdmaPair rdma) {
      clock = rdma.simulation.function(0).clock();
      nearQueue = rdma.a.device.createCompletionQueue(4 * BATCH);
      farQueue = rdma.b.device.createCompletionQueue(4 * BATCH);
      QueuePairConfig here = QueuePairConfig.of(nearQueue).withRequests(2 * BATCH, BATCH);
      QueuePairConfig there = QueuePairConfig.of(farQueue).withRequests(BATCH, 2 * BATCH);
      near = rdma.a.domain.createQueuePair(here);
      far = rdma.b.domain.createQueuePair(there);
      rdma.connect(near, far, 1, 2, 1024);
      nearDatagrams = rdma.a.domain.createDatagramQueuePair(here, 1024, KEY);
      farDatagrams = rdma.b.domain.createDatagramQueuePair(there, 1024, KEY);
      handle =
          rdma.a.domain.createAddressHandle(
              DatagramPath.of(RdmaPair.A, RdmaPair.B, rdma.b.device.macAddress()));
      source = rdma.a.region(rdma.a.memory(LARGE, DmaPlacement.SCATTERED), PbleLevels.ANY);
      sink = rdma.b.region(rdma.b.memory(LARGE, DmaPlacement.SCATTERED), PbleLevels.ANY);
    }

    void move(Kind kind) {
      int flags = QueuePair.SIGNALED;
      int lkey = source.lkey();
      long from = source.address();
      for (int i = 0; i < BATCH; i++) {
        switch (kind) {
          case SEND -> {
            far.postReceive(i, sink.lkey(), sink.address(), SMALL);
            near.postSend(i, lkey, from, SMALL, flags);
          }
          case WRITE -> near.postWrite(i, lkey, from, LARGE, sink.address(), sink.rkey(), flags);
          case READ -> near.postRead(i, lkey, from, LARGE, sink.address(), sink.rkey(), flags);
          case DATAGRAM -> {
            farDatagrams.postReceive(i, sink.lkey(), sink.address(), 40 + SMALL);
            nearDatagrams.postSend(i, handle, farDatagrams.qpn(), KEY, lkey, from, SMALL, flags);
          }
        }
      }
      if (kind == Kind.DATAGRAM) {
        nearDatagrams.ring();
      } else {
        near.ring();
      }
      await(nearQueue);
      if (kind == Kind.SEND || kind == Kind.DATAGRAM) {
        await(farQueue);
      }
    }

    private void await(CompletionQueue queue) {
      for (int left = BATCH; left > 0; ) {
        if (!queue.poll(completion)) {
          clock.pause(0);
        } else {
          assertTrue(completion.isSuccess());
          left--;
        }
      }
    }
  }
}
