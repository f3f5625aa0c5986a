package irdma4j.cli;

import irdma4j.driver.Gid;
import irdma4j.driver.RdmaException;
import irdma4j.driver.cm.CmEvent;
import irdma4j.driver.cm.ConnectRequest;
import irdma4j.driver.cm.Connection;
import irdma4j.driver.cm.ConnectionParameters;
import irdma4j.driver.cm.Listener;
import irdma4j.driver.cm.PortSpace;
import irdma4j.driver.cm.PrivateData;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code irdma cmatose}: connections, messages of the server, messages of the client, and the end
 * by the server. Interoperates with rdma-core's ucmatose.
 */
@Command(
    name = "cmatose",
    mixinStandardHelpOptions = true,
    description =
        "Sets connections up, exchanges messages over each and takes them down, as rdma-core's"
            + " ucmatose does it, with it or with another irdma. Without -s it is the server.")
final class CmatoseCommand implements Callable<Integer> {
  private static final int MOST = 1 << 20;
  private static final long LINGER = 200_000_000L;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private PortOptions port = new PortOptions();

  @Option(names = "-s", paramLabel = "ADDRESS", description = "Be the client of this server.")
  private String peer = "";

  @Option(names = "-c", paramLabel = "N", defaultValue = "1", description = "Connections.")
  private int connections;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      defaultValue = "10",
      description = "Messages each way on each connection. Default: ${DEFAULT-VALUE}.")
  private int count;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      defaultValue = "100",
      description = "Size of a message. Default: ${DEFAULT-VALUE}.")
  private int size;

  @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port.")
  private int number;

  @Option(names = "--reject", description = "Refuse what is asked for, as a server.")
  private boolean refuse;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() {
    if (connections < 1 || count < 0 || count > 1024 || size < 1 || size > MOST) {
      throw new UserError("-c is at least 1, -C 0 to 1024, -S 1 to " + MOST);
    }
    return Roles.play(spec, port, peer.isEmpty(), this::serve, this::ask);
  }

  private void report(CabledPort cable, long start, String role, PrintWriter out) {
    if (json) {
      out.printf(
          "{\"command\":\"cmatose\",\"role\":\"%s\",\"connections\":%d,\"messages\":%d,"
              + "\"bytes\":%d,\"seconds\":%.6f}%n",
          role, connections, count, size, (cable.nanos() - start) / 1e9);
    }
  }

  private Channel channel(CabledPort cable, List<Channel> channels) {
    Channel channel = new Channel(cable, size, Math.max(1, count));
    channels.add(channel);
    for (int i = 0; i < count; i++) {
      channel.receive(0, size);
    }
    return channel;
  }

  private void serve(CabledPort cable, PrintWriter out, Runnable listening) {
    List<Channel> channels = new ArrayList<>();
    try {
      serve(cable, channels, out, listening);
    } finally {
      channels.forEach(Channel::close);
    }
  }

  private void serve(
      CabledPort cable, List<Channel> channels, PrintWriter out, Runnable listening) {
    long start = cable.nanos();
    out.println("cmatose: starting server");
    out.flush();
    List<Connection> open = new ArrayList<>();
    try (Listener listener = cable.manager().listen(PortSpace.TCP, number)) {
      listening.run();
      Set<Connection> established = new HashSet<>();
      while (established.size() < connections) {
        CmEvent event = cable.await("requests at port " + listener.port());
        switch (event) {
          case ConnectRequest request when refuse -> {
            request.reject(PrivateData.NONE);
            cable.linger(LINGER);
            out.println("cmatose: request refused");
            return;
          }
          case ConnectRequest request ->
              open.add(
                  request.accept(channel(cable, channels).pair(), ConnectionParameters.defaults()));
          case CmEvent.Established made -> established.add(made.connection());
          default -> throw new RdmaException("unexpected: " + event);
        }
      }
    }
    out.println("initiating data transfers");
    for (Channel channel : channels) {
      send(channel);
    }
    out.println("completing sends");
    for (Channel channel : channels) {
      channel.awaitSends(count);
    }
    out.println("receiving data transfers");
    for (Channel channel : channels) {
      channel.awaitReceives(count);
    }
    out.println("data transfers complete");
    out.println("cmatose: disconnecting");
    open.forEach(Connection::disconnect);
    awaitEnds(cable);
    out.println("disconnected");
    report(cable, start, "server", out);
  }

  private void send(Channel channel) {
    for (int i = 0; i < count; i++) {
      channel.send(0, size);
    }
  }

  private void awaitEnds(CabledPort cable) {
    for (int left = connections; left > 0; left--) {
      CmEvent event = cable.await("the end of the connections");
      if (!(event instanceof CmEvent.Disconnected)) {
        throw new RdmaException("unexpected: " + event);
      }
    }
  }

  private void ask(CabledPort cable, PrintWriter out, Runnable listening) {
    List<Channel> channels = new ArrayList<>();
    try {
      ask(cable, channels, out);
    } finally {
      channels.forEach(Channel::close);
    }
  }

  private void ask(CabledPort cable, List<Channel> channels, PrintWriter out) {
    long start = cable.nanos();
    Gid server = Gid.of(peer.isEmpty() ? PortOptions.SERVER_ADDRESS : peer);
    out.println("cmatose: starting client");
    out.println("cmatose: connecting");
    for (int i = 0; i < connections; i++) {
      cable
          .manager()
          .connect(
              channel(cable, channels).pair(), server, number, ConnectionParameters.defaults());
    }
    for (int i = 0; i < connections; i++) {
      Channel.established(cable);
    }
    out.println("receiving data transfers");
    for (Channel channel : channels) {
      channel.awaitReceives(count);
    }
    out.println("sending replies");
    for (Channel channel : channels) {
      send(channel);
    }
    for (Channel channel : channels) {
      channel.awaitSends(count);
    }
    out.println("data transfers complete");
    awaitEnds(cable);
    cable.linger(LINGER);
    out.println("test complete");
    report(cable, start, "client", out);
  }
}
