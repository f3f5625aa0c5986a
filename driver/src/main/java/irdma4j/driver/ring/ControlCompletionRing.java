package irdma4j.driver.ring;

import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.LittleEndian;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The driver's end of the control queue pair's completion queue (CCQ). Not thread-safe.
 *
 * <p>Source: Linux irdma_sc_ccq_get_cqe_info and irdma_sc_ccq_arm in ctrl.c.
 */
public final class ControlCompletionRing {
  private static final int ENTRY = 32;
  private static final int SHADOW_HEAD = 0;

  private final EventRing ring;
  private final MemorySegment shadow;
  private final ControlRing commands;
  private final int cqId;
  private final Bar bar;
  private final long armDoorbell;
  private final long errorCodes;

  /**
   * An empty queue over zeroed memory.
   *
   * @param memory the ring
   * @param size entries
   * @param largeEntries entries have 64 bytes, not 32
   * @param shadow the shadow area, which the driver writes
   * @param commands the ring whose operations complete here
   * @param cqId the queue's number
   * @param bar where the registers are
   * @param armDoorbell byte offset of the arm doorbell
   * @param errorCodes byte offset of the register that holds the last error's codes
   */
  public ControlCompletionRing(
      MemorySegment memory,
      int size,
      boolean largeEntries,
      MemorySegment shadow,
      ControlRing commands,
      int cqId,
      Bar bar,
      long armDoorbell,
      long errorCodes) {
    this.ring =
        new EventRing(memory, size, largeEntries ? 2 * ENTRY : ENTRY, ControlCqe.VALID.offset());
    this.shadow = shadow;
    this.commands = commands;
    this.cqId = cqId;
    this.bar = bar;
    this.armDoorbell = armDoorbell;
    this.errorCodes = errorCodes;
  }

  /**
   * Takes the next completion, or null if there is none. The oldest operation's slot is free then,
   * whichever operation completed: the device takes them in order.
   *
   * @throws IllegalStateException if the device names a slot that does not exist
   */
  public @Nullable ControlCompletion poll() {
    if (!ring.hasNext()) {
      return null;
    }
    long status = ring.word(ControlCqe.VALID.offset());
    long value = ControlCqe.OPRETVAL.decode(ring.word(ControlCqe.OPRETVAL.offset()));
    int slot = (int) ControlCqe.WQEIDX.decode(status);
    boolean error = ControlCqe.ERROR.isSet(status);
    int registers = error ? bar.read32(errorCodes) : 0;
    ring.consume();
    // The device may use the entry again once it sees the head, so all reads of it come before.
    LittleEndian.setLongRelease(shadow, SHADOW_HEAD, ring.index());
    if (slot >= commands.size()) {
      throw new IllegalStateException(
          "the device completed control operation %d of %d".formatted(slot, commands.size()));
    }
    ControlCompletion completion =
        new ControlCompletion(
            slot,
            commands.opcode(slot),
            commands.cookie(slot),
            value,
            error,
            error ? (int) ControlCqe.MAJERR.decode(status) : 0,
            (int) ControlCqe.MINERR.decode(status),
            registers);
    commands.complete();
    return completion;
  }

  /** Whether {@link #poll} would return a completion. */
  public boolean hasNext() {
    return ring.hasNext();
  }

  /** Asks for an event at the next completion. Poll once more afterwards. */
  public void arm() {
    Arming.arm(shadow, 0, false, true);
    // A BAR write has release order: the device that acts on it sees the shadow word.
    bar.write32(armDoorbell, cqId);
  }

  EventRing ring() {
    return ring;
  }
}
