package irdma4j.cli;

import irdma4j.driver.Gid;
import irdma4j.driver.RdmaException;
import irdma4j.driver.cm.CmEvent;
import irdma4j.driver.cm.DatagramLookup;
import irdma4j.driver.cm.DatagramRequest;
import irdma4j.driver.cm.Listener;
import irdma4j.driver.cm.PortSpace;
import irdma4j.driver.cm.PrivateData;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code irdma udaddy}: datagram services are looked up by SIDR, the client sends, the server
 * answers. Interoperates with rdma-core's udaddy.
 *
 * <p>The immediate data of every message is its sender's queue pair: the server knows the client by
 * nothing else.
 */
@Command(
    name = "udaddy",
    mixinStandardHelpOptions = true,
    description =
        "Exchanges datagrams with a service that is looked up, as rdma-core's udaddy does it, with"
            + " it or with another irdma. Without -s it is the server. What the wire loses is not"
            + " sent again.")
final class UdaddyCommand implements Callable<Integer> {
  /** What has left the queue pair may not be on the wire yet. */
  private static final long REST = 200_000_000L;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private PortOptions port = new PortOptions();

  @Option(names = "-s", paramLabel = "ADDRESS", description = "Be the client of this server.")
  private String peer = "";

  @Option(names = "-c", paramLabel = "N", defaultValue = "1", description = "Queue pairs.")
  private int connections;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      defaultValue = "10",
      description = "Messages each way of each queue pair. Default: ${DEFAULT-VALUE}.")
  private int count;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      defaultValue = "100",
      description = "Size of a message, at most --mtu. Default: ${DEFAULT-VALUE}.")
  private int size;

  @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174", description = "The port.")
  private int number;

  @Option(names = "--reject", description = "Refuse what is asked for, as a server.")
  private boolean refuse;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() {
    if (connections < 1 || count < 1 || count > 1024 || size < 1) {
      throw new UserError("-c is at least 1, -C 1 to 1024, -S at least 1");
    }
    return Roles.play(spec, port, peer.isEmpty(), this::serve, this::ask);
  }

  private DatagramChannel channel(CabledPort cable, List<DatagramChannel> channels) {
    if (size > cable.settings().mtu()) {
      throw new UserError("-S %d: at most --mtu %d".formatted(size, cable.settings().mtu()));
    }
    DatagramChannel channel = new DatagramChannel(cable, size, count);
    channels.add(channel);
    return channel;
  }

  private void serve(CabledPort cable, PrintWriter out, Runnable listening) {
    out.println("udaddy: starting server");
    out.flush();
    long start = cable.nanos();
    List<DatagramChannel> channels = new ArrayList<>();
    try (Listener listener = cable.manager().listen(PortSpace.UDP, number)) {
      listening.run();
      while (channels.size() < connections) {
        CmEvent event = cable.await("requests at port " + listener.port());
        if (!(event instanceof DatagramRequest request)) {
          throw new RdmaException("unexpected: " + event);
        }
        if (refuse) {
          request.reject();
          out.println("udaddy: request refused");
          return;
        }
        request.accept(channel(cable, channels).pair(), PrivateData.NONE);
      }
      out.println("receiving data transfers");
      channels.forEach(channel -> channel.awaitReceives(count));
      out.println("sending replies");
      channels.forEach(channel -> channel.send(count));
      channels.forEach(channel -> channel.awaitSends(count));
      out.println("data transfers complete");
      cable.rest(REST);
      out.println("test complete");
      report(cable, start, "server", out);
    } finally {
      channels.forEach(DatagramChannel::close);
    }
  }

  private void ask(CabledPort cable, PrintWriter out, Runnable listening) {
    out.println("udaddy: starting client");
    out.println("udaddy: connecting");
    long start = cable.nanos();
    Gid server = Gid.of(peer.isEmpty() ? PortOptions.SERVER_ADDRESS : peer);
    List<DatagramChannel> channels = new ArrayList<>();
    try {
      Map<DatagramLookup, DatagramChannel> asked = new LinkedHashMap<>();
      for (int i = 0; i < connections; i++) {
        DatagramChannel channel = channel(cable, channels);
        asked.put(cable.manager().lookUp(server, number, PrivateData.NONE), channel);
      }
      for (int i = 0; i < connections; i++) {
        found(cable, asked);
      }
      out.println("initiating data transfers");
      channels.forEach(channel -> channel.send(count));
      out.println("receiving data transfers");
      channels.forEach(channel -> channel.awaitReceives(count));
      out.println("data transfers complete");
      out.println("test complete");
      report(cable, start, "client", out);
    } finally {
      channels.forEach(DatagramChannel::close);
    }
  }

  private static void found(CabledPort cable, Map<DatagramLookup, DatagramChannel> asked) {
    CmEvent event = cable.await("an answer");
    switch (event) {
      case CmEvent.PeerFound found -> {
        DatagramChannel channel = asked.get(found.lookup());
        if (channel != null) {
          channel.to(found.path(), found.qpn(), found.queueKey());
        }
      }
      case CmEvent.PeerRefused no -> throw new RdmaException("refused, status " + no.status());
      case CmEvent.PeerUnreachable no ->
          throw new RdmaException("nobody answered at " + no.lookup().peer());
      default -> throw new RdmaException("unexpected: " + event);
    }
  }

  private void report(CabledPort cable, long start, String role, PrintWriter out) {
    if (json) {
      out.printf(
          "{\"command\":\"udaddy\",\"role\":\"%s\",\"queuePairs\":%d,\"messages\":%d,"
              + "\"bytes\":%d,\"seconds\":%.6f}%n",
          role, connections, count, size, (cable.nanos() - start) / 1e9);
    }
  }
}
