package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaException;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.Interrupts;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Completion events: arming against completions, throttled vectors, a device that has stopped. */
class EventTest {
  private static final int CEQ = 1;
  private static final int ROUNDS = 60;
  private static final long PATIENCE = 20_000_000_000L;

  /** A receiver that sleeps until it has an event, and what it has seen. */
  private static final class Receiver {
    final RdmaPair rdma;
    final CompletionQueue queue;
    final QueuePair near;
    final QueuePair far;
    final MemoryRegion local;
    int posted;
    int received;
    int arms;
    int events;

    Receiver(RdmaPair rdma, int receives) {
      this.rdma = rdma;
      queue = rdma.b.device.createCompletionQueue(128, CEQ);
      near = rdma.a.domain.createQueuePair(config(rdma.a.queue, 64));
      far = rdma.b.domain.createQueuePair(config(queue, receives));
      rdma.connect(near, far, 1, 2, 1024);
      local = rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion remote =
          rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      for (int i = 0; i < receives; i++) {
        assertTrue(far.postReceive(i, remote.lkey(), remote.address(), 4096));
      }
    }

    private static QueuePairConfig config(CompletionQueue queue, int requests) {
      return QueuePairConfig.of(queue).withRequests(requests, requests);
    }

    void send(int flags) {
      assertTrue(near.postSend(posted++, local.lkey(), local.address(), 8, flags));
      near.ring();
    }

    void poll() {
      Completion completion = new Completion();
      while (queue.poll(completion)) {
        assertTrue(completion.isSuccess(), completion::toString);
        assertEquals(received, completion.wrId(), "once each, in order");
        received++;
      }
    }

    void arm(boolean solicited) {
      if (solicited) {
        queue.armSolicited();
      } else {
        queue.arm();
      }
      arms++;
    }

    void sleep() {
      while (!queue.takeEvent()) {
        assertTrue(
            rdma.b.device.processEvents(CEQ, PATIENCE),
            () -> "no event, %d of %d received".formatted(received, posted));
      }
      events++;
    }
  }

