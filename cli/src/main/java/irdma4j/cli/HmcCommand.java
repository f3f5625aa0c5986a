package irdma4j.cli;

import irdma4j.driver.BackedFunction;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.HmcException;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SizingPolicy;
import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.PciFunction;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code irdma hmc}: what lies where in a function's Host Memory Cache. */
@Command(
    name = "hmc",
    mixinStandardHelpOptions = true,
    description =
        "Brings an E810, simulated or real, up and shows its Host Memory Cache: how many objects of each kind"
            + " there are, where they lie in the FPM address space, and what memory is behind it.")
final class HmcCommand implements Callable<Integer> {
  private static final int MAX_SEGMENTS = 4096;
  private static final long MAX_OBJECTS = 0xffff_ffffL;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--device",
      paramLabel = "ADDRESS",
      description = "A card, such as pci:0000:3b:00.0. Default: ${DEFAULT-VALUE}.",
      defaultValue = "sim:0")
  private String device = "sim:0";

  @Mixin private CardOptions cards = new CardOptions();

  @Option(
      names = "--card",
      paramLabel = "NAME",
      description = "The card: e810 or small. Default: ${DEFAULT-VALUE}.",
      defaultValue = "e810")
  private String card = "e810";

  @Option(
      names = "--segments",
      paramLabel = "N",
      description = "Segments of 2 MiB that the card offers, 1 to 4096. Default: the card's.")
  private @Nullable Integer segments;

  @Option(
      names = "--limit",
      paramLabel = "KIND=N",
      description = "The most objects of a kind that the card offers, such as MR=1024. Repeatable.")
  private Map<String, Long> limits = Map.of();

  @Option(
      names = "--queue-pairs",
      paramLabel = "N",
      description = "Queue pairs wanted. Default: ${DEFAULT-VALUE}.",
      defaultValue = "256")
  private int queuePairs;

  @Option(
      names = "--vfs",
      paramLabel = "N",
      description =
          "Virtual functions that the card backs too, 0 to 32. Default: ${DEFAULT-VALUE}.",
      defaultValue = "0")
  private int virtualFunctions;

  @Option(
      names = "--vf-queue-pairs",
      paramLabel = "N",
      description = "Queue pairs wanted for each of them. Default: ${DEFAULT-VALUE}.",
      defaultValue = "16")
  private int virtualQueuePairs;

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      description =
          "How the card's HMC is shared: default, favor-vf or equal. Default: ${DEFAULT-VALUE}.",
      defaultValue = "default")
  private String profile = "default";

  @Option(
      names = "--sizing",
      paramLabel = "RULE",
      description = "The rule for the numbers: fit or linux. Default: ${DEFAULT-VALUE}.",
      defaultValue = "fit")
  private String sizing = "fit";

  @Option(names = "--paged", description = "Back objects by 4 KiB pages, not by 2 MiB blocks.")
  private boolean paged;

  @Option(
      names = "--address",
      paramLabel = "FPM",
      description =
          "Only say what lies at this FPM address, such as 0x201000: object, index, segment, page"
              + " and IOVA; vf1:0x201000 is an address of virtual function 1. Repeatable.")
  private List<String> addresses = List.of();

  @Option(
      names = "--svg",
      paramLabel = "OUT.svg",
      description = "Write the picture to this file too.")
  private @Nullable Path svg;

  @Mixin private WatchOptions watch = new WatchOptions();
  @Mixin private RecordOptions record = new RecordOptions();

  @Override
  public Integer call() throws IOException {
    CardProfile offered = card();
    DeviceConfig config = config();
    List<FpmAddress> wanted = new ArrayList<>();
    for (String address : addresses) {
      wanted.add(FpmAddress.parse(address, virtualFunctions));
    }
    if (svg != null) {
      OutputFile.check("--svg", svg);
    }
    watch.check();
    record.check();
    PrintWriter out = spec.commandLine().getOut();
    switch (DeviceAddress.parse(device)) {
      case DeviceAddress.Card real -> {
        if (segments != null || !limits.isEmpty()) {
          throw new UserError(
              "--segments and --limit are the simulator's; " + real + " has its own");
        }
        if (watch.isGiven()) {
          throw new UserError("--trace and --jfr watch the simulator; " + real + " is none");
        }
        try (PciFunction function = cards.open(real);
            Recording recording = new Recording(record, real.toString(), 1)) {
          show(recording.of(function), config, wanted, real.toString(), "", out);
        }
      }
      case DeviceAddress.Simulated(int number) when number == 0 -> {
        Simulation.Builder builder =
            Simulation.builder().functions(1).seed(1).stepped().profile(offered);
        try (Watching watching = new Watching(watch, out);
            Simulation simulation = watching.build(builder);
            Recording recording = new Recording(record, builder.describe(), 1)) {
          show(
              recording.of(simulation.function(0)),
              config,
              wanted,
              "the simulated card " + card,
              virtualFunctions == 0 ? " of " + offered.maxSegments() : "",
              out);
        }
      }
      case DeviceAddress.Simulated other -> throw new UserError(other + ": only sim:0 is there");
    }
    out.flush();
    return 0;
  }

  private void show(
      PciFunction function,
      DeviceConfig config,
      List<FpmAddress> wanted,
      String name,
      String most,
      PrintWriter out)
      throws IOException {
    try (RdmaDevice opened = open(function, config)) {
      List<FpmSpace> spaces = spaces(opened, name, most);
      if (wanted.isEmpty()) {
        FpmText.print(spaces, out);
      } else {
        wanted.stream().map(at -> at.answer(spaces)).toList().forEach(out::println);
      }
      if (svg != null) {
        Files.writeString(svg, FpmSvg.draw(spaces), StandardCharsets.UTF_8);
      }
    }
  }

  /** The device's own space, then those of the virtual functions in order. */
  private List<FpmSpace> spaces(RdmaDevice opened, String name, String most) {
    List<FpmSpace> spaces = new ArrayList<>();
    for (int vf = 0; vf < virtualFunctions; vf++) {
      BackedFunction backed = back(opened, vf);
      spaces.add(
          FpmSpace.of(
              "virtual function %d (HMC function %d)".formatted(vf, backed.hmcFunction()),
              "",
              backed.hmcView(),
              rule(virtualQueuePairs),
              backed.plan().notes()));
    }
    spaces.addFirst(
        FpmSpace.of(name, most, opened.hmcView(), rule(queuePairs), opened.hmcPlan().notes()));
    return spaces;
  }

  private String rule(int wanted) {
    return "sizing %s for %d queue pairs".formatted(sizing, wanted);
  }

  private BackedFunction back(RdmaDevice opened, int vf) {
    try {
      return opened.backFunction(vf, new HmcRequest(virtualQueuePairs, config().profile(), false));
    } catch (HmcException | RdmaException e) {
      throw new UserError("hmc: virtual function %d: %s".formatted(vf, e.getMessage()));
    }
  }

  private static RdmaDevice open(PciFunction function, DeviceConfig config) {
    try {
      return RdmaDevice.open(function, config, StageListener.none());
    } catch (RdmaException e) {
      Throwable cause = e.getCause();
      throw new UserError("hmc: " + (cause == null ? e : cause).getMessage());
    }
  }

  private DeviceConfig config() {
    if (queuePairs < 1) {
      throw new UserError("--queue-pairs " + queuePairs + ": at least 1");
    }
    if (virtualFunctions < 0 || virtualFunctions > DeviceConfig.MAX_VIRTUAL_FUNCTIONS) {
      throw new UserError(
          "--vfs %d: 0 to %d".formatted(virtualFunctions, DeviceConfig.MAX_VIRTUAL_FUNCTIONS));
    }
    if (virtualQueuePairs < 1) {
      throw new UserError("--vf-queue-pairs " + virtualQueuePairs + ": at least 1");
    }
    return DeviceConfig.defaults()
        .withSeed(1)
        .withQueuePairs(queuePairs)
        .withVirtualFunctions(virtualFunctions)
        .withProfile(choice("--profile", HmcProfile.values(), profile))
        .withSizing(choice("--sizing", SizingPolicy.values(), sizing))
        .withSegmentType(paged ? SegmentType.PAGED : SegmentType.DIRECT);
  }

  private CardProfile card() {
    CardProfile offered =
        switch (card) {
          case "e810" -> CardProfile.e810();
          case "small" -> CardProfile.small();
          default -> throw new UserError("--card " + card + ": e810 or small");
        };
    Integer count = segments;
    if (count != null) {
      if (count < 1 || count > MAX_SEGMENTS) {
        throw new UserError("--segments " + count + ": 1 to " + MAX_SEGMENTS);
      }
      offered = offered.withMaxSegments(count);
    }
    Map<HmcObject, Long> changes = new EnumMap<>(HmcObject.class);
    limits.forEach((name, most) -> changes.put(choice("--limit", HmcObject.values(), name), most));
    for (Map.Entry<HmcObject, Long> change : changes.entrySet()) {
      HmcObject kind = change.getKey();
      long most = kind.maximum() == null ? 0 : Math.min(MAX_OBJECTS, largest(kind));
      if (change.getValue() < 0 || change.getValue() > most) {
        throw new UserError("--limit %s=%d: from 0 to %d".formatted(kind, change.getValue(), most));
      }
      offered = offered.withLimit(kind, change.getValue());
    }
    return offered;
  }

  private static long largest(HmcObject kind) {
    var field = kind.maximum();
    return field == null ? 0 : (1L << field.width()) - 1;
  }

  private static <E extends Enum<E>> E choice(String option, E[] values, String text) {
    List<String> names = new ArrayList<>();
    for (E value : values) {
      String name = value.name().toLowerCase(Locale.ROOT).replace('_', '-');
      if (name.equalsIgnoreCase(text)) {
        return value;
      }
      names.add(name);
    }
    throw new UserError("%s %s: one of %s".formatted(option, text, String.join(", ", names)));
  }
}
