package irdma4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tests that {@code docs/verbs-conformance.md} names are there. */
class VerbsConformanceTest {
  private static final Path PAGE = Path.of("..", "docs", "verbs-conformance.md");
  private static final Pattern NAMED =
      Pattern.compile("`([A-Z]\\w*(?:Test|Properties))\\.([a-z]\\w*)`");

  private static Set<String> tests() throws IOException {
    Set<String> tests = new HashSet<>();
    Pattern method =
        Pattern.compile("@(?:Test|Property|ParameterizedTest)(?s:.*?)\\bvoid (\\w+)\\(");
    try (Stream<Path> files = Files.walk(Path.of("src", "test", "java"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        String type = file.getFileName().toString().replace(".java", "");
        Matcher matcher = method.matcher(Files.readString(file));
        while (matcher.find()) {
          tests.add(type + "." + matcher.group(1));
        }
      }
    }
    return tests;
  }

  /** Fails if a test that the page names is renamed, moved away or only a helper. */
  @Test
  void everyTestThatIsNamedExists() throws IOException {
    Set<String> tests = tests();
    List<String> missing = new ArrayList<>();
    int named = 0;
    Matcher matcher = NAMED.matcher(Files.readString(PAGE));
    while (matcher.find()) {
      named++;
      String test = matcher.group(1) + "." + matcher.group(2);
      if (!tests.contains(test)) {
        missing.add(test);
      }
    }
    assertTrue(named > 100, "tests named: " + named);
    assertEquals(List.of(), missing);
  }

  /** Fails if a row has no answer, or a case stands twice under its heading. */
  @Test
  void everyCaseHasOneAnswer() throws IOException {
    Pattern quoted = Pattern.compile("`(\\w+)`");
    Set<String> seen = new HashSet<>();
    String heading = "";
    int cases = 0;
    for (String line : Files.readAllLines(PAGE)) {
      if (line.startsWith("### ")) {
        heading = line;
      }
      if (!line.startsWith("| `")) {
        continue;
      }
      String[] cells = line.split("\\|", -1);
      assertEquals(4, cells.length, line);
      assertTrue(
          cells[2].startsWith(" `")
              || cells[2].startsWith(" no: ")
              || cells[2].contains("none yet"),
          line);
      Matcher matcher = quoted.matcher(cells[1]);
      while (matcher.find()) {
        cases++;
        assertTrue(seen.add(heading + matcher.group(1)), heading + ": " + matcher.group(1));
      }
    }
    assertEquals(118 + 410, cases);
  }
}
