package irdma4j.hwregs.qp;

import static irdma4j.hwregs.qp.ContextWords.flag;
import static irdma4j.hwregs.qp.ContextWords.integer;

import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;

/**
 * The queues of a queue pair.
 *
 * @param sendAddress IOVA of the send queue, or its first PBLE's index
 * @param receiveAddress IOVA of the receive queue, or its first PBLE's index
 * @param sendSize encoded size of the send queue
 * @param receiveSize encoded size of the receive queue
 * @param receiveShift log2 of the quanta of a receive WQE
 * @param sendCq completion queue of the send queue
 * @param receiveCq completion queue of the receive queue
 * @param completionContext returned in each CQE
 * @param queueSet queue set of the work scheduler
 * @param pushPage push page, or {@link #NO_PUSH_PAGE}
 * @param steering hints to caches
 */
public record Queues(
    long sendAddress,
    long receiveAddress,
    int sendSize,
    int receiveSize,
    int receiveShift,
    int sendCq,
    int receiveCq,
    long completionContext,
    int queueSet,
    int pushPage,
    Steering steering) {
  /** The queue pair does not push WQEs. */
  public static final int NO_PUSH_PAGE = -1;

  void put(ContextWords words) {
    steering.put(words);
    words
        .put(RoceContext.SQADDR, sendAddress)
        .put(RoceContext.RQADDR, receiveAddress)
        .put(RoceContext.SQSIZE, sendSize)
        .put(RoceContext.RQSIZE, receiveSize)
        .put(RoceContext.RQWQESIZE, receiveShift)
        .put(RoceContext.TXCQNUM, sendCq)
        .put(RoceContext.RXCQNUM, receiveCq)
        .put(RoceContext.QPCOMPCTX, completionContext)
        .put(RoceContext.QSHANDLE, queueSet)
        .put(RoceContext.PPIDX, pushPage == NO_PUSH_PAGE ? 0 : pushPage)
        .put(RoceContext.PMENA, pushPage != NO_PUSH_PAGE);
  }

  static Queues decode(MemorySegment context, long base) {
    return new Queues(
        RoceContext.SQADDR.get(context, base),
        RoceContext.RQADDR.get(context, base),
        integer(RoceContext.SQSIZE, context, base),
        integer(RoceContext.RQSIZE, context, base),
        integer(RoceContext.RQWQESIZE, context, base),
        integer(RoceContext.TXCQNUM, context, base),
        integer(RoceContext.RXCQNUM, context, base),
        RoceContext.QPCOMPCTX.get(context, base),
        integer(RoceContext.QSHANDLE, context, base),
        flag(RoceContext.PMENA, context, base)
            ? integer(RoceContext.PPIDX, context, base)
            : NO_PUSH_PAGE,
        Steering.decode(context, base));
  }
}
