import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Checks or applies the format of all sources: {@code Format check|apply FOLDER}. */
final class Format {
  private Format() {}

  public static void main(String[] arguments) throws Exception {
    boolean apply = arguments[0].equals("apply");
    Path root = Path.of(arguments[1]);
    Formatter formatter = new Formatter();
    boolean good = true;
    for (Path file : sources(root)) {
      String text = Files.readString(file);
      String formatted =
          formatter.formatSource(
              RemoveUnusedImports.removeUnusedImports(
                  ImportOrderer.reorderImports(text, JavaFormatterOptions.Style.GOOGLE)));
      if (!formatted.equals(text)) {
        if (apply) {
          Files.writeString(file, formatted);
        } else {
          good = false;
          System.err.println("not formatted: " + root.relativize(file));
        }
      }
    }
    if (!good) {
      System.err.println("to format: mvn -q validate -N -Dformat=apply");
      System.exit(1);
    }
  }

  private static List<Path> sources(Path root) throws Exception {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.toString().contains("/target/"))
          .filter(file -> !file.toString().contains("/linux/generated/"))
          .sorted()
          .toList();
    }
  }
}
