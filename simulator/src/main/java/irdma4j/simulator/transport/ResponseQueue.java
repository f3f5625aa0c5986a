package irdma4j.simulator.transport;

/**
 * What a responder still has to send, in the order of the requests: acknowledgements (NAKs among
 * them) and answers to READs. A later acknowledgement says all that an earlier one said, so it
 * takes its place at the end of the queue, and there are never more entries than twice the READs
 * plus one.
 */
final class ResponseQueue {
  private final int mask;
  private final boolean[] read;
  private final int[] psn;
  private final int[] msn;
  private final int[] syndrome;
  private final long[] address;
  private final int[] key;
  private final long[] length;
  private final int[] packets;
  private final boolean[] started;
  private final int readLimit;
  private int reads;

  /** The oldest entry. */
  int head;

  /** One more than the newest. */
  int tail;

  ResponseQueue(int readLimit) {
    this.readLimit = readLimit;
    int size = Integer.highestOneBit(2 * readLimit + 2) * 2;
    mask = size - 1;
    read = new boolean[size];
    psn = new int[size];
    msn = new int[size];
    syndrome = new int[size];
    address = new long[size];
    key = new int[size];
    length = new long[size];
    packets = new int[size];
    started = new boolean[size];
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

  /** Asks for an acknowledgement in place of the one that is last in the queue, if any. */
  void acknowledge(int packetPsn, int messageSequence, int code) {
    if (head == tail || read[tail - 1 & mask]) {
      tail++;
    }
    int at = tail - 1 & mask;
    read[at] = false;
    psn[at] = packetPsn;
    msn[at] = messageSequence;
    syndrome[at] = code;
  }

  void addRead(
      int packetPsn, int messageSequence, int code, long from, int rkey, long bytes, int count) {
    int at = tail++ & mask;
    read[at] = true;
    psn[at] = packetPsn;
    msn[at] = messageSequence;
    syndrome[at] = code;
    address[at] = from;
    key[at] = rkey;
    length[at] = bytes;
    packets[at] = count;
    started[at] = false;
    reads++;
  }

  /** Drops what would answer this PSN or a later one: the requester is asking again from here. */
  void truncate(int fromPsn) {
    while (head != tail) {
      int at = tail - 1 & mask;
      int last = read[at] ? Psn.add(psn[at], packets[at] - 1) : psn[at];
      if (Psn.distance(fromPsn, last) < 0) {
        return;
      }
      if (read[at]) {
        reads--;
      }
      tail--;
    }
  }

  void remove() {
    if (read[head++ & mask]) {
      reads--;
    }
  }

  void clear() {
    head = tail;
    reads = 0;
  }

  boolean isRead() {
    return read[head & mask];
  }

  int psn() {
    return psn[head & mask];
  }

  int msn() {
    return msn[head & mask];
  }

  int syndrome() {
    return syndrome[head & mask];
  }

  long address() {
    return address[head & mask];
  }

  int key() {
    return key[head & mask];
  }

  long length() {
    return length[head & mask];
  }

  int packets() {
    return packets[head & mask];
  }

  /** Whether a packet of the oldest READ's answer was sent. */
  boolean started() {
    return started[head & mask];
  }

  /** The oldest READ's next packet was sent. */
  void advanceRead(int bytes) {
    int at = head & mask;
    psn[at] = Psn.add(psn[at], 1);
    address[at] += bytes;
    length[at] -= bytes;
    packets[at]--;
    started[at] = true;
  }
}
