package irdma4j.simulator.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * What was written to a push page: the quanta of a chunk, and of each the chunk that the doorbell
 * named for it. A quantum is whole once the word with its valid bit was written, and known once the
 * doorbell came.
 */
public final class PushPage {
  private static final int QUANTA = 8;
  private static final int WORDS = 8;
  private static final int LAST_WORD = 7;
  private static final int NONE = -1;
  private static final int WITHOUT_CHUNK = -2;
  private static final ValueLayout.OfInt WORD =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The page's number. */
  public final int index;

  private final int[] words = new int[QUANTA * WORDS];
  private final int[] chunkOf = new int[QUANTA];

  PushPage(int index) {
    this.index = index;
    Arrays.fill(chunkOf, NONE);
  }

  /** A word was written, at a byte offset in the page. */
  void written(int offset, int value) {
    int word = offset >>> 2;
    if (word < words.length) {
      words[word] = value;
      // Half of one WQE and half of another is neither.
      chunkOf[word / WORDS] = word % WORDS == LAST_WORD ? WITHOUT_CHUNK : NONE;
    }
  }

  /** The doorbell was rung: what was written since the last one is of this chunk. */
  void rung(int chunk) {
    for (int i = 0; i < QUANTA; i++) {
      if (chunkOf[i] == WITHOUT_CHUNK) {
        chunkOf[i] = chunk;
      }
    }
  }

  /**
   * Forgets quanta that lie behind: the device has taken them from the ring before they came.
   *
   * @param next quantum that the device looks at next
   * @param mask quanta of the ring less 1
   * @param mostAhead how far ahead of it the driver may be
   */
  public void forgetBehind(int next, int mask, int mostAhead) {
    for (int i = 0; i < QUANTA; i++) {
      if (chunkOf[i] >= 0 && ((chunkOf[i] * QUANTA + i - next) & mask) > mostAhead) {
        chunkOf[i] = NONE;
      }
    }
  }

  /** Whether quanta of the ring are here. */
  public boolean holds(int first, int quanta) {
    int from = first & QUANTA - 1;
    for (int i = from; i < from + quanta; i++) {
      if (i >= QUANTA || chunkOf[i] != first / QUANTA) {
        return false;
      }
    }
    return true;
  }

  /** Whether anything is here. */
  public boolean holdsAny() {
    for (int chunk : chunkOf) {
      if (chunk >= 0) {
        return true;
      }
    }
    return false;
  }

  /** The last word of a quantum, that with the valid bit. */
  public long header(int quantum) {
    int at = (quantum & QUANTA - 1) * WORDS + LAST_WORD;
    return (long) words[at] << 32 | Integer.toUnsignedLong(words[at - 1]);
  }

  /** Copies quanta out. */
  public void copy(int first, int quanta, MemorySegment target) {
    int from = (first & QUANTA - 1) * WORDS;
    for (int i = 0; i < quanta * WORDS; i++) {
      target.set(WORD, 4L * i, words[from + i]);
    }
  }

  /** Quanta are done with, wherever they were taken from. */
  public void forget(int first, int quanta) {
    int from = first & QUANTA - 1;
    for (int i = from; i < Math.min(QUANTA, from + quanta); i++) {
      if (chunkOf[i] == first / QUANTA) {
        chunkOf[i] = NONE;
      }
    }
  }
}
