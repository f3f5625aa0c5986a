package irdma4j.cli;

import irdma4j.driver.cm.LocalAddress;
import irdma4j.simulator.Wire;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that say which port a command uses and what it is cabled to. */
final class PortOptions {
  @Option(
      names = "--device",
      paramLabel = "ADDRESS",
      description = "A card, such as pci:0000:3b:00.0. Default: ${DEFAULT-VALUE}.",
      defaultValue = "sim:0")
  private String device = "sim:0";

  @Mixin private CardOptions cards = new CardOptions();

  @Option(
      names = "--wire",
      paramLabel = "WIRE",
      description =
          "The cable: unix:LOCAL,REMOTE (datagram sockets, as qemu's -netdev dgram),"
              + " udp:HOST:PORT,HOST:PORT or tap:NAME.")
  private String wire = "";

  @Option(
      names = "--address",
      paramLabel = "ADDRESS/PREFIX",
      required = true,
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
    if (wire.isEmpty()) {
      throw new UserError("--wire is missing: what the port is cabled to");
    }
    try {
      if (!(loss >= 0 && loss <= 90)) {
        throw new UserError("--loss " + loss + ": 0 to 90");
      }
      if (pcap != null) {
        OutputFile.check("--pcap", pcap);
      }
      List<LocalAddress> own = addresses.stream().map(LocalAddress::of).toList();
      long chosen = seed != null ? seed : ThreadLocalRandom.current().nextLong();
      return CabledPort.open(
          cable(), own, parseMac(mac), mtu, loss, chosen, pcap, timeout * 1_000_000_000L);
    } catch (IllegalArgumentException | IOException e) {
      throw new UserError(String.valueOf(e.getMessage()));
    }
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
