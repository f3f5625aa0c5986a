package irdma4j.driver;

import irdma4j.driver.ring.AsyncEventRing;
import irdma4j.driver.ring.CompletionEventRing;
import irdma4j.hwregs.Aeqe;
import irdma4j.hwregs.Ceqe;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CreateAeq;
import irdma4j.hwregs.cqp.CreateCeq;
import irdma4j.hwregs.cqp.DestroyAeq;
import irdma4j.hwregs.cqp.DestroyCeq;
import irdma4j.uapi.Bar;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Completion event queues and the asynchronous event queue, with their interrupt vectors.
 *
 * <p>Source: Linux irdma_create_ceq, irdma_create_aeq, irdma_del_ceqs in hw.c.
 */
final class EventQueues {
  private record Ceq(int id, int vector, DmaMemory memory, CompletionEventRing ring) {}

  private final PciFunction function;
  private final Bar bar;
  private final ControlQueue control;
  private final InterruptVectors vectors;
  private final EventPlan plan;
  private final List<Ceq> ceqs = new ArrayList<>();
  // Of queues that the device would not destroy.
  private final List<DmaMemory> kept = new ArrayList<>();
  private @Nullable DmaMemory aeqMemory;
  private @Nullable AsyncEventRing aeq;
  private long interrupts;

  /**
   * No queue is there yet.
   *
   * @param plan sizes and vectors
   */
  EventQueues(
      PciFunction function,
      Bar bar,
      ControlQueue control,
      InterruptVectors vectors,
      EventPlan plan) {
    this.function = function;
    this.bar = bar;
    this.control = control;
    this.vectors = vectors;
    this.plan = plan;
  }

  /** Number of the completion event queue of a vector, or -1 if it has none. */
  int ceqOf(int vector) {
    int ceq = vector - plan.firstCeqVector();
    return ceq >= 0 && ceq < ceqs.size() ? ceq : -1;
  }

  int ceqCount() {
    return ceqs.size();
  }

  long interrupts() {
    return interrupts;
  }

  void createCeq() {
    int id = ceqs.size();
    int vector = plan.firstCeqVector() + id;
    int entries = plan.ceqEntries();
    DmaMemory memory = function.allocateDma((long) entries * Ceqe.SIZE, 256);
    try {
      control.execute(new CreateCeq(entries, memory.iova(), 0, 0, 0, id, 0, false, false, false));
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
    ceqs.add(
        new Ceq(
            id,
            vector,
            memory,
            new CompletionEventRing(
                memory.segment(), entries, bar, Registers.PFPE_CQACK.offset())));
    vectors.configureCeq(id, vector, true);
    vectors.enable(vector);
  }

  void destroyCeq() {
    Ceq ceq = ceqs.removeLast();
    try {
      vectors.configureCeq(ceq.id(), ceq.vector(), false);
      vectors.disable(ceq.vector());
      control.execute(new DestroyCeq(plan.ceqEntries(), 0, ceq.id(), 0, false, false));
    } catch (RuntimeException e) {
      kept.add(ceq.memory());
      throw e;
    }
    ceq.memory().close();
  }

  void createAeq() {
    int entries = plan.aeqEntries();
    DmaMemory memory = function.allocateDma((long) entries * Aeqe.SIZE, 256);
    try {
      control.execute(new CreateAeq(entries, memory.iova(), 0, 0, false));
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
    aeqMemory = memory;
    aeq = new AsyncEventRing(memory.segment(), entries, bar, Registers.PFPE_AEQALLOC.offset());
    vectors.configureAeq(plan.aeqVector(), true);
    vectors.enable(plan.aeqVector());
  }

  void destroyAeq() {
    DmaMemory memory = aeqMemory;
    if (memory != null) {
      try {
        if (plan.aeqVector() < plan.firstCeqVector()) {
          vectors.disable(plan.aeqVector());
        }
        bar.write32(Registers.PFINT_AEQCTL.offset(), 0);
        control.execute(new DestroyAeq(plan.aeqEntries(), 0, 0, false));
      } catch (RuntimeException e) {
        kept.add(memory);
        throw e;
      } finally {
        aeq = null;
        aeqMemory = null;
      }
      memory.close();
    }
  }

  /**
   * Waits for an interrupt of a vector and handles what its queues hold.
   *
   * @param events called with the number of each completion queue that has an event
   * @param asyncEvents called with each asynchronous event
   * @return whether anything was handled
   */
  boolean await(
      int vector, long timeoutNanos, IntConsumer events, Consumer<AsyncEvent> asyncEvents) {
    long end = function.clock().nanos() + timeoutNanos;
    while (true) {
      long left = Math.max(0, end - function.clock().nanos());
      boolean fired = function.interrupts().await(vector, left);
      if (fired) {
        interrupts++;
      }
      // Entries can be there without an interrupt of their own: one interrupt stands for several.
      boolean handled = drain(vector, events, asyncEvents);
      // An entry whose interrupt was lost has left its vector masked.
      if (fired || handled) {
        vectors.enable(vector);
        handled |= drain(vector, events, asyncEvents);
      }
      // An interrupt whose entries were taken already is none to wake up for.
      if (handled || !fired || left == 0) {
        return handled;
      }
    }
  }

  private boolean drain(int vector, IntConsumer events, Consumer<AsyncEvent> asyncEvents) {
    boolean handled = false;
    int ceq = ceqOf(vector);
    if (ceq >= 0) {
      handled = drainCompletions(ceq, events);
    }
    AsyncEventRing async = aeq;
    if (vector == plan.aeqVector() && async != null) {
      handled |= drainAsync(async, asyncEvents);
    }
    return handled;
  }

  /**
   * Takes what a completion event queue holds, without waiting.
   *
   * @return whether there was anything
   */
  boolean drainCompletions(int ceq, IntConsumer events) {
    boolean handled = false;
    CompletionEventRing ring = ceqs.get(ceq).ring();
    for (int cqId; (cqId = ring.poll(EventQueues::queueOf)) >= 0; ) {
      events.accept(cqId);
      handled = true;
    }
    return handled;
  }

  /**
   * Takes all events, and only then gives their entries back, as Linux irdma_process_aeq does: a
   * queue that was full then shows. The device can have dropped events there, and says so only with
   * the next one, which may never come.
   */
  private static boolean drainAsync(AsyncEventRing ring, Consumer<AsyncEvent> events) {
    boolean handled = false;
    while (true) {
      int taken = 0;
      AsyncEvent event;
      while ((event = ring.poll()) != null) {
        taken++;
        events.accept(taken == ring.size() ? event.withOverflow() : event);
      }
      if (taken == 0) {
        return handled;
      }
      ring.giveBack(taken);
      handled = true;
    }
  }

  /** A completion queue's context is its number, but for the CCQ. */
  private static int queueOf(long context) {
    return context == ControlCompletions.CONTEXT ? ControlCompletions.CQ_ID : (int) context;
  }

  /** Gives the memory back without telling the device, which must have been stopped. */
  void abandon() {
    ceqs.forEach(ceq -> ceq.memory().close());
    ceqs.clear();
    kept.forEach(DmaMemory::close);
    kept.clear();
    DmaMemory memory = aeqMemory;
    if (memory != null) {
      memory.close();
      aeqMemory = null;
      aeq = null;
    }
  }
}
