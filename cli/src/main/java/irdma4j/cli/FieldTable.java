package irdma4j.cli;

import irdma4j.hwregs.Decoded;
import irdma4j.hwregs.Field;
import java.io.PrintWriter;

/** The fields of one structure or register and their values, as a table or as JSON. */
final class FieldTable {
  private final Decoded decoded;

  FieldTable(Decoded decoded) {
    this.decoded = decoded;
  }

  void print(PrintWriter out) {
    out.println(decoded.kind() + ": " + decoded.meaning());
    out.printf("  %4s  %-7s %-22s %-18s %s%n", "byte", "bits", "field", "value", "meaning");
    for (Decoded.Value row : decoded.values()) {
      String condition = row.field().when().isEmpty() ? "" : " (if " + row.field().when() + ")";
      String says = row.says().isEmpty() ? "" : " = " + row.says();
      out.printf(
          "  %4d  %-7s %-22s %-18s %s%s%s%n",
          row.offset(),
          bits(row.field()),
          row.field().name(),
          "0x" + Long.toHexString(row.value()),
          row.field().meaning(),
          condition,
          says);
    }
  }

  void printJson(PrintWriter out) {
    StringBuilder text = new StringBuilder();
    text.append("{\"kind\":").append(quote(decoded.kind()));
    text.append(",\"meaning\":").append(quote(decoded.meaning())).append(",\"fields\":[");
    String separator = "";
    for (Decoded.Value row : decoded.values()) {
      text.append(separator)
          .append("{\"name\":")
          .append(quote(row.field().name()))
          .append(",\"byte\":")
          .append(row.offset())
          .append(",\"high\":")
          .append(row.field().shift() + row.field().width() - 1)
          .append(",\"low\":")
          .append(row.field().shift())
          .append(",\"value\":")
          .append(quote("0x" + Long.toHexString(row.value())))
          .append(",\"says\":")
          .append(quote(row.says()))
          .append(",\"meaning\":")
          .append(quote(row.field().meaning()))
          .append(",\"if\":")
          .append(quote(row.field().when()))
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
}
