package irdma4j.hwregs;

import org.jspecify.annotations.Nullable;

/** Asynchronous event codes. Source: Linux drivers/infiniband/hw/irdma/defs.h. */
public enum AeCode {
  /** Memory protection: unallocated stag. */
  AMP_UNALLOCATED_STAG(0x0102, "Memory protection: unallocated stag"),
  /** Memory protection: invalid stag. */
  AMP_INVALID_STAG(0x0103, "Memory protection: invalid stag"),
  /** Memory protection: bad queue pair. */
  AMP_BAD_QP(0x0104, "Memory protection: bad queue pair"),
  /** Memory protection: bad protection domain. */
  AMP_BAD_PD(0x0105, "Memory protection: bad protection domain"),
  /** Memory protection: bad stag key. */
  AMP_BAD_STAG_KEY(0x0106, "Memory protection: bad stag key"),
  /** Memory protection: bad stag index. */
  AMP_BAD_STAG_INDEX(0x0107, "Memory protection: bad stag index"),
  /** Memory protection: bounds violation. */
  AMP_BOUNDS_VIOLATION(0x0108, "Memory protection: bounds violation"),
  /** Memory protection: rights violation. */
  AMP_RIGHTS_VIOLATION(0x0109, "Memory protection: rights violation"),
  /** Memory protection: offset wrap. */
  AMP_TO_WRAP(0x010a, "Memory protection: offset wrap"),
  /** Memory protection: fast registration, valid stag. */
  AMP_FASTREG_VALID_STAG(0x010c, "Memory protection: fast registration, valid stag"),
  /** Memory protection: fast registration, window stag. */
  AMP_FASTREG_MW_STAG(0x010d, "Memory protection: fast registration, window stag"),
  /** Memory protection: fast registration, invalid rights. */
  AMP_FASTREG_INVALID_RIGHTS(0x010e, "Memory protection: fast registration, invalid rights"),
  /** Memory protection: fast registration, invalid length. */
  AMP_FASTREG_INVALID_LENGTH(0x0110, "Memory protection: fast registration, invalid length"),
  /** Memory protection: invalidate shared. */
  AMP_INVALIDATE_SHARED(0x0111, "Memory protection: invalidate shared"),
  /** Memory protection: invalidate no remote access rights. */
  AMP_INVALIDATE_NO_REMOTE_ACCESS_RIGHTS(
      0x0112, "Memory protection: invalidate no remote access rights"),
  /** Memory protection: invalidate region with bound windows. */
  AMP_INVALIDATE_MR_WITH_BOUND_WINDOWS(
      0x0113, "Memory protection: invalidate region with bound windows"),
  /** Memory protection: window binding, valid stag. */
  AMP_MWBIND_VALID_STAG(0x0114, "Memory protection: window binding, valid stag"),
  /** Memory protection: window binding, of region stag. */
  AMP_MWBIND_OF_MR_STAG(0x0115, "Memory protection: window binding, of region stag"),
  /** Memory protection: window binding, offset zero based stag. */
  AMP_MWBIND_TO_ZERO_BASED_STAG(
      0x0116, "Memory protection: window binding, offset zero based stag"),
  /** Memory protection: window binding, offset window stag. */
  AMP_MWBIND_TO_MW_STAG(0x0117, "Memory protection: window binding, offset window stag"),
  /** Memory protection: window binding, invalid rights. */
  AMP_MWBIND_INVALID_RIGHTS(0x0118, "Memory protection: window binding, invalid rights"),
  /** Memory protection: window binding, invalid bounds. */
  AMP_MWBIND_INVALID_BOUNDS(0x0119, "Memory protection: window binding, invalid bounds"),
  /** Memory protection: window binding, offset invalid parent. */
  AMP_MWBIND_TO_INVALID_PARENT(0x011a, "Memory protection: window binding, offset invalid parent"),
  /** Memory protection: window binding, bind disabled. */
  AMP_MWBIND_BIND_DISABLED(0x011b, "Memory protection: window binding, bind disabled"),
  /** Privileged operation denied. */
  PRIV_OPERATION_DENIED(0x011c, "Privileged operation denied"),
  /** Memory protection: invalidate type 1 window. */
  AMP_INVALIDATE_TYPE1_MW(0x011d, "Memory protection: invalidate type 1 window"),
  /** Memory protection: window binding, zero based type 1 window. */
  AMP_MWBIND_ZERO_BASED_TYPE1_MW(
      0x011e, "Memory protection: window binding, zero based type 1 window"),
  /** Memory protection: fast registration, invalid page list page size configuration. */
  AMP_FASTREG_INVALID_PBL_HPS_CFG(
      0x011f, "Memory protection: fast registration, invalid page list page size configuration"),
  /** Memory protection: window binding, wrong type. */
  AMP_MWBIND_WRONG_TYPE(0x0120, "Memory protection: window binding, wrong type"),
  /** Memory protection: fast registration, PBLE mismatch. */
  AMP_FASTREG_PBLE_MISMATCH(0x0121, "Memory protection: fast registration, PBLE mismatch"),
  /** Datagram: send, datagram too long. */
  UDA_XMIT_DGRAM_TOO_LONG(0x0132, "Datagram: send, datagram too long"),
  /** Datagram: send, bad protection domain. */
  UDA_XMIT_BAD_PD(0x0133, "Datagram: send, bad protection domain"),
  /** Datagram: send, datagram too short. */
  UDA_XMIT_DGRAM_TOO_SHORT(0x0134, "Datagram: send, datagram too short"),
  /** Datagram: L4 length invalid. */
  UDA_L4LEN_INVALID(0x0135, "Datagram: L4 length invalid"),
  /** Bad close. */
  BAD_CLOSE(0x0201, "Bad close"),
  /** RDMAP: RDMA error: bad connection: close. */
  RDMAP_ROE_BAD_LLP_CLOSE(0x0202, "RDMAP: RDMA error: bad connection: close"),
  /** Completion queue operation error. */
  CQ_OPERATION_ERROR(0x0203, "Completion queue operation error"),
  /** RDMA read while ORD zero. */
  RDMA_READ_WHILE_ORD_ZERO(0x0205, "RDMA read while ORD zero"),
  /** Stag zero invalid. */
  STAG_ZERO_INVALID(0x0206, "Stag zero invalid"),
  /** InfiniBand: read request and Q1 full. */
  IB_RREQ_AND_Q1_FULL(0x0207, "InfiniBand: read request and Q1 full"),
  /** InfiniBand: invalid request. */
  IB_INVALID_REQUEST(0x0208, "InfiniBand: invalid request"),
  /** WQE unexpected opcode. */
  WQE_UNEXPECTED_OPCODE(0x020a, "WQE unexpected opcode"),
  /** WQE invalid parameter. */
  WQE_INVALID_PARAMETER(0x020b, "WQE invalid parameter"),
  /** WQE invalid frag data. */
  WQE_INVALID_FRAG_DATA(0x020c, "WQE invalid frag data"),
  /** InfiniBand: remote access error. */
  IB_REMOTE_ACCESS_ERROR(0x020d, "InfiniBand: remote access error"),
  /** InfiniBand: remote op error. */
  IB_REMOTE_OP_ERROR(0x020e, "InfiniBand: remote op error"),
  /** WQE last streaming mode message too long. */
  WQE_LSMM_TOO_LONG(0x0220, "WQE last streaming mode message too long"),
  /** Invalid request. */
  INVALID_REQUEST(0x0223, "Invalid request"),
  /** DDP: invalid message sequence number gap in message sequence number. */
  DDP_INVALID_MSN_GAP_IN_MSN(
      0x0301, "DDP: invalid message sequence number gap in message sequence number"),
  /** DDP: untagged buffer, DDP: message too long for available buffer. */
  DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER(
      0x0303, "DDP: untagged buffer, DDP: message too long for available buffer"),
  /** DDP: untagged buffer, invalid DDP: version. */
  DDP_UBE_INVALID_DDP_VERSION(0x0304, "DDP: untagged buffer, invalid DDP: version"),
  /** DDP: untagged buffer, invalid message offset. */
  DDP_UBE_INVALID_MO(0x0305, "DDP: untagged buffer, invalid message offset"),
  /** DDP: untagged buffer, invalid message sequence number no buffer available. */
  DDP_UBE_INVALID_MSN_NO_BUFFER_AVAILABLE(
      0x0306, "DDP: untagged buffer, invalid message sequence number no buffer available"),
  /** DDP: untagged buffer, invalid queue number. */
  DDP_UBE_INVALID_QN(0x0307, "DDP: untagged buffer, invalid queue number"),
  /** DDP: no last bit. */
  DDP_NO_L_BIT(0x0308, "DDP: no last bit"),
  /** RDMAP: RDMA error: invalid RDMAP: version. */
  RDMAP_ROE_INVALID_RDMAP_VERSION(0x0311, "RDMAP: RDMA error: invalid RDMAP: version"),
  /** RDMAP: RDMA error: unexpected opcode. */
  RDMAP_ROE_UNEXPECTED_OPCODE(0x0312, "RDMAP: RDMA error: unexpected opcode"),
  /** RDMA error: invalid RDMA read request. */
  ROE_INVALID_RDMA_READ_REQUEST(0x0313, "RDMA error: invalid RDMA read request"),
  /** RDMA error: invalid RDMA write or read resp. */
  ROE_INVALID_RDMA_WRITE_OR_READ_RESP(0x0314, "RDMA error: invalid RDMA write or read resp"),
  /** RoCE: response length error. */
  ROCE_RSP_LENGTH_ERROR(0x0316, "RoCE: response length error"),
  /** RoCE: empty multicast group. */
  ROCE_EMPTY_MCG(0x0380, "RoCE: empty multicast group"),
  /** RoCE: bad multicast IP address. */
  ROCE_BAD_MC_IP_ADDR(0x0381, "RoCE: bad multicast IP address"),
  /** RoCE: bad multicast queue pair number. */
  ROCE_BAD_MC_QPID(0x0382, "RoCE: bad multicast queue pair number"),
  /** Multicast group queue pair protocol mismatch. */
  MCG_QP_PROTOCOL_MISMATCH(0x0383, "Multicast group queue pair protocol mismatch"),
  /** Invalid ARP entry. */
  INVALID_ARP_ENTRY(0x0401, "Invalid ARP entry"),
  /** Invalid TCP option received. */
  INVALID_TCP_OPTION_RCVD(0x0402, "Invalid TCP option received"),
  /** Stale ARP entry. */
  STALE_ARP_ENTRY(0x0403, "Stale ARP entry"),
  /** Invalid address handle entry. */
  INVALID_AH_ENTRY(0x0406, "Invalid address handle entry"),
  /** Connection: close complete. */
  LLP_CLOSE_COMPLETE(0x0501, "Connection: close complete"),
  /** Connection: connection reset. */
  LLP_CONNECTION_RESET(0x0502, "Connection: connection reset"),
  /** Connection: FIN received. */
  LLP_FIN_RECEIVED(0x0503, "Connection: FIN received"),
  /** Connection: received marker and length fields dont match. */
  LLP_RECEIVED_MARKER_AND_LENGTH_FIELDS_DONT_MATCH(
      0x0504, "Connection: received marker and length fields dont match"),
  /** Connection: received MPA CRC error. */
  LLP_RECEIVED_MPA_CRC_ERROR(0x0505, "Connection: received MPA CRC error"),
  /** Connection: segment too small. */
  LLP_SEGMENT_TOO_SMALL(0x0507, "Connection: segment too small"),
  /** Connection: SYN received. */
  LLP_SYN_RECEIVED(0x0508, "Connection: SYN received"),
  /** Connection: terminate received. */
  LLP_TERMINATE_RECEIVED(0x0509, "Connection: terminate received"),
  /** Connection: too many retries. */
  LLP_TOO_MANY_RETRIES(0x050a, "Connection: too many retries"),
  /** Connection: too many keepalive retries. */
  LLP_TOO_MANY_KEEPALIVE_RETRIES(0x050b, "Connection: too many keepalive retries"),
  /** Connection: doubt reachability. */
  LLP_DOUBT_REACHABILITY(0x050c, "Connection: doubt reachability"),
  /** Connection: connection established. */
  LLP_CONNECTION_ESTABLISHED(0x050e, "Connection: connection established"),
  /** Connection: too many receiver-not-ready NAKs. */
  LLP_TOO_MANY_RNRS(0x050f, "Connection: too many receiver-not-ready NAKs"),
  /** Reset sent. */
  RESET_SENT(0x0601, "Reset sent"),
  /** Terminate sent. */
  TERMINATE_SENT(0x0602, "Terminate sent"),
  /** Reset not sent. */
  RESET_NOT_SENT(0x0603, "Reset not sent"),
  /** Local catastrophic error: queue pair catastrophic. */
  LCE_QP_CATASTROPHIC(0x0700, "Local catastrophic error: queue pair catastrophic"),
  /** Local catastrophic error: function catastrophic. */
  LCE_FUNCTION_CATASTROPHIC(0x0701, "Local catastrophic error: function catastrophic"),
  /** Local catastrophic error: completion queue catastrophic. */
  LCE_CQ_CATASTROPHIC(0x0702, "Local catastrophic error: completion queue catastrophic"),
  /** Queue pair suspend complete. */
  QP_SUSPEND_COMPLETE(0x0900, "Queue pair suspend complete");

  private final int code;
  private final String meaning;

  AeCode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /** The value of the AECODE field of an AEQE. */
  public int code() {
    return code;
  }

  /** What it means, in a few words. */
  public String meaning() {
    return meaning;
  }

  /** The constant of a code, or null if the code is unknown. */
  public static @Nullable AeCode of(int code) {
    for (AeCode value : values()) {
      if (value.code == code) {
        return value;
      }
    }
    return null;
  }
}
