package irdma4j.simulator.transport;

/**
 * A queue pair's send WQEs that were fetched and are not complete, oldest first. Entries are named
 * by a running number; the arrays grow to what the queue needs and are then used again.
 */
final class InFlight {
  static final byte KIND_LOCAL = 0;
  static final byte KIND_REQUEST = 1;
  static final byte KIND_READ = 2;

  private int mask = 15;
  private int[] wqeIndex = new int[16];
  private int[] firstPsn = new int[16];
  private int[] packets = new int[16];
  private int[] ssn = new int[16];
  private byte[] kind = new byte[16];
  private byte[] opcode = new byte[16];
  private boolean[] signaled = new boolean[16];

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

  long add(int index, int psn, int packetCount, int sequence, byte what, int code, boolean signal) {
    if (size() > mask) {
      grow();
    }
    int at = (int) tail & mask;
    wqeIndex[at] = index;
    firstPsn[at] = psn;
    packets[at] = packetCount;
    ssn[at] = sequence;
    kind[at] = what;
    opcode[at] = (byte) code;
    signaled[at] = signal;
    return tail++;
  }

  private void grow() {
    int size = mask + 1;
    wqeIndex = doubled(wqeIndex);
    firstPsn = doubled(firstPsn);
    packets = doubled(packets);
    ssn = doubled(ssn);
    byte[] kinds = kind;
    byte[] opcodes = opcode;
    boolean[] signals = signaled;
    kind = new byte[2 * size];
    opcode = new byte[2 * size];
    signaled = new boolean[2 * size];
    int newMask = 2 * size - 1;
    for (long i = head; i != tail; i++) {
      kind[(int) i & newMask] = kinds[(int) i & mask];
      opcode[(int) i & newMask] = opcodes[(int) i & mask];
      signaled[(int) i & newMask] = signals[(int) i & mask];
    }
    mask = newMask;
  }

  private int[] doubled(int[] old) {
    int[] array = new int[old.length * 2];
    int newMask = array.length - 1;
    for (long i = head; i != tail; i++) {
      array[(int) i & newMask] = old[(int) i & mask];
    }
    return array;
  }

  void clear() {
    head = tail;
  }

  int wqeIndex(long entry) {
    return wqeIndex[(int) entry & mask];
  }

  int firstPsn(long entry) {
    return firstPsn[(int) entry & mask];
  }

  int packets(long entry) {
    return packets[(int) entry & mask];
  }

  int ssn(long entry) {
    return ssn[(int) entry & mask];
  }

  byte kind(long entry) {
    return kind[(int) entry & mask];
  }

  int opcode(long entry) {
    return opcode[(int) entry & mask];
  }

  boolean signaled(long entry) {
    return signaled[(int) entry & mask];
  }

  /** The PSN behind the entry's last packet. */
  int endPsn(long entry) {
    return Psn.add(firstPsn(entry), packets(entry));
  }
}
