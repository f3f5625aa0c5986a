package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Flush the queues of a queue pair, or raise an asynchronous event for it, or both.
 *
 * @param aeCode asynchronous event to raise
 * @param aeSource its source
 * @param rqMinor minor error of the receive queue's completions
 * @param rqMajor major error of the receive queue's completions
 * @param sqMinor minor error of the send queue's completions
 * @param sqMajor major error of the send queue's completions
 * @param qpId number of the queue pair
 * @param generateAe raise the event
 * @param userCodes the error codes are valid
 * @param flushSq flush the send queue
 * @param flushRq flush the receive queue
 */
public record FlushWqes(
    int aeCode,
    int aeSource,
    int rqMinor,
    int rqMajor,
    int sqMinor,
    int sqMajor,
    int qpId,
    boolean generateAe,
    boolean userCodes,
    boolean flushSq,
    boolean flushRq)
    implements CqpCommand {
  private static final Field AECODE = Field.bits("AECODE", 8, 15, 0, "Asynchronous event to raise");
  private static final Field AESOURCE = Field.bits("AESOURCE", 8, 19, 16, "Its source");
  private static final Field RQMNERR =
      Field.bits("RQMNERR", 16, 15, 0, "Minor error of the receive queue's completions");
  private static final Field RQMJERR =
      Field.bits("RQMJERR", 16, 31, 16, "Major error of the receive queue's completions");
  private static final Field SQMNERR =
      Field.bits("SQMNERR", 16, 47, 32, "Minor error of the send queue's completions");
  private static final Field SQMJERR =
      Field.bits("SQMJERR", 16, 63, 48, "Major error of the send queue's completions");
  private static final Field QPID = Field.bits("QPID", 24, 23, 0, "Number of the queue pair");
  private static final Field GENERATE_AE = Field.bit("GENERATE_AE", 24, 59, "Raise the event");
  private static final Field USERFLCODE =
      Field.bit("USERFLCODE", 24, 60, "The error codes are valid");
  private static final Field FLUSHSQ = Field.bit("FLUSHSQ", 24, 61, "Flush the send queue");
  private static final Field FLUSHRQ = Field.bit("FLUSHRQ", 24, 62, "Flush the receive queue");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/flush-wqes",
          CqpWqe.SIZE,
          "Flush the queues of a queue pair, or raise an asynchronous event for it, or both",
          AECODE,
          AESOURCE,
          RQMNERR,
          RQMJERR,
          SQMNERR,
          SQMJERR,
          QPID,
          GENERATE_AE,
          USERFLCODE,
          FLUSHSQ,
          FLUSHRQ,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.FLUSH_WQES;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word8 =
        AECODE.encode(Integer.toUnsignedLong(aeCode))
            | AESOURCE.encode(Integer.toUnsignedLong(aeSource));
    long word16 =
        RQMNERR.encode(Integer.toUnsignedLong(rqMinor))
            | RQMJERR.encode(Integer.toUnsignedLong(rqMajor))
            | SQMNERR.encode(Integer.toUnsignedLong(sqMinor))
            | SQMJERR.encode(Integer.toUnsignedLong(sqMajor));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | QPID.encode(Integer.toUnsignedLong(qpId))
            | GENERATE_AE.encode(generateAe)
            | USERFLCODE.encode(userCodes)
            | FLUSHSQ.encode(flushSq)
            | FLUSHRQ.encode(flushRq);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static FlushWqes decode(MemorySegment wqe, long base) {
    return new FlushWqes(
        (int) AECODE.get(wqe, base),
        (int) AESOURCE.get(wqe, base),
        (int) RQMNERR.get(wqe, base),
        (int) RQMJERR.get(wqe, base),
        (int) SQMNERR.get(wqe, base),
        (int) SQMJERR.get(wqe, base),
        (int) QPID.get(wqe, base),
        GENERATE_AE.get(wqe, base) != 0,
        USERFLCODE.get(wqe, base) != 0,
        FLUSHSQ.get(wqe, base) != 0,
        FLUSHRQ.get(wqe, base) != 0);
  }
}
