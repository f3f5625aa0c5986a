package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaPlacement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Event queues that are too small for what comes, and events that are lost. */
class EventOverflowTest {
  private static final int CEQ = 1;
  private static final int QUEUES = 4;
  private static final int MESSAGES = 40;
  private static final int DEPTH = 64;
  private static final long PATIENCE = 2_000_000_000;

  /** A receiver on side b with a completion queue of its own on CEQ 1. */
  private static final class Receiver implements AutoCloseable {
    private final CompletionQueue queue;
    private final QueuePair near;
    private final QueuePair far;
    private int sent;
    private int received;
    private boolean armed;

    Receiver(RdmaPair rdma, MemoryRegion into) {
      queue = rdma.b.device.createCompletionQueue(2 * DEPTH, CEQ);
      near =
          rdma.a.domain.createQueuePair(
              QueuePairConfig.of(rdma.a.queue).withRequests(DEPTH, DEPTH).withInline(8));
      far = rdma.b.domain.createQueuePair(QueuePairConfig.of(queue).withRequests(DEPTH, DEPTH));
      rdma.connect(near, far, 7, 9, 1024);
      for (int i = 0; i < DEPTH - 1; i++) {
        assertTrue(far.postReceive(i, into.lkey(), into.address(), 64));
      }
    }

    void send(MemoryRegion from) {
      assertTrue(near.postSend(sent++, from.lkey(), from.address(), 8, 0));
      near.ring();
    }

    /** Takes what is there; each completion once, in order. */
    void poll() {
      Completion completion = new Completion();
      while (queue.poll(completion)) {
        assertTrue(completion.isSuccess(), completion::toString);
        assertEquals(received, completion.wrId(), "once each, in order");
        received++;
      }
    }

    /** Asks for the next event, then takes what came before. */
    void arm() {
      queue.arm();
      armed = true;
      poll();
    }

    @Override
    public void close() {
      near.close();
      far.close();
      queue.close();
    }
  }

  private static RdmaPair pair(long seed, int ceqEntries, int aeqEntries) {
    return new RdmaPair(
        Simulation.builder().seed(seed).stepped(),
        DeviceConfig.defaults().withEventEntries(ceqEntries, aeqEntries),
        seed,
        1024);
  }

