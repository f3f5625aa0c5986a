package irdma4j.cli;

import irdma4j.driver.RdmaException;
import irdma4j.driver.cm.LocalAddress;
import irdma4j.simulator.PcapngWriter;
import irdma4j.simulator.Simulation;
import irdma4j.simulator.Wire;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options that say which port a command uses and what it is cabled to. */
final class PortOptions {
  /** Where the server is when both sides are here. */
  static final String SERVER_ADDRESS = "10.9.0.1";

  private static final List<String> SERVER = List.of(SERVER_ADDRESS + "/24", "fd00:9::1/64");
  private static final List<String> CLIENT = List.of("10.9.0.2/24", "fd00:9::2/64");
  private static final long SECOND = 1_000_000_000L;

  @Option(
      names = "--device",
      paramLabel = "ADDRESS",
      description = "A card, such as pci:0000:3b:00.0. Default: ${DEFAULT-VALUE}.",
      defaultValue = "sim:0")
  private String device = "sim:0";

  @Mixin private FaultOptions faults = new FaultOptions();
  @Mixin private CardOptions cards = new CardOptions();

  @Option(
      names = "--wire",
      paramLabel = "WIRE",
      description =
          "The cable: unix:LOCAL,REMOTE (datagram sockets, as qemu's -netdev dgram),"
              + " udp:HOST:PORT,HOST:PORT or tap:NAME. Without it both sides run here: the server"
              + " on a simulated card with the addresses 10.9.0.1 and fd00:9::1, the client on"
              + " another.")
  private String wire = "";

  @Option(
      names = "--address",
      paramLabel = "ADDRESS/PREFIX[@VLAN]",
      description = "An address of the port; may be given several times.")
  private List<String> addresses = new ArrayList<>();

  @Option(
      names = "--mac",
      paramLabel = "MAC",
      defaultValue = "52:54:00:00:00:0b",
      description = "The port's MAC address. Default: ${DEFAULT-VALUE}.")
  private String mac = "";

  @Option(
      names = "--mtu",
      paramLabel = "BYTES",
      defaultValue = "1024",
      description = "Payload bytes of a packet, 256 to 4096. Default: ${DEFAULT-VALUE}.")
  private int mtu;

  @Option(
      names = "--loss",
      paramLabel = "PERCENT",
      defaultValue = "0",
      description = "Lose this share of the frames in both directions. Default: ${DEFAULT-VALUE}.")
  private double loss;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Where chance comes from. Default: a new one each time.")
  private @Nullable Long seed;

