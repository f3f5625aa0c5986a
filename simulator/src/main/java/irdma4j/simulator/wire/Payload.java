package irdma4j.simulator.wire;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Where bytes lie that a frame carries, in order: in the frame, or still in the memory that they
 * are sent from. Reused; it allocates nothing once it has had as many pieces.
 */
public final class Payload {
  private static final int FIRST_PIECES = 4;

  private MemorySegment[] memory = new MemorySegment[FIRST_PIECES];
  private long[] offset = new long[FIRST_PIECES];

  /** Bytes up to each piece's end. */
  private long[] end = new long[FIRST_PIECES];

  private int pieces;
  private boolean own;

  /** Where the packet in hand begins. */
  private long start;

  private int all = 1;
  private int first;
  private int packets = 1;

  /** Nothing, in no place. */
  public Payload() {
    Arrays.fill(memory, MemorySegment.NULL);
  }

  /** Forgets all pieces. */
  public void clear() {
    for (int i = 0; i < pieces; i++) {
      memory[i] = MemorySegment.NULL;
    }
    pieces = 0;
    own = false;
    start = 0;
    carries(1);
  }

  /**
   * Says that its bytes are those of several packets, each as long as the others, whose headers
   * differ in their PSNs alone, and in that only the last may ask for an acknowledgement.
   */
  public void carries(int count) {
    all = count;
    handle(0, count);
  }

  /** How many packets it carries. */
  int all() {
    return all;
  }

  /** From now on some of its packets are to be handled. */
  public void handle(int from, int count) {
    first = from;
    packets = count;
  }

  /** The first packet that is to be handled, counted from 0. */
  public int first() {
    return first;
  }

  /** How many packets are to be handled. */
  public int packets() {
    return packets;
  }

  /** Whether it is the last of those that are carried. */
  public boolean isLast(int packet) {
    return packet == all - 1;
  }

  /** Parts are counted from this byte on. */
  public void startAt(long at) {
    start = at;
  }

  /** Copies all bytes to memory of its own, so that the memory they were in may change and go. */
  void own() {
    if (own || pieces == 0) {
      return;
    }
    start = 0;
    int size = (int) bytes();
    MemorySegment copy = MemorySegment.ofArray(new byte[size]);
    copyTo(0, copy, 0, size);
    int count = all;
    clear();
    carries(count);
    add(copy, 0, size);
    own = true;
  }

  /** The same packets as another whose bytes, if there are any, are its own: in one piece. */
  void share(Payload other) {
    clear();
    if (other.own) {
      add(other.memory[0], other.offset[0], other.bytes());
      own = true;
    }
    carries(other.all);
  }

  /** Whether it has no piece. */
  public boolean isEmpty() {
    return pieces == 0;
  }

  /** All its bytes. */
  public long bytes() {
    return pieces == 0 ? 0 : end[pieces - 1];
  }

  /**
   * Puts a piece behind the others.
   *
   * @param from must stay readable for as long as the piece is used
   */
  public void add(MemorySegment from, long at, long bytes) {
    if (pieces == end.length) {
      memory = Arrays.copyOf(memory, 2 * pieces);
      offset = Arrays.copyOf(offset, 2 * pieces);
      end = Arrays.copyOf(end, 2 * pieces);
    }
    memory[pieces] = from;
    offset[pieces] = at;
    end[pieces] = bytes() + bytes;
    pieces++;
  }

  private long bytesBefore(int piece) {
    return piece == 0 ? 0 : end[piece - 1];
  }

  /**
   * Copies a part.
   *
   * @param from the part's first byte, counted from where the packet in hand begins
   * @throws IndexOutOfBoundsException if there are not as many bytes
   */
  public void copyTo(long from, MemorySegment target, long at, long bytes) {
    long begin = start + from;
    if (begin < 0 || bytes < 0 || bytes > bytes() - begin) {
      throw new IndexOutOfBoundsException(
          "%d bytes from %d on, of %d".formatted(bytes, begin, bytes()));
    }
    long done = 0;
    for (int i = 0; done < bytes; i++) {
      long left = end[i] - begin - done;
      if (left > 0) {
        long n = Math.min(left, bytes - done);
        long skipped = begin + done - bytesBefore(i);
        MemorySegment.copy(memory[i], offset[i] + skipped, target, at + done, n);
        done += n;
      }
    }
  }
}
