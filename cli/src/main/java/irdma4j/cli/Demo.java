package irdma4j.cli;

import irdma4j.driver.Access;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.PcapngWriter;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciFunction;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The main job: two cards from cold to a file moved there and back. */
final class Demo {
  private static final int PBLE_CHUNK_PAGES = 8;
  private static final long PAGE = 4096;
  private static final long[] MACS = {0x02_00_00_00_00_0aL, 0x02_00_00_00_00_0bL};
  private static final String[] IPV4 = {"10.9.0.1", "10.9.0.2"};
  private static final String[] IPV6 = {"fd00:9::1", "fd00:9::2"};
  // The process's own addresses differ from run to run, and they would be seen on the wire.
  private static final long SOURCE_ADDRESS = 0x10_0000_0000L;
  private static final long SINK_ADDRESS = 0x20_0000_0000L;
  private static final long BACK_ADDRESS = 0x30_0000_0000L;
  private static final String[] NAMES = {"A", "B"};

  private final DemoOptions options;
  private final PrintWriter out;
  private final boolean terminal;

  Demo(DemoOptions options, PrintWriter out, boolean terminal) {
    this.options = options;
    this.out = out;
    this.terminal = terminal;
  }

  /** Whether all copies of the file are equal and all memory came back. */
  boolean run() throws IOException {
    Path pcap = options.pcap();
    if (pcap == null) {
      return run(null);
    }
    boolean existed = Files.exists(pcap);
    boolean good = false;
    try (PcapngWriter writer = PcapngWriter.create(pcap, NAMES.length)) {
      good = run(writer);
    } finally {
      // What went over the wire before a fault is worth a look.
      if (!good && !existed && options.faults().isEmpty()) {
        Files.deleteIfExists(pcap);
      }
    }
    line("  frames         %s", pcap);
    return good;
  }

  private boolean run(@Nullable PcapngWriter writer) throws IOException {
    DemoSummary summary = new DemoSummary(options);
    boolean equal =
        options.devices().getFirst() instanceof DeviceAddress.Card
            ? onCards(summary)
            : simulated(writer, summary);
    if (summary.isComplete()) {
      summary.print(out);
    }
    return equal && summary.balanced();
  }

  private boolean simulated(@Nullable PcapngWriter writer, DemoSummary summary) throws IOException {
    Simulation.Builder builder = Simulation.builder().functions(NAMES.length).seed(options.seed());
    options.wire().apply(builder);
    if (writer != null) {
      builder.tap(writer);
    }
    line(
        "Two simulated E810s on one wire, %s, seed %d, %s",
        options.stepped() ? "in virtual time" : "on a thread of their own",
        options.seed(),
        options.wire());
    try (Watching watching = new Watching(options.watch(), out);
        Simulation simulation =
            watching.build(options.stepped() ? builder.stepped() : builder.threaded());
        Recording recording = new Recording(options.record(), builder.describe(), NAMES.length)) {
      FaultOptions.inject(options.faults(), simulation);
      try {
        boolean equal =
            move(
                List.of(recording.of(simulation.function(0)), recording.of(simulation.function(1))),
                summary,
                () -> summary.wire(simulation.statistics(0), simulation.statistics(1)),
                () -> simulation.statistics(0) + " " + simulation.statistics(1));
        int waiting = simulation.clearFaults(0) + simulation.clearFaults(1);
        if (waiting != 0) {
          line("");
          line("Faults that found no occasion: %d", waiting);
        }
        return equal;
      } catch (RdmaException e) {
        if (options.faults().isEmpty()) {
          throw e;
        }
        afterFault(simulation, e);
        return false;
      }
    }
  }

  /** Says how it ended, what memory is left, and whether the cards come up again. */
  private void afterFault(Simulation simulation, RdmaException failure) {
    line("");
    line("Failed: %s", failure.getMessage());
    for (int i = 0; i < NAMES.length; i++) {
      PciFunction function = simulation.function(i);
      line("  DMA memory left in %s: %d bytes", NAMES[i], function.dmaUsage().currentBytes());
    }
    for (int i = 0; i < NAMES.length; i++) {
      simulation.clearFaults(i);
      simulation.reinsert(i);
      RdmaDevice.open(simulation.function(i), config(i, options.seed()), StageListener.none())
          .close();
      line("  Function %s came up again", NAMES[i]);
    }
  }

