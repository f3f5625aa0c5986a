package irdma4j.hwregs;

/**
 * The context of an iWARP queue pair. It shares many fields with {@link RoceContext}; here are
 * those of its own.
 *
 * <p>Source: Linux irdma_sc_qp_setctx in ctrl.c.
 */
public final class IwarpContext {
  /** Its size in bytes. */
  public static final int SIZE = RoceContext.SIZE;

  /** Version of DDP. */
  public static final Field DDP_VER = Field.bits("DDP_VER", 0, 1, 0, "Version of DDP");

  /** READ as in InfiniBand: the responder's buffer needs no stag. */
  public static final Field IBRDENABLE =
      Field.bit("IBRDENABLE", 0, 2, "READ as in InfiniBand: the responder's buffer needs no stag");

  /** Send small segments at once. */
  public static final Field NONAGLE = Field.bit("NONAGLE", 0, 4, "Send small segments at once");

  /** TCP timestamps. */
  public static final Field TIMESTAMP = Field.bit("TIMESTAMP", 0, 7, "TCP timestamps");

  /** Send with the second layer-2 tag. */
  public static final Field INSERTL2TAG2 =
      Field.bit("INSERTL2TAG2", 0, 11, "Send with the second layer-2 tag");

  /** Limit on the growth of the congestion window. */
  public static final Field LIMIT =
      Field.bits("LIMIT", 0, 13, 12, "Limit on the growth of the congestion window");

  /** Explicit congestion notification. */
  public static final Field ECN_EN = Field.bit("ECN_EN", 0, 14, "Explicit congestion notification");

  /** Drop segments that are out of order. */
  public static final Field DROPOOOSEG =
      Field.bit("DROPOOOSEG", 0, 15, "Drop segments that are out of order");

  /** Duplicate acknowledgements before a fast retransmission. */
  public static final Field DUPACK_THRESH =
      Field.bits(
          "DUPACK_THRESH", 0, 18, 16, "Duplicate acknowledgements before a fast retransmission");

  /** Version of RDMAP. */
  public static final Field RDMAP_VER = Field.bits("RDMAP_VER", 0, 63, 62, "Version of RDMAP");

  /** Acknowledge at least every second segment. */
  public static final Field AVOIDSTRETCHACK =
      Field.bit("AVOIDSTRETCHACK", 24, 23, "Acknowledge at least every second segment");

  /** What a SYN or RST in the window does. */
  public static final Field SYN_RST_HANDLING =
      Field.bits("SYN_RST_HANDLING", 48, 31, 30, "What a SYN or RST in the window does");

  /** Window scaling. */
  public static final Field WSCALE = Field.bit("WSCALE", 56, 20, "Window scaling");

  /** Send keepalive probes. */
  public static final Field KEEPALIVE = Field.bit("KEEPALIVE", 56, 21, "Send keepalive probes");

  /** Ignore TCP options. */
  public static final Field IGNORE_TCP_OPT =
      Field.bit("IGNORE_TCP_OPT", 56, 22, "Ignore TCP options");

  /** Ignore unsupported TCP options. */
  public static final Field IGNORE_TCP_UNS_OPT =
      Field.bit("IGNORE_TCP_UNS_OPT", 56, 23, "Ignore unsupported TCP options");

  /** State of the TCP connection. */
  public static final Field TCPSTATE =
      Field.bits("TCPSTATE", 56, 31, 28, "State of the TCP connection");

  /** Log2 of the unit of our window. */
  public static final Field RCVSCALE =
      Field.bits("RCVSCALE", 56, 35, 32, "Log2 of the unit of our window");

  /** Log2 of the unit of the peer's window. */
  public static final Field SNDSCALE =
      Field.bits("SNDSCALE", 56, 43, 40, "Log2 of the unit of the peer's window");

  /** Timestamp last received. */
  public static final Field TIMESTAMP_RECENT =
      Field.bits("TIMESTAMP_RECENT", 72, 31, 0, "Timestamp last received");

