package irdma4j.cli;

import irdma4j.driver.Completion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.RdmaException;
import irdma4j.hwregs.SqOpcode;
import irdma4j.uapi.DeviceClock;
import java.io.PrintWriter;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves a buffer: the sink says where it is (SEND), the source writes it there (WRITE, now and then
 * with immediate data), the sink says that all arrived (SEND), and the source reads it back (READ).
 */
final class Transfer {
  private static final int CHUNK = 1 << 20;
  private static final int WINDOW = 16;
  private static final int IMMEDIATE_EVERY = 8;
  private static final int SPINS = 200;
  private static final long EVENT_WAIT_NANOS = 50_000;
  private static final long STALL_NANOS = 60_000_000_000L;

  private final Endpoint source;
  private final Endpoint sink;
  private final MemoryRegion sourceRegion;
  private final MemoryRegion sinkRegion;
  private final MemoryRegion backRegion;
  private final Supplier<String> state;
  private final DeviceClock clock;
  private final PrintWriter out;
  private final boolean terminal;
  private final int chunks;

  private @Nullable Message sinkBuffer;
  private boolean arrived;
  private boolean done;
  private int chunksWritten;
  private int chunksRead;
  private int immediates;
  private int lastImmediate = -1;

  Transfer(
      Endpoint source,
      Endpoint sink,
      MemoryRegion sourceRegion,
      MemoryRegion sinkRegion,
      MemoryRegion backRegion,
      DeviceClock clock,
      Supplier<String> state,
      PrintWriter out,
      boolean terminal) {
    this.source = source;
    this.sink = sink;
    this.sourceRegion = sourceRegion;
    this.sinkRegion = sinkRegion;
    this.backRegion = backRegion;
    this.clock = clock;
    this.state = state;
    this.out = out;
    this.terminal = terminal;
    this.chunks = (int) ((sourceRegion.length() + CHUNK - 1) / CHUNK);
  }

  void run(DemoSummary summary) {
    sink.send(
        new Message(
            Message.Kind.SINK, sinkRegion.address(), sinkRegion.length(), sinkRegion.rkey()));
    until(() -> sinkBuffer != null);

    long start = System.nanoTime();
    long startInside = clock.nanos();
    write();
    until(() -> lastImmediate == chunks - 1);
    summary.written(System.nanoTime() - start, clock.nanos() - startInside);
    sink.send(new Message(Message.Kind.ARRIVED, 0, 0, 0));
    until(() -> arrived);

    start = System.nanoTime();
    startInside = clock.nanos();
    read();
    summary.read(System.nanoTime() - start, clock.nanos() - startInside);
    source.send(new Message(Message.Kind.DONE, 0, 0, 0));
    until(() -> done);
    summary.messages(3, immediates);
  }

  private void write() {
    Message buffer = sinkBuffer;
    if (buffer == null) {
      throw new IllegalStateException("no buffer");
    }
    Progress progress = new Progress(out, terminal, "WRITE A to B", sourceRegion.length());
    int posted = 0;
    while (chunksWritten < chunks) {
      while (posted < chunks && posted - chunksWritten < WINDOW) {
        long offset = (long) posted * CHUNK;
        int length = length(posted);
        boolean immediate = posted % IMMEDIATE_EVERY == IMMEDIATE_EVERY - 1 || posted == chunks - 1;
        long from = sourceRegion.address() + offset;
        long to = buffer.address() + offset;
        QueuePair pair = source.control();
        require(
            immediate
                ? pair.postWriteImmediate(
                    posted,
                    sourceRegion.lkey(),
                    from,
                    length,
                    to,
                    buffer.key(),
                    posted,
                    QueuePair.SIGNALED)
                : pair.postWrite(
                    posted,
                    sourceRegion.lkey(),
                    from,
                    length,
                    to,
                    buffer.key(),
                    QueuePair.SIGNALED));
        posted++;
      }
      source.control().ring();
      int before = chunksWritten;
      until(() -> chunksWritten > before);
      progress.at(Math.min(sourceRegion.length(), (long) chunksWritten * CHUNK));
    }
  }

  private void read() {
    Message buffer = sinkBuffer;
    if (buffer == null) {
      throw new IllegalStateException("no buffer");
    }
    Progress progress = new Progress(out, terminal, "READ back to A", sourceRegion.length());
    int posted = 0;
    while (chunksRead < chunks) {
      while (posted < chunks && posted - chunksRead < WINDOW) {
        long offset = (long) posted * CHUNK;
        require(
            source
                .data()
                .postRead(
                    posted,
                    backRegion.lkey(),
                    backRegion.address() + offset,
                    length(posted),
                    buffer.address() + offset,
                    buffer.key(),
                    QueuePair.SIGNALED));
        posted++;
      }
      source.data().ring();
      int before = chunksRead;
      until(() -> chunksRead > before);
      progress.at(Math.min(sourceRegion.length(), (long) chunksRead * CHUNK));
    }
  }

  private int length(int chunk) {
    return (int) Math.min(CHUNK, sourceRegion.length() - (long) chunk * CHUNK);
  }

  private static void require(boolean posted) {
    if (!posted) {
      throw new RdmaException("the send queue is full");
    }
  }

  private void sourceCompleted(Completion completion) {
    if (!completion.isSend()) {
      Message message = source.take(completion);
      switch (message.kind()) {
        case SINK -> sinkBuffer = message;
        case ARRIVED -> arrived = true;
        case DONE -> throw new RdmaException("unexpected " + message);
      }
    } else if (completion.opcode() == SqOpcode.RDMA_WRITE.code()) {
      chunksWritten++;
    } else if (completion.opcode() == SqOpcode.RDMA_READ.code()) {
      chunksRead++;
    }
  }

  private void sinkCompleted(Completion completion) {
    if (completion.isSend()) {
      return;
    }
    if (completion.hasImmediate()) {
      lastImmediate = completion.immediate();
      immediates++;
      sink.postReceive((int) completion.wrId());
    } else {
      Message message = sink.take(completion);
      if (message.kind() != Message.Kind.DONE) {
        throw new RdmaException("unexpected " + message);
      }
      done = true;
    }
  }

  /** Polls both sides; after a while without anything, asks for events and waits for them. */
  private void until(BooleanSupplier condition) {
    long deadline = clock.nanos() + STALL_NANOS;
    int idle = 0;
    while (!condition.getAsBoolean()) {
      int count = source.poll(this::sourceCompleted) + sink.poll(this::sinkCompleted);
      if (count == 0 && ++idle > SPINS) {
        count = source.arm(this::sourceCompleted) + sink.arm(this::sinkCompleted);
        if (count == 0) {
          source.awaitEvent(EVENT_WAIT_NANOS);
          sink.awaitEvent(EVENT_WAIT_NANOS);
        }
      } else if (count == 0) {
        clock.pause(0);
      }
      if (count != 0) {
        idle = 0;
        deadline = clock.nanos() + STALL_NANOS;
      } else if (clock.nanos() > deadline) {
        throw new RdmaException("nothing has moved for a minute: " + state.get());
      }
    }
  }
}
