package irdma4j.cli;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code irdma demo}: two cards, simulated or real, come up from cold and move a file by RDMA. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description =
        "Brings two simulated E810s up from cold, moves a file from one to the other by RDMA WRITE"
            + " and back by RDMA READ, and compares SHA-256 of all three copies.")
final class DemoCommand implements Callable<Integer> {
  private static final long MAX_BYTES = 1L << 30;
  private static final long MOST_RECORDED = 8L << 20;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "FILE",
      description = "The file to move. Default: the JDK's own modules file.")
  private @Nullable Path file;

  @Option(
      names = "--size",
      paramLabel = "BYTES",
      converter = ByteSize.class,
      description =
          "How much to move, such as 256M: the beginning of the file, or the file over and over."
              + " Default: the whole file. At most 1G.")
  private @Nullable Long size;

  @Option(
      names = "--pcap",
      paramLabel = "OUT.pcapng",
      description = "Write every frame on the wire to this file.")
  private @Nullable Path pcap;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description =
          "Run in virtual time, with all chance from this seed: the same seed gives the same frames"
              + " at the same times.")
  private @Nullable Long seed;

  @Option(
      names = "--device",
      paramLabel = "ADDRESS",
      description =
          "Given twice: the two functions, such as pci:0000:3b:00.0 and pci:0000:3b:00.1, their"
              + " ports joined by a cable. Default: sim:0 and sim:1.")
  private List<String> devices = List.of();

  @Mixin private WireOptions wire = new WireOptions();
  @Mixin private FaultOptions faults = new FaultOptions();
  @Mixin private CardOptions cards = new CardOptions();

  @Mixin private WatchOptions watch = new WatchOptions();
  @Mixin private RecordOptions record = new RecordOptions();

  @Override
  public Integer call() throws IOException {
    DemoOptions options = check();
    PrintWriter out = spec.commandLine().getOut();
    return new Demo(options, out, isTerminal()).run() ? 0 : 1;
  }

  /** Whether a console is there when nothing is a terminal differs from one JDK to the next. */
  @SuppressWarnings("SystemConsoleNull")
  private static boolean isTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  private DemoOptions check() throws IOException {
    wire.check();
    List<DeviceAddress> pair = pair();
    List<FaultSpec> wrong = faults.parse(pair.size());
    watch.check();
    record.check();
    if (record.isGiven() && faults.isGiven()) {
      throw new UserError("--record and --fault: a replay knows nothing of faults");
    }
    Path source = file != null ? file : Path.of(System.getProperty("java.home"), "lib", "modules");
    if (!Files.exists(source)) {
      throw new UserError(source + ": no such file");
    }
    if (!Files.isRegularFile(source)) {
      throw new UserError(source + ": not a file");
    }
    if (!Files.isReadable(source)) {
      throw new UserError(source + ": not readable");
    }
    long available = Files.size(source);
    if (available == 0) {
      throw new UserError(source + ": the file is empty, so there is nothing to move");
    }
    long bytes = size != null ? size : available;
    if (bytes < 1 || bytes > MAX_BYTES) {
      throw new UserError(
          (size != null ? "--size " : source + ": ")
              + bytes
              + " bytes: from 1 to "
              + MAX_BYTES
              + " can be moved; give --size to move a part");
    }
    if (record.isGiven() && bytes > MOST_RECORDED) {
      throw new UserError(
          "--record looks through all memory at each step: give --size, at most " + MOST_RECORDED);
    }
    if (pcap != null) {
      OutputFile.check("--pcap", pcap);
    }
    long chosen = seed != null ? seed : ThreadLocalRandom.current().nextLong() >>> 1;
    return new DemoOptions(
        source, bytes, pcap, seed != null, chosen, wire, wrong, pair, cards, watch, record);
  }

  private List<DeviceAddress> pair() {
    DeviceAddress.Simulated first = new DeviceAddress.Simulated(0);
    DeviceAddress.Simulated second = new DeviceAddress.Simulated(1);
    if (devices.isEmpty()) {
      return List.of(first, second);
    }
    List<DeviceAddress> pair = devices.stream().map(DeviceAddress::parse).toList();
    if (pair.size() != 2) {
      throw new UserError("--device is given twice, or not at all");
    }
    if (pair.equals(List.of(first, second))) {
      return pair;
    }
    if (!pair.stream().allMatch(DeviceAddress.Card.class::isInstance)
        || pair.get(0).equals(pair.get(1))) {
      throw new UserError(
          "--device %s and %s: two cards, or sim:0 and sim:1".formatted(pair.get(0), pair.get(1)));
    }
    if (pcap != null || seed != null || wire.isGiven() || faults.isGiven() || watch.isGiven()) {
      throw new UserError(
          "--pcap, --seed, --fault, --trace, --jfr and what the wire does are the simulator's, not a"
              + " card's");
    }
    return pair;
  }
}
