package irdma4j.driver;

import irdma4j.hwregs.Registers;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DeviceClock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Takes events from the event queues to those whom they concern: completion queues, queue pairs and
 * the application's listener. For the thread that uses the device.
 */
final class EventDispatch {
  private final DeviceClock clock;
  private final Bar bar;
  private final ControlQueue control;
  private final EventQueues eventQueues;
  private final OverdueEvents overdue;
  private final DeviceObjects objects;
  private final List<AsyncEvent> pending = new ArrayList<>();
  private Consumer<AsyncEvent> listener = event -> {};
  // Since process was last called.
  private boolean raisedMeanwhile;
  private long asyncEventLosses;

  /**
   * Nothing has happened yet.
   *
   * @param ceqs completion event queues that there are to be
   */
  EventDispatch(
      DeviceClock clock,
      Bar bar,
      ControlQueue control,
      EventQueues eventQueues,
      int ceqs,
      DeviceObjects objects) {
    this.clock = clock;
    this.bar = bar;
    this.control = control;
    this.eventQueues = eventQueues;
    this.overdue = new OverdueEvents(ceqs);
    this.objects = objects;
  }

  /** From now on, this is given asynchronous events. */
  void listen(Consumer<AsyncEvent> newListener) {
    listener = newListener;
  }

  /**
   * As {@link RdmaDevice#processEvents}.
   *
   * @return whether anything was handled
   */
  boolean process(int vector, long timeoutNanos) {
    long now = clock.nanos();
    long end = now + Math.min(timeoutNanos, Long.MAX_VALUE - now);
    boolean handled = raisedMeanwhile || !pending.isEmpty();
    raisedMeanwhile = false;
    for (CompletionQueue queue : objects.flushedQueues()) {
      handled |= queue.raiseForFlushedWork();
    }
    while (true) {
      long wait = handled ? 0 : Math.min(end - now, OverdueEvents.INTERVAL_NANOS);
      handled |= eventQueues.await(vector, wait, this::raise, pending::add);
      deliver();
      if (handled) {
        return true;
      }
      now = clock.nanos();
      if (overdue.raise(eventQueues.ceqOf(vector), now, objects.completionQueues())) {
        return true;
      }
      if (timeoutNanos > 0) {
        control.requireAlive();
      }
      if (now >= end) {
        return false;
      }
    }
  }

  private void deliver() {
    while (!pending.isEmpty()) {
      AsyncEvent event = pending.removeFirst();
      QueuePairCore pair = event.isCompletionQueue() ? null : objects.queuePair(event.queueId());
      if (pair != null) {
        pair.happened(event);
      }
      if (event.isOverflow()) {
        asyncEventLosses++;
      }
      listener.accept(event);
    }
  }

  /**
   * Waits for events while a control operation is under way; {@link #process} tells of them.
   *
   * @return whether there was one on vector 0
   */
  boolean awaitMeanwhile(long timeoutNanos) {
    return eventQueues.await(0, timeoutNanos, this::raiseMeanwhile, pending::add);
  }

  /**
   * Takes the events of a completion event queue, until none is left of a queue that completes
   * nothing any more: the device gives the place of its event to another as it is destroyed, and
   * one that is not read yet would be overwritten, or be taken for one of the next queue with its
   * number.
   *
   * @param closing a queue whose events nobody is told of
   */
  void takeAll(int ceq, CompletionQueue closing) {
    // Each round lets one more event in that waited for room; they come by turns.
    for (int rounds = objects.completionQueues().size() + 1; rounds >= 0; rounds--) {
      boolean taken =
          eventQueues.drainCompletions(
              ceq,
              id -> {
                if (id != closing.id()) {
                  raiseMeanwhile(id);
                }
              });
      // The device has handled what was acknowledged once it answers.
      int unused = bar.read32(Registers.GLPE_CRITERR.offset());
      if (!taken) {
        return;
      }
    }
  }

  /** An event that process is to tell of when it is called the next time. */
  private void raiseMeanwhile(int cqId) {
    raise(cqId);
    raisedMeanwhile |= objects.completionQueue(cqId) != null;
  }

  private void raise(int cqId) {
    CompletionQueue queue = objects.completionQueue(cqId);
    if (queue != null) {
      queue.raiseEvent();
    }
  }

  /** Events that did not come and were raised here. */
  long overdueEvents() {
    return overdue.found();
  }

  /** Asynchronous events that say that others were lost. */
  long asyncEventLosses() {
    return asyncEventLosses;
  }
}
