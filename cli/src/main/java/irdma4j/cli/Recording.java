package irdma4j.cli;

import irdma4j.uapi.PciFunction;
import irdma4j.uapi.trace.Recorder;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What passes between drivers and their devices, being recorded if that was asked for. */
final class Recording implements AutoCloseable {
  private final @Nullable Recorder recorder;

  /**
   * Starts.
   *
   * @param options checked
   * @param device describes the device
   * @param functions how many there are
   */
  Recording(RecordOptions options, String device, int functions) throws IOException {
    recorder = options.open(device, functions);
  }

  /** The function that the driver is to get. */
  PciFunction of(PciFunction function) {
    return recorder == null ? function : recorder.record(function);
  }

  /** Writes what is left, once the drivers are closed. */
  @Override
  public void close() {
    if (recorder != null) {
      try {
        recorder.close();
      } catch (IOException e) {
        throw new UserError("the trace was not recorded: " + e.getMessage());
      }
    }
  }
}
