package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs tshark, the referee of frames and capture files. */
public final class Tshark {
  private Tshark() {}

  /** Skips the test if there is no tshark; where {@code CI} is true it must be there. */
  public static void require() {
    boolean installed = false;
    for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      installed |= Files.isExecutable(Path.of(folder.isEmpty() ? "." : folder, "tshark"));
    }
    if (!installed && "true".equals(System.getenv("CI"))) {
      throw new AssertionError("CI has no tshark");
    }
    assumeTrue(installed, "tshark is not installed");
  }

  /**
   * The values of some fields, one row a frame; a field with several values joins them by comma.
   * The dissector of RPC over RDMA stays off: it guesses from the payload, which is not its own.
   * Checksums of IPv4 headers are checked: {@code ip.checksum.status} is 1 where one is right.
   */
  public static List<List<String>> fields(Path file, String... names)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "tshark",
                "-n",
                "--disable-protocol",
                "rpcordma",
                "-o",
                "ip.check_checksum:TRUE",
                "-r",
                file.toString(),
                "-T",
                "fields"));
    for (String name : names) {
      command.add("-e");
      command.add(name);
    }
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String text;
    try (InputStream out = process.getInputStream()) {
      text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
    }
    assertEquals(0, process.waitFor());
    List<List<String>> rows = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      if (!line.isEmpty()) {
        rows.add(List.of(line.split("\t", -1)));
      }
    }
    return rows;
  }
}
