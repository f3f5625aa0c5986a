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

  /** Fails if a recording cannot be replayed, or a changed answer leaves the status at 0. */
  @Test
  void whatIsRecordedReplays(@TempDir Path folder) throws IOException {
    Path trace = folder.resolve("hmc.trace");
    assertEquals(0, run("hmc", "--queue-pairs", "4", "--record", trace.toString()).status());
    Result same = run("replay", trace.toString());
    assertEquals(0, same.status(), same.out() + same.err());
    assertTrue(same.out().contains("no difference"), same.out());
    List<String> lines = Files.readAllLines(trace);
    int answer = 0;
    while (!lines.get(answer).matches("read32 [0-9]+ 0 0x500880 0x1")) {
      answer++;
    }
    lines.set(answer, lines.get(answer) + "0");
    Files.write(trace, lines);
    Result other = run("replay", trace.toString());
    assertEquals(1, other.status(), other.err());
    assertTrue(other.out().contains("line " + (answer + 1) + ": register PFPE_CQPTAIL"));
    Result json = run("replay", "--json", trace.toString());
    assertEquals(1, json.status());
    assertTrue(json.out().startsWith("{\"same\":false,\"exact\":true,"), json.out());
    lines.removeLast();
    Files.write(trace, lines);
    Result broken = run("replay", trace.toString());
    assertEquals(2, broken.status());
    assertTrue(
        broken.err().contains("line " + (lines.size() + 1) + ": the trace breaks off"),
        broken.err());
  }

  @Test
  void mistakesAreOneLine(@TempDir Path folder) {
    List<List<String>> wrong =
        List.of(
            List.of("hmc", "--trace-filter", "wqe"),
            List.of("hmc", "--trace", "--trace-filter", "everything"),
            List.of("hmc", "--trace=" + folder),
            List.of("hmc", "--jfr", folder.resolve("none/out.jfr").toString()),
            List.of("hmc", "--trace", "--device", "pci:0000:3b:00.0"),
            List.of("hmc", "--record", folder.toString()),
            List.of("demo", "--record", folder.resolve("t").toString()),
            List.of("replay", folder.resolve("none").toString()),
            List.of("replay", "--card", "big", folder.toString()));
    for (List<String> arguments : wrong) {
      Result result = run(arguments.toArray(String[]::new));
      assertEquals(2, result.status(), arguments.toString());
      assertEquals("", result.out());
      assertEquals(1, result.err().lines().count(), result.err());
    }
  }
}
