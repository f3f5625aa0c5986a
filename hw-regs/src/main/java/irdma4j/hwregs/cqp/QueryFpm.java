package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Read the limits of the HMC into host memory.
 *
 * @param hmcFunction HMC function
 * @param bufferAddress IOVA of a 176-byte buffer
 */
public record QueryFpm(int hmcFunction, long bufferAddress) implements CqpCommand {
  private static final Field HMCFNID = Field.bits("HMCFNID", 16, 5, 0, "HMC function");
  private static final Field BUFADDR = Field.word("BUFADDR", 32, "IOVA of a 176-byte buffer");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/query-fpm",
          CqpWqe.SIZE,
          "Read the limits of the HMC into host memory",
          HMCFNID,
          BUFADDR,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.QUERY_FPM_VAL;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = HMCFNID.encode(Integer.toUnsignedLong(hmcFunction));
    long word32 = BUFADDR.encode(bufferAddress);
    long header = CqpWqe.OPCODE.encode(opcode().code());
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, word32);
    return header;
  }

  static QueryFpm decode(MemorySegment wqe, long base) {
    return new QueryFpm((int) HMCFNID.get(wqe, base), BUFADDR.get(wqe, base));
  }
}
