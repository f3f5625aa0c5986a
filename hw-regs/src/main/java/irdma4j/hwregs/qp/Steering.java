package irdma4j.hwregs.qp;

import static irdma4j.hwregs.qp.ContextWords.flag;
import static irdma4j.hwregs.qp.ContextWords.integer;

import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;

/**
 * Hints to the processor's caches in the device's accesses to host memory.
 *
 * @param receivedData give hints when writing received data
 * @param sentData give hints when reading data to send
 * @param receiveQueue give hints when reading the receive queue
 * @param sendQueue give hints when reading the send queue
 * @param receiveTag steering tag of the receive queue
 * @param sendTag steering tag of the send queue
 */
public record Steering(
    boolean receivedData,
    boolean sentData,
    boolean receiveQueue,
    boolean sendQueue,
    int receiveTag,
    int sendTag) {
  /** No hints. */
  public static final Steering NONE = new Steering(false, false, false, false, 0, 0);

  void put(ContextWords words) {
    words
        .put(RoceContext.RCVTPHEN, receivedData)
        .put(RoceContext.XMITTPHEN, sentData)
        .put(RoceContext.RQTPHEN, receiveQueue)
        .put(RoceContext.SQTPHEN, sendQueue)
        .put(RoceContext.RQTPHVAL, receiveTag)
        .put(RoceContext.SQTPHVAL, sendTag);
  }

  static Steering decode(MemorySegment context, long base) {
    return new Steering(
        flag(RoceContext.RCVTPHEN, context, base),
        flag(RoceContext.XMITTPHEN, context, base),
        flag(RoceContext.RQTPHEN, context, base),
        flag(RoceContext.SQTPHEN, context, base),
        integer(RoceContext.RQTPHVAL, context, base),
        integer(RoceContext.SQTPHVAL, context, base));
  }
}
