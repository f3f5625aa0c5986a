package irdma4j.hwregs.qp;

import static irdma4j.hwregs.qp.ContextWords.flag;
import static irdma4j.hwregs.qp.ContextWords.integer;

import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;

/**
 * What contexts of both protocols have besides queues, path and access.
 *
 * @param macAddress own MAC address as a big-endian integer
 * @param statistics statistics instance
 * @param statisticsValid the queue pair counts in that instance
 * @param errorReceive receive WQE at which an error happened
 * @param errorReceiveValid there was one
 * @param leastTimeout least retransmission timeout
 */
public record Common(
    long macAddress,
    int statistics,
    boolean statisticsValid,
    int errorReceive,
    boolean errorReceiveValid,
    int leastTimeout) {

  void put(ContextWords words) {
    words
        .put(RoceContext.MACADDRESS, macAddress)
        .put(RoceContext.STAT_INDEX, statistics)
        .put(RoceContext.USESTATSINSTANCE, statisticsValid)
        .put(RoceContext.ERR_RQ_IDX, errorReceive)
        .put(RoceContext.ERR_RQ_IDX_VALID, errorReceiveValid)
        .put(RoceContext.RTOMIN, leastTimeout);
  }

  static Common decode(MemorySegment context, long base) {
    return new Common(
        RoceContext.MACADDRESS.get(context, base),
        integer(RoceContext.STAT_INDEX, context, base),
        flag(RoceContext.USESTATSINSTANCE, context, base),
        integer(RoceContext.ERR_RQ_IDX, context, base),
        flag(RoceContext.ERR_RQ_IDX_VALID, context, base),
        integer(RoceContext.RTOMIN, context, base));
  }
}
