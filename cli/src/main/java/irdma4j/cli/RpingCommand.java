package irdma4j.cli;

import irdma4j.driver.Gid;
import irdma4j.driver.RdmaException;
import irdma4j.driver.cm.CmEvent;
import irdma4j.driver.cm.ConnectRequest;
import irdma4j.driver.cm.Connection;
import irdma4j.driver.cm.ConnectionParameters;
import irdma4j.driver.cm.Listener;
import irdma4j.driver.cm.PortSpace;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code irdma rping}: the client offers a buffer, the server reads it and writes it back.
 *
 * <p>The messages are 16 bytes: address, key and length of a buffer, big-endian; those of the
 * server say only that it is done. Interoperates with rdma-core's rping.
 */
@Command(
    name = "rping",
    mixinStandardHelpOptions = true,
    description = "RDMA ping-pong as rdma-core's rping does it, with it or with another irdma.")
final class RpingCommand implements Callable<Integer> {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int MESSAGE = 16;
  private static final int OUT = 0;
  private static final int IN = 64;
  private static final int DATA = 4096;
  private static final int LEAST = 32;
  private static final int MOST = 1 << 20;
  private static final long LINGER = 200_000_000L;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private PortOptions port = new PortOptions();

  @Option(names = "-s", description = "Be the server.")
  private boolean server;

  @Option(names = "-c", paramLabel = "ADDRESS", description = "Be the client of this server.")
  private String peer = "";

  @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174", description = "The port.")
  private int number;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      defaultValue = "10",
      description = "Pings of the client. Default: ${DEFAULT-VALUE}.")
  private int count;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      defaultValue = "64",
      description = "Size of the client's pings. Default: ${DEFAULT-VALUE}.")
  private int size;

  @Option(names = "-v", description = "Show what comes back.")
  private boolean verbose;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() {
    if (port.isLoopback() ? server : server != peer.isEmpty()) {
      throw new UserError("give either -s or -c ADDRESS, or neither if there is no --wire");
    }
    if (size < LEAST || size > MOST || count < 1) {
      throw new UserError("-S is %d to %d, -C at least 1".formatted(LEAST, MOST));
    }
    return Roles.play(spec, port, server, this::serve, this::ask);
  }

  private void report(CabledPort cable, long start, String role, int pings, PrintWriter out) {
    if (json) {
      out.printf(
          "{\"command\":\"rping\",\"role\":\"%s\",\"pings\":%d,\"seconds\":%.6f}%n",
          role, pings, (cable.nanos() - start) / 1e9);
    }
  }

  private void serve(CabledPort cable, PrintWriter out, Runnable listening) {
    long start = cable.nanos();
    int pings = 0;
    try (Listener listener = cable.manager().listen(PortSpace.TCP, number);
        Channel channel = new Channel(cable, DATA + MOST, 16)) {
      listening.run();
      CmEvent event = cable.await("a request at port " + listener.port());
      if (!(event instanceof ConnectRequest request)) {
        throw new RdmaException("unexpected: " + event);
      }
      channel.receive(IN, MESSAGE);
      request.accept(channel.pair(), ConnectionParameters.defaults());
      Connection connection = Channel.established(cable);
      MemorySegment bytes = channel.bytes();
      while (channel.awaitReceiveOrEnd(connection)) {
        int length = offered(bytes);
        channel.receive(IN, MESSAGE);
        channel.read(DATA, length, bytes.get(LONG, IN), bytes.get(INT, IN + 8));
        channel.awaitSends(1);
        if (verbose) {
          out.println("server ping data: " + text(bytes, length));
        }
        channel.send(OUT, MESSAGE);
        channel.awaitSends(1);
        if (!channel.awaitReceiveOrEnd(connection)) {
          break;
        }
        int room = offered(bytes);
        channel.receive(IN, MESSAGE);
        channel.write(DATA, Math.min(length, room), bytes.get(LONG, IN), bytes.get(INT, IN + 8));
        channel.send(OUT, MESSAGE);
        pings++;
        if (!channel.awaitSendsOrEnd(connection, 2)) {
          break;
        }
      }
      out.println("server DISCONNECT EVENT...");
      cable.linger(LINGER);
      report(cable, start, "server", pings, out);
    }
  }

  /** The length in the message that came. */
  private static int offered(MemorySegment bytes) {
    int length = bytes.get(INT, IN + 12);
    if (length < 1 || length > MOST) {
      throw new RdmaException("the client offers a buffer of " + length + " bytes");
    }
    return length;
  }

  private void ask(CabledPort cable, PrintWriter out, Runnable listening) {
    long start = cable.nanos();
    String server = peer.isEmpty() ? PortOptions.SERVER_ADDRESS : peer;
    int back = DATA + (size + 63 & ~63);
    try (Channel channel = new Channel(cable, DATA + 2L * MOST, 16)) {
      channel.receive(IN, MESSAGE);
      cable
          .manager()
          .connect(channel.pair(), Gid.of(server), number, ConnectionParameters.defaults());
      Connection connection = Channel.established(cable);
      MemorySegment bytes = channel.bytes();
      for (int ping = 0; ping < count; ping++) {
        fill(bytes, ping);
        offer(channel, DATA);
        offer(channel, back);
        if (MemorySegment.mismatch(bytes, DATA, DATA + size, bytes, back, back + size) >= 0) {
          throw new RdmaException("data mismatch in ping " + ping);
        }
        if (verbose) {
          out.println("ping data: " + text(bytes, size));
        }
      }
      Channel.disconnect(cable, connection);
      out.println("client DISCONNECT EVENT...");
      report(cable, start, "client", count, out);
    }
  }

  private void offer(Channel channel, int offset) {
    MemorySegment bytes = channel.bytes();
    bytes.set(LONG, OUT, channel.address(offset));
    bytes.set(INT, OUT + 8, channel.key());
    bytes.set(INT, OUT + 12, size);
    channel.send(OUT, MESSAGE);
    channel.awaitSends(1);
    channel.awaitReceives(1);
    channel.receive(IN, MESSAGE);
  }

  /** Text that ends with a zero, since the server writes back as far as that. */
  private void fill(MemorySegment bytes, int ping) {
    byte[] head = "rdma-ping-%d: ".formatted(ping).getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < size - 1; i++) {
      int letter = 'A' + (ping + i - head.length) % ('z' - 'A' + 1);
      bytes.set(ValueLayout.JAVA_BYTE, DATA + i, i < head.length ? head[i] : (byte) letter);
    }
    bytes.set(ValueLayout.JAVA_BYTE, DATA + size - 1L, (byte) 0);
  }

  private static String text(MemorySegment bytes, int length) {
    byte[] text = bytes.asSlice(DATA, length).toArray(ValueLayout.JAVA_BYTE);
    int end = 0;
    while (end < text.length && text[end] != 0) {
      end++;
    }
    return new String(text, 0, end, StandardCharsets.US_ASCII);
  }
}