  /** Age of that timestamp. */
  public static final Field TIMESTAMP_AGE =
      Field.bits("TIMESTAMP_AGE", 72, 63, 32, "Age of that timestamp");

  /** Sequence number to send next. */
  public static final Field SNDNXT =
      Field.bits("SNDNXT", 80, 31, 0, "Sequence number to send next");

  /** Peer's window. */
  public static final Field SNDWND = Field.bits("SNDWND", 80, 63, 32, "Peer's window");

  /** Sequence number expected next. */
  public static final Field RCVNXT =
      Field.bits("RCVNXT", 88, 31, 0, "Sequence number expected next");

  /** Our window. */
  public static final Field RCVWND = Field.bits("RCVWND", 88, 63, 32, "Our window");

  /** Highest sequence number sent. */
  public static final Field SNDMAX =
      Field.bits("SNDMAX", 96, 31, 0, "Highest sequence number sent");

  /** Oldest sequence number not acknowledged. */
  public static final Field SNDUNA =
      Field.bits("SNDUNA", 96, 63, 32, "Oldest sequence number not acknowledged");

  /** Smoothed round trip time. */
  public static final Field SRTT = Field.bits("SRTT", 104, 31, 0, "Smoothed round trip time");

  /** Variation of the round trip time. */
  public static final Field RTTVAR =
      Field.bits("RTTVAR", 104, 63, 32, "Variation of the round trip time");

  /** Slow start threshold. */
  public static final Field SSTHRESH = Field.bits("SSTHRESH", 112, 31, 0, "Slow start threshold");

  /** Congestion window. */
  public static final Field CWND = Field.bits("CWND", 112, 63, 32, "Congestion window");

  /** Sequence number of the last window update. */
  public static final Field SNDWL1 =
      Field.bits("SNDWL1", 120, 31, 0, "Sequence number of the last window update");

  /** Acknowledgement of the last window update. */
  public static final Field SNDWL2 =
      Field.bits("SNDWL2", 120, 63, 32, "Acknowledgement of the last window update");

  /** Largest window that the peer offered. */
  public static final Field MAXSNDWND =
      Field.bits("MAXSNDWND", 128, 31, 0, "Largest window that the peer offered");

  /** IOVA of the Q2 buffer, in units of 256 bytes. */
  public static final Field Q2ADDR =
      Field.bits("Q2ADDR", 144, 63, 8, "IOVA of the Q2 buffer, in units of 256 bytes");

  /** Last byte sent. */
  public static final Field LASTBYTESENT = Field.bits("LASTBYTESENT", 152, 7, 0, "Last byte sent");

  /** Send MPA markers. */
  public static final Field SNDMARKERS = Field.bit("SNDMARKERS", 160, 22, "Send MPA markers");

  /** iWARP is on. */
  public static final Field IWARPMODE = Field.bit("IWARPMODE", 160, 28, "iWARP is on");

  /** Receive MPA markers. */
  public static final Field RCVMARKERS = Field.bit("RCVMARKERS", 160, 29, "Receive MPA markers");

  /** Headers start at segments. */
  public static final Field ALIGNHDRS =
      Field.bit("ALIGNHDRS", 160, 30, "Headers start at segments");

  /** Do not check the MPA CRC. */
  public static final Field RCVNOMPACRC =
      Field.bit("RCVNOMPACRC", 160, 31, "Do not check the MPA CRC");

  /** Where received markers start. */
  public static final Field RCVMARKOFFSET =
      Field.bits("RCVMARKOFFSET", 160, 40, 32, "Where received markers start");

  /** Where sent markers start. */
  public static final Field SNDMARKOFFSET =
      Field.bits("SNDMARKOFFSET", 160, 56, 48, "Where sent markers start");

  /** Queue pair that gets segments out of order. */
  public static final Field EXCEPTION_LAN_QUEUE =
      Field.bits("EXCEPTION_LAN_QUEUE", 176, 43, 32, "Queue pair that gets segments out of order");

