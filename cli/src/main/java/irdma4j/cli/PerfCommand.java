package irdma4j.cli;

import irdma4j.driver.Completion;
import irdma4j.driver.Gid;
import irdma4j.driver.QueuePair;
import irdma4j.driver.RcPath;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code irdma perf}: how fast one side writes, reads or sends. Interoperates with perftest's
 * ib_write_bw, ib_read_bw and ib_send_bw.
 */
@Command(
    name = "perf",
    mixinStandardHelpOptions = true,
    description =
        "Measures bandwidth and latency of one operation over a reliable connection, as perftest's"
            + " ib_write_bw, ib_read_bw and ib_send_bw do it, with them or with another irdma. With"
            + " HOST it is the client, who does the work.")
final class PerfCommand implements Callable<Integer> {
  /** What is measured. */
  enum Verb {
    /** RDMA WRITE. */
    write,
    /** RDMA READ. */
    read,
    /** SEND. */
    send
  }

  private static final int MOST = 1 << 30;
  private static final int MOST_ITERATIONS = 10_000_000;
  private static final int MOST_DEPTH = 8192;
  private static final int LARGEST_POWER = 23;
  private static final int PAGE = 4096;
  private static final int READS = 16;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private PortOptions port = new PortOptions();

  @Parameters(index = "0", paramLabel = "VERB", description = "${COMPLETION-CANDIDATES}.")
  private Verb verb = Verb.write;

  @Parameters(
      index = "1",
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
      defaultValue = "65536",
      description = "Size of a message. Default: ${DEFAULT-VALUE}.")
  private int size;

