package irdma4j.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code irdma} command. */
@Command(
    name = "irdma",
    mixinStandardHelpOptions = true,
    version = "irdma4j 0.1.0-SNAPSHOT",
    description = "A kernel-bypass driver for Intel E810 RDMA, and a simulator of the card.")
final class Main {
  private Main() {}

  /** Runs the command and ends the process with its status. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Main()).execute(arguments));
  }
}
