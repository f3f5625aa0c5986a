package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Fix the object counts of the HMC; the device answers with the base addresses.
 *
 * @param hmcFunction HMC function
 * @param bufferLength bytes of the buffer
 * @param bufferAddress IOVA of a 176-byte buffer
 */
public record CommitFpm(int hmcFunction, int bufferLength, long bufferAddress)
    implements CqpCommand {
  private static final Field HMCFNID = Field.bits("HMCFNID", 16, 5, 0, "HMC function");
  private static final Field BUFSIZE = Field.bits("BUFSIZE", 24, 31, 0, "Bytes of the buffer");
  private static final Field BUFADDR = Field.word("BUFADDR", 32, "IOVA of a 176-byte buffer");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/commit-fpm",
          CqpWqe.SIZE,
          "Fix the object counts of the HMC; the device answers with the base addresses",
          HMCFNID,
          BUFSIZE,
          BUFADDR,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.COMMIT_FPM_VAL;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = HMCFNID.encode(Integer.toUnsignedLong(hmcFunction));
    long word32 = BUFADDR.encode(bufferAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | BUFSIZE.encode(Integer.toUnsignedLong(bufferLength));
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, word32);
    return header;
  }

  static CommitFpm decode(MemorySegment wqe, long base) {
    return new CommitFpm(
        (int) HMCFNID.get(wqe, base), (int) BUFSIZE.get(wqe, base), BUFADDR.get(wqe, base));
  }
}
