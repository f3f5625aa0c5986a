package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Allocate a memory window. It has the opcode of a stag allocation, without the region bit.
 *
 * @param pdId protection domain
 * @param stagIndex index of the stag
 * @param narrow the window is of type 1
 * @param ignoreKey binding does not check the key
 */
public record AllocateMw(int pdId, int stagIndex, boolean narrow, boolean ignoreKey)
    implements CqpCommand {
  private static final Field PDID = Field.bits("PDID", 8, 63, 46, "Protection domain");
  private static final Field IDX = Field.bits("IDX", 16, 31, 8, "Index of the stag");
  private static final Field MWTYPE = Field.bit("MWTYPE", 24, 42, "The window is of type 1");
  private static final Field MW1_BIND_DONT_VLDT_KEY =
      Field.bit("MW1_BIND_DONT_VLDT_KEY", 24, 58, "Binding does not check the key");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/alloc-mw",
          CqpWqe.SIZE,
          "Allocate a memory window",
          PDID,
          IDX,
          MWTYPE,
          MW1_BIND_DONT_VLDT_KEY,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.ALLOC_STAG;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word8 = PDID.encode(Integer.toUnsignedLong(pdId));
    long word16 = IDX.encode(Integer.toUnsignedLong(stagIndex));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | MWTYPE.encode(narrow)
            | MW1_BIND_DONT_VLDT_KEY.encode(ignoreKey);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static AllocateMw decode(MemorySegment wqe, long base) {
    return new AllocateMw(
        (int) PDID.get(wqe, base),
        (int) IDX.get(wqe, base),
        MWTYPE.get(wqe, base) != 0,
        MW1_BIND_DONT_VLDT_KEY.get(wqe, base) != 0);
  }
}