  @Option(
      names = "--pcap",
      paramLabel = "OUT.pcapng",
      description = "Write every frame on the wire to this file.")
  private @Nullable Path pcap;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "Give up when nothing happens for this long. Default: ${DEFAULT-VALUE}.")
  private int timeout;

  /** Whether both sides are here: no wire leads anywhere else. */
  boolean isLoopback() {
    return wire.isEmpty() && DeviceAddress.parse(device) instanceof DeviceAddress.Simulated;
  }

  @Mixin private WatchOptions watch = new WatchOptions();

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  /** Opens the port. */
  CabledPort open() {
    return switch (DeviceAddress.parse(device)) {
      case DeviceAddress.Card card -> onCard(card);
      case DeviceAddress.Simulated(int number) when number == 0 -> simulated();
      case DeviceAddress.Simulated other -> throw new UserError(other + ": only sim:0 is there");
    };
  }

  /** The port of a card is its LAN side's, which nothing here drives. */
  private CabledPort onCard(DeviceAddress.Card card) {
    cards.open(card).close();
    throw new UserError(
        card
            + " can be opened, but addresses are resolved by the card's LAN side, which is not"
            + " driven yet: see docs/hardware.md");
  }

  private CabledPort simulated() {
    if (addresses.isEmpty()) {
      throw new UserError("--wire needs --address");
    }
    List<LocalAddress> own = parse(addresses);
    try {
      Ports ports = new Ports(1, cable());
      return ports.open(0, own, parseMac(mac));
    } catch (IOException e) {
      throw new UserError(String.valueOf(e.getMessage()));
    }
  }

  /** Opens two ports with one wire. */
  Pair openPair() {
    if (!addresses.isEmpty()) {
      throw new UserError("--address needs --wire");
    }
    long own = parseMac(mac);
    try {
      Ports ports = new Ports(2, null);
      CabledPort server = ports.open(0, parse(SERVER), own ^ 1);
      try {
        return new Pair(server, ports.open(1, parse(CLIENT), own));
      } catch (RuntimeException e) {
        server.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UserError(String.valueOf(e.getMessage()));
    }
  }

  private static List<LocalAddress> parse(List<String> texts) {
    try {
      return texts.stream().map(LocalAddress::of).toList();
    } catch (IllegalArgumentException e) {
      throw new UserError(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Two ports.
   *
   * @param server its addresses begin with {@link #SERVER_ADDRESS}
   */
  record Pair(CabledPort server, CabledPort client) implements AutoCloseable {
    @Override
    public void close() {
      try {
        client.close();
      } finally {
        server.close();
      }
    }
  }

  /** A simulation that is closed with the last of its ports. */
  private final class Ports {
    private final long chosen = seed != null ? seed : ThreadLocalRandom.current().nextLong();
    private final Simulation simulation;
    private final @Nullable PcapngWriter capture;
    private final Watching watching;
    private int open;

    Ports(int functions, @Nullable Wire cable) throws IOException {
      Simulation.Builder builder = Simulation.builder().functions(functions).seed(chosen);
      List<FaultSpec> wrong;
      try {
        check();
        wrong = faults.parse(functions);
        builder.lossPercent(loss);
        watching = new Watching(watch, command.commandLine().getOut());
        capture = pcap == null ? null : PcapngWriter.create(pcap, 2);
      } catch (IOException | RuntimeException e) {
        if (cable != null) {
          cable.close();
        }
        throw e;
      }
      if (cable != null) {
        builder.wire(cable);
      }
      if (capture != null) {
        builder.tap(capture);
      }
      simulation = watching.build(builder);
      FaultOptions.inject(wrong, simulation);
    }

    CabledPort open(int function, List<LocalAddress> own, long macAddress) {
      open++;
      try {
        return CabledPort.open(
            simulation.function(function),
            simulation.ethernet(function),
            new CabledPort.Settings(own, macAddress, mtu, chosen + function, timeout * SECOND),
            this::release);
      } catch (RuntimeException e) {
        release();
        throw e instanceof IllegalArgumentException
            ? new UserError(String.valueOf(e.getMessage()))
            : e;
      }
    }

    private void release() {
      if (--open > 0) {
        return;
      }
      try (watching) {
        simulation.close();
        if (capture != null) {
          capture.close();
        }
      } catch (IOException e) {
        throw new RdmaException("the capture was not written: " + e.getMessage(), e);
      }
    }
  }

  private void check() {
    if (!(loss >= 0 && loss <= 90)) {
      throw new UserError("--loss " + loss + ": 0 to 90");
    }
    if (pcap != null) {
      OutputFile.check("--pcap", pcap);
    }
    watch.check();
  }

  private static long parseMac(String text) {
    if (!text.matches("([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")) {
      throw new UserError("--mac " + text + ": six bytes such as 52:54:00:00:00:0b");
    }
    return Long.parseLong(text.replace(":", ""), 16);
  }

  private Wire cable() throws IOException {
    String[] kind = wire.split(":", 2);
    String rest = kind.length < 2 ? "" : kind[1];
    String[] ends = rest.split(",", -1);
    if (kind[0].equals("tap")) {
      return Wire.tap(rest);
    }
    if (kind[0].equals("unix") && ends.length == 2) {
      return Wire.unix(Path.of(ends[0]), Path.of(ends[1]));
    }
    if (kind[0].equals("udp") && ends.length == 2) {
      return Wire.udp(socket(ends[0]), socket(ends[1]));
    }
    throw new UserError(
        "--wire %s: unix:LOCAL,REMOTE or udp:HOST:PORT,HOST:PORT or tap:NAME".formatted(wire));
  }

  private static InetSocketAddress socket(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      throw new UserError("'" + text + "': HOST:PORT");
    }
    return new InetSocketAddress(
        text.substring(0, colon), Integer.parseInt(text, colon + 1, text.length(), 10));
  }
}
