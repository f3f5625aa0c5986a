package irdma4j.driver.ring;

import irdma4j.hwregs.Ceqe;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * A ring of entries that the device writes: an entry is new if the top bit of one of its words
 * equals the polarity of the round. Not thread-safe.
 */
final class EventRing {
  private final MemorySegment memory;
  private final int size;
  private final int entry;
  private final int validOffset;
  private int index;
  private int polarity = 1;

  /**
   * An empty ring over zeroed memory.
   *
   * @param size entries
   * @param entry bytes of an entry
   * @param validOffset byte offset of the word with the valid bit, which is the last to be written
   */
  EventRing(MemorySegment memory, int size, int entry, int validOffset) {
    this.memory = memory;
    this.size = size;
    this.entry = entry;
    this.validOffset = validOffset;
  }

  /** Sets where the ring stands. */
  void place(int newIndex, int newPolarity) {
    index = newIndex;
    polarity = newPolarity;
  }

  /** Whether the current entry is new; if so, its words may be read and it must be consumed. */
  boolean hasNext() {
    return isNew(index, polarity);
  }

  /** Whether an entry is new in a round. The valid bit has the same place in all entries. */
  boolean isNew(int entryIndex, int expected) {
    long word = LittleEndian.getLongAcquire(memory, (long) entryIndex * entry + validOffset);
    return Ceqe.VALID.decode(word) == expected;
  }

  /** A word of the current entry. */
  long word(int offset) {
    return word(index, offset);
  }

  /** A word of an entry. */
  long word(int entryIndex, int offset) {
    return LittleEndian.getLong(memory, (long) entryIndex * entry + offset);
  }

  void setWord(int entryIndex, int offset, long value) {
    LittleEndian.setLong(memory, (long) entryIndex * entry + offset, value);
  }

  /** Goes on to the next entry. */
  void consume() {
    if (++index == size) {
      index = 0;
      polarity ^= 1;
    }
  }

  int index() {
    return index;
  }

  int polarity() {
    return polarity;
  }

  int size() {
    return size;
  }
}
