package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** {@code irdma decode} and {@code irdma regs}, as a user calls them. */
class DecodeCommandTest {
  private record Result(int status, String out, String err) {}

  private static Result run(String... arguments) {
    return runWith("", arguments);
  }

  private static Result runWith(String input, String... arguments) {
    CommandLine command =
        Main.commandLine(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Result(command.execute(arguments), out.toString(), err.toString());
  }

  private static void oneLine(String expected, String... arguments) {
    Result result = run(arguments);
    assertEquals(2, result.status());
    assertEquals("", result.out());
    assertEquals(expected, result.err().strip());
  }

  /** The bytes are those of a vector: QP 0x1a5a5 of type 5 that is to be created. */
  @Test
  void theOpcodePicksTheLayout() {
    String wqe =
        "0000000000000000000000000000000000000000000000a5a5a501000000050800000000"
            + "000000000000000000000000000000000000000000000000000000000000";
    Result result = run("decode", "cqp", wqe.substring(0, 128));
    assertEquals(0, result.status(), result.err());
    assertTrue(result.out().startsWith("cqp/create-qp: "), result.out());
  }

  @Test
  void eventNamesItsCode() {
    Result result = run("decode", "--json", "aeqe", "0000000000000000" + "0000000008040080");
    assertEquals(0, result.status(), result.err());
    assertTrue(result.out().contains("\"name\":\"AECODE\",\"byte\":8,\"high\":45,\"low\":34"));
    assertTrue(result.out().contains("\"value\":\"0x102\",\"says\":\"AMP_UNALLOCATED_STAG\""));
  }

  @Test
  void registerByNameAndByOffset() {
    Result value = run("decode", "pfpe_cqptail", "0x80000003");
    assertTrue(value.out().contains("CQP_OP_ERR"), value.out());
    Result element = run("regs", "0x160010");
    assertTrue(element.out().startsWith("0x00160010  GLINT_DYN_CTL[4]"), element.out());
    assertEquals(0, run("regs").status());
  }

  @Test
  void standardInputHasOneStructureALine() {
    String ceqe = "00000000000000" + "80";
    Result two = runWith(ceqe + "\n\n0x" + ceqe + "\n", "decode", "--json", "ceqe", "-");
    assertEquals(0, two.status(), two.err());
    assertEquals(2, two.out().lines().count(), two.out());
    Result wrong = runWith(ceqe + "\n00\n" + ceqe, "decode", "--json", "ceqe", "-");
    assertEquals(2, wrong.status());
    assertEquals(1, wrong.out().lines().count(), wrong.out());
    assertEquals("irdma: line 2: decode ceqe: expected 8 bytes, got 1", wrong.err().strip());
  }

  @Test
  void mistakesAreOneLine() {
    oneLine("irdma: decode cqe: expected 32 bytes, got 1", "decode", "cqe", "00");
    oneLine(
        "irdma: decode ceqe: not bytes in hex, two digits each: 'xyz'", "decode", "ceqe", "xyz");
    oneLine(
        "irdma: decode: no kind is called 'cqx'; irdma decode lists them", "decode", "cqx", "00");
    oneLine("irdma: regs: no register is at offset 0x160011", "regs", "0x160011");
    oneLine("irdma: regs: no register's name contains 'zz'", "regs", "zz");
  }
}
