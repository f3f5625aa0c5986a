package irdma4j.cli;

import irdma4j.hwregs.Decoded;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.Layouts;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Register;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SqWqe;
import irdma4j.hwregs.cqp.CqpWqe;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code irdma decode}: bytes of a hardware structure, field by field. */
@Command(
    name = "decode",
    mixinStandardHelpOptions = true,
    description =
        "Prints a structure that the card and the driver share, field by field. Without arguments:"
            + " the kinds.")
final class DecodeCommand implements Callable<Integer> {
  private static final Pattern SEPARATORS = Pattern.compile("[\\s:_]");
  private static final int MAX_WQE_BYTES = 256;

  private final InputStream input;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "KIND",
      description =
          "A kind such as cqe or cqp/create-qp; sq or cqp, where the opcode in the WQE decides; or"
              + " a register.")
  private @Nullable String kind;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "HEX",
      description =
          "The bytes in the order of memory, in hex; - reads them from standard input, one"
              + " structure a line. Of a register: its value, such as 0x80000003.")
  private @Nullable String hex;

  @Option(names = "--json", description = "Print one JSON object a structure.")
  private boolean json;

  DecodeCommand(InputStream input) {
    this.input = input;
  }

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    if (kind == null) {
      listKinds(out);
      return 0;
    }
    if (hex == null) {
      throw new UserError("decode " + kind + ": give the bytes in hex, or - to read them");
    }
    if (hex.equals("-")) {
      decodeLines(kind, out);
    } else {
      print(decode(kind, hex), out);
    }
    out.flush();
    return 0;
  }

  /** What was right before a wrong line is printed; the error names the line. */
  private void decodeLines(String kind, PrintWriter out) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8));
    int number = 0;
    for (String line; (line = lines.readLine()) != null; ) {
      number++;
      if (!line.isBlank()) {
        FieldTable table;
        try {
          table = decode(kind, line);
        } catch (UserError e) {
          out.flush();
          throw new UserError("line " + number + ": " + e.getMessage());
        }
        print(table, out);
      }
    }
  }

  private void print(FieldTable table, PrintWriter out) {
    if (json) {
      table.printJson(out);
    } else {
      table.print(out);
    }
  }

  private static void listKinds(PrintWriter out) {
    out.printf("%-28s %5s  %s%n", "kind", "bytes", "what it is");
    out.printf("%-28s %5s  %s%n", "sq", "32+", "A send-queue WQE; its opcode decides");
    out.printf("%-28s %5d  %s%n", "cqp", CqpWqe.SIZE, "A control WQE; its opcode decides");
    for (Layout layout : Layouts.all()) {
      out.printf("%-28s %5d  %s%n", layout.name(), layout.size(), layout.meaning());
    }
    out.printf("%-28s %5d  %s%n", "NAME or NAME[i]", 4, "A register; see irdma regs");
    out.flush();
  }

  private static FieldTable decode(String kind, String text) {
    Register register = register(kind);
    if (register != null) {
      return decodeRegister(register, kind, text);
    }
    byte[] bytes = bytes(kind, text);
    // A heap array of longs keeps the words aligned.
    MemorySegment memory = MemorySegment.ofArray(new long[(bytes.length + 7) / 8]);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
    Layout layout = layout(kind, memory, bytes.length);
    return new FieldTable(Decoded.of(layout, memory, bytes.length));
  }

  private static byte[] bytes(String kind, String text) {
    String digits = SEPARATORS.matcher(text.strip()).replaceAll("");
    if (digits.startsWith("0x") || digits.startsWith("0X")) {
      digits = digits.substring(2);
    }
    try {
      return HexFormat.of().parseHex(digits);
    } catch (IllegalArgumentException e) {
      throw new UserError(
          "decode "
              + kind
              + ": not bytes in hex, two digits each: '"
              + (text.length() > 40 ? text.substring(0, 40) + "..." : text)
              + "'");
    }
  }

  private static Layout layout(String kind, MemorySegment memory, int length) {
    Layout layout;
    String name = kind.toLowerCase(Locale.ROOT);
    boolean fragments = name.equals("sq") || name.startsWith("sq/") || name.equals("rq");
    if (fragments) {
      if (length < SqWqe.SIZE || length > MAX_WQE_BYTES || length % SqWqe.SIZE != 0) {
        throw length(kind, "32 bytes, or a multiple of them up to 256", length);
      }
    }
    if (name.equals("sq")) {
      long header = LittleEndian.getLong(memory, 24);
      layout = Layouts.sqWqe(header);
      if (layout == null) {
        throw new UserError(
            "decode sq: no send WQE has opcode 0x%x".formatted(SqWqe.OPCODE.decode(header)));
      }
      return layout;
    }
    if (name.equals("cqp")) {
      if (length != CqpWqe.SIZE) {
        throw length(kind, CqpWqe.SIZE + " bytes", length);
      }
      layout = Layouts.cqpWqe(memory);
      if (layout == null) {
        throw new UserError(
            "decode cqp: no known control WQE has opcode 0x%x"
                .formatted(CqpWqe.OPCODE.get(memory, 0)));
      }
      return layout;
    }
    for (Layout each : Layouts.all()) {
      if (each.name().equals(name)) {
        if (!fragments && length != each.size()) {
          throw length(kind, each.size() + " bytes", length);
        }
        return each;
      }
    }
    String near =
        Layouts.all().stream()
            .map(Layout::name)
            .filter(each -> each.contains(name))
            .collect(Collectors.joining(", "));
    throw new UserError(
        "decode: no kind is called '"
            + kind
            + "'"
            + (near.isEmpty() ? "; irdma decode lists them" : "; did you mean " + near + "?"));
  }

  private static UserError length(String kind, String expected, int length) {
    return new UserError("decode %s: expected %s, got %d".formatted(kind, expected, length));
  }

  private static @Nullable Register register(String kind) {
    String name = kind.replaceFirst("[\\[(]\\d+[\\])]$", "").toUpperCase(Locale.ROOT);
    for (Register register : Registers.ALL) {
      if (register.name().equals(name)) {
        return register;
      }
    }
    return null;
  }

  private static FieldTable decodeRegister(Register register, String kind, String text) {
    String digits = text.strip().replaceFirst("^0[xX]", "");
    long value;
    try {
      value = Long.parseUnsignedLong(digits, 16);
    } catch (NumberFormatException e) {
      value = -1;
    }
    if (value < 0 || value > 0xffffffffL) {
      throw new UserError(
          "decode %s: expected a value of 32 bits in hex, got '%s'".formatted(kind, text.strip()));
    }
    return new FieldTable(Decoded.of(register, kind.toUpperCase(Locale.ROOT), (int) value));
  }
}