  private boolean onCards(DemoSummary summary) throws IOException {
    List<DeviceAddress.Card> cards =
        options.devices().stream().map(DeviceAddress.Card.class::cast).toList();
    line("Cards %s and %s, whose ports must be joined by a cable", cards.get(0), cards.get(1));
    try (PciFunction a = options.cards().open(cards.get(0));
        PciFunction b = options.cards().open(cards.get(1));
        Recording recording =
            new Recording(options.record(), cards.get(0) + " and " + cards.get(1), NAMES.length)) {
      return move(
          List.of(recording.of(a), recording.of(b)),
          summary,
          () -> {},
          () -> a.address() + " and " + b.address());
    }
  }

  private boolean move(
      List<PciFunction> functions, DemoSummary summary, Runnable wire, Supplier<String> state)
      throws IOException {
    summary.before(functions);
    boolean equal = moveFile(functions, summary, wire, state);
    summary.after(functions);
    return equal;
  }

  private boolean moveFile(
      List<PciFunction> functions, DemoSummary summary, Runnable wire, Supplier<String> state)
      throws IOException {
    SplittableRandom random = new SplittableRandom(options.seed());
    PciFunction first = functions.get(0);
    PciFunction second = functions.get(1);
    // The memory outlives the devices, which use it until they are closed.
    try (DmaMemory source = first.allocateDma(options.bytes(), PAGE, DmaPlacement.SCATTERED);
        DmaMemory sink = second.allocateDma(options.bytes(), PAGE, DmaPlacement.SCATTERED);
        DmaMemory back = first.allocateDma(options.bytes(), PAGE, DmaPlacement.CONTIGUOUS);
        DmaMemory fromA = first.allocateDma(Endpoint.MESSAGE_BYTES, PAGE, DmaPlacement.SCATTERED);
        DmaMemory fromB = second.allocateDma(Endpoint.MESSAGE_BYTES, PAGE, DmaPlacement.SCATTERED);
        RdmaDevice a = bringUp(0, first, random.nextLong());
        RdmaDevice b = bringUp(1, second, random.nextLong())) {
      FileSource.fill(options.file(), source.segment(), options.bytes());
      int psn = 0xffffff;
      Endpoint left = new Endpoint(NAMES[0], a, fromA, IPV4[0], IPV6[0], random.nextInt() & psn);
      Endpoint right = new Endpoint(NAMES[1], b, fromB, IPV4[1], IPV6[1], random.nextInt() & psn);
      left.connect(right.address());
      right.connect(left.address());
      MemoryRegion sourceRegion = register(left, source, SOURCE_ADDRESS);
      MemoryRegion sinkRegion =
          register(
              right,
              sink,
              SINK_ADDRESS,
              Access.LOCAL_WRITE,
              Access.REMOTE_WRITE,
              Access.REMOTE_READ);
      MemoryRegion backRegion = register(left, back, BACK_ADDRESS, Access.LOCAL_WRITE);
      line(
          "Connected: QP %d and %d over IPv4, QP %d and %d over IPv6",
          left.control().qpn(), right.control().qpn(), left.data().qpn(), right.data().qpn());
      summary.regions(sourceRegion, sinkRegion, backRegion);
      Transfer transfer =
          new Transfer(
              left,
              right,
              sourceRegion,
              sinkRegion,
              backRegion,
              functions.get(0).clock(),
              state,
              out,
              terminal);
      transfer.run(summary);
      summary.hashes(
          FileSource.sha256(source.segment(), options.bytes()),
          FileSource.sha256(sink.segment(), options.bytes()),
          FileSource.sha256(back.segment(), options.bytes()));
      summary.counters(a.usage(), b.usage());
      wire.run();
      return summary.hashesAgree();
    }
  }

  private MemoryRegion register(Endpoint side, DmaMemory memory, long address, Access... access) {
    return side.domain()
        .registerMemory(memory, 0, options.bytes(), address, PbleLevels.ANY, access);
  }

  private RdmaDevice bringUp(int side, PciFunction function, long seed) {
    line("");
    line("Function %s (%s)", NAMES[side], function.address());
    return RdmaDevice.open(function, config(side, seed), this::stage);
  }

  private static DeviceConfig config(int side, long seed) {
    return DeviceConfig.defaults()
        .withMacAddress(MACS[side])
        .withPbleChunkPages(PBLE_CHUNK_PAGES)
        .withSeed(seed);
  }

  private void stage(String name, String detail, long nanos) {
    line("  %-15s %9.1f us  %s", name, nanos / 1e3, detail);
  }

  private void line(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
    out.flush();
  }
}
