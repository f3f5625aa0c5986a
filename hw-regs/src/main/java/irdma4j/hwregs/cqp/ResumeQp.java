package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Resume a queue pair.
 *
 * @param queueSet queue set of the work scheduler
 * @param qpId number of the queue pair
 */
public record ResumeQp(int queueSet, int qpId) implements CqpCommand {
  private static final Field QSHANDLE =
      Field.bits("QSHANDLE", 16, 31, 0, "Queue set of the work scheduler");
  private static final Field QPID = Field.bits("QPID", 24, 23, 0, "Number of the queue pair");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/resume-qp",
          CqpWqe.SIZE,
          "Resume a queue pair",
          QSHANDLE,
          QPID,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.RESUME_QP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = QSHANDLE.encode(Integer.toUnsignedLong(queueSet));
    long header = CqpWqe.OPCODE.encode(opcode().code()) | QPID.encode(Integer.toUnsignedLong(qpId));
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static ResumeQp decode(MemorySegment wqe, long base) {
    return new ResumeQp((int) QSHANDLE.get(wqe, base), (int) QPID.get(wqe, base));
  }
}
