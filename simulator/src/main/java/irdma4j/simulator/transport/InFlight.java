package irdma4j.simulator.transport;

/**
 * A queue pair's send WQEs that were fetched and are not complete, oldest first. Entries are named
 * by a running number; the array grows to what the queue needs and is then used again.
 *
 * <p>An entry is two words side by side, so that a queue pair that was idle for long costs one
 * cache miss here and not one for each value.
 *
 * <pre>
 *   word 0   63 .. 40 first PSN | 39 .. 16 packets | 15 .. 0 index of the WQE
 *   word 1   63 .. 40 SSN       | 16 signaled | 15 .. 8 kind | 7 .. 0 opcode
 * </pre>
 */
final class InFlight {
  static final byte KIND_LOCAL = 0;
  static final byte KIND_REQUEST = 1;
  static final byte KIND_READ = 2;

  private static final int WORDS = 2;
  private static final int BITS_24 = 0xffffff;
  private static final int HIGH_SHIFT = 40;
  private static final int PACKETS_SHIFT = 16;
  private static final int SIGNALED_SHIFT = 16;
  private static final int KIND_SHIFT = 8;

  private int mask = 7;
  private long[] words = new long[WORDS * (mask + 1)];

  /** The oldest entry. */
  long head;

  /** One more than the newest entry. */
  long tail;

  int size() {
    return (int) (tail - head);
  }

  boolean isEmpty() {
    return head == tail;
  }

  /**
   * Adds an entry.
   *
   * @param index of the WQE, 0 to 32,767
   * @param psn first PSN, 24 bits
   * @param packetCount 0 to 2^23
   * @param sequence SSN, 24 bits
   * @return its number
   */
  long add(int index, int psn, int packetCount, int sequence, byte what, int code, boolean signal) {
    if (size() > mask) {
      grow();
    }
    int at = at(tail);
    words[at] = (long) psn << HIGH_SHIFT | (long) packetCount << PACKETS_SHIFT | index;
    words[at + 1] =
        (long) sequence << HIGH_SHIFT
            | (signal ? 1L << SIGNALED_SHIFT : 0)
            | what << KIND_SHIFT
            | code;
    return tail++;
  }

  private int at(long entry) {
    return ((int) entry & mask) * WORDS;
  }

  private void grow() {
    long[] old = words;
    int oldMask = mask;
    mask = 2 * mask + 1;
    words = new long[WORDS * (mask + 1)];
    for (long entry = head; entry != tail; entry++) {
      System.arraycopy(old, ((int) entry & oldMask) * WORDS, words, at(entry), WORDS);
    }
  }

  void clear() {
    head = tail;
  }

  int wqeIndex(long entry) {
    return (int) words[at(entry)] & 0xffff;
  }

  int firstPsn(long entry) {
    return (int) (words[at(entry)] >>> HIGH_SHIFT);
  }

  int packets(long entry) {
    return (int) (words[at(entry)] >>> PACKETS_SHIFT) & BITS_24;
  }

  int ssn(long entry) {
    return (int) (words[at(entry) + 1] >>> HIGH_SHIFT);
  }

  byte kind(long entry) {
    return (byte) (words[at(entry) + 1] >>> KIND_SHIFT);
  }

  int opcode(long entry) {
    return (int) words[at(entry) + 1] & 0xff;
  }

  boolean signaled(long entry) {
    return (words[at(entry) + 1] >>> SIGNALED_SHIFT & 1) != 0;
  }

  /** The PSN behind the entry's last packet. */
  int endPsn(long entry) {
    return Psn.add(firstPsn(entry), packets(entry));
  }
}
