package irdma4j.driver;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;

/**
 * Why queues are flushed after an event, and what kind of error it is.
 *
 * <p>Source: Linux irdma_set_flush_fields in hw.c.
 */
final class AsyncErrors {
  private AsyncErrors() {}

  static FlushCode flushCode(int code) {
    AeCode event = AeCode.of(code);
    if (event == null) {
      return FlushCode.GENERAL_ERR;
    }
    return switch (event) {
      case AMP_BOUNDS_VIOLATION,
          AMP_INVALID_STAG,
          AMP_RIGHTS_VIOLATION,
          AMP_UNALLOCATED_STAG,
          AMP_BAD_PD,
          AMP_BAD_QP,
          AMP_BAD_STAG_KEY,
          AMP_BAD_STAG_INDEX,
          AMP_TO_WRAP,
          PRIV_OPERATION_DENIED ->
          FlushCode.PROT_ERR;
      case UDA_XMIT_BAD_PD, WQE_UNEXPECTED_OPCODE -> FlushCode.LOC_QP_OP_ERR;
      case UDA_XMIT_DGRAM_TOO_LONG,
          UDA_XMIT_DGRAM_TOO_SHORT,
          UDA_L4LEN_INVALID,
          DDP_UBE_INVALID_MO,
          DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER ->
          FlushCode.LOC_LEN_ERR;
      case AMP_INVALIDATE_NO_REMOTE_ACCESS_RIGHTS, IB_REMOTE_ACCESS_ERROR ->
          FlushCode.REM_ACCESS_ERR;
      case LLP_SEGMENT_TOO_SMALL,
          LLP_RECEIVED_MPA_CRC_ERROR,
          ROCE_RSP_LENGTH_ERROR,
          IB_REMOTE_OP_ERROR ->
          FlushCode.REM_OP_ERR;
      case LCE_QP_CATASTROPHIC -> FlushCode.FATAL_ERR;
      case LLP_TOO_MANY_RETRIES -> FlushCode.RETRY_EXC_ERR;
      case AMP_MWBIND_INVALID_RIGHTS,
          AMP_MWBIND_BIND_DISABLED,
          AMP_MWBIND_INVALID_BOUNDS,
          AMP_MWBIND_VALID_STAG ->
          FlushCode.MW_BIND_ERR;
      case IB_INVALID_REQUEST -> FlushCode.REM_INV_REQ_ERR;
      default -> FlushCode.GENERAL_ERR;
    };
  }

  /** The kind of error of a reason to flush. */
  static QueuePairError kind(FlushCode reason) {
    return switch (reason) {
      case PROT_ERR, REM_ACCESS_ERR, MW_BIND_ERR -> QueuePairError.ACCESS;
      case REM_INV_REQ_ERR -> QueuePairError.REQUEST;
      default -> QueuePairError.FATAL;
    };
  }

  /** How the completions of one of a queue pair's queues say that they were flushed. */
  static FlushCode queueCode(FlushCode reason, boolean caused) {
    return caused ? reason : FlushCode.GENERAL_ERR;
  }
}
