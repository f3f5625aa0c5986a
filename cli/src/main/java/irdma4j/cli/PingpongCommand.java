package irdma4j.cli;

import irdma4j.driver.Gid;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code irdma pingpong}: messages to and fro over a reliable connection whose ends are told over
 * TCP. Interoperates with rdma-core's ibv_rc_pingpong.
 *
 * <p>Over TCP each side sends its end as text with a zero behind it; the client, who is first,
 * confirms the server's by the word done.
 */
@Command(
    name = "pingpong",
    mixinStandardHelpOptions = true,
    description =
        "Sends messages to and fro as rdma-core's ibv_rc_pingpong does it, with it or with another"
            + " irdma. With HOST it is the client.")
final class PingpongCommand implements Callable<Integer> {
  private static final int MOST = 1 << 30;
  private static final int MOST_DEPTH = 8192;
  private static final long REST = 200_000_000L;
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private PortOptions port = new PortOptions();

  @Parameters(
      arity = "0..1",
      paramLabel = "HOST",
      description = "Where the server waits on TCP; not its address on the wire.")
  private String host = "";

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      defaultValue = "18515",
      description = "The TCP port. Default: ${DEFAULT-VALUE}.")
  private int number;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      defaultValue = "4096",
      description = "Size of a message. Default: ${DEFAULT-VALUE}.")
  private int size;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      defaultValue = "1000",
      description = "Messages each way. Default: ${DEFAULT-VALUE}.")
  private int iterations;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "COUNT",
      defaultValue = "500",
      description = "Receives to post at a time. Default: ${DEFAULT-VALUE}.")
  private int depth;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      defaultValue = "0",
      description = "Which --address to use, from 0. Default: ${DEFAULT-VALUE}.")
  private int index;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep until the device raises an event.")
  private boolean events;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() {
    if (size < 1 || size > MOST || iterations < 1 || depth < 1 || depth > MOST_DEPTH) {
      throw new UserError("-s is 1 to %d, -n at least 1, -r 1 to %d".formatted(MOST, MOST_DEPTH));
    }
    return Roles.play(spec, port, host.isEmpty(), this::serve, this::ask);
  }

  private void serve(CabledPort cable, PrintWriter out, Runnable listening) throws IOException {
    Gid own = cable.addressAt(index, "-g");
    try (Channel channel = new Channel(cable, size, depth)) {
      RcEnd local = announce(cable, channel, own, out);
      RcEnd remote;
      try (TcpPeer peer = TcpPeer.accept(cable, number, listening)) {
        remote = read(peer);
        connect(cable, channel, local, remote);
        write(peer, local);
        peer.read(DONE.length);
      }
      exchange(channel, cable, remote, false, out);
    }
  }

  private void ask(CabledPort cable, PrintWriter out, Runnable listening) throws IOException {
    Gid own = cable.addressAt(index, "-g");
    try (Channel channel = new Channel(cable, size, depth)) {
      RcEnd local = announce(cable, channel, own, out);
      RcEnd remote;
      try (TcpPeer peer = TcpPeer.connect(cable, port.isLoopback() ? "127.0.0.1" : host, number)) {
        write(peer, local);
        remote = read(peer);
        peer.write(DONE);
      }
      connect(cable, channel, local, remote);
      exchange(channel, cable, remote, true, out);
    }
  }

  private RcEnd announce(CabledPort cable, Channel channel, Gid own, PrintWriter out) {
    RcEnd local = new RcEnd(0, channel.pair().qpn(), cable.startingPsn(), own);
    out.println("  local address:  " + local);
    out.flush();
    return local;
  }

  private static RcEnd read(TcpPeer peer) throws IOException {
    byte[] text = peer.read(RcEnd.LENGTH + 1);
    try {
      return RcEnd.decode(new String(text, 0, RcEnd.LENGTH, StandardCharsets.US_ASCII));
    } catch (IllegalArgumentException e) {
      throw new RdmaException("the peer says " + e.getMessage(), e);
    }
  }

  private static void write(TcpPeer peer, RcEnd end) throws IOException {
    byte[] text = end.encode().getBytes(StandardCharsets.US_ASCII);
    peer.write(Arrays.copyOf(text, RcEnd.LENGTH + 1));
  }

  private void connect(CabledPort cable, Channel channel, RcEnd local, RcEnd remote) {
    RcPath path =
        cable.connectedPath(local.gid(), remote.gid(), remote.qpn(), local.psn(), remote.psn());
    for (int i = 0; i < depth; i++) {
      channel.receive(0, size);
    }
    channel.pair().connect(path.withMtu(cable.settings().mtu()));
  }

  private void exchange(
      Channel channel, CabledPort cable, RcEnd remote, boolean first, PrintWriter out) {
    out.println("  remote address: " + remote);
    out.flush();
    if (events) {
      channel.useEvents();
    }
    long start = cable.nanos();
    int posted = depth;
    for (int i = 0; i < iterations; i++) {
      if (first) {
        channel.send(0, size);
        channel.awaitSends(1);
      }
      channel.awaitReceives(1);
      if (--posted <= 1) {
        for (; posted < depth; posted++) {
          channel.receive(0, size);
        }
      }
      if (!first) {
        channel.send(0, size);
        channel.awaitSends(1);
      }
    }
    double seconds = (cable.nanos() - start) / 1e9;
    if (first) {
      // The acknowledgement of the last message may not be on the wire yet.
      cable.rest(REST);
    }
    long bytes = 2L * size * iterations;
    out.printf(
        "%d bytes in %.2f seconds = %.2f Mbit/sec%n", bytes, seconds, bytes * 8 / seconds / 1e6);
    out.printf(
        "%d iters in %.2f seconds = %.2f usec/iter%n",
        iterations, seconds, seconds * 1e6 / iterations);
    if (json) {
      out.printf(
          "{\"command\":\"pingpong\",\"role\":\"%s\",\"iterations\":%d,\"bytes\":%d,"
              + "\"seconds\":%.6f}%n",
          first ? "client" : "server", iterations, size, seconds);
    }
  }
}