  @Option(
      names = {"-a", "--all"},
      description = "All sizes from 2 bytes to 8 MiB.")
  private boolean all;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      defaultValue = "1000",
      description = "Messages of each size. Default: ${DEFAULT-VALUE}.")
  private int iterations;

  @Option(
      names = {"-t", "--tx-depth"},
      paramLabel = "COUNT",
      defaultValue = "128",
      description = "Messages under way at once; 1 measures latency. Default: ${DEFAULT-VALUE}.")
  private int depth;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "COUNT",
      defaultValue = "512",
      description = "Receives to post ahead, of send. Default: ${DEFAULT-VALUE}.")
  private int receives;

  @Option(
      names = {"-x", "--gid-index"},
      paramLabel = "INDEX",
      defaultValue = "0",
      description = "Which --address to use, from 0. Default: ${DEFAULT-VALUE}.")
  private int index;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() {
    if (size < 1
        || size > MOST
        || iterations < 1
        || iterations > MOST_ITERATIONS
        || depth < 1
        || depth > MOST_DEPTH
        || receives < 1
        || receives > MOST_DEPTH) {
      throw new UserError(
          "-s is 1 to %d, -n 1 to %d, -t and -r 1 to %d"
              .formatted(MOST, MOST_ITERATIONS, MOST_DEPTH));
    }
    return Roles.play(spec, port, host.isEmpty(), this::serve, this::ask);
  }

  private int[] sizes() {
    return all
        ? IntStream.rangeClosed(1, LARGEST_POWER).map(power -> 1 << power).toArray()
        : new int[] {size};
  }

  private void serve(CabledPort cable, PrintWriter out, Runnable listening) throws IOException {
    try (TcpPeer peer = TcpPeer.accept(cable, number, listening)) {
      test(cable, new PerfExchange(peer, false), false, out);
    }
  }

  private void ask(CabledPort cable, PrintWriter out, Runnable listening) throws IOException {
    try (TcpPeer peer = TcpPeer.connect(cable, port.isLoopback() ? "127.0.0.1" : host, number)) {
      test(cable, new PerfExchange(peer, true), true, out);
    }
  }

  private void test(CabledPort cable, PerfExchange exchange, boolean client, PrintWriter out)
      throws IOException {
    Gid own = cable.addressAt(index, "-x");
    int mtu = exchange.begin(cable.settings().mtu());
    int largest = sizes()[sizes().length - 1];
    try (Channel channel = new Channel(cable, Math.max(largest, PAGE), Math.max(depth, receives))) {
      PerfEnd local =
          new PerfEnd(
              READS,
              channel.pair().qpn(),
              cable.startingPsn(),
              channel.key(),
              channel.address(0),
              own);
      PerfEnd remote = exchange.meet(local);
      connect(cable, channel, local, remote, mtu);
      exchange.meet(local);
      PerfText text = new PerfText(out, json);
      text.begin(verb, local, remote);
      exchange.meet(local);
      if (verb == Verb.send) {
        send(cable, channel, exchange, client, local, text);
      } else {
        access(cable, channel, exchange, client, local, remote, text);
      }
      exchange.meet(local);
      text.end(verb, client);
    }
  }

  private void connect(CabledPort cable, Channel channel, PerfEnd local, PerfEnd remote, int mtu) {
    RcPath way =
        cable
            .connectedPath(local.gid(), remote.gid(), remote.qpn(), local.psn(), remote.psn())
            .withMtu(mtu)
            .withReads(Math.clamp(remote.outReads(), 1, READS), READS);
    channel.pair().connect(way);
  }

  /** The client writes or reads; the server learns the last result. */
  private void access(
      CabledPort cable,
      Channel channel,
      PerfExchange exchange,
      boolean client,
      PerfEnd local,
      PerfEnd remote,
      PerfText text)
      throws IOException {
    PerfReport last = PerfReport.NONE;
    if (client) {
      for (int bytes : sizes()) {
        PerfTimes times = work(cable, channel, bytes, remote);
        last = times.report(bytes);
        text.result(last, times.latencies());
      }
    }
    exchange.meet(local);
    PerfReport theirs = exchange.report(last);
    if (!client) {
      text.result(theirs, null);
    }
  }

  /** The client sends; the server measures what comes. */
  private void send(
      CabledPort cable,
      Channel channel,
      PerfExchange exchange,
      boolean client,
      PerfEnd local,
      PerfText text)
      throws IOException {
    for (int bytes : sizes()) {
      if (client) {
        exchange.meet(local);
        PerfTimes times = work(cable, channel, bytes, local);
        text.result(times.report(bytes), times.latencies());
      } else {
        int ahead = Math.min(receives, iterations);
        for (int i = 0; i < ahead; i++) {
          channel.receive(0, bytes);
        }
        exchange.meet(local);
        text.result(receive(cable, channel, bytes, ahead), null);
      }
      if (all) {
        exchange.meet(local);
      }
    }
  }

  private PerfTimes work(CabledPort cable, Channel channel, int bytes, PerfEnd remote) {
    PerfTimes times = new PerfTimes(iterations);
    Completion completion = new Completion();
    QueuePair pair = channel.pair();
    while (times.doneCount() < iterations) {
      int under = times.postedCount() - times.doneCount();
      int more = Math.min(depth - under, iterations - times.postedCount());
      for (int i = 0; i < more; i++) {
        times.posted(cable.nanos());
        post(pair, channel, bytes, remote);
      }
      if (more > 0) {
        pair.ring();
      }
      channel.await(completion, "completions");
      do {
        times.done(cable.nanos());
      } while (channel.poll(completion));
    }
    return times;
  }

  private void post(QueuePair pair, Channel channel, int bytes, PerfEnd remote) {
    long from = channel.address(0);
    int key = channel.key();
    int flags = QueuePair.SIGNALED;
    Channel.check(
        switch (verb) {
          case write -> pair.postWrite(0, key, from, bytes, remote.address(), remote.rkey(), flags);
          case read -> pair.postRead(0, key, from, bytes, remote.address(), remote.rkey(), flags);
          case send -> pair.postSend(0, key, from, bytes, flags);
        });
  }

  /** Takes messages; which of them come together is the sender's affair, so there is no peak. */
  private PerfReport receive(CabledPort cable, Channel channel, int bytes, int ahead) {
    Completion completion = new Completion();
    int posted = ahead;
    int done = 0;
    long first = 0;
    while (done < iterations) {
      channel.await(completion, "messages");
      if (done == 0) {
        first = cable.nanos();
      }
      do {
        done++;
        if (posted < iterations) {
          channel.receive(0, bytes);
          posted++;
        }
      } while (channel.poll(completion));
    }
    return PerfReport.of(bytes, iterations, 0, cable.nanos() - first);
  }
}
