package irdma4j.cli;

import java.io.PrintWriter;
import java.util.Locale;

/**
 * Shows how far a transfer is: one line rewritten in place on a terminal, a plain line at every
 * tenth in a log.
 */
final class Progress {
  private static final int BAR = 30;

  private final PrintWriter out;
  private final boolean terminal;
  private final String what;
  private final long total;
  private int shown = -1;

  Progress(PrintWriter out, boolean terminal, String what, long total) {
    this.out = out;
    this.terminal = terminal;
    this.what = what;
    this.total = total;
  }

  /** Bytes done so far. */
  void at(long done) {
    int percent = (int) (done * 100 / total);
    int step = terminal ? percent : percent / 10 * 10;
    if (step == shown) {
      return;
    }
    shown = step;
    if (terminal) {
      int full = percent * BAR / 100;
      out.printf(
          Locale.ROOT,
          "\r  %-14s [%s%s] %3d %%",
          what,
          "#".repeat(full),
          " ".repeat(BAR - full),
          percent);
      if (percent == 100) {
        out.println();
      }
    } else {
      out.printf(Locale.ROOT, "  %-14s %3d %%%n", what, step);
    }
    out.flush();
  }
}
