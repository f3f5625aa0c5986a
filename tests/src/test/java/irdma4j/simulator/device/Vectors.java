package irdma4j.simulator.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/** The recorded bytes of Linux's driver, line by line, and the flat values in a line. */
final class Vectors {
  private Vectors() {}

  /** The lines of a file that contain a text. */
  static List<String> lines(String file, String containing) {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(open(file)), StandardCharsets.UTF_8))) {
      return reader.lines().filter(line -> line.contains(containing)).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(file, e);
    }
  }

  private static InputStream open(String file) throws IOException {
    String folder = System.getProperty("irdma4j.vectors");
    if (folder != null) {
      return Files.newInputStream(Path.of(folder, file));
    }
    InputStream found = Vectors.class.getResourceAsStream("/vectors/" + file);
    if (found == null) {
      throw new IOException("no resource /vectors/" + file);
    }
    return found;
  }

  /** The text after a name, or null. */
  static String text(String object, String name) {
    Matcher matcher = Pattern.compile('"' + name + "\": ?\"([^\"]*)\"").matcher(object);
    return matcher.find() ? matcher.group(1) : null;
  }

  /** The number after a name, written in hexadecimal or decimal. */
  static long number(String object, String name) {
    Matcher matcher = Pattern.compile('"' + name + "\": ?\"?(0x[0-9a-f]+|[0-9]+)").matcher(object);
    if (!matcher.find()) {
      throw new IllegalArgumentException(name + " in " + object);
    }
    String digits = matcher.group(1);
    return digits.startsWith("0x")
        ? Long.parseUnsignedLong(digits.substring(2), 16)
        : Long.parseLong(digits);
  }

  static byte[] bytes(String object, String name) {
    return HexFormat.of().parseHex(text(object, name));
  }
}
