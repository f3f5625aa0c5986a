package irdma4j.cli;

/**
 * What a test of one size has shown.
 *
 * @param size bytes of a message
 * @param iterations messages
 * @param peak the best of all runs of consecutive messages, up to {@link PerfTimes#LONGEST_RUN}, in
 *     MiB a second; 0 if it was not measured
 * @param average of all messages, in MiB a second
 * @param rate millions of messages a second
 */
record PerfReport(long size, long iterations, double peak, double average, double rate) {
  /** No result. */
  static final PerfReport NONE = new PerfReport(0, 0, 0, 0, 0);

  private static final double MEBI = 1 << 20;

  /**
   * From times.
   *
   * @param best nanoseconds of a message in the best run, or 0
   * @param nanos of all messages together
   */
  static PerfReport of(long size, long iterations, double best, long nanos) {
    double seconds = Math.max(1, nanos) / 1e9;
    return new PerfReport(
        size,
        iterations,
        best == 0 ? 0 : size / (best / 1e9) / MEBI,
        size * (double) iterations / seconds / MEBI,
        iterations / seconds / 1e6);
  }
}
