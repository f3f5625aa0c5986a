package irdma4j.cli;

import irdma4j.uapi.trace.Recorder;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Whether what passes between driver and device is recorded, as an option of a command. */
final class RecordOptions {
  @Option(
      names = "--record",
      paramLabel = "TRACE",
      description =
          "Record what passes between driver and device, for irdma replay. Compressed if the name"
              + " ends in .gz.")
  private @Nullable Path file;

  /** Throws what is wrong with the options. */
  void check() {
    if (file != null) {
      OutputFile.check("--record", file);
    }
  }

  boolean isGiven() {
    return file != null;
  }

  /**
   * Starts the recording; null if none is asked for.
   *
   * @param device describes it
   * @param functions how many will be recorded
   */
  @Nullable Recorder open(String device, int functions) throws IOException {
    return file == null ? null : Recorder.create(file, device, functions);
  }
}
