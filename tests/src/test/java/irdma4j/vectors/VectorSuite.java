package irdma4j.vectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/**
 * Runs the product on every case of a vector file and accounts for each of them.
 *
 * <p>The files are in the test resources; the system property {@code irdma4j.vectors} names another
 * folder with files of the same names.
 */
public final class VectorSuite {
  private static final int SHOWN = 20;

  private VectorSuite() {}

  /**
   * Runs all cases of a file.
   *
   * @param file its name without extension
   * @param judge what the product makes of a case; an unknown function is to be an error
   */
  public static void run(String file, Function<Vector, Verdict> judge) {
    List<Vector> cases = read(file);
    Map<String, Integer> refused = new TreeMap<>();
    Map<String, Integer> departed = new TreeMap<>();
    List<String> failures = new ArrayList<>();
    int passed = 0;
    for (Vector vector : cases) {
      try {
        switch (judge.apply(vector)) {
          case Verdict.Passed unused -> passed++;
          case Verdict.Refused(String rule) -> refused.merge(rule, 1, Integer::sum);
          case Verdict.Departed(String reason) -> departed.merge(reason, 1, Integer::sum);
        }
      } catch (AssertionError | RuntimeException e) {
        failures.add(vector.id() + ": " + e);
      }
    }
    int refusals = sum(refused);
    int departures = sum(departed);
    StringBuilder report = new StringBuilder();
    report.append(
        "%s: %d cases: %d passed, %d refused by rule, %d departed, %d failed%n"
            .formatted(file, cases.size(), passed, refusals, departures, failures.size()));
    refused.forEach((rule, count) -> report.append("  refused  %5d  %s%n".formatted(count, rule)));
    departed.forEach(
        (reason, count) -> report.append("  departed %5d  %s%n".formatted(count, reason)));
    System.out.print(report);
    if (!failures.isEmpty()) {
      fail(report + String.join("\n", failures.subList(0, Math.min(SHOWN, failures.size()))));
    }
    assertEquals(cases.size(), passed + refusals + departures, "a case was left out");
  }

  private static int sum(Map<String, Integer> counts) {
    return counts.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** All cases of a file. */
  public static List<Vector> read(String file) {
    List<Vector> cases = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(open(file + ".jsonl.gz")), StandardCharsets.UTF_8))) {
      for (String line; (line = lines.readLine()) != null; ) {
        Json json = Json.parse(line);
        cases.add(new Vector(json.text("id"), json.text("func"), json.get("in"), json.get("out")));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (cases.isEmpty()) {
      fail("no case in " + file);
    }
    return cases;
  }

  private static InputStream open(String name) throws IOException {
    String folder = System.getProperty("irdma4j.vectors");
    if (folder != null) {
      return Files.newInputStream(Path.of(folder, name));
    }
    InputStream stream = VectorSuite.class.getResourceAsStream("/vectors/" + name);
    if (stream == null) {
      throw new IOException("no vectors/" + name + " in the test resources");
    }
    return stream;
  }
}
