package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Destroy a queue pair.
 *
 * @param qpId number of the queue pair
 * @param qpType 1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD
 * @param contextAddress IOVA of the 256-byte context
 * @param shadowAddress IOVA of the shadow area
 * @param removeHashEntry remove the quad hash entry
 * @param ignoreBoundWindows destroy it even if windows are bound to it
 */
public record DestroyQp(
    int qpId,
    int qpType,
    long contextAddress,
    long shadowAddress,
    boolean removeHashEntry,
    boolean ignoreBoundWindows)
    implements CqpCommand {
  private static final Field QPID = Field.bits("QPID", 24, 17, 0, "Number of the queue pair");
  private static final Field QPTYPE =
      Field.bits("QPTYPE", 24, 50, 48, "1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD");
  private static final Field QPCTX = Field.word("QPCTX", 16, "IOVA of the 256-byte context");
  private static final Field DBSHADOWADDR =
      Field.word("DBSHADOWADDR", 40, "IOVA of the shadow area");
  private static final Field REMOVEHASHENTRY =
      Field.bit("REMOVEHASHENTRY", 24, 55, "Remove the quad hash entry");
  private static final Field IGNOREMWBOUND =
      Field.bit("IGNOREMWBOUND", 24, 54, "Destroy it even if windows are bound to it");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/destroy-qp",
          CqpWqe.SIZE,
          "Destroy a queue pair",
          QPID,
          QPTYPE,
          QPCTX,
          DBSHADOWADDR,
          REMOVEHASHENTRY,
          IGNOREMWBOUND,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.DESTROY_QP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = QPCTX.encode(contextAddress);
    long word40 = DBSHADOWADDR.encode(shadowAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | QPID.encode(Integer.toUnsignedLong(qpId))
            | QPTYPE.encode(Integer.toUnsignedLong(qpType))
            | REMOVEHASHENTRY.encode(removeHashEntry)
            | IGNOREMWBOUND.encode(ignoreBoundWindows);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 40, word40);
    return header;
  }

  static DestroyQp decode(MemorySegment wqe, long base) {
    return new DestroyQp(
        (int) QPID.get(wqe, base),
        (int) QPTYPE.get(wqe, base),
        QPCTX.get(wqe, base),
        DBSHADOWADDR.get(wqe, base),
        REMOVEHASHENTRY.get(wqe, base) != 0,
        IGNOREMWBOUND.get(wqe, base) != 0);
  }
}
