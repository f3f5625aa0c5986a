package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Read the features of the firmware.
 *
 * @param bufferAddress IOVA of the buffer
 * @param bufferLength bytes of the buffer
 */
public record QueryRdmaFeatures(long bufferAddress, int bufferLength) implements CqpCommand {
  private static final Field BUFADDR = Field.word("BUFADDR", 32, "IOVA of the buffer");
  private static final Field BUF_LEN = Field.bits("BUF_LEN", 24, 31, 0, "Bytes of the buffer");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/query-rdma-features",
          CqpWqe.SIZE,
          "Read the features of the firmware",
          BUFADDR,
          BUF_LEN,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.QUERY_RDMA_FEATURES;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word32 = BUFADDR.encode(bufferAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | BUF_LEN.encode(Integer.toUnsignedLong(bufferLength));
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 32, word32);
    return header;
  }

  static QueryRdmaFeatures decode(MemorySegment wqe, long base) {
    return new QueryRdmaFeatures(BUFADDR.get(wqe, base), (int) BUF_LEN.get(wqe, base));
  }
}
