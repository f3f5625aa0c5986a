package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;

/**
 * Suspend a queue pair.
 *
 * @param qpId number of the queue pair
 */
public record SuspendQp(int qpId) implements CqpCommand {
  private static final Field QPID = Field.bits("QPID", 24, 23, 0, "Number of the queue pair");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/suspend-qp", CqpWqe.SIZE, "Suspend a queue pair", QPID, CqpWqe.OPCODE, CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.SUSPEND_QP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long header = CqpWqe.OPCODE.encode(opcode().code()) | QPID.encode(Integer.toUnsignedLong(qpId));
    CqpWqe.clear(wqe, base);
    return header;
  }

  static SuspendQp decode(MemorySegment wqe, long base) {
    return new SuspendQp((int) QPID.get(wqe, base));
  }
}
