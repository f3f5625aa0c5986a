package irdma4j.driver;

/**
 * What queues have counted.
 *
 * @param sent work requests posted to send queues
 * @param received work requests posted to receive queues
 * @param doorbellsRung send doorbells rung
 * @param doorbellsSkipped send doorbells that were not needed
 * @param completions completions polled
 */
record RequestCounts(
    long sent, long received, long doorbellsRung, long doorbellsSkipped, long completions) {
  static final RequestCounts NONE = new RequestCounts(0, 0, 0, 0, 0);

  RequestCounts plus(QueuePairCore pair) {
    return new RequestCounts(
        sent + pair.send().posted(),
        received + pair.receive().posted(),
        doorbellsRung + pair.send().doorbellsRung(),
        doorbellsSkipped + pair.send().doorbellsSkipped(),
        completions);
  }

  RequestCounts plus(CompletionQueue queue) {
    return new RequestCounts(
        sent, received, doorbellsRung, doorbellsSkipped, completions + queue.polled());
  }
}
