package irdma4j.simulator.wire;

import irdma4j.simulator.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What wires behind a file descriptor have in common: waiting for a frame, and an end that waits
 * for the reader to be gone.
 */
final class FileWire {
  private static final int WAIT_MILLIS = 50;

  final int fd;
  final MemorySegment sendState;
  private final Arena arena;
  private final MemorySegment receiveState;
  private final MemorySegment pollEntry;
  private volatile boolean closing;
  private boolean closed;

  /**
   * Takes a descriptor over.
   *
   * @param arena closed with it
   */
  FileWire(Arena arena, int fd) {
    this.arena = arena;
    this.fd = fd;
    this.sendState = Posix.errorState(arena);
    this.receiveState = Posix.errorState(arena);
    this.pollEntry = Posix.pollInput(arena, fd);
  }

  int receive(MemorySegment target) {
    synchronized (receiveState) {
      if (closing) {
        return -1;
      }
      if (Posix.poll(receiveState, pollEntry, WAIT_MILLIS) <= 0) {
        return 0;
      }
      long bytes =
          Posix.read(receiveState, fd, target, Math.min(target.byteSize(), Wire.MAX_FRAME));
      return bytes < 0 ? 0 : (int) bytes;
    }
  }

  boolean isOpen() {
    return !closing;
  }

  /** Returns once nobody reads any more. */
  void close() {
    closing = true;
    synchronized (receiveState) {
      synchronized (sendState) {
        if (!closed) {
          closed = true;
          Posix.close(receiveState, fd);
          arena.close();
        }
      }
    }
  }
}
