package irdma4j.hwregs;

/**
 * The context of a RoCEv2 queue pair.
 *
 * <p>Source: Linux irdma_sc_qp_setctx_roce in ctrl.c.
 */
public final class RoceContext {
  /** Its size in bytes. */
  public static final int SIZE = 256;

  /** The path is IPv4. */
  public static final Field IPV4 = Field.bit("IPV4", 0, 3, "The path is IPv4");

  /** Send with a VLAN tag. */
  public static final Field INSERTVLANTAG =
      Field.bit("INSERTVLANTAG", 0, 5, "Send with a VLAN tag");

  /** The queue pair is QP 1. */
  public static final Field ISQP1 = Field.bit("ISQP1", 0, 6, "The queue pair is QP 1");

  /** Log2 of the quanta of a receive WQE. */
  public static final Field RQWQESIZE =
      Field.bits("RQWQESIZE", 0, 9, 8, "Log2 of the quanta of a receive WQE");

  /** ERR_RQ_IDX is valid. */
  public static final Field ERR_RQ_IDX_VALID =
      Field.bit("ERR_RQ_IDX_VALID", 0, 19, "ERR_RQ_IDX is valid");

  /** Protection domain, bits 17 and 16. */
  public static final Field PDIDXHI =
      Field.bits("PDIDXHI", 0, 21, 20, "Protection domain, bits 17 and 16");

  /** DCTCP congestion control. */
  public static final Field DC_TCP_EN = Field.bit("DC_TCP_EN", 0, 25, "DCTCP congestion control");

  /** Steering hints for received data. */
  public static final Field RCVTPHEN =
      Field.bit("RCVTPHEN", 0, 28, "Steering hints for received data");

  /** Steering hints for sent data. */
  public static final Field XMITTPHEN =
      Field.bit("XMITTPHEN", 0, 29, "Steering hints for sent data");

  /** Steering hints for the receive queue. */
  public static final Field RQTPHEN =
      Field.bit("RQTPHEN", 0, 30, "Steering hints for the receive queue");

  /** Steering hints for the send queue. */
  public static final Field SQTPHEN =
      Field.bit("SQTPHEN", 0, 31, "Steering hints for the send queue");

  /** Push page. */
  public static final Field PPIDX = Field.bits("PPIDX", 0, 41, 32, "Push page");

  /** Push mode is enabled. */
  public static final Field PMENA = Field.bit("PMENA", 0, 47, "Push mode is enabled");

  /** RoCE transport version. */
  public static final Field ROCE_TVER =
      Field.bits("ROCE_TVER", 0, 63, 60, "RoCE transport version");

  /** IOVA of the send queue, or its first PBLE's index. */
  public static final Field SQADDR =
      Field.word("SQADDR", 8, "IOVA of the send queue, or its first PBLE's index");

  /** IOVA of the receive queue, or its first PBLE's index. */
  public static final Field RQADDR =
      Field.word("RQADDR", 16, "IOVA of the receive queue, or its first PBLE's index");

  /** Hop limit. */
  public static final Field TTL = Field.bits("TTL", 24, 7, 0, "Hop limit");

  /** Encoded size of the receive queue. */
  public static final Field RQSIZE =
      Field.bits("RQSIZE", 24, 11, 8, "Encoded size of the receive queue");

  /** Encoded size of the send queue. */
  public static final Field SQSIZE =
      Field.bits("SQSIZE", 24, 15, 12, "Encoded size of the send queue");

  /** Type of service. */
  public static final Field TOS = Field.bits("TOS", 24, 31, 24, "Type of service");

  /** UDP source port. */
  public static final Field SRCPORTNUM = Field.bits("SRCPORTNUM", 24, 47, 32, "UDP source port");

  /** UDP destination port. */
  public static final Field DESTPORTNUM =
      Field.bits("DESTPORTNUM", 24, 63, 48, "UDP destination port");

  /** Peer's address, word 3 (IPv4: the address). */
  public static final Field DESTIPADDR3 =
      Field.bits("DESTIPADDR3", 32, 31, 0, "Peer's address, word 3 (IPv4: the address)");

  /** Peer's address, word 2. */
  public static final Field DESTIPADDR2 =
      Field.bits("DESTIPADDR2", 32, 63, 32, "Peer's address, word 2");

  /** Peer's address, word 1. */
  public static final Field DESTIPADDR1 =
      Field.bits("DESTIPADDR1", 40, 31, 0, "Peer's address, word 1");

  /** Peer's address, word 0. */
  public static final Field DESTIPADDR0 =
      Field.bits("DESTIPADDR0", 40, 63, 32, "Peer's address, word 0");

  /** Payload bytes of a packet (the path MTU). */
  public static final Field SNDMSS =
      Field.bits("SNDMSS", 48, 29, 16, "Payload bytes of a packet (the path MTU)");

  /** VLAN tag. */
  public static final Field VLANTAG = Field.bits("VLANTAG", 48, 47, 32, "VLAN tag");

