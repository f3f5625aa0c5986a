package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import irdma4j.driver.ring.ControlRing;
import irdma4j.driver.ring.RecordingBar;
import irdma4j.hwregs.FieldRangeException;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.hwregs.cqp.SuspendQp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * Operations reach the card in the order of their submission, whatever waits meanwhile.
 *
 * <p>Fails if an operation overtakes one that waits, is lost, is handed over twice or without its
 * doorbell, or if one that can't be encoded is found out only when its turn comes.
 */
class ControlBacklogProperties {
  private static final int SLOTS = 4;
  private static final int WIDEST = (1 << 24) - 1;

  private enum Step {
    SUBMIT,
    SUBMIT_TOO_WIDE,
    COMPLETE,
    DRAIN,
    FORGET
  }

  @Property(tries = 2000)
  void orderIsKept(
      @ForAll @Size(max = 60) List<Step> steps, @ForAll @IntRange(max = 3) int forgotten) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate((long) SLOTS * CqpWqe.SIZE, CqpWqe.SIZE);
      ControlRing ring = new ControlRing(memory, SLOTS);
      RecordingBar bar = new RecordingBar();
      List<Integer> seen = new ArrayList<>();
      bar.onWrite(
          access -> {
            assertEquals(Registers.PFPE_CQPDB.offset(), access.offset());
            seen.add(before(memory, access.value()));
          });
      ControlBacklog backlog = new ControlBacklog(ring, bar);
      List<Integer> model = new ArrayList<>();
      int next = 0;
      int given = 0;
      int done = 0;
      for (Step step : steps) {
        switch (step) {
          case SUBMIT -> {
            backlog.submit(new SuspendQp(next), next);
            if (given == model.size() && given - done < SLOTS - 1) {
              given++;
            }
            model.add(next++);
          }
          case SUBMIT_TOO_WIDE ->
              assertThrows(
                  FieldRangeException.class, () -> backlog.submit(new SuspendQp(WIDEST + 1), 0));
          case COMPLETE -> {
            if (done < given) {
              done++;
              ring.complete();
            }
          }
          case DRAIN -> {
            backlog.drain();
            given = Math.min(model.size(), done + SLOTS - 1);
          }
          case FORGET -> {
            if (given + forgotten < model.size()) {
              backlog.forget(model.remove(given + forgotten));
            }
          }
        }
        assertEquals(model.subList(0, given), seen);
        assertEquals(model.size() - given, backlog.size());
      }
    }
  }

  /** The queue pair of the WQE before a head. */
  private static int before(MemorySegment memory, int head) {
    long slot = Math.floorMod(head - 1, SLOTS);
    return ((SuspendQp) CqpCommand.decode(memory, slot * CqpWqe.SIZE)).qpId();
  }
}
