package irdma4j.cli;

import org.HdrHistogram.Histogram;

/** When messages were posted and done. Recording allocates nothing. */
final class PerfTimes {
  /** Messages of the longest run that is looked at for the peak. */
  static final int LONGEST_RUN = 1024;

  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  private final long[] posted;
  private final long[] done;
  private final Histogram latencies = new Histogram(LONGEST_NANOS, 3);
  private int postedCount;
  private int doneCount;

  PerfTimes(int messages) {
    posted = new long[messages];
    done = new long[messages];
  }

  void posted(long nanos) {
    posted[postedCount++] = nanos;
  }

  /** Messages are done in the order in which they were posted. */
  void done(long nanos) {
    latencies.recordValue(Math.clamp(nanos - posted[doneCount], 0, LONGEST_NANOS));
    done[doneCount++] = nanos;
  }

  int postedCount() {
    return postedCount;
  }

  int doneCount() {
    return doneCount;
  }

  /** From post to completion, in nanoseconds. */
  Histogram latencies() {
    return latencies;
  }

  /** What came of it. */
  PerfReport report(long size) {
    int n = doneCount;
    double best = Double.MAX_VALUE;
    for (int from = 0; from < n; from++) {
      for (int to = from; to < Math.min(n, from + LONGEST_RUN); to++) {
        best = Math.min(best, (double) (done[to] - posted[from]) / (to - from + 1));
      }
    }
    return PerfReport.of(size, n, best, done[n - 1] - posted[0]);
  }
}
