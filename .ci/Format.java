import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Checks or applies the format of all sources: {@code Format check|apply FOLDER FORMATTER.jar}.
 * Digests of texts that are formatted lie beside the jar, so only what has changed is read again.
 */
final class Format {
  private static final Formatter FORMATTER = new Formatter();

  private Format() {}

  /** A file: the digest of its text with the formatter, and whether the text is as it should be. */
  private record Verdict(Path file, String digest, boolean good) {}

  public static void main(String[] arguments) throws Exception {
    boolean apply = arguments[0].equals("apply");
    Path root = Path.of(arguments[1]);
    Path jar = Path.of(arguments[2]);
    Path memory = jar.resolveSibling("formatted");
    byte[] formatter = sha256().digest(Files.readAllBytes(jar));
    Set<String> known = Files.exists(memory) ? new HashSet<>(Files.readAllLines(memory)) : Set.of();
    List<Verdict> verdicts =
        sources(root).parallelStream().map(file -> judge(file, formatter, known, apply)).toList();
    List<String> formatted = new ArrayList<>();
    boolean good = true;
    for (Verdict verdict : verdicts) {
      if (verdict.good) {
        formatted.add(verdict.digest);
      } else if (!apply) {
        good = false;
        System.err.println("not formatted: " + root.relativize(verdict.file));
      }
    }
    Files.write(memory, formatted);
    if (!good) {
      System.err.println("to format: mvn -q validate -N -Dformat=apply");
      System.exit(1);
    }
  }

  private static Verdict judge(Path file, byte[] formatter, Set<String> known, boolean apply) {
    try {
      String text = Files.readString(file);
      MessageDigest sha256 = sha256();
      sha256.update(formatter);
      String digest =
          HexFormat.of().formatHex(sha256.digest(text.getBytes(StandardCharsets.UTF_8)));
      if (known.contains(digest)) {
        return new Verdict(file, digest, true);
      }
      String formatted =
          FORMATTER.formatSource(
              RemoveUnusedImports.removeUnusedImports(
                  ImportOrderer.reorderImports(text, JavaFormatterOptions.Style.GOOGLE)));
      if (!formatted.equals(text) && apply) {
        Files.writeString(file, formatted);
      }
      return new Verdict(file, digest, formatted.equals(text));
    } catch (Exception e) {
      throw new IllegalStateException(file + ": " + e.getMessage(), e);
    }
  }

  private static MessageDigest sha256() throws Exception {
    return MessageDigest.getInstance("SHA-256");
  }

  private static List<Path> sources(Path root) throws Exception {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.toString().contains("/target/"))
          .filter(file -> !file.toString().contains("/irdma4j/uapi/linux/"))
          .sorted()
          .toList();
    }
  }
}
