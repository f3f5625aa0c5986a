package irdma4j.cli;

import irdma4j.uapi.vfio.SysfsDevice;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
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

/** {@code irdma doctor}: whether this machine can drive a card from user space. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description =
        "Tells whether this machine, and a card in it, can be driven from user space, and what to do"
            + " if not. Exit status 0: ready; 1: not ready.")
final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "BDF",
      description = "The function, such as 0000:3b:00.0; without it, all that could be ours.")
  private @Nullable String address;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Option(names = "--root", hidden = true, description = "The file system's root.")
  private Path root = Path.of("/");

  private record Section(String title, List<Finding> findings) {
    boolean isReady() {
      return findings.stream().noneMatch(one -> one.state() == Finding.State.BAD);
    }
  }

  @Override
  public Integer call() {
    Doctor doctor = new Doctor(root);
    List<Section> sections = new ArrayList<>();
    sections.add(new Section("machine", doctor.machine()));
    List<SysfsDevice> devices =
        address == null
            ? doctor.candidates()
            : List.of(SysfsDevice.of(root, PciAddress.normal(address)));
    for (SysfsDevice device : devices) {
      sections.add(new Section(device.address(), doctor.function(device)));
    }
    boolean anyCard = sections.stream().skip(1).anyMatch(Section::isReady);
    boolean ready = sections.getFirst().isReady() && anyCard;
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      printJson(out, sections, ready);
    } else {
      print(out, sections, ready);
    }
    out.flush();
    return ready ? 0 : 1;
  }

  private static void print(PrintWriter out, List<Section> sections, boolean ready) {
    for (Section section : sections) {
      out.println(section.title());
      for (Finding one : section.findings()) {
        one.lines().forEach(out::println);
      }
    }
    if (sections.size() == 1) {
      out.println("no card of the E810 family is in this machine");
    }
    out.println(ready ? "ready" : "not ready: the simulator (sim:) works all the same");
  }

  private static void printJson(PrintWriter out, List<Section> sections, boolean ready) {
    out.printf(
        "{\"ready\":%b,\"sections\":[%s]}%n",
        ready,
        sections.stream()
            .map(
                section ->
                    "{\"name\":%s,\"ready\":%b,\"findings\":[%s]}"
                        .formatted(
                            FieldTable.quote(section.title()),
                            section.isReady(),
                            section.findings().stream()
                                .map(DoctorCommand::json)
                                .collect(Collectors.joining(","))))
            .collect(Collectors.joining(",")));
  }

  private static String json(Finding one) {
    return "{\"what\":%s,\"state\":%s,\"text\":%s,\"fix\":%s}"
        .formatted(
            FieldTable.quote(one.what()),
            FieldTable.quote(one.state().name().toLowerCase(Locale.ROOT)),
            FieldTable.quote(one.text()),
            FieldTable.quote(one.fix()));
  }
}
