package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.QueuePairState;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.FlushCode;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What a queue pair that fails leaves in its completion queues. */
class FlushProperties {
  private static final int SIZE = 16 << 10;

  /** How the queue pair fails. */
  private enum Way {
    BY_HAND,
    LOCAL_KEY,
    REMOTE_KEY,
    PEER_GONE
  }

  /**
   * Whatever a queue pair has outstanding when it fails, and however it does, each request of
   * either queue leaves one completion, in order, those that were done before included; unsignalled
   * ones that were done leave none. The request at fault tells the reason, those behind it that
   * something before them failed. Fails if one is left out or told twice, a request of several
   * quanta counts as several, or queues that share a completion queue take each other's.
   */
  @Property(tries = 150)
  void eachOutstandingRequestIsFlushedOnce(@ForAll long seed) {
    Random random = new Random(seed);
    RdmaPair rdma = new RdmaPair(seed, 0, 1024);
    try {
      DmaMemory here = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
      DmaMemory there = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
      MemoryRegion local = rdma.a.domain.registerMemory(here, Access.LOCAL_WRITE);
      MemoryRegion remote =
          rdma.b.domain.registerMemory(
              there, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
      CompletionQueue sends = rdma.a.device.createCompletionQueue(256);
      CompletionQueue receives =
          random.nextBoolean() ? sends : rdma.a.device.createCompletionQueue(256);
      QueuePair near =
          rdma.a.domain.createQueuePair(
              new QueuePairConfig(sends, receives, 64, 64, 13, 4, 101, false));
      QueuePair far = rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue));
      rdma.connect(near, far, 5, 6, 1024);
      Way way = Way.values()[random.nextInt(Way.values().length)];
      int receivesPosted = random.nextInt(20);
      for (int i = 0; i < receivesPosted; i++) {
        assertTrue(near.postReceive(100 + i, local.lkey(), local.address(), 64));
      }
      // Done before: the last one is signalled, so that its completion says that all are.
      List<Long> expectedDone = new ArrayList<>();
      int before = random.nextInt(5);
      for (int i = 0; i < before; i++) {
        boolean signaled = i == before - 1 || random.nextBoolean();
        post(near, random, i, signaled, local, remote, here, remote.rkey());
        if (signaled) {
          expectedDone.add((long) i);
        }
      }
      near.ring();
      rdma.settle(500_000);
      if (way == Way.BY_HAND) {
        near.drain();
        rdma.await(near::isDrained, "the drain's end");
      } else if (way == Way.PEER_GONE) {
        far.close();
      }
      int outstanding = way == Way.BY_HAND ? random.nextInt(30) : 1 + random.nextInt(30);
      for (int i = 0; i < outstanding; i++) {
        long wrId = (long) before + i;
        boolean culprit = i == 0;
        if (culprit && way == Way.LOCAL_KEY) {
          assertTrue(near.postSend(wrId, local.lkey() ^ 1, local.address(), 8, 0));
        } else {
          boolean foul = culprit && way == Way.REMOTE_KEY;
          int rkey = foul ? remote.rkey() ^ 1 : remote.rkey();
          post(near, random, wrId, !foul && random.nextBoolean(), local, remote, here, rkey);
        }
      }
      near.ring();
      if (way == Way.BY_HAND) {
        near.toError();
      } else {
        rdma.await(() -> near.state() == QueuePairState.ERROR, "the error");
      }
      rdma.settle(500_000);
      FlushCode reason =
          switch (way) {
            case BY_HAND -> FlushCode.GENERAL_ERR;
            case LOCAL_KEY -> FlushCode.PROT_ERR;
            case REMOTE_KEY -> FlushCode.REM_ACCESS_ERR;
            case PEER_GONE -> FlushCode.RETRY_EXC_ERR;
          };
      List<String> expectedSends = new ArrayList<>();
      expectedDone.forEach(wrId -> expectedSends.add(wrId + " done"));
      for (int i = 0; i < outstanding; i++) {
        FlushCode code = i == 0 ? reason : FlushCode.GENERAL_ERR;
        expectedSends.add(before + i + " " + code.meaning());
      }
      List<String> expectedReceives = new ArrayList<>();
      for (int i = 0; i < receivesPosted; i++) {
        expectedReceives.add(100 + i + " " + FlushCode.GENERAL_ERR.meaning());
      }
      List<String> ofSends = new ArrayList<>();
      List<String> ofReceives = new ArrayList<>();
      Completion completion = new Completion();
      for (CompletionQueue queue : List.of(sends, receives)) {
        while (queue.poll(completion)) {
          assertTrue(queue == (completion.isSend() ? sends : receives));
          assertEquals(near.qpn(), completion.qpn());
          (completion.isSend() ? ofSends : ofReceives)
              .add(
                  completion.wrId()
                      + " "
                      + (completion.isSuccess() ? "done" : completion.flushCode()));
        }
      }
      assertEquals(expectedSends, ofSends, () -> way.toString());
      assertEquals(expectedReceives, ofReceives, () -> way.toString());
      rdma.settle(500_000);
      assertFalse(sends.poll(completion) || receives.poll(completion), "told twice");
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /** A request of one to eight quanta that moves bytes. */
  private static void post(
      QueuePair near,
      Random random,
      long wrId,
      boolean signaled,
      MemoryRegion local,
      MemoryRegion remote,
      DmaMemory here,
      int rkey) {
    int flags = signaled ? QueuePair.SIGNALED : 0;
    boolean posted;
    if (random.nextInt(3) == 0) {
      posted =
          near.postWriteInline(
              wrId, here.segment(), 0, 1 + random.nextInt(101), remote.address(), rkey, flags);
    } else {
      SgeList list = new SgeList();
      for (int i = random.nextInt(13); i >= 0; i--) {
        list.add(local.address() + 100L * i, 1 + random.nextInt(100), local.lkey());
      }
      posted =
          random.nextBoolean()
              ? near.postWrite(wrId, list, remote.address(), rkey, flags)
              : near.postRead(wrId, list, remote.address(), rkey, flags);
    }
    assertTrue(posted);
  }
}
