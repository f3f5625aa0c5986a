package irdma4j.cli;

import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Replay;
import irdma4j.uapi.trace.DeviceTrace;
import irdma4j.uapi.trace.TraceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code irdma replay}: a recorded driver against the simulator. */
@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description =
        "Does to a simulated device what a trace of --record says that a driver did to its own, and"
            + " reports the first answer that is another. Exit status 0: there is none; 1: there is"
            + " one; 2: not a trace that can be replayed.")
final class ReplayCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "TRACE", description = "The file that --record has made.")
  private Path file = Path.of("");

  @Option(
      names = "--card",
      paramLabel = "NAME",
      defaultValue = "e810",
      description =
          "What the simulated card offers, e810 or small, if the trace is not of a simulated one."
              + " Default: ${DEFAULT-VALUE}.")
  private String card = "";

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    CardProfile profile =
        switch (card) {
          case "e810" -> CardProfile.e810();
          case "small" -> CardProfile.small();
          default -> throw new UserError("--card " + card + ": e810 or small");
        };
    if (!Files.isRegularFile(file)) {
      throw new UserError(file + ": no such file");
    }
    Replay.Outcome outcome;
    try {
      outcome = Replay.run(DeviceTrace.read(file), profile);
    } catch (TraceException | IOException e) {
      throw new UserError(file + ": " + e.getMessage());
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      printJson(outcome, out);
    } else {
      print(outcome, out);
    }
    out.flush();
    return outcome.difference() == null ? 0 : 1;
  }

  private void print(Replay.Outcome outcome, PrintWriter out) {
    String how = outcome.exact() ? "to the byte and to the nanosecond" : "in a time of its own";
    Replay.Difference difference = outcome.difference();
    if (difference == null) {
      out.printf("%s: %d actions, %s: no difference%n", file, outcome.actions(), how);
      return;
    }
    out.printf("%s: %d actions agree, %s%n", file, outcome.actions(), how);
    out.printf("line %d: %s%n", difference.line(), difference.what());
    out.printf("  trace      %s%n", difference.expected());
    out.printf("  simulator  %s%n", difference.got());
    if (!difference.before().isEmpty()) {
      out.println("the simulated device did last:");
      difference.before().forEach(out::println);
    }
  }

  private static void printJson(Replay.Outcome outcome, PrintWriter out) {
    Replay.Difference difference = outcome.difference();
    out.printf(
        "{\"same\":%b,\"exact\":%b,\"actions\":%d%s}%n",
        difference == null,
        outcome.exact(),
        outcome.actions(),
        difference == null
            ? ""
            : ",\"line\":%d,\"what\":%s,\"trace\":%s,\"simulator\":%s,\"before\":[%s]"
                .formatted(
                    difference.line(),
                    FieldTable.quote(difference.what()),
                    FieldTable.quote(difference.expected()),
                    FieldTable.quote(difference.got()),
                    difference.before().stream()
                        .map(FieldTable::quote)
                        .collect(Collectors.joining(","))));
  }
}
