package irdma4j.simulator.transport;

/**
 * What a responder still has to send, in the order of the requests: acknowledgements (NAKs among
 * them) and answers to READs. A later acknowledgement says all that an earlier one said, so it
 * takes its place at the end of the queue, and there are never more entries than twice the READs
 * plus one.
 *
 * <p>An entry is four words side by side, and a queue that has run empty begins again at its first
 * one, so that an acknowledgement of a queue pair that was idle for long costs one cache miss here.
 *
 * <pre>
 *   word 0   63 .. 40 PSN | 39 .. 16 MSN | 9 a READ | 8 started | 7 .. 0 syndrome
 *   word 1   address
 *   word 2   63 .. 32 key | 31 .. 0 bytes
 *   word 3   packets
 * </pre>
 */
final class ResponseQueue {
  private static final int WORDS = 4;
  private static final int BITS_24 = 0xffffff;
  private static final int PSN_SHIFT = 40;
  private static final int MSN_SHIFT = 16;
  private static final long READ = 1L << 9;
  private static final long STARTED = 1L << 8;
  private static final int SYNDROME_MASK = 0xff;
  private static final long BYTES_MASK = 0xffff_ffffL;

  private final int mask;
  private final long[] words;
  private final int readLimit;
  private int reads;

  /** The oldest entry. */
  private int head;

  /** One more than the newest. */
  private int tail;

  ResponseQueue(int readLimit) {
    this.readLimit = readLimit;
    int size = Integer.highestOneBit(2 * readLimit + 2) * 2;
    mask = size - 1;
    words = new long[WORDS * size];
  }

  private int at(int entry) {
    return (entry & mask) * WORDS;
  }

  private boolean isRead(int entry) {
    return (words[at(entry)] & READ) != 0;
  }

  int readLimit() {
    return readLimit;
  }

  boolean isEmpty() {
    return head == tail;
  }

  boolean readsFull() {
    return reads == readLimit;
  }

  private static long first(int psn, int msn, int syndrome) {
    return (long) psn << PSN_SHIFT | (long) msn << MSN_SHIFT | syndrome;
  }

  /** Asks for an acknowledgement in place of the one that is last in the queue, if any. */
  void acknowledge(int packetPsn, int messageSequence, int code) {
    if (head == tail || isRead(tail - 1)) {
      tail++;
    }
    words[at(tail - 1)] = first(packetPsn, messageSequence, code);
  }

  /**
   * Asks for a READ's answer.
   *
   * @param bytes 0 to 2^32 - 1
   * @param count packets, 1 to 2^23
   */
  void addRead(
      int packetPsn, int messageSequence, int code, long from, int rkey, long bytes, int count) {
    int at = at(tail++);
    words[at] = first(packetPsn, messageSequence, code) | READ;
    words[at + 1] = from;
    words[at + 2] = (long) rkey << 32 | bytes;
    words[at + 3] = count;
    reads++;
  }

  /** Drops what would answer this PSN or a later one: the requester is asking again from here. */
  void truncate(int fromPsn) {
    while (head != tail) {
      int at = at(tail - 1);
      boolean read = isRead(tail - 1);
      int psn = (int) (words[at] >>> PSN_SHIFT);
      int last = read ? Psn.add(psn, (int) words[at + 3] - 1) : psn;
      if (Psn.distance(fromPsn, last) < 0) {
        return;
      }
      if (read) {
        reads--;
      }
      tail--;
    }
  }

  void remove() {
    if (isRead(head++)) {
      reads--;
    }
    if (head == tail) {
      clear();
    }
  }

  void clear() {
    head = 0;
    tail = 0;
    reads = 0;
  }

  boolean isRead() {
    return isRead(head);
  }

  int psn() {
    return (int) (words[at(head)] >>> PSN_SHIFT);
  }

  int msn() {
    return (int) (words[at(head)] >>> MSN_SHIFT) & BITS_24;
  }

  int syndrome() {
    return (int) words[at(head)] & SYNDROME_MASK;
  }

  long address() {
    return words[at(head) + 1];
  }

  int key() {
    return (int) (words[at(head) + 2] >>> 32);
  }

  long length() {
    return words[at(head) + 2] & BYTES_MASK;
  }

  int packets() {
    return (int) words[at(head) + 3];
  }

  /** Whether a packet of the oldest READ's answer was sent. */
  boolean started() {
    return (words[at(head)] & STARTED) != 0;
  }

  /** The oldest READ's next packet was sent, with a number of bytes, at most those left. */
  void advanceRead(int bytes) {
    int at = at(head);
    int next = Psn.add((int) (words[at] >>> PSN_SHIFT), 1);
    words[at] = first(next, msn(), syndrome()) | READ | STARTED;
    words[at + 1] += bytes;
    words[at + 2] -= bytes;
    words[at + 3]--;
  }
}
