package irdma4j.cli;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Register;
import irdma4j.hwregs.Registers;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code irdma regs}: the registers, by name or by offset. */
@Command(
    name = "regs",
    mixinStandardHelpOptions = true,
    description = "Lists the card's registers for RDMA, or looks some up.")
final class RegsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "NAME|OFFSET",
      description =
          "Part of a name, or an offset in BAR 0 such as 0x160010 (an element of an array is"
              + " named).")
  private @Nullable String wanted;

  @Option(names = "--json", description = "Print one JSON object a register.")
  private boolean json;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    String text = wanted;
    if (text != null && !text.isEmpty() && Character.isDigit(text.charAt(0))) {
      int offset = offset(text);
      Register register = Registers.at(offset);
      if (register == null
          || (register.count() == 1 ? offset != register.offset() : unaligned(register, offset))) {
        throw new UserError("regs: no register is at offset 0x%x".formatted(offset));
      }
      int index = register.count() == 1 ? 0 : (offset - register.offset()) / register.stride();
      print(out, register, register.count() == 1 ? "" : "[" + index + "]", offset);
      out.flush();
      return 0;
    }
    List<Register> found =
        Registers.ALL.stream()
            .filter(
                register -> text == null || register.name().contains(text.toUpperCase(Locale.ROOT)))
            .toList();
    if (found.isEmpty()) {
      throw new UserError("regs: no register's name contains '" + text + "'");
    }
    for (Register register : found) {
      String range = register.count() == 1 ? "" : "[0.." + (register.count() - 1) + "]";
      print(out, register, range, register.offset());
    }
    out.flush();
    return 0;
  }

  private static boolean unaligned(Register register, int offset) {
    return (offset - register.offset()) % register.stride() != 0;
  }

  private static int offset(String text) {
    try {
      return Integer.decode(text);
    } catch (NumberFormatException e) {
      throw new UserError("regs: '" + text + "' is no offset; write it as 0x500880");
    }
  }

  private void print(PrintWriter out, Register register, String index, int offset) {
    if (json) {
      String fields =
          register.fields().stream().map(RegsCommand::json).collect(Collectors.joining(","));
      out.printf(
          "{\"name\":%s,\"offset\":\"0x%08x\",\"count\":%d,\"stride\":%d,\"meaning\":%s,\"fields\":[%s]}%n",
          FieldTable.quote(register.name() + index),
          offset,
          register.count(),
          register.stride(),
          FieldTable.quote(register.meaning()),
          fields);
      return;
    }
    out.printf("0x%08x  %-28s %s%n", offset, register.name() + index, register.meaning());
    if (wanted != null) {
      for (Field field : register.fields()) {
        out.printf(
            "            %-7s %-20s %s%n", FieldTable.bits(field), field.name(), field.meaning());
      }
    }
  }

  private static String json(Field field) {
    return "{\"name\":%s,\"high\":%d,\"low\":%d,\"meaning\":%s}"
        .formatted(
            FieldTable.quote(field.name()),
            field.shift() + field.width() - 1,
            field.shift(),
            FieldTable.quote(field.meaning()));
  }
}
