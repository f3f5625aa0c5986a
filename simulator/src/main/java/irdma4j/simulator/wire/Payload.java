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
  private int place;

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
  }

  /**
   * Forgets all pieces; the next ones belong to a frame.
   *
   * @param at where in the frame they would begin
   */
  void begin(int at) {
    clear();
    place = at;
  }

  /** Copies all bytes to where they belong in the frame, and forgets the pieces. */
  void carry(MemorySegment frame) {
    if (pieces != 0) {
      copyTo(0, frame, place, bytes());
      clear();
    }
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
   * @param from the part's first byte
   * @throws IndexOutOfBoundsException if there are not as many bytes
   */
  public void copyTo(long from, MemorySegment target, long at, long bytes) {
    if (from < 0 || bytes < 0 || bytes > bytes() - from) {
      throw new IndexOutOfBoundsException(
          "%d bytes from %d on, of %d".formatted(bytes, from, bytes()));
    }
    long done = 0;
    for (int i = 0; done < bytes; i++) {
      long left = end[i] - from - done;
      if (left > 0) {
        long n = Math.min(left, bytes - done);
        long skipped = from + done - bytesBefore(i);
        MemorySegment.copy(memory[i], offset[i] + skipped, target, at + done, n);
        done += n;
      }
    }
  }
}
