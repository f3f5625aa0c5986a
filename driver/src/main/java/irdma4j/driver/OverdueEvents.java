package irdma4j.driver;

import java.util.Collection;

/**
 * Finds completion queues whose event has not come although it was asked for and completions are
 * there: the device has lost it, or the doorbell that asked for it. It is raised here then, so that
 * nobody waits for ever. An event that is only late is given {@link #INTERVAL_NANOS} to come.
 */
final class OverdueEvents {
  /** How often queues are looked at; an event is overdue if two looks running miss it. */
  static final long INTERVAL_NANOS = 100_000_000;

  private final long[] nextLook;
  private long found;

  /**
   * Nothing has been looked at yet.
   *
   * @param ceqs completion event queues
   */
  OverdueEvents(int ceqs) {
    nextLook = new long[ceqs];
  }

  /**
   * Raises the overdue events of a completion event queue, if it is time for a look. To be called
   * when the event queue is empty.
   *
   * @return whether there was one
   */
  boolean raise(int ceq, long now, Collection<CompletionQueue> queues) {
    if (ceq < 0 || ceq >= nextLook.length || now < nextLook[ceq]) {
      return false;
    }
    nextLook[ceq] = now + INTERVAL_NANOS;
    long before = found;
    for (CompletionQueue queue : queues) {
      if (queue.ceqId() == ceq && queue.raiseIfOverdue()) {
        found++;
      }
    }
    return found != before;
  }

  /** Events raised here so far. */
  long found() {
    return found;
  }
}
