package irdma4j.hwregs.qp;

import static irdma4j.hwregs.qp.ContextWords.flag;
import static irdma4j.hwregs.qp.ContextWords.integer;

import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;

/**
 * The context of a RoCEv2 queue pair, laid out as {@link RoceContext}.
 *
 * <p>Source: Linux irdma_sc_qp_setctx_roce in ctrl.c.
 *
 * @param queues its queues
 * @param path the way to the peer
 * @param access what it may do
 * @param common MAC address, statistics and the like
 * @param transport the state of the connection
 * @param congestion congestion control
 * @param qp1 it is QP 1
 * @param privilegedCompletions completions of datagrams are privileged
 * @param ignoreIcrc do not check the ICRC
 */
public record RoceQpContext(
    Queues queues,
    Path path,
    Access access,
    Common common,
    Transport transport,
    Congestion congestion,
    boolean qp1,
    boolean privilegedCompletions,
    boolean ignoreIcrc) {

  /**
   * The state of the connection.
   *
   * @param version transport version
   * @param remoteQpn the peer's queue pair
   * @param qkey Q_Key of a UD queue pair
   * @param pkey partition key
   * @param nextPsn PSN of the next packet to send
   * @param limitSequence limit sequence number
   * @param expectedPsn PSN expected next from the peer
   * @param highestPsn highest PSN sent so far plus one
   * @param unacknowledgedPsn oldest PSN not acknowledged
   * @param congestionWindow congestion window
   * @param retries retries after a timeout
   * @param rnrRetries retries after a receiver-not-ready; 7 means without end
   * @param credits credits in acknowledgements
   */
  public record Transport(
      int version,
      int remoteQpn,
      int qkey,
      int pkey,
      int nextPsn,
      int limitSequence,
      int expectedPsn,
      int highestPsn,
      int unacknowledgedPsn,
      int congestionWindow,
      int retries,
      int rnrRetries,
      int credits) {

    private void put(ContextWords words) {
      words
          .put(RoceContext.ROCE_TVER, version)
          .put(RoceContext.DESTQP, remoteQpn)
          .put(RoceContext.QKEY, qkey)
          .put(RoceContext.PKEY, pkey)
          .put(RoceContext.PSNNXT, nextPsn)
          .put(RoceContext.LSN, limitSequence)
          .put(RoceContext.EPSN, expectedPsn)
          .put(RoceContext.PSNMAX, highestPsn)
          .put(RoceContext.PSNUNA, unacknowledgedPsn)
          .put(RoceContext.CWNDROCE, congestionWindow)
          .put(RoceContext.REXMIT_THRESH, retries)
          .put(RoceContext.RNRNAK_THRESH, rnrRetries)
          .put(RoceContext.ACKCREDITS, credits);
    }

    private static Transport decode(MemorySegment context, long base) {
      return new Transport(
          integer(RoceContext.ROCE_TVER, context, base),
          integer(RoceContext.DESTQP, context, base),
          integer(RoceContext.QKEY, context, base),
          integer(RoceContext.PKEY, context, base),
          integer(RoceContext.PSNNXT, context, base),
          integer(RoceContext.LSN, context, base),
          integer(RoceContext.EPSN, context, base),
          integer(RoceContext.PSNMAX, context, base),
          integer(RoceContext.PSNUNA, context, base),
          integer(RoceContext.CWNDROCE, context, base),
          integer(RoceContext.REXMIT_THRESH, context, base),
          integer(RoceContext.RNRNAK_THRESH, context, base),
          integer(RoceContext.ACKCREDITS, context, base));
    }
  }

  /**
   * Congestion control. With DCQCN or DCTCP, packets are sent as capable of explicit congestion
   * notification.
   *
   * @param dcqcn DCQCN
   * @param dctcp DCTCP
   * @param timely TIMELY
   * @param firmware by firmware
   * @param highThreshold TIMELY: high threshold
   * @param lowThreshold TIMELY: low threshold
   */
  public record Congestion(
      boolean dcqcn,
      boolean dctcp,
      boolean timely,
      boolean firmware,
      int highThreshold,
      int lowThreshold) {
    /** None. */
    public static final Congestion NONE = new Congestion(false, false, false, false, 0, 0);

    private void put(ContextWords words) {
      words
          .put(RoceContext.DCQCNENABLE, dcqcn)
          .put(RoceContext.DC_TCP_EN, dctcp)
          .put(RoceContext.TIMELYENABLE, timely)
          .put(RoceContext.FW_CC_ENABLE, firmware)
          .put(RoceContext.THIGH, highThreshold)
          .put(RoceContext.TLOW, lowThreshold);
    }

    private static Congestion decode(MemorySegment context, long base) {
      return new Congestion(
          flag(RoceContext.DCQCNENABLE, context, base),
          flag(RoceContext.DC_TCP_EN, context, base),
          flag(RoceContext.TIMELYENABLE, context, base),
          flag(RoceContext.FW_CC_ENABLE, context, base),
          integer(RoceContext.THIGH, context, base),
          integer(RoceContext.TLOW, context, base));
    }
  }

  /**
   * Writes the words that the driver owns; the others keep what they hold.
   *
   * @param context memory with {@link RoceContext#SIZE} bytes at {@code base}
   * @param base byte offset of the context, a multiple of 8
   * @throws irdma4j.hwregs.FieldRangeException if a value does not fit its field; nothing was
   *     written
   */
  public void encode(MemorySegment context, long base) {
    ContextWords words = new ContextWords();
    queues.put(words);
    path.put(words, congestion.dcqcn() || congestion.dctcp());
    access.put(words);
    common.put(words);
    transport.put(words);
    congestion.put(words);
    words
        .put(RoceContext.ISQP1, qp1)
        .put(RoceContext.UDPRIVCQENABLE, privilegedCompletions)
        .put(RoceContext.RCVNOICRC, ignoreIcrc)
        .store(context, base);
  }

  /** Reads a context. */
  public static RoceQpContext decode(MemorySegment context, long base) {
    return new RoceQpContext(
        Queues.decode(context, base),
        Path.decode(context, base),
        Access.decode(context, base),
        Common.decode(context, base),
        Transport.decode(context, base),
        Congestion.decode(context, base),
        flag(RoceContext.ISQP1, context, base),
        flag(RoceContext.UDPRIVCQENABLE, context, base),
        flag(RoceContext.RCVNOICRC, context, base));
  }
}
