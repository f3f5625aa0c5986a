package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.HmcObject;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import picocli.CommandLine;

/** {@code irdma hmc}, as a user calls it. */
class HmcCommandTest {
  private record Result(int status, String out, String err) {}

  private static Result run(String... arguments) {
    CommandLine command = Main.commandLine(InputStream.nullInputStream());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Result(command.execute(arguments), out.toString(), err.toString());
  }

  private static void oneLine(String expected, String... arguments) {
    Result result = run(arguments);
    assertEquals("", result.out());
    assertEquals(expected, result.err().strip());
    assertEquals(2, result.status());
  }

  /** Fails if a kind is missing or has another count than asked for, or a line is too wide. */
  @Test
  void everyKindIsListed() {
    Result result = run("hmc", "--card", "small", "--queue-pairs", "64");
    assertEquals(0, result.status(), result.err());
    assertTrue(
        result.out().startsWith("FPM space of the simulated card small: 18 of 20 segments in use"),
        result.out());
    for (HmcObject kind : HmcObject.values()) {
      assertTrue(
          Pattern.compile("(?m)^" + FpmMap.letter(kind) + " " + kind + " +\\d")
              .matcher(result.out())
              .find(),
          kind.name());
    }
    assertTrue(
        Pattern.compile("(?m)^Q QP +64 +64 +512  0x00000000000").matcher(result.out()).find());
    assertTrue(result.out().lines().allMatch(line -> line.length() <= 120), result.out());
  }

  @Test
  void lettersAreUnlikeEachOther() {
    Set<Character> letters = new HashSet<>();
    for (HmcObject kind : HmcObject.values()) {
      assertTrue(letters.add(FpmMap.letter(kind)), kind.name());
    }
  }

  /**
   * Fails if what was given up, the rule, or the kind of segment does not come from the options.
   */
  @Test
  void optionsReachTheDevice() {
    Result fit =
        run(
            "hmc",
            "--card",
            "small",
            "--segments",
            "9",
            "--queue-pairs",
            "64",
            "--limit",
            "MR=999");
    assertEquals(0, fit.status(), fit.err());
    assertTrue(fit.out().contains("  given up: "), fit.out());
    assertTrue(Pattern.compile("(?m)^M MR +999 ").matcher(fit.out()).find(), fit.out());
    assertTrue(fit.out().contains(" direct, "), fit.out());
    Result linux =
        run(
            "hmc",
            "--card",
            "small",
            "--segments",
            "9",
            "--queue-pairs",
            "64",
            "--sizing",
            "linux",
            "--profile",
            "FAVOR-VF",
            "--paged");
    assertEquals(0, linux.status(), linux.err());
    assertFalse(linux.out().contains("given up"), linux.out());
    assertTrue(linux.out().contains(" paged, 512 of 512 pages, "), linux.out());
  }

  /** Fails if an address is answered with another object than the list puts there. */
  @Test
  void addressesAreAnswered() {
    // One queue pair puts the APBVT where its size does not divide the address.
    Result list = run("hmc", "--card", "small", "--queue-pairs", "1");
    Matcher row = Pattern.compile("(?m)^B APBVT .*  0x(\\w+) 0x").matcher(list.out());
    assertTrue(row.find());
    long base = Long.parseLong(row.group(1), 16);
    assertTrue(base % 8192 != 0);
    Result answer =
        run(
            "hmc",
            "--card",
            "small",
            "--queue-pairs",
            "1",
            "--address",
            "0x%x".formatted(base + 4101),
            "--address",
            Long.toString(16L << 21));
    assertEquals(0, answer.status(), answer.err());
    List<String> lines = answer.out().lines().toList();
    assertEquals(2, lines.size());
    assertTrue(
        lines
            .get(0)
            .matches(
                "0x%x: APBVT 0, byte 4101 of 8192; segment 0, page %d; IOVA 0x\\w+"
                    .formatted(base + 4101, (base + 4101) >> 12)),
        lines.get(0));
    assertTrue(
        lines.get(1).contains("PBLE ") && lines.get(1).endsWith("; no memory"), lines.get(1));
  }

  /** Fails if the picture is no XML, leaves a kind out, or says other things than the text. */
  @Test
  void thePictureIsWellFormedAndComplete(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("fpm.svg");
    Result result = run("hmc", "--card", "small", "--segments", "9", "--svg", file.toString());
    assertEquals(0, result.status(), result.err());
    Document document =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    assertEquals("svg", document.getDocumentElement().getNodeName());
    String picture = document.getDocumentElement().getTextContent();
    for (HmcObject kind : HmcObject.values()) {
      assertTrue(picture.contains(kind.meaning()), kind.meaning());
      assertTrue(
          Pattern.compile(kind + ", bytes 0x\\w+ to 0x\\w+ of segment ").matcher(picture).find(),
          kind.name());
    }
    result
        .out()
        .lines()
        .filter(line -> line.startsWith("  given up: "))
        .forEach(line -> assertTrue(picture.contains(line.substring(12)), line));
  }

