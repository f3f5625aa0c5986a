package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Write a queue pair's context to host memory.
 *
 * @param bufferAddress IOVA of a 256-byte buffer
 * @param qpId number of the queue pair
 * @param qpType 1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD
 * @param raw the device's own format
 * @param freeze stop the queue pair first
 */
public record UploadContext(long bufferAddress, int qpId, int qpType, boolean raw, boolean freeze)
    implements CqpCommand {
  private static final Field QPCTXADDR = Field.word("QPCTXADDR", 16, "IOVA of a 256-byte buffer");
  private static final Field QPID = Field.bits("QPID", 24, 23, 0, "Number of the queue pair");
  private static final Field QPTYPE =
      Field.bits("QPTYPE", 24, 51, 48, "1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD");
  private static final Field RAWFORMAT = Field.bit("RAWFORMAT", 24, 61, "The device's own format");
  private static final Field FREEZEQP = Field.bit("FREEZEQP", 24, 62, "Stop the queue pair first");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/upload-context",
          CqpWqe.SIZE,
          "Write a queue pair's context to host memory",
          QPCTXADDR,
          QPID,
          QPTYPE,
          RAWFORMAT,
          FREEZEQP,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.UPLOAD_CONTEXT;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = QPCTXADDR.encode(bufferAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | QPID.encode(Integer.toUnsignedLong(qpId))
            | QPTYPE.encode(Integer.toUnsignedLong(qpType))
            | RAWFORMAT.encode(raw)
            | FREEZEQP.encode(freeze);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static UploadContext decode(MemorySegment wqe, long base) {
    return new UploadContext(
        QPCTXADDR.get(wqe, base),
        (int) QPID.get(wqe, base),
        (int) QPTYPE.get(wqe, base),
        RAWFORMAT.get(wqe, base) != 0,
        FREEZEQP.get(wqe, base) != 0);
  }
}
