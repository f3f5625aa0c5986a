package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Change a queue pair: take parts of the context anew, or enter another state.
 *
 * @param qpId number of the queue pair
 * @param qpType 1 iWARP, 2 UDA, 3 RoCE RC, 4 RoCE UD
 * @param contextAddress IOVA of the 256-byte context
 * @param shadowAddress IOVA of the shadow area
 * @param virtualQueues the context's queue addresses are PBLE indices
 * @param newMss new payload bytes of a packet
 * @param terminateLength length of the terminate message
 * @param ordValid the context's ORD and IRD are valid
 * @param transportContextValid the context's transport part is valid
 * @param cachedValuesValid the context's cached variables are valid
 * @param cqNumbersValid the context's CQ numbers are valid
 * @param forceLoopback loop everything back inside the device
 * @param macValid the context's MAC address is valid
 * @param mssChange NEWMSS is valid
 * @param removeHashEntry remove the quad hash entry
 * @param terminateAction which of terminate and FIN not to send
 * @param resetConnection reset the TCP connection
 * @param arpIndexValid the context's ARP index is valid
 * @param nextState state to enter: 1 idle, 2 RTS, 3 SQD, 4 RTR, 6 error
 */
public record ModifyQp(
    int qpId,
    int qpType,
    long contextAddress,
    long shadowAddress,
    boolean virtualQueues,
    int newMss,
    int terminateLength,
    boolean ordValid,
    boolean transportContextValid,
    boolean cachedValuesValid,
    boolean cqNumbersValid,
    boolean forceLoopback,
    boolean macValid,
    boolean mssChange,
    boolean removeHashEntry,
    int terminateAction,
    boolean resetConnection,
    boolean arpIndexValid,
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
  private static final Field NEWMSS =
      Field.bits("NEWMSS", 8, 45, 32, "New payload bytes of a packet");
  private static final Field TERMLEN =
      Field.bits("TERMLEN", 8, 51, 48, "Length of the terminate message");
  private static final Field ORDVALID =
      Field.bit("ORDVALID", 24, 42, "The context's ORD and IRD are valid");
  private static final Field TOECTXVALID =
      Field.bit("TOECTXVALID", 24, 43, "The context's transport part is valid");
  private static final Field CACHEDVARVALID =
      Field.bit("CACHEDVARVALID", 24, 44, "The context's cached variables are valid");
  private static final Field CQNUMVALID =
      Field.bit("CQNUMVALID", 24, 47, "The context's CQ numbers are valid");
  private static final Field FORCELOOPBACK =
      Field.bit("FORCELOOPBACK", 24, 46, "Loop everything back inside the device");
  private static final Field MACVALID =
      Field.bit("MACVALID", 24, 51, "The context's MAC address is valid");
  private static final Field MSSCHANGE = Field.bit("MSSCHANGE", 24, 52, "NEWMSS is valid");
  private static final Field REMOVEHASHENTRY =
      Field.bit("REMOVEHASHENTRY", 24, 55, "Remove the quad hash entry");
  private static final Field TERMACT =
      Field.bits("TERMACT", 24, 57, 56, "Which of terminate and FIN not to send");
  private static final Field RESETCON = Field.bit("RESETCON", 24, 58, "Reset the TCP connection");
  private static final Field ARPTABIDXVALID =
      Field.bit("ARPTABIDXVALID", 24, 59, "The context's ARP index is valid");
  private static final Field NEXTIWSTATE =
      Field.bits("NEXTIWSTATE", 24, 62, 60, "State to enter: 1 idle, 2 RTS, 3 SQD, 4 RTR, 6 error");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/modify-qp",
          CqpWqe.SIZE,
          "Change a queue pair: take parts of the context anew, or enter another state",
          QPID,
          QPTYPE,
          QPCTX,
          DBSHADOWADDR,
          VQ,
          NEWMSS,
          TERMLEN,
          ORDVALID,
          TOECTXVALID,
          CACHEDVARVALID,
          CQNUMVALID,
          FORCELOOPBACK,
          MACVALID,
          MSSCHANGE,
          REMOVEHASHENTRY,
          TERMACT,
          RESETCON,
          ARPTABIDXVALID,
          NEXTIWSTATE,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MODIFY_QP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word8 =
        NEWMSS.encode(Integer.toUnsignedLong(newMss))
            | TERMLEN.encode(Integer.toUnsignedLong(terminateLength));
    long word16 = QPCTX.encode(contextAddress);
    long word40 = DBSHADOWADDR.encode(shadowAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | QPID.encode(Integer.toUnsignedLong(qpId))
            | QPTYPE.encode(Integer.toUnsignedLong(qpType))
            | VQ.encode(virtualQueues)
            | ORDVALID.encode(ordValid)
            | TOECTXVALID.encode(transportContextValid)
            | CACHEDVARVALID.encode(cachedValuesValid)
            | CQNUMVALID.encode(cqNumbersValid)
            | FORCELOOPBACK.encode(forceLoopback)
            | MACVALID.encode(macValid)
            | MSSCHANGE.encode(mssChange)
            | REMOVEHASHENTRY.encode(removeHashEntry)
            | TERMACT.encode(Integer.toUnsignedLong(terminateAction))
            | RESETCON.encode(resetConnection)
            | ARPTABIDXVALID.encode(arpIndexValid)
            | NEXTIWSTATE.encode(Integer.toUnsignedLong(nextState));
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 40, word40);
    return header;
  }

  static ModifyQp decode(MemorySegment wqe, long base) {
    return new ModifyQp(
        (int) QPID.get(wqe, base),
        (int) QPTYPE.get(wqe, base),
        QPCTX.get(wqe, base),
        DBSHADOWADDR.get(wqe, base),
        VQ.get(wqe, base) != 0,
        (int) NEWMSS.get(wqe, base),
        (int) TERMLEN.get(wqe, base),
        ORDVALID.get(wqe, base) != 0,
        TOECTXVALID.get(wqe, base) != 0,
        CACHEDVARVALID.get(wqe, base) != 0,
        CQNUMVALID.get(wqe, base) != 0,
        FORCELOOPBACK.get(wqe, base) != 0,
        MACVALID.get(wqe, base) != 0,
        MSSCHANGE.get(wqe, base) != 0,
        REMOVEHASHENTRY.get(wqe, base) != 0,
        (int) TERMACT.get(wqe, base),
        RESETCON.get(wqe, base) != 0,
        ARPTABIDXVALID.get(wqe, base) != 0,
        (int) NEXTIWSTATE.get(wqe, base));
  }
}
