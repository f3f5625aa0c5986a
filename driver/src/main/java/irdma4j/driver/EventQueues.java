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
 * Completion event queues and the asynchronous event queue, with their interrupt vectors: CEQ n has
 * vector n, and the AEQ shares vector 0.
 *
 * <p>Source: Linux irdma_create_ceq, irdma_create_aeq in hw.c and icrdma_ena_irq, icrdma_cfg_ceq in
 * icrdma_hw.c.
 */
final class EventQueues {
  private static final int ENTRIES = 4096;
  private static final int NO_THROTTLE = 3;

  private record Ceq(int id, DmaMemory memory, CompletionEventRing ring) {}

  private final PciFunction function;
  private final Bar bar;
  private final ControlQueue control;
  private final List<Ceq> ceqs = new ArrayList<>();
  private @Nullable DmaMemory aeqMemory;
  private @Nullable AsyncEventRing aeq;
  private long interrupts;

  EventQueues(PciFunction function, Bar bar, ControlQueue control) {
    this.function = function;
    this.bar = bar;
    this.control = control;
  }

  int ceqCount() {
    return ceqs.size();
  }

  long interrupts() {
    return interrupts;
  }

  void createCeq() {
    int id = ceqs.size();
    DmaMemory memory = function.allocateDma((long) ENTRIES * Ceqe.SIZE, 256);
    try {
      control.execute(new CreateCeq(ENTRIES, memory.iova(), 0, 0, 0, id, 0, false, false, false));
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
    ceqs.add(
        new Ceq(
            id,
            memory,
            new CompletionEventRing(
                memory.segment(), ENTRIES, bar, Registers.PFPE_CQACK.offset())));
    bar.write32(Registers.GLINT_CEQCTL.offset(id), cause(id));
    enableVector(id);
  }

  void destroyCeq() {
    Ceq ceq = ceqs.removeLast();
    try {
      bar.write32(Registers.GLINT_DYN_CTL.offset(ceq.id()), 0);
      bar.write32(Registers.GLINT_CEQCTL.offset(ceq.id()), 0);
      control.execute(new DestroyCeq(ENTRIES, 0, ceq.id(), 0, false, false));
    } finally {
      ceq.memory().close();
    }
  }

  void createAeq() {
    DmaMemory memory = function.allocateDma((long) ENTRIES * Aeqe.SIZE, 256);
    try {
      control.execute(new CreateAeq(ENTRIES, memory.iova(), 0, 0, false));
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
    aeqMemory = memory;
    aeq = new AsyncEventRing(memory.segment(), ENTRIES, bar, Registers.PFPE_AEQALLOC.offset());
    bar.write32(Registers.PFINT_AEQCTL.offset(), cause(0));
    enableVector(0);
  }

  void destroyAeq() {
    DmaMemory memory = aeqMemory;
    if (memory != null) {
      try {
        bar.write32(Registers.PFINT_AEQCTL.offset(), 0);
        control.execute(new DestroyAeq(ENTRIES, 0, 0, false));
      } finally {
        aeq = null;
        aeqMemory = null;
        memory.close();
      }
    }
  }

  private static int cause(int vector) {
    return (int)
        (Registers.CEQCTL_CAUSE_ENA.encode(1)
            | Registers.CEQCTL_MSIX_INDX.encode(vector)
            | Registers.CEQCTL_ITR_INDX.encode(NO_THROTTLE));
  }

  private void enableVector(int vector) {
    bar.write32(
        Registers.GLINT_DYN_CTL.offset(vector),
        (int) (Registers.DYN_CTL_INTENA.encode(1) | Registers.DYN_CTL_CLEARPBA.encode(1)));
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
    boolean fired = function.interrupts().await(vector, timeoutNanos);
    if (fired) {
      interrupts++;
    }
    // Entries can be there without an interrupt of their own: one interrupt stands for several.
    boolean handled = drain(vector, events, asyncEvents);
    if (fired) {
      enableVector(vector);
      handled |= drain(vector, events, asyncEvents);
    }
    return handled;
  }

  private boolean drain(int vector, IntConsumer events, Consumer<AsyncEvent> asyncEvents) {
    boolean handled = false;
    if (vector < ceqs.size()) {
      CompletionEventRing ring = ceqs.get(vector).ring();
      // A completion queue's context is its number.
      for (int cqId; (cqId = ring.poll(context -> (int) context)) >= 0; ) {
        events.accept(cqId);
        handled = true;
      }
    }
    AsyncEventRing async = aeq;
    if (vector == 0 && async != null) {
      for (AsyncEvent event; (event = async.poll()) != null; ) {
        async.giveBack(1);
        asyncEvents.accept(event);
        handled = true;
      }
    }
    return handled;
  }

  /** Gives the memory back without telling the device, which must have been stopped. */
  void abandon() {
    ceqs.forEach(ceq -> ceq.memory().close());
    ceqs.clear();
    DmaMemory memory = aeqMemory;
    if (memory != null) {
      memory.close();
      aeqMemory = null;
      aeq = null;
    }
  }
}
