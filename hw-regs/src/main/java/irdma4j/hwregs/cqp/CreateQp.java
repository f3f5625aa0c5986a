package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Create a queue pair. Its context is read from host memory.
 *
 * @param qpId number of the queue pair
 * @param qpType 1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD
 * @param contextAddress IOVA of the 256-byte context
 * @param shadowAddress IOVA of the shadow area
 * @param virtualQueues the context's queue addresses are PBLE indices
 * @param ordValid the context's ORD and IRD are valid
 * @param transportContextValid the context's transport part is valid
 * @param cqNumbersValid the context's CQ numbers are valid
 * @param arpIndexValid the context's ARP index is valid
 * @param macValid the context's MAC address is valid
 * @param forceLoopback loop everything back inside the device
 * @param nextState state to enter: 1 idle, 2 RTS, 3 SQD, 4 RTR, 6 error
 */
public record CreateQp(
    int qpId,
    int qpType,
    long contextAddress,
    long shadowAddress,
    boolean virtualQueues,
    boolean ordValid,
    boolean transportContextValid,
    boolean cqNumbersValid,
    boolean arpIndexValid,
    boolean macValid,
    boolean forceLoopback,
    int nextState)
    implements CqpCommand {
  private static final Field QPID = Field.bits("QPID", 24, 17, 0, "Number of the queue pair");
  private static final Field QPTYPE =
      Field.bits("QPTYPE", 24, 50, 48, "1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD");
  private static final Field QPCTX = Field.word("QPCTX", 16, "IOVA of the 256-byte context");
  private static final Field DBSHADOWADDR =
      Field.word("DBSHADOWADDR", 40, "IOVA of the shadow area");
  private static final Field VQ =
      Field.bit("VQ", 24, 45, "The context's queue addresses are PBLE indices");
  private static final Field ORDVALID =
      Field.bit("ORDVALID", 24, 42, "The context's ORD and IRD are valid");
  private static final Field TOECTXVALID =
      Field.bit("TOECTXVALID", 24, 43, "The context's transport part is valid");
  private static final Field CQNUMVALID =
      Field.bit("CQNUMVALID", 24, 47, "The context's CQ numbers are valid");
  private static final Field ARPTABIDXVALID =
      Field.bit("ARPTABIDXVALID", 24, 59, "The context's ARP index is valid");
  private static final Field MACVALID =
      Field.bit("MACVALID", 24, 51, "The context's MAC address is valid");
  private static final Field FORCELOOPBACK =
      Field.bit("FORCELOOPBACK", 24, 46, "Loop everything back inside the device");
  private static final Field NEXTIWSTATE =
      Field.bits("NEXTIWSTATE", 24, 62, 60, "State to enter: 1 idle, 2 RTS, 3 SQD, 4 RTR, 6 error");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/create-qp",
          CqpWqe.SIZE,
          "Create a queue pair",
          QPID,
          QPTYPE,
          QPCTX,
          DBSHADOWADDR,
          VQ,
          ORDVALID,
          TOECTXVALID,
          CQNUMVALID,
          ARPTABIDXVALID,
          MACVALID,
          FORCELOOPBACK,
          NEXTIWSTATE,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.CREATE_QP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = QPCTX.encode(contextAddress);
    long word40 = DBSHADOWADDR.encode(shadowAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | QPID.encode(Integer.toUnsignedLong(qpId))
            | QPTYPE.encode(Integer.toUnsignedLong(qpType))
            | VQ.encode(virtualQueues)
            | ORDVALID.encode(ordValid)
            | TOECTXVALID.encode(transportContextValid)
            | CQNUMVALID.encode(cqNumbersValid)
            | ARPTABIDXVALID.encode(arpIndexValid)
            | MACVALID.encode(macValid)
            | FORCELOOPBACK.encode(forceLoopback)
            | NEXTIWSTATE.encode(Integer.toUnsignedLong(nextState));
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 40, word40);
    return header;
  }

  static CreateQp decode(MemorySegment wqe, long base) {
    return new CreateQp(
        (int) QPID.get(wqe, base),
        (int) QPTYPE.get(wqe, base),
        QPCTX.get(wqe, base),
        DBSHADOWADDR.get(wqe, base),
        VQ.get(wqe, base) != 0,
        ORDVALID.get(wqe, base) != 0,
        TOECTXVALID.get(wqe, base) != 0,
        CQNUMVALID.get(wqe, base) != 0,
        ARPTABIDXVALID.get(wqe, base) != 0,
        MACVALID.get(wqe, base) != 0,
        FORCELOOPBACK.get(wqe, base) != 0,
        (int) NEXTIWSTATE.get(wqe, base));
  }
}
