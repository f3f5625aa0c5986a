package irdma4j.cli;

import irdma4j.simulator.TraceFilter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** How a simulated device is watched, as options of a command. */
final class WatchOptions {
  static final String STANDARD_OUTPUT = "-";

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      arity = "0..1",
      fallbackValue = STANDARD_OUTPUT,
      preprocessor = Attached.class,
      description =
          "Write a line for each event that the device sees: to standard output, or with"
              + " --trace=FILE to a file.")
  private @Nullable String trace;

  @Option(
      names = "--trace-filter",
      paramLabel = "TERMS",
      description =
          "Only events that meet all of these, between commas: a kind (register, control, wqe,"
              + " translation, dma, frame, completion, event; of several, one), qp=N, cq=N, reg=NAME,"
              + " sim=N. May be given several times; one filter passing is enough.")
  private List<String> filters = new ArrayList<>();

  @Option(
      names = "--jfr",
      paramLabel = "OUT.jfr",
      description = "Record the device's events by Java Flight Recorder.")
  private @Nullable Path flight;

  /** A parameter belongs to the option only if it is attached by an equals sign. */
  static final class Attached implements IParameterPreprocessor {
    @Override
    public boolean preprocess(
        Stack<String> arguments, CommandSpec command, ArgSpec option, Map<String, Object> info) {
      if ("=".equals(info.get("separator"))) {
        return false;
      }
      option.setValue(STANDARD_OUTPUT);
      return true;
    }
  }

  /** Throws what is wrong with the options. */
  void check() {
    parsed();
    if (!filters.isEmpty() && trace == null) {
      throw new UserError("--trace-filter chooses what --trace writes: give --trace too");
    }
    if (trace != null && !trace.equals(STANDARD_OUTPUT)) {
      OutputFile.check("--trace", Path.of(trace));
    }
    if (flight != null) {
      OutputFile.check("--jfr", flight);
    }
  }

  /** Whether a device is to be watched. */
  boolean isGiven() {
    return trace != null || flight != null;
  }

  /** Where the trace goes, {@link #STANDARD_OUTPUT} or a file; null if none is asked for. */
  @Nullable String trace() {
    return trace;
  }

  @Nullable Path flight() {
    return flight;
  }

  List<TraceFilter> parsed() {
    return filters.stream().map(WatchOptions::filter).toList();
  }

  private static TraceFilter filter(String text) {
    try {
      return TraceFilter.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UserError("--trace-filter " + text + ": " + e.getMessage());
    }
  }
}