  /** ARP table entry of the next hop. */
  public static final Field ARPIDX =
      Field.bits("ARPIDX", 48, 63, 48, "ARP table entry of the next hop");

  /** IPv6 flow label. */
  public static final Field FLOWLABEL = Field.bits("FLOWLABEL", 56, 19, 0, "IPv6 flow label");

  /** Credits in acknowledgements; 31 means unlimited. */
  public static final Field ACKCREDITS =
      Field.bits("ACKCREDITS", 56, 24, 20, "Credits in acknowledgements; 31 means unlimited");

  /** Partition key. */
  public static final Field PKEY = Field.bits("PKEY", 56, 47, 32, "Partition key");

  /** Protection domain, bits 15 to 0. */
  public static final Field PDIDX =
      Field.bits("PDIDX", 56, 63, 48, "Protection domain, bits 15 to 0");

  /** Peer's queue pair. */
  public static final Field DESTQP = Field.bits("DESTQP", 64, 23, 0, "Peer's queue pair");

  /** Q_Key of a UD queue pair. */
  public static final Field QKEY = Field.bits("QKEY", 64, 63, 32, "Q_Key of a UD queue pair");

  /** PSN of the next packet to send. */
  public static final Field PSNNXT =
      Field.bits("PSNNXT", 80, 23, 0, "PSN of the next packet to send");

  /** Limit sequence number. */
  public static final Field LSN = Field.bits("LSN", 80, 55, 32, "Limit sequence number");

  /** PSN expected next from the peer. */
  public static final Field EPSN = Field.bits("EPSN", 88, 23, 0, "PSN expected next from the peer");

  /** Highest PSN sent so far plus one. */
  public static final Field PSNMAX =
      Field.bits("PSNMAX", 96, 23, 0, "Highest PSN sent so far plus one");

  /** Oldest PSN not acknowledged. */
  public static final Field PSNUNA =
      Field.bits("PSNUNA", 96, 55, 32, "Oldest PSN not acknowledged");

  /** Congestion window. */
  public static final Field CWNDROCE = Field.bits("CWNDROCE", 112, 55, 32, "Congestion window");

  /** Receive WQE at which an error happened. */
  public static final Field ERR_RQ_IDX =
      Field.bits("ERR_RQ_IDX", 128, 45, 32, "Receive WQE at which an error happened");

  /** Retries after a timeout. */
  public static final Field REXMIT_THRESH =
      Field.bits("REXMIT_THRESH", 128, 53, 48, "Retries after a timeout");

  /** Retries after a receiver-not-ready; 7 means without end. */
  public static final Field RNRNAK_THRESH =
      Field.bits(
          "RNRNAK_THRESH", 128, 56, 54, "Retries after a receiver-not-ready; 7 means without end");

  /** Least retransmission timeout. */
  public static final Field RTOMIN =
      Field.bits("RTOMIN", 128, 63, 57, "Least retransmission timeout");

  /** Completion queue of the send queue. */
  public static final Field TXCQNUM =
      Field.bits("TXCQNUM", 136, 18, 0, "Completion queue of the send queue");

  /** Completion queue of the receive queue. */
  public static final Field RXCQNUM =
      Field.bits("RXCQNUM", 136, 50, 32, "Completion queue of the receive queue");

  /** Statistics instance. */
  public static final Field STAT_INDEX = Field.bits("STAT_INDEX", 144, 6, 0, "Statistics instance");

  /** Own MAC address. */
  public static final Field MACADDRESS = Field.bits("MACADDRESS", 152, 63, 16, "Own MAC address");

  /** READ requests that may be outstanding. */
  public static final Field ORDSIZE =
      Field.bits("ORDSIZE", 160, 7, 0, "READ requests that may be outstanding");

  /** Encoded number of READ requests accepted at once. */
  public static final Field IRDSIZE =
      Field.bits("IRDSIZE", 160, 18, 16, "Encoded number of READ requests accepted at once");

  /** Privileged completions for UD. */
  public static final Field UDPRIVCQENABLE =
      Field.bit("UDPRIVCQENABLE", 160, 19, "Privileged completions for UD");

  /** Incoming WRITEs and READ responses are allowed. */
  public static final Field WRRDRSPOK =
      Field.bit("WRRDRSPOK", 160, 20, "Incoming WRITEs and READ responses are allowed");

  /** Incoming READs are allowed. */
  public static final Field RDOK = Field.bit("RDOK", 160, 21, "Incoming READs are allowed");

  /** DCQCN congestion control. */
  public static final Field DCQCNENABLE =
      Field.bit("DCQCNENABLE", 160, 22, "DCQCN congestion control");

  /** Windows may be bound. */
  public static final Field BINDEN = Field.bit("BINDEN", 160, 23, "Windows may be bound");

  /** Memory may be registered by work requests. */
  public static final Field FASTREGEN =
      Field.bit("FASTREGEN", 160, 24, "Memory may be registered by work requests");

