package irdma4j.cli;

import irdma4j.simulator.Simulation;
import irdma4j.simulator.TextTrace;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.jfr.Recording;
import org.jspecify.annotations.Nullable;

/** A simulated device being watched, from before it is built until after it is closed. */
final class Watching implements AutoCloseable {
  private @Nullable Writer file;
  private @Nullable TextTrace trace;
  private @Nullable Recording recording;
  private final @Nullable Path flight;

  /**
   * Opens what the options ask for.
   *
   * @param options checked
   * @param out standard output
   */
  Watching(WatchOptions options, PrintWriter out) throws IOException {
    flight = options.flight();
    String where = options.trace();
    if (where != null) {
      Appendable target = out;
      if (!where.equals(WatchOptions.STANDARD_OUTPUT)) {
        file = Files.newBufferedWriter(Path.of(where));
        target = file;
      }
      trace = new TextTrace(target, options.parsed());
    }
    if (flight != null) {
      Recording started = new Recording();
      recording = started;
      Simulation.flightEvents().forEach(started::enable);
      started.start();
    }
  }

  /** Builds the simulation that is watched. */
  Simulation build(Simulation.Builder builder) {
    if (trace != null) {
      builder.watch(trace);
    }
    return builder.build();
  }

  /** Writes what is left, once the simulation is closed. */
  @Override
  public void close() {
    try {
      if (file != null) {
        file.close();
      }
      if (trace != null) {
        trace.check();
      }
    } catch (UncheckedIOException | IOException e) {
      throw new UserError("the trace was not written: " + e.getMessage());
    } finally {
      closeRecording();
    }
  }

  private void closeRecording() {
    try (Recording ended = recording) {
      if (ended != null && flight != null) {
        ended.stop();
        ended.dump(flight);
      }
    } catch (IOException e) {
      throw new UserError("the recording was not written: " + e.getMessage());
    }
  }
}
