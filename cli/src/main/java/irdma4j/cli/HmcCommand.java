package irdma4j.cli;

import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.FpmLocation;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcView;
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
              + " and IOVA. Repeatable.")
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
    List<Long> wanted = new ArrayList<>();
    for (String address : addresses) {
      wanted.add(address(address));
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
              " of " + offered.maxSegments(),
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
      List<Long> wanted,
      String name,
      String most,
      PrintWriter out)
      throws IOException {
    try (RdmaDevice opened = open(function, config)) {
      HmcView hmc = opened.hmcView();
      List<String> notes = opened.hmcPlan().notes();
      FpmMap map = FpmMap.of(hmc);
      String title = title(map, name, most);
      if (wanted.isEmpty()) {
        out.println(title);
        notes.forEach(note -> out.println("  given up: " + note));
        out.println();
        FpmText.print(map, out);
      } else {
        List<String> answers = wanted.stream().map(address -> answer(hmc, address)).toList();
        answers.forEach(out::println);
      }
      if (svg != null) {
        Files.writeString(svg, FpmSvg.draw(map, title, notes), StandardCharsets.UTF_8);
      }
    }
  }

  private String title(FpmMap map, String name, String most) {
    return String.format(
        Locale.ROOT,
        "FPM space of %s: %d%s segments in use, %d backed (%s); sizing %s for %d queue pairs",
        name,
        map.segments(),
        most,
        map.backedSegments(),
        ByteSize.format(map.backedBytes()),
        sizing,
        queuePairs);
  }

  private static RdmaDevice open(PciFunction function, DeviceConfig config) {
    try {
      return RdmaDevice.open(function, config, StageListener.none());
    } catch (RdmaException e) {
      Throwable cause = e.getCause();
      throw new UserError("hmc: " + (cause == null ? e : cause).getMessage());
    }
  }

  private static String answer(HmcView hmc, long address) {
    FpmLocation at = hmc.locate(address);
    if (at == null) {
      throw new UserError(
          "--address 0x%x: no object lies there; the space has %d segments, to 0x%x"
              .formatted(
                  address, hmc.layout().segments(), hmc.layout().segments() * FpmMap.SEGMENT - 1));
    }
    HmcLayout.Area area = hmc.layout().of(at.kind());
    return "0x%x: %s %d, byte %d of %d; segment %d, page %d; %s"
        .formatted(
            address,
            at.kind(),
            at.index(),
            (address - area.base()) % area.size(),
            area.size(),
            at.segment(),
            at.page(),
            at.iova() == 0 ? "no memory" : "IOVA 0x%x".formatted(at.iova()));
  }

  private static long address(String text) {
    try {
      long address = Long.decode(text);
      if (address >= 0) {
        return address;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new UserError("--address '" + text + "' is no address; write it as 0x201000");
  }

  private DeviceConfig config() {
    if (queuePairs < 1) {
      throw new UserError("--queue-pairs " + queuePairs + ": at least 1");
    }
    return DeviceConfig.defaults()
        .withSeed(1)
        .withQueuePairs(queuePairs)
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
