package irdma4j.driver;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;

/**
 * Something that the device reports by itself.
 *
 * @param code the event's code; see {@link AeCode}
 * @param source the part of the device that raised it; see {@link AeSource}
 * @param queueId the queue pair or completion queue
 * @param wqeIndex the WQE that caused it, if the source is a queue
 */
public record AsyncEvent(int code, int source, int queueId, int wqeIndex) {

  /** Whether {@link #queueId} is a completion queue. */
  public boolean isCompletionQueue() {
    return source == AeSource.CQ.code()
        || source == AeSource.CQ_0110.code()
        || source == AeSource.CQ_1010.code()
        || source == AeSource.CQ_1110.code();
  }

  @Override
  public String toString() {
    AeCode known = AeCode.of(code);
    AeSource from = AeSource.of(source);
    return "%s (0x%04x) on %s %d, source %s"
        .formatted(
            known == null ? "unknown event" : known.meaning(),
            code,
            isCompletionQueue() ? "CQ" : "QP",
            queueId,
            from == null ? source : from.meaning());
  }
}