  /**
   * Four completion queues share a CEQ of one to three entries and a driver that looks at it
   * seldom; queues are closed with their event unread, and others are made with the same numbers.
   * Everybody sleeps until an event and gets each message once, and no event has to be searched
   * for.
   *
   * <p>Fails if an event that found no room is dropped, a closed queue keeps its place in the CEQ,
   * its event is given to the next one with its number, or the driver forgets to acknowledge.
   */
  @Property(tries = 60)
  void aSmallEventQueueLosesNothing(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 3) int entries) {
    Random random = new Random(seed);
    RdmaPair rdma = pair(seed, entries, Integer.MAX_VALUE);
    try {
      MemoryRegion from =
          rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion into =
          rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      List<Receiver> receivers = new ArrayList<>();
      for (int i = 0; i < QUEUES; i++) {
        receivers.add(new Receiver(rdma, into));
      }
      for (int i = 0; i < MESSAGES; i++) {
        Receiver one = receivers.get(random.nextInt(QUEUES));
        switch (random.nextInt(8)) {
          case 0 -> {
            // With what is unread of it, in the CEQ and in the queue.
            receivers.remove(one);
            one.close();
            receivers.add(new Receiver(rdma, into));
            assertFalse(receivers.getLast().queue.takeEvent(), "an event of the queue before it");
          }
          case 1 -> rdma.b.device.processEvents(CEQ, 0);
          default -> {
            if (one.sent < DEPTH - 1) {
              one.arm();
              one.send(from);
              rdma.simulation.advance(random.nextInt(20_000));
            }
          }
        }
      }
      drain(rdma.b.device, receivers);
      assertEquals(0, rdma.b.device.usage().overdueEvents());
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /** Sleeps until every receiver has everything, waking only by events. */
  private static void drain(RdmaDevice device, List<Receiver> receivers) {
    while (receivers.stream().anyMatch(r -> r.received < r.sent)) {
      boolean any = false;
      for (Receiver one : receivers) {
        if (!one.armed || one.queue.takeEvent()) {
          one.arm();
          any = true;
        }
      }
      if (!any) {
        assertTrue(device.processEvents(CEQ, PATIENCE), "asleep for ever");
      }
    }
  }

  /**
   * A waiter whose event was lost is woken all the same, for any completion or a solicited one, and
   * the driver says how often; one that has nothing to wake up for is not. Fails if the look at
   * queues is left out, or does not tell solicited completions from others.
   */
  @Property(tries = 40)
  void aLostCompletionEventWakesItsWaiter(
      @ForAll long seed, @ForAll boolean solicited, @ForAll boolean marked) {
    RdmaPair rdma = pair(seed, Integer.MAX_VALUE, Integer.MAX_VALUE);
    try {
      MemoryRegion from =
          rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion into =
          rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      Receiver receiver = new Receiver(rdma, into);
      rdma.simulation.inject(
          1, new Fault.OverflowEventQueue(Moment.next(Occasion.COMPLETION_EVENT)));
      if (solicited) {
        receiver.queue.armSolicited();
      } else {
        receiver.queue.arm();
      }
      receiver.near.postSend(
          receiver.sent++, from.lkey(), from.address(), 8, marked ? QueuePair.SOLICITED : 0);
      receiver.near.ring();
      boolean expected = !solicited || marked;
      long before = rdma.simulation.function(1).clock().nanos();
      assertEquals(expected, rdma.b.device.processEvents(CEQ, PATIENCE));
      long waited = rdma.simulation.function(1).clock().nanos() - before;
      assertTrue(expected ? waited < PATIENCE / 4 : waited >= PATIENCE, () -> waited + " ns");
      assertEquals(expected, receiver.queue.takeEvent());
      assertEquals(expected ? 1 : 0, rdma.b.device.usage().overdueEvents());
      receiver.poll();
      assertEquals(1, receiver.received);
      // Woken once: nothing is left to wake up for.
      assertFalse(rdma.b.device.processEvents(CEQ, PATIENCE));
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /** An event that a control operation took from its queue is told by the next look for events. */
  @Test
  void anEventTakenByAControlOperationIsTold() {
    RdmaPair rdma = pair(3, Integer.MAX_VALUE, Integer.MAX_VALUE);
    try {
      CompletionQueue queue = rdma.a.device.createCompletionQueue(8, 0);
      QueuePair near = rdma.a.domain.createQueuePair(QueuePairConfig.of(queue));
      QueuePair far = rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue));
      rdma.connect(near, far, 7, 9, 1024);
      MemoryRegion from =
          rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion into =
          rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      queue.arm();
      near.postWrite(
          1, from.lkey(), from.address(), 8, into.address(), into.rkey(), QueuePair.SIGNALED);
      near.ring();
      rdma.simulation.advance(1_000_000);
      rdma.a.device.createCompletionQueue(8, 0).close();
      long before = rdma.simulation.function(0).clock().nanos();
      assertTrue(rdma.a.device.processEvents(0, PATIENCE));
      assertTrue(rdma.simulation.function(0).clock().nanos() - before < 1_000_000, "slept");
      assertTrue(queue.takeEvent());
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /**
   * More queue pairs fail than the AEQ has entries before the driver looks. What it is told is
   * true, it says that events were lost exactly if some may have been, and each queue pair whose
   * event was lost can be brought to an end by hand, with all of its work completed.
   *
   * <p>Fails if the mark is dropped, if a full queue is taken for one that has lost nothing, or if
   * entries are given back twice.
   */
  @Property(tries = 40)
  void lostAsynchronousEventsAreReported(
      @ForAll long seed,
      @ForAll @IntRange(min = 2, max = 3) int entries,
      @ForAll @IntRange(min = 1, max = 4) int failing) {
    RdmaPair rdma = pair(seed, Integer.MAX_VALUE, entries);
    try {
      List<AsyncEvent> events = new ArrayList<>();
      rdma.a.device.onAsyncEvent(events::add);
      MemoryRegion from =
          rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      List<QueuePair> pairs = new ArrayList<>();
      for (int i = 0; i < failing; i++) {
        QueuePair near = rdma.a.domain.createQueuePair(QueuePairConfig.of(rdma.a.queue));
        QueuePair far = rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue));
        rdma.connect(near, far, 7, 9, 1024);
        pairs.add(near);
      }
      for (QueuePair near : pairs) {
        // No such key on this side, so that the device fails by itself.
        near.postSend(near.qpn(), from.lkey() ^ 0xff, from.address(), 8, QueuePair.SIGNALED);
        near.ring();
      }
      rdma.simulation.advance(5_000_000);
      while (rdma.a.device.processEvents(0, 0)) {
        // Until it is empty.
      }
      assertEquals(Math.min(failing, entries), events.size());
      boolean full = failing >= entries;
      assertEquals(full, events.stream().anyMatch(AsyncEvent::isOverflow));
      assertEquals(full ? 1 : 0, rdma.a.device.usage().asyncEventLosses());
      assertEquals(full, events.getLast().toString().contains("lost"));
      for (QueuePair near : pairs) {
        if (events.stream().noneMatch(event -> event.queueId() == near.qpn())) {
          near.toError();
        }
      }
      Completion completion = new Completion();
      List<Integer> done = new ArrayList<>();
      while (rdma.a.queue.poll(completion)) {
        assertFalse(completion.isSuccess());
        done.add((int) completion.wrId());
      }
      assertEquals(pairs.stream().map(QueuePair::qpn).toList(), done.stream().sorted().toList());
      if (failing > entries) {
        // The next event carries the device's own mark.
        events.clear();
        rdma.a.pair.postSend(1, from.lkey() ^ 0xff, from.address(), 8, QueuePair.SIGNALED);
        rdma.a.pair.ring();
        rdma.settle(5_000_000);
        assertEquals(1, events.size());
        assertTrue(events.getFirst().isOverflow());
        assertEquals(2, rdma.a.device.usage().asyncEventLosses());
      }
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }
}
