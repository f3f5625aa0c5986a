package irdma4j.driver;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Aeqe;
import org.jspecify.annotations.Nullable;

/**
 * Something that the device reports by itself.
 *
 * @param code the event's code; see {@link AeCode}
 * @param source the part of the device that raised it; see {@link AeSource}
 * @param queueId the queue pair or completion queue
 * @param wqe index of the quantum or WQE that caused it; only of meaning if the event is of a send
 *     or receive queue
 * @param queueContext context of the queue; only of meaning if the event is of a queue
 * @param tcpState state of the queue pair's TCP connection, of iWARP
 * @param queuePairState state of the queue pair
 * @param receivedData kind of data that the device left in the queue pair's Q2 buffer, of iWARP
 * @param isOverflow events next to this one were lost, because the queue was full; which, nobody
 *     knows. The device says so, or the driver found the queue full
 */
public record AsyncEvent(
    int code,
    int source,
    int queueId,
    int wqe,
    long queueContext,
    int tcpState,
    int queuePairState,
    int receivedData,
    boolean isOverflow) {

  /** What the two words of an AEQE say. Source: Linux irdma_sc_get_next_aeqe in ctrl.c. */
  public static AsyncEvent decode(long context, long word) {
    return new AsyncEvent(
        (int) Aeqe.AECODE.decode(word),
        (int) Aeqe.AESRC.decode(word),
        (int)
            (Aeqe.QPCQID_LOW.decode(word)
                | (Aeqe.QPCQID_HI.decode(word) << Aeqe.QPCQID_LOW.width())),
        (int) Aeqe.WQDESCIDX.decode(word),
        context,
        (int) Aeqe.TCPSTATE.decode(word),
        (int) Aeqe.IWSTATE.decode(word),
        (int) Aeqe.Q2DATA.decode(word),
        Aeqe.OVERFLOW.isSet(word));
  }

  /** The same event with the mark that others were lost. */
  AsyncEvent withOverflow() {
    return new AsyncEvent(
        code, source, queueId, wqe, queueContext, tcpState, queuePairState, receivedData, true);
  }

  /** Whether {@link #queueId} is a completion queue. */
  public boolean isCompletionQueue() {
    if (code == AeCode.LCE_CQ_CATASTROPHIC.code()) {
      return true;
    }
    return switch (queueSource()) {
      case CQ, CQ_0110, CQ_1010, CQ_1110 -> true;
      case null, default -> false;
    };
  }

  /**
   * Whether the event concerns a queue pair. An event that a completion queue raised on work of a
   * queue pair has the queue pair's code and the completion queue's number and context.
   */
  public boolean isQueuePair() {
    return isOfQueuePair(AeCode.of(code))
        || switch (queueSource()) {
          case RQ, RQ_0011, SQ, SQ_0111, IN_RR_WR, IN_RR_WR_1011, OUT_RR, OUT_RR_1111 -> true;
          case null, default -> false;
        };
  }

  /** Whether a WQE of the send queue caused it. */
  public boolean isSendQueue() {
    AeSource from = queueSource();
    return from == AeSource.SQ || from == AeSource.SQ_0111;
  }

  /** Whether a WQE of the receive queue caused it. */
  public boolean isReceiveQueue() {
    AeSource from = queueSource();
    return from == AeSource.RQ || from == AeSource.RQ_0011;
  }

  /** Whether the peer's READ request or WRITE caused it. */
  public boolean isIncoming() {
    AeSource from = queueSource();
    return from == AeSource.IN_RR_WR || from == AeSource.IN_RR_WR_1011;
  }

  /** Whether a READ request of one's own caused it. */
  public boolean isOutgoingRead() {
    AeSource from = queueSource();
    return from == AeSource.OUT_RR || from == AeSource.OUT_RR_1111;
  }

  /** What kind of error it is, if it put a queue pair into the error state. */
  public QueuePairError queuePairError() {
    return AsyncErrors.kind(AsyncErrors.flushCode(code));
  }

  /** The source, unless it is of no meaning for the code. */
  private @Nullable AeSource queueSource() {
    AeCode known = AeCode.of(code);
    boolean ignored =
        known != null
            && switch (known) {
              case LCE_CQ_CATASTROPHIC,
                  ROCE_EMPTY_MCG,
                  ROCE_BAD_MC_IP_ADDR,
                  ROCE_BAD_MC_QPID,
                  MCG_QP_PROTOCOL_MISMATCH,
                  LLP_CONNECTION_RESET,
                  LLP_SYN_RECEIVED,
                  LLP_FIN_RECEIVED,
                  LLP_CLOSE_COMPLETE,
                  LLP_TERMINATE_RECEIVED,
                  RDMAP_ROE_BAD_LLP_CLOSE ->
                  true;
              default -> false;
            };
    return ignored ? AeSource.RSVD : AeSource.of(source);
  }

  private static boolean isOfQueuePair(@Nullable AeCode known) {
    return switch (known) {
      case PRIV_OPERATION_DENIED,
          AMP_INVALIDATE_TYPE1_MW,
          AMP_MWBIND_ZERO_BASED_TYPE1_MW,
          AMP_FASTREG_INVALID_PBL_HPS_CFG,
          AMP_FASTREG_PBLE_MISMATCH,
          UDA_XMIT_DGRAM_TOO_LONG,
          UDA_XMIT_BAD_PD,
          UDA_XMIT_DGRAM_TOO_SHORT,
          UDA_L4LEN_INVALID,
          BAD_CLOSE,
          RDMA_READ_WHILE_ORD_ZERO,
          STAG_ZERO_INVALID,
          IB_RREQ_AND_Q1_FULL,
          IB_INVALID_REQUEST,
          WQE_UNEXPECTED_OPCODE,
          IB_REMOTE_ACCESS_ERROR,
          IB_REMOTE_OP_ERROR,
          DDP_UBE_INVALID_DDP_VERSION,
          DDP_UBE_INVALID_MO,
          DDP_UBE_INVALID_QN,
          DDP_NO_L_BIT,
          RDMAP_ROE_INVALID_RDMAP_VERSION,
          RDMAP_ROE_UNEXPECTED_OPCODE,
          RDMAP_ROE_BAD_LLP_CLOSE,
          ROE_INVALID_RDMA_READ_REQUEST,
          ROE_INVALID_RDMA_WRITE_OR_READ_RESP,
          ROCE_RSP_LENGTH_ERROR,
          ROCE_EMPTY_MCG,
          ROCE_BAD_MC_IP_ADDR,
          ROCE_BAD_MC_QPID,
          MCG_QP_PROTOCOL_MISMATCH,
          INVALID_ARP_ENTRY,
          INVALID_TCP_OPTION_RCVD,
          STALE_ARP_ENTRY,
          INVALID_AH_ENTRY,
          LLP_RECEIVED_MPA_CRC_ERROR,
          LLP_SEGMENT_TOO_SMALL,
          LLP_TOO_MANY_RETRIES,
          LLP_DOUBT_REACHABILITY,
          LLP_CONNECTION_ESTABLISHED,
          LLP_CONNECTION_RESET,
          LLP_SYN_RECEIVED,
          LLP_FIN_RECEIVED,
          LLP_CLOSE_COMPLETE,
          LLP_TERMINATE_RECEIVED,
          RESET_SENT,
          TERMINATE_SENT,
          RESET_NOT_SENT,
          LCE_QP_CATASTROPHIC,
          QP_SUSPEND_COMPLETE ->
          true;
      case null, default -> false;
    };
  }

  @Override
  public String toString() {
    AeCode known = AeCode.of(code);
    AeSource from = AeSource.of(source);
    return "%s (0x%04x) on %s %d, source %s%s"
        .formatted(
            known == null ? "unknown event" : known.meaning(),
            code,
            isCompletionQueue() ? "CQ" : "QP",
            queueId,
            from == null ? source : from.meaning(),
            isOverflow ? "; other events were lost" : "");
  }
}
