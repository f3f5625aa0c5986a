package irdma4j.cli;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Field;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.cqp.CqpOpcode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The fields of one structure or register and their values, as a table or as JSON. */
final class FieldTable {
  private record Row(Field field, int byteOffset, long value, String says) {}

  private final String kind;
  private final String meaning;
  private final List<Row> rows = new ArrayList<>();

  FieldTable(String kind, String meaning) {
    this.kind = kind;
    this.meaning = meaning;
  }

  /** Adds a field of the structure part that starts at a byte offset. */
  void add(Field field, int base, long word) {
    long value = field.decode(word);
    rows.add(new Row(field, base + field.offset(), value, says(kind, field.name(), (int) value)));
  }

  private List<Row> sorted() {
    return rows.stream()
        .sorted(
            Comparator.comparingInt(Row::byteOffset).thenComparingInt(row -> row.field().shift()))
        .toList();
  }

  void print(PrintWriter out) {
    out.println(kind + ": " + meaning);
    out.printf("  %4s  %-7s %-22s %-18s %s%n", "byte", "bits", "field", "value", "meaning");
    for (Row row : sorted()) {
      String condition = row.field.when().isEmpty() ? "" : " (if " + row.field.when() + ")";
      String says = row.says.isEmpty() ? "" : " = " + row.says;
      out.printf(
          "  %4d  %-7s %-22s %-18s %s%s%s%n",
          row.byteOffset,
          bits(row.field),
          row.field.name(),
          "0x" + Long.toHexString(row.value),
          row.field.meaning(),
          condition,
          says);
    }
  }

  void printJson(PrintWriter out) {
    StringBuilder text = new StringBuilder();
    text.append("{\"kind\":").append(quote(kind));
    text.append(",\"meaning\":").append(quote(meaning)).append(",\"fields\":[");
    String separator = "";
    for (Row row : sorted()) {
      text.append(separator)
          .append("{\"name\":")
          .append(quote(row.field.name()))
          .append(",\"byte\":")
          .append(row.byteOffset)
          .append(",\"high\":")
          .append(row.field.shift() + row.field.width() - 1)
          .append(",\"low\":")
          .append(row.field.shift())
          .append(",\"value\":")
          .append(quote("0x" + Long.toHexString(row.value)))
          .append(",\"says\":")
          .append(quote(row.says))
          .append(",\"meaning\":")
          .append(quote(row.field.meaning()))
          .append(",\"if\":")
          .append(quote(row.field.when()))
          .append('}');
      separator = ",";
    }
    out.println(text.append("]}"));
  }

  static String bits(Field field) {
    int high = field.shift() + field.width() - 1;
    return field.width() == 1 ? Integer.toString(high) : high + ":" + field.shift();
  }

  static String quote(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private static String says(String kind, String field, int value) {
    Object named =
        switch (field) {
          case "OPCODE" -> kind.startsWith("cqp") ? CqpOpcode.of(value) : SqOpcode.of(value);
          case "OP" -> kind.startsWith("cqe") ? SqOpcode.of(value) : null;
          case "AECODE" -> AeCode.of(value);
          case "AESRC" -> AeSource.of(value);
          default -> null;
        };
    return named == null ? "" : named.toString();
  }
}
