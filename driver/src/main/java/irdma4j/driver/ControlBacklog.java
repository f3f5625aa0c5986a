package irdma4j.driver;

import irdma4j.driver.ring.ControlRing;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.uapi.Bar;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Hands operations to the device in their order; those that find the ring full wait. Not
 * thread-safe.
 *
 * <p>Source: Linux irdma_process_cqp_cmd and irdma_process_bh in ctrl.c.
 */
final class ControlBacklog {
  private record Waiting(CqpCommand command, long ticket) {}

  private final ControlRing ring;
  private final Bar bar;
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private final MemorySegment scratch = Arena.ofAuto().allocate(CqpWqe.SIZE, Long.BYTES);

  ControlBacklog(ControlRing ring, Bar bar) {
    this.ring = ring;
    this.bar = bar;
  }

  /**
   * Hands an operation over, now or as soon as there is room.
   *
   * @param ticket returned with its completion
   * @throws irdma4j.hwregs.FieldRangeException if a value is too wide; nothing has changed then
   */
  void submit(CqpCommand command, long ticket) {
    if (waiting.isEmpty() && !ring.isFull()) {
      post(command, ticket);
    } else {
      // What can't be encoded must be known now, not when its turn comes.
      command.encode(scratch, 0);
      waiting.add(new Waiting(command, ticket));
    }
  }

  /** Hands over what waits and has room now. */
  void drain() {
    while (!waiting.isEmpty() && !ring.isFull()) {
      Waiting next = waiting.remove();
      post(next.command(), next.ticket());
    }
  }

  /** Drops an operation that still waits: nobody waits for its completion any more. */
  void forget(long ticket) {
    waiting.removeIf(one -> one.ticket() == ticket);
  }

  private void post(CqpCommand command, long ticket) {
    ring.post(command, ticket);
    bar.write32(Registers.PFPE_CQPDB.offset(), ring.head());
  }

  /** Number of operations that wait. */
  int size() {
    return waiting.size();
  }
}
