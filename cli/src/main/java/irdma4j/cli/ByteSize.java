package irdma4j.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number of bytes as people write it: {@code 4096}, {@code 64K}, {@code 256M}, {@code 1G}. */
final class ByteSize implements ITypeConverter<Long> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,18})([KMG]?)(?:iB|B)?");

  @Override
  public Long convert(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new TypeConversionException(
          "'" + text + "' is not a size: give bytes, or a number with K, M or G, such as 256M");
    }
    int shift =
        switch (form.group(2)) {
          case "K" -> 10;
          case "M" -> 20;
          case "G" -> 30;
          default -> 0;
        };
    long number = Long.parseLong(form.group(1));
    if (number > Long.MAX_VALUE >> shift) {
      throw new TypeConversionException("'" + text + "' is more than 64 bits hold");
    }
    return number << shift;
  }

  /** The size in the largest unit that keeps it at or above one. */
  static String format(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    String units = "KMGT";
    int unit = 0;
    double value = bytes / 1024.0;
    while (value >= 1024 && unit < units.length() - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %siB", value, units.charAt(unit));
  }
}
