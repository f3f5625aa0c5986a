package irdma4j.driver.ring;

import irdma4j.hwregs.Ceqe;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;
import java.util.function.LongToIntFunction;

/**
 * The driver's end of a completion event queue (CEQ): each entry names a completion queue that has
 * an event. Not thread-safe.
 *
 * <p>Source: Linux irdma_sc_process_ceq and irdma_sc_cleanup_ceqes in ctrl.c.
 */
public final class CompletionEventRing {
  private final EventRing ring;
  private final Bar bar;
  private final long acknowledge;

  /**
   * An empty ring over zeroed memory.
   *
   * @param size entries
   * @param bar where the register for acknowledging is
   * @param acknowledge byte offset of that register
   */
  public CompletionEventRing(MemorySegment memory, int size, Bar bar, long acknowledge) {
    this.ring = new EventRing(memory, size, Ceqe.SIZE, 0);
    this.bar = bar;
    this.acknowledge = acknowledge;
  }

  /**
   * Takes the next event and acknowledges it. Entries of unknown queues are consumed and not
   * acknowledged.
   *
   * @param lookup gives the number of the completion queue with a context, or -1 if there is none
   * @return the number of the completion queue, or -1 if there is no event
   */
  public int poll(LongToIntFunction lookup) {
    while (ring.hasNext()) {
      long context = Ceqe.CQCTX.decode(ring.word(0));
      int cqId = context == 0 ? -1 : lookup.applyAsInt(context);
      ring.consume();
      if (cqId >= 0) {
        bar.write32(acknowledge, cqId);
        return cqId;
      }
    }
    return -1;
  }

  /**
   * Makes the entries of a completion queue that is gone nobody's, so that its context can be used
   * again.
   */
  public void forget(long context) {
    int at = ring.index();
    int polarity = ring.polarity();
    for (int i = 0; i < ring.size() && ring.isNew(at, polarity); i++) {
      long word = ring.word(at, 0);
      if (Ceqe.CQCTX.decode(word) == context) {
        ring.setWord(at, 0, Ceqe.CQCTX.insert(word, 0));
      }
      if (++at == ring.size()) {
        at = 0;
        polarity ^= 1;
      }
    }
  }

  EventRing ring() {
    return ring;
  }
}