  /** Privileged: stag 0 is allowed. */
  public static final Field PRIVEN = Field.bit("PRIVEN", 160, 25, "Privileged: stag 0 is allowed");

  /** STAT_INDEX is valid. */
  public static final Field USESTATSINSTANCE =
      Field.bit("USESTATSINSTANCE", 160, 26, "STAT_INDEX is valid");

  /** TIMELY congestion control. */
  public static final Field TIMELYENABLE =
      Field.bit("TIMELYENABLE", 160, 27, "TIMELY congestion control");

  /** Congestion control by firmware. */
  public static final Field FW_CC_ENABLE =
      Field.bit("FW_CC_ENABLE", 160, 28, "Congestion control by firmware");

  /** Do not check the ICRC. */
  public static final Field RCVNOICRC = Field.bit("RCVNOICRC", 160, 31, "Do not check the ICRC");

  /** Completion context, returned in each CQE. */
  public static final Field QPCOMPCTX =
      Field.word("QPCOMPCTX", 168, "Completion context, returned in each CQE");

  /** Steering tag of the send queue. */
  public static final Field SQTPHVAL =
      Field.bits("SQTPHVAL", 176, 7, 0, "Steering tag of the send queue");

  /** Steering tag of the receive queue. */
  public static final Field RQTPHVAL =
      Field.bits("RQTPHVAL", 176, 15, 8, "Steering tag of the receive queue");

  /** Queue set of the work scheduler. */
  public static final Field QSHANDLE =
      Field.bits("QSHANDLE", 176, 25, 16, "Queue set of the work scheduler");

  /** Own address, word 3 (IPv4: the address). */
  public static final Field LOCAL_IPADDR3 =
      Field.bits("LOCAL_IPADDR3", 184, 31, 0, "Own address, word 3 (IPv4: the address)");

  /** Own address, word 2. */
  public static final Field LOCAL_IPADDR2 =
      Field.bits("LOCAL_IPADDR2", 184, 63, 32, "Own address, word 2");

  /** Own address, word 1. */
  public static final Field LOCAL_IPADDR1 =
      Field.bits("LOCAL_IPADDR1", 192, 31, 0, "Own address, word 1");

  /** Own address, word 0. */
  public static final Field LOCAL_IPADDR0 =
      Field.bits("LOCAL_IPADDR0", 192, 63, 32, "Own address, word 0");

  /** TIMELY: low threshold. */
  public static final Field TLOW = Field.bits("TLOW", 200, 39, 32, "TIMELY: low threshold");

  /** TIMELY: high threshold. */
  public static final Field THIGH = Field.bits("THIGH", 200, 63, 52, "TIMELY: high threshold");

  /** Remote endpoint. */
  public static final Field REMENDPOINTIDX =
      Field.bits("REMENDPOINTIDX", 208, 16, 0, "Remote endpoint");

  /** Context of a RoCEv2 queue pair. */
  public static final Layout LAYOUT =
      Layout.of(
          "roce-context",
          SIZE,
          "Context of a RoCEv2 queue pair",
          IPV4,
          INSERTVLANTAG,
          ISQP1,
          RQWQESIZE,
          ERR_RQ_IDX_VALID,
          PDIDXHI,
          DC_TCP_EN,
          RCVTPHEN,
          XMITTPHEN,
          RQTPHEN,
          SQTPHEN,
          PPIDX,
          PMENA,
          ROCE_TVER,
          SQADDR,
          RQADDR,
          TTL,
          RQSIZE,
          SQSIZE,
          TOS,
          SRCPORTNUM,
          DESTPORTNUM,
          DESTIPADDR3,
          DESTIPADDR2,
          DESTIPADDR1,
          DESTIPADDR0,
          SNDMSS,
          VLANTAG,
          ARPIDX,
          FLOWLABEL,
          ACKCREDITS,
          PKEY,
          PDIDX,
          DESTQP,
          QKEY,
          PSNNXT,
          LSN,
          EPSN,
          PSNMAX,
          PSNUNA,
          CWNDROCE,
          ERR_RQ_IDX,
          REXMIT_THRESH,
          RNRNAK_THRESH,
          RTOMIN,
          TXCQNUM,
          RXCQNUM,
          STAT_INDEX,
          MACADDRESS,
          ORDSIZE,
          IRDSIZE,
          UDPRIVCQENABLE,
          WRRDRSPOK,
          RDOK,
          DCQCNENABLE,
          BINDEN,
          FASTREGEN,
          PRIVEN,
          USESTATSINSTANCE,
          TIMELYENABLE,
          FW_CC_ENABLE,
          RCVNOICRC,
          QPCOMPCTX,
          SQTPHVAL,
          RQTPHVAL,
          QSHANDLE,
          LOCAL_IPADDR3,
          LOCAL_IPADDR2,
          LOCAL_IPADDR1,
          LOCAL_IPADDR0,
          TLOW,
          THIGH,
          REMENDPOINTIDX);

  private RoceContext() {}
}
