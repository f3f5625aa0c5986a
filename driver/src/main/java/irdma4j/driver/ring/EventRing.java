package irdma4j.driver.ring;

import irdma4j.hwregs.Aeqe;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * The driver's end of an event queue: a ring of entries whose valid bit is the top bit of their
 * last word. Not thread-safe.
 *
 * <p>Source: Linux irdma_sc_process_ceq and irdma_sc_get_next_aeqe in ctrl.c.
 */
public final class EventRing {
  private final MemorySegment memory;
  private final int size;
  private final int entry;
  private int index;
  private int polarity = 1;

  /**
   * An empty ring over zeroed memory.
   *
   * @param entries how many entries
   * @param entryBytes bytes of an entry: 8 for a CEQ, 16 for the AEQ
   */
  public EventRing(MemorySegment memory, int entries, int entryBytes) {
    this.memory = memory;
    this.size = entries;
    this.entry = entryBytes;
  }

  /** Whether the current entry is new; if so, its words may be read and it must be consumed. */
  public boolean hasNext() {
    long last = LittleEndian.getLongAcquire(memory, (long) index * entry + entry - 8);
    return Aeqe.VALID.decode(last) == polarity;
  }

  /** A word of the current entry. */
  public long word(int offset) {
    return LittleEndian.getLong(memory, (long) index * entry + offset);
  }

  /** Goes on to the next entry. */
  public void consume() {
    if (++index == size) {
      index = 0;
      polarity ^= 1;
    }
  }
}
