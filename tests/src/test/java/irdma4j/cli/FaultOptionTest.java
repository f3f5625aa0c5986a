package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/**
 * {@code --fault}: how faults are written, and that the demo ends with each as docs/faults.md says.
 *
 * <p>Fails if a fault is read as another, a wrong one is accepted or not explained, the page and
 * the program differ, memory is left, or a card does not come up again.
 */
class FaultOptionTest {
  private static final Path PAGE = Path.of("..", "docs", "faults.md");
  private static final Pattern ROW = Pattern.compile("\\| `([^`]+)` \\| [^|]+ \\| (.+) \\|");
  private static final int ROWS = 21;

  @TempDir Path folder;

  private record Result(int status, String out, String err) {}

  private static Result run(String... arguments) {
    CommandLine command = Main.commandLine(InputStream.nullInputStream());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Result(command.execute(arguments), out.toString(), err.toString());
  }

  @Test
  void faultsAreRead() {
    assertEquals(
        new FaultSpec(
            1,
            new Fault.FailControlOperation(Moment.next(CqpOpcode.CREATE_QP).nth(3), 0xffff, 258)),
        FaultSpec.parse("1:fail=0xffff.258@create_qp#3", 2));
    assertEquals(
        new FaultSpec(0, new Fault.SurpriseRemoval(Moment.now())), FaultSpec.parse("removal", 1));
    assertEquals(
        new FaultSpec(
            0, new Fault.DelayControlOperation(Moment.next(Occasion.CONTROL_OPERATION), 1_500_000)),
        FaultSpec.parse("delay=1500us", 1));
    assertEquals(
        new FaultSpec(0, new Fault.CorruptDescriptor(Moment.next(Occasion.PBLE).nth(9), 1L << 63)),
        FaultSpec.parse("corrupt=0x8000000000000000@pble#9", 1));
    assertEquals(
        new FaultSpec(0, new Fault.DeviceReset(Moment.next(Occasion.FRAME_SENT).nth(7))),
        FaultSpec.parse("reset@frame-sent#7", 1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | where NAME is fail, delay",
        "nonsense | none of fail, delay",
        "2:fail | '2' is not from 0 to 1",
        "99999999999:fail | is not from 0 to 1",
        "fail=1 | no MAJOR.MINOR such as",
        "fail=0x1ffff.1 | no MAJOR.MINOR such as",
        "fail=99999.1 | not from 0 to 65535",
        "fail@frame-sent | fail comes at control-operation, or a control operation such as CREATE_QP",
        "fail@CREATE_NOTHING | not at 'CREATE_NOTHING'",
        "fail#0 | '0' is not from 1",
        "fail#x | 'x' is not from 1",
        "delay=5 | no time such as 500us",
        "delay=0ms | no time that can pass",
        "delay=999999999999s | no time that can pass",
        "corrupt=0 | no bits",
        "corrupt=0x | no bits",
        "corrupt=0xfffffffffffffffff | no bits",
        "hmc-error=0 | '0' is not from 1",
        "pci-error=4 | pci-error takes no value",
        "cq-overflow@now | cq-overflow comes at completion, not at 'now'",
        "reset@@now | it is written [FUNCTION:]NAME"
      })
  void wrongOnesAreExplained(String fault, String why) {
    UserError error = assertThrows(UserError.class, () -> FaultSpec.parse(fault, 2));
    assertTrue(error.getMessage().startsWith("--fault " + fault + ":"), error::getMessage);
    assertTrue(
        error.getMessage().contains(why.equals("no bits") ? "not the bits to invert" : why),
        error::getMessage);
  }

  @Test
  void aCardIsNotToldToFail() {
    Result result =
        run("demo", "--device", "pci:0000:00:1f.0", "--device", "pci:0000:00:1f.1", "--fault=fail");
    assertEquals(2, result.status());
    assertTrue(result.err().contains("--fault"), result::err);
  }

  @Test
  void oneThatDoesNotStrikeIsNamed() throws IOException {
    Path file = Files.write(folder.resolve("data"), new byte[1000]);
    Result result =
        run("demo", "--seed", "1", "--fault", "1:reset@frame-sent#999999", file.toString());
    assertEquals(0, result.status(), result::out);
    assertTrue(result.out().contains("Faults that found no occasion: 1"), result::out);
  }

  @TestFactory
  Stream<DynamicTest> asThePageSays() throws IOException {
    Path file = Files.write(folder.resolve("data"), new byte[300_000]);
    List<Matcher> rows =
        Files.readAllLines(PAGE).stream().map(ROW::matcher).filter(Matcher::matches).toList();
    assertEquals(ROWS, rows.size());
    return rows.stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.group(1), () -> demo(file, row.group(1), row.group(2))));
  }

  private static void demo(Path file, String fault, String reports) {
    Result result = run("demo", "--seed", "1", "--fault", fault, file.toString());
    assertEquals("", result.err());
    if (reports.startsWith("nothing")) {
      assertEquals(0, result.status(), result::out);
      assertEquals(
          reports.startsWith("nothing in the demo"),
          result.out().contains("no occasion"),
          result::out);
      return;
    }
    assertEquals(1, result.status(), result::out);
    String message = reports.substring(1, reports.length() - 1);
    assertTrue(result.out().contains(message), result::out);
    for (String side : new String[] {"A", "B"}) {
      assertTrue(result.out().contains("DMA memory left in " + side + ": 0 bytes"), result::out);
      assertTrue(result.out().contains("Function " + side + " came up again"), result::out);
    }
  }
}