  /**
   * A receiver that arms, looks once more, and then sleeps until it has an event gets every message
   * once, whatever comes between its steps, with and without a throttled vector; the device raises
   * at most one event for each time it was armed. Fails if a completion between the look and the
   * doorbell raises no event, an event is dropped while its vector is off, or one request is
   * answered twice.
   */
  @Property(tries = 80)
  void noCompletionIsMissedAndNoneIsToldTwice(@ForAll long seed) {
    Random random = new Random(seed);
    boolean solicited = random.nextInt(3) == 0;
    int flags = solicited ? QueuePair.SOLICITED : 0;
    DeviceConfig config =
        DeviceConfig.defaults()
            .withInterruptIntervalMicros(random.nextBoolean() ? 0 : 2 * random.nextInt(100));
    RdmaPair rdma = new RdmaPair(Simulation.builder().seed(seed).stepped(), config, seed, 1024);
    try {
      Receiver receiver = new Receiver(rdma, ROUNDS);
      long eventsBefore = rdma.simulation.statistics(1).completionEvents();
      while (receiver.received < ROUNDS) {
        jitter(receiver, random, flags);
        receiver.arm(solicited);
        jitter(receiver, random, flags);
        receiver.poll();
        jitter(receiver, random, flags);
        if (receiver.received == ROUNDS) {
          break;
        }
        if (receiver.posted == receiver.received) {
          receiver.send(flags);
        }
        receiver.sleep();
      }
      rdma.settle(1_000_000);
      rdma.b.device.processEvents(CEQ, 0);
      long raised = rdma.simulation.statistics(1).completionEvents() - eventsBefore;
      assertTrue(raised <= receiver.arms, raised + " events, armed " + receiver.arms + " times");
      assertTrue(receiver.events <= raised);
      assertEquals(0, rdma.b.device.usage().overdueEvents());
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  private static void jitter(Receiver receiver, Random random, int flags) {
    while (random.nextBoolean() && receiver.posted < ROUNDS) {
      receiver.send(flags);
    }
    if (random.nextBoolean()) {
      receiver.rdma.simulation.advance(random.nextInt(4_000));
    }
  }

  /** The same against an engine on a thread of its own, where the steps really overlap. */
  @Test
  void aThreadedReceiverMissesNothing() {
    DeviceConfig config = DeviceConfig.defaults();
    RdmaPair rdma = new RdmaPair(Simulation.builder().seed(5).threaded(), config, 5, 1024);
    try {
      int messages = 2000;
      Receiver receiver = new Receiver(rdma, messages);
      Completion sent = new Completion();
      while (receiver.received < messages) {
        if (receiver.posted < messages && receiver.posted - receiver.received < 32) {
          receiver.send(QueuePair.SIGNALED);
        }
        while (rdma.a.queue.poll(sent)) {
          assertTrue(sent.isSuccess(), sent::toString);
        }
        receiver.arm(false);
        receiver.poll();
        if (receiver.received < receiver.posted) {
          receiver.sleep();
        }
      }
      assertTrue(receiver.events <= receiver.arms);
      assertEquals(0, rdma.b.device.usage().overdueEvents());
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /** Two messages of a throttled vector are as far apart as was asked for, in virtual time. */
  @Test
  void aThrottledVectorInterruptsSeldom() {
    int micros = 100;
    DeviceConfig config = DeviceConfig.defaults().withInterruptIntervalMicros(micros);
    RdmaPair rdma = new RdmaPair(Simulation.builder().seed(5).stepped(), config, 5, 1024);
    try {
      Receiver receiver = new Receiver(rdma, ROUNDS);
      long last = Long.MIN_VALUE / 2;
      for (int i = 0; i < 10; i++) {
        receiver.arm(false);
        receiver.send(0);
        receiver.sleep();
        long now = rdma.simulation.function(1).clock().nanos();
        assertTrue(now - last >= micros * 1000L - 2_000, () -> "too soon");
        last = now;
        receiver.poll();
      }
      assertEquals(10, receiver.received);
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /**
   * Each CEQ interrupts by the vector of its number, and only who handles that vector's events
   * learns of its queue. Fails if a vector belongs to another CEQ, or to several.
   */
  @Test
  void eachEventQueueHasItsOwnVector() {
    DeviceConfig config = DeviceConfig.defaults().withCompletionEventQueues(4);
    RdmaPair rdma = new RdmaPair(Simulation.builder().seed(3).stepped(), config, 3, 1024);
    try {
      Interrupts interrupts = rdma.simulation.function(1).interrupts();
      int vectors = rdma.b.device.ceqCount();
      assertEquals(4, vectors);
      MemoryRegion from =
          rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion into =
          rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      List<QueuePair> senders = new ArrayList<>();
      List<CompletionQueue> queues = new ArrayList<>();
      for (int i = 0; i < vectors; i++) {
        CompletionQueue queue = rdma.b.device.createCompletionQueue(8, i);
        QueuePair near = rdma.a.domain.createQueuePair(Receiver.config(rdma.a.queue, 8));
        QueuePair far = rdma.b.domain.createQueuePair(Receiver.config(queue, 8));
        rdma.connect(near, far, 1, 2, 1024);
        assertTrue(far.postReceive(i, into.lkey(), into.address(), 8));
        senders.add(near);
        queues.add(queue);
      }
      rdma.settle(100_000);
      queues.forEach(CompletionQueue::arm);
      for (int i = vectors - 1; i >= 0; i--) {
        List<Long> before = fired(interrupts, vectors);
        assertTrue(senders.get(i).postSend(1, from.lkey(), from.address(), 8, 0));
        senders.get(i).ring();
        rdma.simulation.advance(1_000_000);
        before.set(i, before.get(i) + 1);
        assertEquals(before, fired(interrupts, vectors));
        rdma.b.device.processEvents((i + 1) % vectors, 0);
        assertFalse(queues.get(i).takeEvent(), "told by another vector");
        rdma.b.device.processEvents(i, 0);
        for (CompletionQueue queue : queues) {
          assertEquals(queue == queues.get(i), queue.takeEvent());
        }
      }
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  private static List<Long> fired(Interrupts interrupts, int vectors) {
    List<Long> fired = new ArrayList<>();
    for (int i = 0; i < vectors; i++) {
      fired.add(interrupts.fired(i));
    }
    return fired;
  }

  /** A stopped device is named with its code, and everything is given back. */
  @Test
  void aCriticalErrorIsReported() {
    RdmaPair rdma =
        new RdmaPair(
            Simulation.builder().seed(5).stepped(),
            DeviceConfig.defaults().withTimeoutNanos(1_000_000),
            5,
            1024);
    assertEquals(0, rdma.a.device.criticalError());
    rdma.simulation.inject(0, new Fault.HmcError(Moment.now(), 0x0001_024e));
    assertEquals(0x0001_024e, rdma.a.device.criticalError());
    RdmaException refused =
        assertThrows(RdmaException.class, () -> rdma.a.device.createCompletionQueue(8));
    assertTrue(refused.getMessage().contains("critical error 0x0001024e"), refused::getMessage);
    assertThrows(RdmaException.class, rdma.a::close);
    rdma.a.memories.forEach(irdma4j.uapi.DmaMemory::close);
    assertEquals(0, rdma.simulation.function(0).dmaUsage().currentBytes());
    rdma.b.close();
    rdma.simulation.close();
  }
}
