package irdma4j.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.StringJoiner;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Prints results of {@code irdma perf}: as perftest does, with latencies behind, or as JSON. */
final class PerfText {
  private static final String LINE = "-".repeat(138);

  private final PrintWriter out;
  private final boolean json;
  private final StringJoiner results = new StringJoiner(",");

  PerfText(PrintWriter out, boolean json) {
    this.out = out;
    this.json = json;
  }

  void begin(PerfCommand.Verb verb, PerfEnd local, PerfEnd remote) {
    if (json) {
      return;
    }
    out.println(LINE);
    out.println(
        "                    "
            + switch (verb) {
              case write -> "RDMA_Write BW Test";
              case read -> "RDMA_Read BW Test";
              case send -> "Send BW Test";
            });
    out.println(local.describe("local"));
    out.println(remote.describe("remote"));
    out.println(LINE);
    out.println(
        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
            + "   50%[usec]  90%[usec]  99%[usec]  99.9%[usec]  max[usec]");
    out.flush();
  }

  /**
   * One size's.
   *
   * @param latencies in nanoseconds, if this side has measured them
   */
  void result(PerfReport report, @Nullable Histogram latencies) {
    if (json) {
      results.add(asJson(report, latencies));
      return;
    }
    out.printf(
        Locale.ROOT,
        " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
        report.size(),
        report.iterations(),
        report.peak(),
        report.average(),
        report.rate());
    if (latencies != null) {
      out.printf(
          Locale.ROOT,
          "        %-9.2f  %-9.2f  %-9.2f  %-11.2f  %-9.2f",
          micros(latencies, 50),
          micros(latencies, 90),
          micros(latencies, 99),
          micros(latencies, 99.9),
          micros(latencies, 100));
    }
    out.println();
    out.flush();
  }

  void end(PerfCommand.Verb verb, boolean client) {
    if (json) {
      out.printf(
          "{\"command\":\"perf\",\"verb\":\"%s\",\"role\":\"%s\",\"results\":[%s]}%n",
          verb, client ? "client" : "server", results);
    } else {
      out.println(LINE);
    }
  }

  private static double micros(Histogram latencies, double percentile) {
    return latencies.getValueAtPercentile(percentile) / 1000.0;
  }

  private static String asJson(PerfReport report, @Nullable Histogram latencies) {
    String numbers =
        String.format(
            Locale.ROOT,
            "\"bytes\":%d,\"iterations\":%d,\"peakMiBps\":%.2f,\"averageMiBps\":%.2f,"
                + "\"messageRateMpps\":%.6f",
            report.size(),
            report.iterations(),
            report.peak(),
            report.average(),
            report.rate());
    if (latencies == null) {
      return "{" + numbers + "}";
    }
    return String.format(
        Locale.ROOT,
        "{%s,\"latencyMicros\":{\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"p99.9\":%.3f,\"max\":%.3f}}",
        numbers,
        micros(latencies, 50),
        micros(latencies, 90),
        micros(latencies, 99),
        micros(latencies, 99.9),
        micros(latencies, 100));
  }
}
