package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;

/**
 * Free an entry of the local MAC table.
 *
 * @param index entry of the table
 * @param ignoreReferences free it even if queue pairs use it
 * @param free free the entry
 */
public record DeleteLocalMac(int index, boolean ignoreReferences, boolean free)
    implements CqpCommand {
  private static final Field TABLEIDX = Field.bits("TABLEIDX", 24, 5, 0, "Entry of the table");
  private static final Field IGNORE_REF_CNT =
      Field.bit("IGNORE_REF_CNT", 24, 61, "Free it even if queue pairs use it");
  private static final Field FREEENTRY = Field.bit("FREEENTRY", 24, 62, "Free the entry");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/delete-local-mac",
          CqpWqe.SIZE,
          "Free an entry of the local MAC table",
          TABLEIDX,
          IGNORE_REF_CNT,
          FREEENTRY,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_LOC_MAC_TABLE;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | TABLEIDX.encode(Integer.toUnsignedLong(index))
            | IGNORE_REF_CNT.encode(ignoreReferences)
            | FREEENTRY.encode(free);
    CqpWqe.clear(wqe, base);
    return header;
  }

  static DeleteLocalMac decode(MemorySegment wqe, long base) {
    return new DeleteLocalMac(
        (int) TABLEIDX.get(wqe, base),
        IGNORE_REF_CNT.get(wqe, base) != 0,
        FREEENTRY.get(wqe, base) != 0);
  }

  static boolean isDelete(MemorySegment wqe, long base) {
    return FREEENTRY.get(wqe, base) != 0;
  }
}
