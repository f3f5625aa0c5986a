package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code --trace}, {@code --trace-filter}, {@code --record} and {@code irdma replay}. */
class WatchCommandTest {
  private record Result(int status, String out, String err) {}

  private static Result run(String... arguments) {
    CommandLine command = Main.commandLine(new ByteArrayInputStream(new byte[0]));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Result(command.execute(arguments), out.toString(), err.toString());
  }

  /** Fails if the word behind a bare {@code --trace} is taken for the trace's file. */
  @Test
  void aBareTraceLeavesTheFileToBeMovedAlone(@TempDir Path folder) throws IOException {
    Path data = Files.write(folder.resolve("data"), new byte[] {1, 2, 3});
    Result result = run("demo", "--seed", "1", "--trace", data.toString(), "--trace-filter=event");
    assertEquals(0, result.status(), result.err());
    assertTrue(result.out().contains("MSI-X vector 0"), result.out());
    assertEquals(3, Files.size(data));
    Path trace = folder.resolve("trace.txt");
    Result toFile = run("demo", "--seed", "1", "--trace=" + trace, data.toString());
    assertEquals(0, toFile.status(), toFile.err());
    assertFalse(toFile.out().contains("MSI-X"));
    assertTrue(Files.readString(trace).contains("write PFPE_CQPDB = 0x1"));
  }

  @Test
  void mistakesAreOneLine(@TempDir Path folder) {
    List<List<String>> wrong =
        List.of(
            List.of("hmc", "--trace-filter", "wqe"),
            List.of("hmc", "--trace", "--trace-filter", "everything"),
            List.of("hmc", "--trace=" + folder),
            List.of("hmc", "--jfr", folder.resolve("none/out.jfr").toString()),
            List.of("hmc", "--trace", "--device", "pci:0000:3b:00.0"));
    for (List<String> arguments : wrong) {
      Result result = run(arguments.toArray(String[]::new));
      assertEquals(2, result.status(), arguments.toString());
      assertEquals("", result.out());
      assertEquals(1, result.err().lines().count(), result.err());
    }
  }
}