  /** Context of an iWARP queue pair. */
  public static final Layout LAYOUT =
      Layout.of(
          "iwarp-context",
          SIZE,
          "Context of an iWARP queue pair",
          DDP_VER,
          IBRDENABLE,
          RoceContext.IPV4,
          NONAGLE,
          RoceContext.INSERTVLANTAG,
          TIMESTAMP,
          RoceContext.RQWQESIZE,
          INSERTL2TAG2,
          LIMIT,
          ECN_EN,
          DROPOOOSEG,
          DUPACK_THRESH,
          RoceContext.ERR_RQ_IDX_VALID,
          RoceContext.PDIDXHI,
          RoceContext.DC_TCP_EN,
          RoceContext.RCVTPHEN,
          RoceContext.XMITTPHEN,
          RoceContext.RQTPHEN,
          RoceContext.SQTPHEN,
          RoceContext.PPIDX,
          RoceContext.PMENA,
          RDMAP_VER,
          RoceContext.SQADDR,
          RoceContext.RQADDR,
          RoceContext.TTL,
          RoceContext.RQSIZE,
          RoceContext.SQSIZE,
          AVOIDSTRETCHACK,
          RoceContext.TOS,
          RoceContext.SRCPORTNUM,
          RoceContext.DESTPORTNUM,
          RoceContext.DESTIPADDR3,
          RoceContext.DESTIPADDR2,
          RoceContext.DESTIPADDR1,
          RoceContext.DESTIPADDR0,
          RoceContext.SNDMSS,
          SYN_RST_HANDLING,
          RoceContext.VLANTAG,
          RoceContext.ARPIDX,
          RoceContext.FLOWLABEL,
          WSCALE,
          KEEPALIVE,
          IGNORE_TCP_OPT,
          IGNORE_TCP_UNS_OPT,
          TCPSTATE,
          RCVSCALE,
          SNDSCALE,
          RoceContext.PDIDX,
          TIMESTAMP_RECENT,
          TIMESTAMP_AGE,
          SNDNXT,
          SNDWND,
          RCVNXT,
          RCVWND,
          SNDMAX,
          SNDUNA,
          SRTT,
          RTTVAR,
          SSTHRESH,
          CWND,
          SNDWL1,
          SNDWL2,
          MAXSNDWND,
          RoceContext.ERR_RQ_IDX,
          RoceContext.REXMIT_THRESH,
          RoceContext.RTOMIN,
          RoceContext.TXCQNUM,
          RoceContext.RXCQNUM,
          RoceContext.STAT_INDEX,
          Q2ADDR,
          LASTBYTESENT,
          RoceContext.MACADDRESS,
          RoceContext.ORDSIZE,
          RoceContext.IRDSIZE,
          RoceContext.WRRDRSPOK,
          RoceContext.RDOK,
          SNDMARKERS,
          RoceContext.BINDEN,
          RoceContext.FASTREGEN,
          RoceContext.PRIVEN,
          RoceContext.USESTATSINSTANCE,
          RoceContext.TIMELYENABLE,
          IWARPMODE,
          RCVMARKERS,
          ALIGNHDRS,
          RCVNOMPACRC,
          RCVMARKOFFSET,
          SNDMARKOFFSET,
          RoceContext.QPCOMPCTX,
          RoceContext.SQTPHVAL,
          RoceContext.RQTPHVAL,
          RoceContext.QSHANDLE,
          EXCEPTION_LAN_QUEUE,
          RoceContext.LOCAL_IPADDR3,
          RoceContext.LOCAL_IPADDR2,
          RoceContext.LOCAL_IPADDR1,
          RoceContext.LOCAL_IPADDR0,
          RoceContext.TLOW,
          RoceContext.THIGH,
          RoceContext.REMENDPOINTIDX);

  private IwarpContext() {}
}
