package irdma4j.driver.ring;

import irdma4j.driver.AsyncEvent;
import irdma4j.hwregs.Aeqe;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The driver's end of the asynchronous event queue (AEQ). Not thread-safe.
 *
 * <p>Source: Linux irdma_sc_get_next_aeqe and irdma_sc_repost_aeq_entries in ctrl.c.
 */
public final class AsyncEventRing {
  private final EventRing ring;
  private final Bar bar;
  private final long repost;

  /**
   * An empty ring over zeroed memory.
   *
   * @param size entries
   * @param bar where the register for giving entries back is
   * @param repost byte offset of that register
   */
  public AsyncEventRing(MemorySegment memory, int size, Bar bar, long repost) {
    this.ring = new EventRing(memory, size, Aeqe.SIZE, Aeqe.VALID.offset());
    this.bar = bar;
    this.repost = repost;
  }

  /** Takes the next event, or null if there is none. Its entry must be given back. */
  public @Nullable AsyncEvent poll() {
    if (!ring.hasNext()) {
      return null;
    }
    AsyncEvent event = AsyncEvent.decode(ring.word(0), ring.word(8));
    ring.consume();
    return event;
  }

  /** Gives a number of entries back to the device. */
  public void giveBack(int entries) {
    bar.write32(repost, entries);
  }

  /** Entries in the ring. */
  public int size() {
    return ring.size();
  }

  EventRing ring() {
    return ring;
  }
}