  /**
   * Fails if a virtual function is missing from the text or the picture, has other queue pairs than
   * asked for, or is answered for with another one's memory.
   */
  @Test
  void virtualFunctionsAreShownToo(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("fpm.svg");
    List<String> backing =
        List.of("hmc", "--queue-pairs", "64", "--vfs", "2", "--vf-queue-pairs", "32");
    List<String> drawing = new ArrayList<>(backing);
    drawing.addAll(List.of("--svg", file.toString()));
    Result result = run(drawing.toArray(String[]::new));
    assertEquals(0, result.status(), result.err());
    List<String> headings =
        List.of(
            "FPM space of the simulated card e810",
            "FPM space of virtual function 0 (HMC function 8)",
            "FPM space of virtual function 1 (HMC function 9)");
    Document document =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    String picture = document.getDocumentElement().getTextContent();
    int at = 0;
    for (String heading : headings) {
      at = result.out().indexOf(heading + ": ", at);
      assertTrue(at >= 0, result.out());
      String space = result.out().substring(at).split("\nFPM space of ", 2)[0];
      String queuePairs = heading.contains("virtual") ? "32" : "64";
      assertTrue(
          Pattern.compile("(?m)^Q QP +%1$s +%1$s +512 ".formatted(queuePairs))
              .matcher(space)
              .find(),
          space);
      assertTrue(picture.contains(heading), heading);
    }
    List<String> asking = new ArrayList<>(backing);
    asking.addAll(
        List.of("--address", "0x400", "--address", "vf0:0x400", "--address", "vf1:0x400"));
    Result answers = run(asking.toArray(String[]::new));
    assertEquals(0, answers.status(), answers.err());
    List<String> lines = answers.out().lines().toList();
    Set<String> memory = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      String name = i == 0 ? "0x400" : "vf" + (i - 1) + ":0x400";
      assertTrue(lines.get(i).startsWith(name + ": QP 2, byte 0 of 512;"), lines.get(i));
      memory.add(lines.get(i).split("IOVA ", 2)[1]);
    }
    assertEquals(3, memory.size(), answers.out());
  }

  @Test
  void mistakesAreOneLine(@TempDir Path folder) {
    oneLine("irdma: --card x: e810 or small", "hmc", "--card", "x");
    oneLine("irdma: --segments 0: 1 to 4096", "hmc", "--segments", "0");
    oneLine("irdma: --queue-pairs 0: at least 1", "hmc", "--queue-pairs", "0");
    oneLine("irdma: --vfs 33: 0 to 32", "hmc", "--vfs", "33");
    oneLine("irdma: --vf-queue-pairs 0: at least 1", "hmc", "--vf-queue-pairs", "0");
    oneLine("irdma: --address vf1:0: --vfs is 1", "hmc", "--vfs", "1", "--address", "vf1:0");
    oneLine(
        "irdma: hmc: virtual function 0: the card offers no queue pair",
        "hmc",
        "--card",
        "small",
        "--queue-pairs",
        "4",
        "--vfs",
        "8");
    oneLine("irdma: --sizing max: one of fit, linux", "hmc", "--sizing", "max");
    oneLine("irdma: --profile vf: one of default, favor-vf, equal", "hmc", "--profile", "vf");
    oneLine("irdma: --limit APBVT=2: from 0 to 0", "hmc", "--limit", "APBVT=2");
    oneLine(
        "irdma: --address 'x' is no address; write it as 0x201000 or vf1:0x201000",
        "hmc",
        "--address",
        "x");
    oneLine(
        "irdma: --address 0x7000000000: no object lies there; the space has 18 segments, to"
            + " 0x23fffff",
        "hmc",
        "--card",
        "small",
        "--queue-pairs",
        "64",
        "--address",
        "0x7000000000");
    oneLine(
        "irdma: hmc: no object counts fit: 58 segments are needed and the card has 32",
        "hmc",
        "--segments",
        "32",
        "--sizing",
        "linux",
        "--queue-pairs",
        "128");
    oneLine("irdma: --svg " + folder + ": that is a folder", "hmc", "--svg", folder.toString());
    assertFalse(Files.exists(folder.resolve("x")));
  }
}
