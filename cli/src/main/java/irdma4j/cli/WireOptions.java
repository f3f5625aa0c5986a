package irdma4j.cli;

import irdma4j.simulator.Simulation;
import picocli.CommandLine.Option;

/** What the simulated wire does to frames, as options of a command. */
final class WireOptions {
  private static final int MOST = 90;

  @Option(
      names = "--loss",
      paramLabel = "PERCENT",
      description = "Lose this share of the frames, 0 to 90. Default: ${DEFAULT-VALUE}.",
      defaultValue = "0")
  private double loss;

  @Option(
      names = "--duplicate",
      paramLabel = "PERCENT",
      description = "Deliver this share of the frames twice, 0 to 90. Default: ${DEFAULT-VALUE}.",
      defaultValue = "0")
  private double duplicate;

  @Option(
      names = "--reorder",
      paramLabel = "PERCENT",
      description =
          "Let later frames overtake this share of them, 0 to 90. Default: ${DEFAULT-VALUE}.",
      defaultValue = "0")
  private double reorder;

  @Option(
      names = "--delay",
      paramLabel = "PERCENT",
      description =
          "Pause for up to 0.2 ms before this share of the frames, 0 to 90. Default:"
              + " ${DEFAULT-VALUE}.",
      defaultValue = "0")
  private double delay;

  @Option(
      names = "--corrupt",
      paramLabel = "PERCENT",
      description =
          "Change a byte in this share of the frames, 0 to 90. Default: ${DEFAULT-VALUE}.",
      defaultValue = "0")
  private double corrupt;

  /** Throws what is wrong with the options. */
  void check() {
    check("--loss", loss);
    check("--duplicate", duplicate);
    check("--reorder", reorder);
    check("--delay", delay);
    check("--corrupt", corrupt);
  }

  private static void check(String name, double percent) {
    if (!(percent >= 0 && percent <= MOST)) {
      throw new UserError("%s %s: give a percentage from 0 to %d".formatted(name, percent, MOST));
    }
  }

  /** Whether it does anything. */
  boolean isGiven() {
    return loss + duplicate + reorder + delay + corrupt > 0;
  }

  /** Gives a simulation's wire these faults. */
  void apply(Simulation.Builder builder) {
    builder
        .lossPercent(loss)
        .duplicatePercent(duplicate)
        .reorderPercent(reorder)
        .delayPercent(delay)
        .corruptPercent(corrupt);
  }

  /** The shares in words: loss always, the others if there are any. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("loss " + loss + " %");
    add(text, "duplicate", duplicate);
    add(text, "reorder", reorder);
    add(text, "delay", delay);
    add(text, "corrupt", corrupt);
    return text.toString();
  }

  private static void add(StringBuilder text, String name, double percent) {
    if (percent > 0) {
      text.append(", ").append(name).append(' ').append(percent).append(" %");
    }
  }
}
