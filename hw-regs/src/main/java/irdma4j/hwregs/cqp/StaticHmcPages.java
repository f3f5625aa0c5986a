package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Say that the static pages of the HMC are there.
 *
 * @param hmcFunction HMC function
 */
public record StaticHmcPages(int hmcFunction) implements CqpCommand {
  private static final Field HMCFNID = Field.bits("HMCFNID", 16, 5, 0, "HMC function");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/shmc-pages-allocated",
          CqpWqe.SIZE,
          "Say that the static pages of the HMC are there",
          HMCFNID,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.SHMC_PAGES_ALLOCATED;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = HMCFNID.encode(Integer.toUnsignedLong(hmcFunction));
    long header = CqpWqe.OPCODE.encode(opcode().code());
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static StaticHmcPages decode(MemorySegment wqe, long base) {
    return new StaticHmcPages((int) HMCFNID.get(wqe, base));
  }
}
