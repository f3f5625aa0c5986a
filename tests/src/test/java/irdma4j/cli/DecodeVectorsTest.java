package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * {@code irdma decode} over the bytes of the reference vectors: each field that it prints is what
 * stands in the bits that it names. Fails if a value is cut, taken from elsewhere or left out.
 */
class DecodeVectorsTest {
  private static final int QUANTUM_DIGITS = 64;
  private static final int WORD = 8;

  private record Expectation(String field, long value) {}

  private record Case(String hex, List<Expectation> expected) {}

  static Stream<Arguments> kinds() {
    return Stream.of(
        kind("cqp", "cqp_wqe", vector -> output(vector, "wqe")),
        kind("sq", "sq_wqe_kernel", DecodeVectorsTest::sendWqe),
        kind("rq", "rq_wqe_kernel", vector -> output(vector, "wqe")),
        kind("cqe", "cq_kernel", vector -> input(vector, "cqe")),
        kind("aeqe", "aeqe", DecodeVectorsTest::event),
        kind("ceqe", "ceqe", DecodeVectorsTest::completionEvents),
        kind("ccqe", "ccq", DecodeVectorsTest::controlCompletion),
        kind(
            "roce-context",
            "qp_ctx",
            vector ->
                vector.function().equals("irdma_sc_qp_setctx_roce")
                    ? output(vector, "ctx")
                    : List.of()),
        kind(
            "iwarp-context",
            "qp_ctx",
            vector ->
                vector.function().equals("irdma_sc_qp_setctx") ? output(vector, "ctx") : List.of()),
        kind("fpm-query", "hmc", vector -> input(vector, "query_buf")),
        kind("fpm-commit", "hmc", vector -> output(vector, "commit_out")));
  }

  private static Arguments kind(String kind, String file, Function<Vector, List<Case>> cases) {
    return Arguments.of(kind, file, cases);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void everyFieldIsWhatStandsInItsBits(
      String kind, String file, Function<Vector, List<Case>> from) {
    List<Case> cases =
        VectorSuite.read(file).stream().flatMap(v -> from.apply(v).stream()).toList();
    assertFalse(cases.isEmpty());
    StringBuilder lines = new StringBuilder();
    cases.forEach(one -> lines.append(one.hex()).append('\n'));
    CommandLine command =
        Main.commandLine(
            new ByteArrayInputStream(lines.toString().getBytes(StandardCharsets.UTF_8)));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    assertEquals(0, command.execute("decode", "--json", kind, "-"), err.toString());
    List<String> printed = out.toString().lines().toList();
    assertEquals(cases.size(), printed.size());
    for (int i = 0; i < cases.size(); i++) {
      check(cases.get(i), Json.parse(printed.get(i)));
    }
  }

  private static void check(Case one, Json printed) {
    byte[] bytes = HexFormat.of().parseHex(one.hex());
    List<Json> fields = printed.list("fields");
    assertFalse(fields.isEmpty());
    for (Json field : fields) {
      int at = field.integer("byte");
      BigInteger word = BigInteger.ZERO;
      for (int i = Math.min(WORD, bytes.length - at) - 1; i >= 0; i--) {
        word = word.shiftLeft(8).or(BigInteger.valueOf(bytes[at + i] & 0xff));
      }
      int low = field.integer("low");
      int width = field.integer("high") - low + 1;
      BigInteger value =
          word.shiftRight(low).and(BigInteger.ONE.shiftLeft(width).subtract(BigInteger.ONE));
      assertEquals(value.longValue(), field.number("value"), field + " of " + one.hex());
    }
    for (Expectation expectation : one.expected()) {
      assertTrue(
          fields.stream()
              .anyMatch(
                  field ->
                      field.text("name").equals(expectation.field())
                          && field.number("value") == expectation.value()),
          expectation + " in " + printed);
    }
  }

  private static List<Case> output(Vector vector, String name) {
    return vector.out().has(name)
        ? List.of(new Case(vector.out().text(name), List.of()))
        : List.of();
  }

  private static List<Case> input(Vector vector, String name) {
    return vector.in().has(name) ? List.of(new Case(vector.in().text(name), List.of())) : List.of();
  }

  /** Without the NOPs that fill the chunk before it. */
  private static List<Case> sendWqe(Vector vector) {
    if (!vector.out().has("quanta") || vector.out().get("quanta").list().isEmpty()) {
      return List.of();
    }
    StringBuilder hex = new StringBuilder();
    vector.out().list("quanta").forEach(quantum -> hex.append(quantum.text()));
    while (hex.length() > QUANTUM_DIGITS && opcode(hex) == 0x0c) {
      hex.delete(0, QUANTUM_DIGITS);
    }
    return List.of(new Case(hex.toString(), List.of(new Expectation("OPCODE", opcode(hex)))));
  }

  /** Bits 37 to 32 of the header word. */
  private static int opcode(StringBuilder hex) {
    return Integer.parseInt(hex.substring(56, 58), 16) & 0x3f;
  }

  private static List<Case> event(Vector vector) {
    if (!vector.in().has("aeqe")) {
      return List.of();
    }
    List<Expectation> expected = new ArrayList<>();
    if (vector.out().has("ae_id")) {
      expected.add(new Expectation("AECODE", vector.out().number("ae_id")));
    }
    return List.of(new Case(vector.in().text("aeqe"), expected));
  }

  private static List<Case> completionEvents(Vector vector) {
    if (!vector.in().has("ceq_ring")) {
      return List.of();
    }
    String ring = vector.in().text("ceq_ring");
    List<Case> cases = new ArrayList<>();
    for (int at = 0; at < ring.length(); at += 2 * WORD) {
      cases.add(new Case(ring.substring(at, at + 2 * WORD), List.of()));
    }
    return cases;
  }

  private static List<Case> controlCompletion(Vector vector) {
    if (!vector.in().has("cqe")) {
      return List.of();
    }
    List<Expectation> expected = new ArrayList<>();
    Json out = vector.out();
    if (out.has("op_ret_val")) {
      expected.add(new Expectation("OPRETVAL", out.number("op_ret_val")));
      expected.add(new Expectation("ERROR", out.number("error")));
      expected.add(new Expectation("MINERR", out.number("min_err_code")));
    }
    return List.of(new Case(vector.in().text("cqe"), expected));
  }
}
