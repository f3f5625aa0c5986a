package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import java.lang.foreign.MemorySegment;

/**
 * What all WQEs of the control queue pair have in common: 64 bytes, with the header in the fourth
 * word.
 */
public final class CqpWqe {
  /** Its size in bytes. */
  public static final int SIZE = 64;

  /** Byte offset of the header word, which is written last. */
  public static final int HEADER = 24;

  /** The operation. */
  public static final Field OPCODE = Field.bits("OPCODE", HEADER, 37, 32, "The operation");

  /** Valid bit, equal to the ring's polarity. */
  public static final Field VALID =
      Field.bit("WQEVALID", HEADER, 63, "Valid bit, equal to the ring's polarity");

  private CqpWqe() {}

  static void clear(MemorySegment wqe, long base) {
    wqe.asSlice(base, SIZE).fill((byte) 0);
  }
}
