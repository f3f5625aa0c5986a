package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Free a stag.
 *
 * @param pdId protection domain
 * @param stagIndex index of the stag
 * @param isRegion the stag is a memory region, not a window
 */
public record DeallocateStag(int pdId, int stagIndex, boolean isRegion) implements CqpCommand {
  private static final Field PDID = Field.bits("PDID", 8, 63, 46, "Protection domain");
  private static final Field IDX = Field.bits("IDX", 16, 31, 8, "Index of the stag");
  private static final Field MR =
      Field.bit("MR", 24, 43, "The stag is a memory region, not a window");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/dealloc-stag",
          CqpWqe.SIZE,
          "Free a stag",
          PDID,
          IDX,
          MR,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.DEALLOC_STAG;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word8 = PDID.encode(Integer.toUnsignedLong(pdId));
    long word16 = IDX.encode(Integer.toUnsignedLong(stagIndex));
    long header = CqpWqe.OPCODE.encode(opcode().code()) | MR.encode(isRegion);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static DeallocateStag decode(MemorySegment wqe, long base) {
    return new DeallocateStag(
        (int) PDID.get(wqe, base), (int) IDX.get(wqe, base), MR.get(wqe, base) != 0);
  }
}
