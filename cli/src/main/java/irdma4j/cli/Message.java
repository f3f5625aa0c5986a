package irdma4j.cli;

import irdma4j.driver.RdmaException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A control message of the demo: where a buffer is.
 *
 * @param kind what is said
 * @param address virtual address of the buffer
 * @param length its length in bytes
 * @param key its rkey
 */
record Message(Kind kind, long address, long length, int key) {
  static final int SIZE = 32;

  /** What a message says. */
  enum Kind {
    /** Here is the buffer to write to. */
    SINK(1),
    /** All of it arrived, as it should: it can be read back. */
    ARRIVED(2),
    /** Done. */
    DONE(3);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    private static Kind of(long code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new RdmaException("a control message of unknown kind " + code);
    }
  }

  void write(MemorySegment memory, long offset) {
    memory.set(ValueLayout.JAVA_LONG, offset, (long) kind.code);
    memory.set(ValueLayout.JAVA_LONG, offset + 8, address);
    memory.set(ValueLayout.JAVA_LONG, offset + 16, length);
    memory.set(ValueLayout.JAVA_LONG, offset + 24, key);
  }

  static Message read(MemorySegment memory, long offset) {
    return new Message(
        Kind.of(memory.get(ValueLayout.JAVA_LONG, offset)),
        memory.get(ValueLayout.JAVA_LONG, offset + 8),
        memory.get(ValueLayout.JAVA_LONG, offset + 16),
        (int) memory.get(ValueLayout.JAVA_LONG, offset + 24));
  }
}
