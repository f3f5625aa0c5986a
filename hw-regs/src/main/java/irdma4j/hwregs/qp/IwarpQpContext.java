package irdma4j.hwregs.qp;

import static irdma4j.hwregs.qp.ContextWords.flag;
import static irdma4j.hwregs.qp.ContextWords.integer;

import irdma4j.hwregs.IwarpContext;
import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The context of an iWARP queue pair, laid out as {@link IwarpContext}.
 *
 * <p>Source: Linux irdma_sc_qp_setctx in ctrl.c.
 *
 * @param queues its queues
 * @param exceptionQueue queue pair that gets segments out of order
 * @param congestion congestion control
 * @param rdmap the state of RDMAP, DDP and MPA, or null to leave it as it is
 * @param tcp the state of the TCP connection, or null to leave it as it is
 */
public record IwarpQpContext(
    Queues queues,
    int exceptionQueue,
    Congestion congestion,
    @Nullable Rdmap rdmap,
    @Nullable Tcp tcp) {

  /**
   * Congestion control. With ECN or DCTCP, packets are sent as capable of explicit congestion
   * notification.
   *
   * @param ecn explicit congestion notification
   * @param dctcp DCTCP
   * @param timely TIMELY
   * @param highThreshold TIMELY: high threshold
   * @param lowThreshold TIMELY: low threshold
   */
  public record Congestion(
      boolean ecn, boolean dctcp, boolean timely, int highThreshold, int lowThreshold) {}

  /**
   * The state of RDMAP, DDP and MPA.
   *
   * @param access what the queue pair may do
   * @param common MAC address, statistics and the like
   * @param ddpVersion version of DDP
   * @param rdmapVersion version of RDMAP
   * @param infinibandReads READ as in InfiniBand: the responder's buffer needs no stag
   * @param q2Page IOVA of the Q2 buffer, in units of 256 bytes
   * @param lastByteSent last byte sent
   * @param sendMarkers send MPA markers
   * @param receiveMarkers receive MPA markers
   * @param alignHeaders headers start at segments
   * @param ignoreCrc do not check the MPA CRC
   * @param receiveMarkerOffset where received markers start
   * @param sendMarkerOffset where sent markers start
   */
  public record Rdmap(
      Access access,
      Common common,
      int ddpVersion,
      int rdmapVersion,
      boolean infinibandReads,
      long q2Page,
      int lastByteSent,
      boolean sendMarkers,
      boolean receiveMarkers,
      boolean alignHeaders,
      boolean ignoreCrc,
      int receiveMarkerOffset,
      int sendMarkerOffset) {
    /**
     * Where the markers of a stream start: 0 means at its first byte.
     *
     * @param offset the offset, or 0
     * @param sequence sequence number of the first byte
     */
    public static int markerOffset(int offset, int sequence) {
      return offset != 0 ? offset : sequence & (int) IwarpContext.RCVMARKOFFSET.max();
    }

    private void put(ContextWords words, Congestion congestion) {
      access.put(words);
      common.put(words);
      words
          .put(RoceContext.DC_TCP_EN, congestion.dctcp())
          .put(IwarpContext.ECN_EN, congestion.ecn())
          .put(RoceContext.TIMELYENABLE, congestion.timely());
      words
          .put(IwarpContext.DDP_VER, ddpVersion)
          .put(IwarpContext.RDMAP_VER, rdmapVersion)
          .put(IwarpContext.IBRDENABLE, infinibandReads)
          .put(IwarpContext.Q2ADDR, q2Page)
          .put(IwarpContext.LASTBYTESENT, lastByteSent)
          .put(IwarpContext.SNDMARKERS, sendMarkers)
          .put(IwarpContext.RCVMARKERS, receiveMarkers)
          .put(IwarpContext.ALIGNHDRS, alignHeaders)
          .put(IwarpContext.RCVNOMPACRC, ignoreCrc)
          .put(IwarpContext.RCVMARKOFFSET, receiveMarkerOffset)
          .put(IwarpContext.SNDMARKOFFSET, sendMarkerOffset)
          .put(IwarpContext.IWARPMODE, true);
    }

    private static Rdmap decode(MemorySegment context, long base) {
      return new Rdmap(
          Access.decode(context, base),
          Common.decode(context, base),
          integer(IwarpContext.DDP_VER, context, base),
          integer(IwarpContext.RDMAP_VER, context, base),
          flag(IwarpContext.IBRDENABLE, context, base),
          IwarpContext.Q2ADDR.get(context, base),
          integer(IwarpContext.LASTBYTESENT, context, base),
          flag(IwarpContext.SNDMARKERS, context, base),
          flag(IwarpContext.RCVMARKERS, context, base),
          flag(IwarpContext.ALIGNHDRS, context, base),
          flag(IwarpContext.RCVNOMPACRC, context, base),
          integer(IwarpContext.RCVMARKOFFSET, context, base),
          integer(IwarpContext.SNDMARKOFFSET, context, base));
    }
  }

  /**
   * The state of the TCP connection.
   *
   * @param path the way to the peer
   * @param noNagle send small segments at once
   * @param timestamps TCP timestamps
   * @param windowGrowthLimit limit on the growth of the congestion window
   * @param dropOutOfOrder drop segments that are out of order
   * @param duplicateAcks duplicate acknowledgements before a fast retransmission
   * @param avoidStretchAck acknowledge at least every second segment
   * @param synRstHandling what a SYN or RST in the window does
   * @param windowScaling window scaling
   * @param ignoreOptions ignore TCP options
   * @param ignoreUnsupportedOptions ignore unsupported TCP options
   * @param state state of the connection
   * @param receiveScale log2 of the unit of our window
   * @param sendScale log2 of the unit of the peer's window
   * @param recentTimestamp timestamp last received
   * @param timestampAge age of that timestamp
   * @param sendNext sequence number to send next
   * @param sendWindow peer's window
   * @param receiveNext sequence number expected next
   * @param receiveWindow our window
   * @param sendMax highest sequence number sent
   * @param sendUnacknowledged oldest sequence number not acknowledged
   * @param roundTrip smoothed round trip time
   * @param roundTripVariation variation of the round trip time
   * @param slowStartThreshold slow start threshold
   * @param congestionWindow congestion window
   * @param windowUpdateSequence sequence number of the last window update
   * @param windowUpdateAck acknowledgement of the last window update
   * @param maxSendWindow largest window that the peer offered
   * @param retries retries after a timeout
   */
  public record Tcp(
      Path path,
      boolean noNagle,
      boolean timestamps,
      int windowGrowthLimit,
      boolean dropOutOfOrder,
      int duplicateAcks,
      boolean avoidStretchAck,
      int synRstHandling,
      boolean windowScaling,
      boolean ignoreOptions,
      boolean ignoreUnsupportedOptions,
      int state,
      int receiveScale,
      int sendScale,
      int recentTimestamp,
      int timestampAge,
      int sendNext,
      int sendWindow,
      int receiveNext,
      int receiveWindow,
      int sendMax,
      int sendUnacknowledged,
      int roundTrip,
      int roundTripVariation,
      int slowStartThreshold,
      int congestionWindow,
      int windowUpdateSequence,
      int windowUpdateAck,
      int maxSendWindow,
      int retries) {
    private void put(ContextWords words, Congestion congestion) {
      path.put(words, congestion.ecn() || congestion.dctcp());
      words
          .put(RoceContext.THIGH, congestion.highThreshold())
          .put(RoceContext.TLOW, congestion.lowThreshold());
      words
          .put(IwarpContext.NONAGLE, noNagle)
          .put(IwarpContext.TIMESTAMP, timestamps)
          .put(IwarpContext.LIMIT, windowGrowthLimit)
          .put(IwarpContext.DROPOOOSEG, dropOutOfOrder)
          .put(IwarpContext.DUPACK_THRESH, duplicateAcks)
          .put(IwarpContext.AVOIDSTRETCHACK, avoidStretchAck)
          .put(IwarpContext.SYN_RST_HANDLING, synRstHandling)
          .put(IwarpContext.WSCALE, windowScaling)
          .put(IwarpContext.IGNORE_TCP_OPT, ignoreOptions)
          .put(IwarpContext.IGNORE_TCP_UNS_OPT, ignoreUnsupportedOptions)
          .put(IwarpContext.TCPSTATE, state)
          .put(IwarpContext.RCVSCALE, receiveScale)
          .put(IwarpContext.SNDSCALE, sendScale)
          .put(IwarpContext.TIMESTAMP_RECENT, recentTimestamp)
          .put(IwarpContext.TIMESTAMP_AGE, timestampAge)
          .put(IwarpContext.SNDNXT, sendNext)
          .put(IwarpContext.SNDWND, sendWindow)
          .put(IwarpContext.RCVNXT, receiveNext)
          .put(IwarpContext.RCVWND, receiveWindow)
          .put(IwarpContext.SNDMAX, sendMax)
          .put(IwarpContext.SNDUNA, sendUnacknowledged)
          .put(IwarpContext.SRTT, roundTrip)
          .put(IwarpContext.RTTVAR, roundTripVariation)
          .put(IwarpContext.SSTHRESH, slowStartThreshold)
          .put(IwarpContext.CWND, congestionWindow)
          .put(IwarpContext.SNDWL1, windowUpdateSequence)
          .put(IwarpContext.SNDWL2, windowUpdateAck)
          .put(IwarpContext.MAXSNDWND, maxSendWindow)
          .put(RoceContext.REXMIT_THRESH, retries);
    }

    private static Tcp decode(MemorySegment context, long base) {
      return new Tcp(
          Path.decode(context, base),
          flag(IwarpContext.NONAGLE, context, base),
          flag(IwarpContext.TIMESTAMP, context, base),
          integer(IwarpContext.LIMIT, context, base),
          flag(IwarpContext.DROPOOOSEG, context, base),
          integer(IwarpContext.DUPACK_THRESH, context, base),
          flag(IwarpContext.AVOIDSTRETCHACK, context, base),
          integer(IwarpContext.SYN_RST_HANDLING, context, base),
          flag(IwarpContext.WSCALE, context, base),
          flag(IwarpContext.IGNORE_TCP_OPT, context, base),
          flag(IwarpContext.IGNORE_TCP_UNS_OPT, context, base),
          integer(IwarpContext.TCPSTATE, context, base),
          integer(IwarpContext.RCVSCALE, context, base),
          integer(IwarpContext.SNDSCALE, context, base),
          integer(IwarpContext.TIMESTAMP_RECENT, context, base),
          integer(IwarpContext.TIMESTAMP_AGE, context, base),
          integer(IwarpContext.SNDNXT, context, base),
          integer(IwarpContext.SNDWND, context, base),
          integer(IwarpContext.RCVNXT, context, base),
          integer(IwarpContext.RCVWND, context, base),
          integer(IwarpContext.SNDMAX, context, base),
          integer(IwarpContext.SNDUNA, context, base),
          integer(IwarpContext.SRTT, context, base),
          integer(IwarpContext.RTTVAR, context, base),
          integer(IwarpContext.SSTHRESH, context, base),
          integer(IwarpContext.CWND, context, base),
          integer(IwarpContext.SNDWL1, context, base),
          integer(IwarpContext.SNDWL2, context, base),
          integer(IwarpContext.MAXSNDWND, context, base),
          integer(RoceContext.REXMIT_THRESH, context, base));
    }
  }

  /**
   * Writes the words that the driver owns; the others, and those of a part that is null, keep what
   * they hold. Words that several parts share are written whole.
   *
   * @param context memory with {@link IwarpContext#SIZE} bytes at {@code base}
   * @param base byte offset of the context, a multiple of 8
   * @throws irdma4j.hwregs.FieldRangeException if a value does not fit its field; nothing was
   *     written
   */
  public void encode(MemorySegment context, long base) {
    ContextWords words = new ContextWords();
    queues.put(words);
    words
        .put(IwarpContext.EXCEPTION_LAN_QUEUE, exceptionQueue)
        .clear(RoceContext.PDIDX)
        .clear(RoceContext.RTOMIN);
    if (rdmap != null) {
      rdmap.put(words, congestion);
    }
    if (tcp != null) {
      tcp.put(words, congestion);
    }
    words.store(context, base);
  }

  /** Reads a context, both parts of it. */
  public static IwarpQpContext decode(MemorySegment context, long base) {
    return new IwarpQpContext(
        Queues.decode(context, base),
        integer(IwarpContext.EXCEPTION_LAN_QUEUE, context, base),
        new Congestion(
            flag(IwarpContext.ECN_EN, context, base),
            flag(RoceContext.DC_TCP_EN, context, base),
            flag(RoceContext.TIMELYENABLE, context, base),
            integer(RoceContext.THIGH, context, base),
            integer(RoceContext.TLOW, context, base)),
        Rdmap.decode(context, base),
        Tcp.decode(context, base));
  }
}
