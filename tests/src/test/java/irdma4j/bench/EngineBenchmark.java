package irdma4j.bench;

import irdma4j.driver.QueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Two simulated functions on the engine's own thread, as users run them, and the application on
 * another: messages are posted as fast as they complete. The bytes of large messages lie in 64 MiB
 * on each side, more than a processor's caches, and so do those of the copies beside them.
 *
 * <p>An operation is one message.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "--enable-native-access=ALL-UNNAMED")
public class EngineBenchmark {
  private static final int SMALL = 64;
  private static final int LARGE = 1 << 20;
  private static final int SMALL_BATCH = 1 << 14;
  private static final int LARGE_BATCH = 64;
  private static final int WINDOW = 256;
  private static final int LARGE_WINDOW = 8;
  private static final int POLL_EVERY = 16;
  private static final int FRAMES = 16;
  private static final int PAYLOAD = 4096;
  private static final long BYTES = (long) LARGE_BATCH * LARGE;

  private final MemorySegment[] frames = new MemorySegment[FRAMES];
  private Fabric fabric;
  private QueuePair sender;
  private QueuePair receiver;

  /** Brings two functions up. */
  @Setup(Level.Trial)
  public void connect() {
    fabric = new Fabric(Fabric.cards().build(), 1, 2 * WINDOW, BYTES);
    for (int i = 0; i < FRAMES; i++) {
      frames[i] = Arena.ofAuto().allocate(PAYLOAD, 64);
    }
    sender = fabric.senders[0];
    receiver = fabric.receivers[0];
  }

  /** Closes all. */
  @TearDown(Level.Trial)
  public void disconnect() {
    fabric.close();
  }

  private void write(int messages, int bytes, int window) {
    int posted = 0;
    int done = 0;
    while (done < messages) {
      boolean room = posted < messages && posted - done < window;
      if (room) {
        long at = posted % (BYTES / bytes) * bytes;
        sender.postWrite(
            posted++,
            fabric.source.lkey(),
            fabric.source.address() + at,
            bytes,
            fabric.sink.address() + at,
            fabric.sink.rkey(),
            QueuePair.SIGNALED);
        sender.ring();
      }
      if (!room || posted % POLL_EVERY == 0) {
        done += fabric.polled(fabric.nearQueue);
      }
    }
  }

  /** WRITEs of 64 bytes. */
  @Benchmark
  @OperationsPerInvocation(SMALL_BATCH)
  public void write64B() {
    write(SMALL_BATCH, SMALL, WINDOW);
  }

  /** WRITEs of 1 MiB. */
  @Benchmark
  @OperationsPerInvocation(LARGE_BATCH)
  public void write1MiB() {
    write(LARGE_BATCH, LARGE, LARGE_WINDOW);
  }

  /** SENDs of 64 bytes into posted receives, completions on both sides. */
  @Benchmark
  @OperationsPerInvocation(SMALL_BATCH)
  public void send64B() {
    int posted = 0;
    int done = 0;
    int received = 0;
    while (done < SMALL_BATCH || received < SMALL_BATCH) {
      boolean room = posted < SMALL_BATCH && posted - Math.min(done, received) < WINDOW;
      if (room) {
        long at = posted % WINDOW * (long) SMALL;
        receiver.postReceive(posted, fabric.sink.lkey(), fabric.sink.address() + at, SMALL);
        sender.postSend(
            posted++,
            fabric.source.lkey(),
            fabric.source.address() + at,
            SMALL,
            QueuePair.SIGNALED);
        sender.ring();
      }
      if (!room || posted % POLL_EVERY == 0) {
        done += fabric.polled(fabric.nearQueue);
        received += fabric.polled(fabric.farQueue);
      }
    }
  }

  /** The bytes of {@link #write1MiB} copied once, by the application's thread. */
  @Benchmark
  @OperationsPerInvocation(LARGE_BATCH)
  public void copy1MiB() {
    for (int i = 0; i < LARGE_BATCH; i++) {
      long at = (long) i * LARGE;
      MemorySegment.copy(fabric.from.segment(), at, fabric.to.segment(), at, LARGE);
    }
  }

  /**
   * The bytes of {@link #write1MiB} copied page by page into frames and out of them, sixteen at a
   * time: what no device whose frames hold their bytes can do without.
   */
  @Benchmark
  @OperationsPerInvocation(LARGE_BATCH)
  public void copyByFrames1MiB() {
    for (long at = 0; at < BYTES; at += (long) FRAMES * PAYLOAD) {
      for (int i = 0; i < FRAMES; i++) {
        long from = at + (long) i * PAYLOAD;
        MemorySegment.copy(fabric.from.segment(), from, frames[i], 0, PAYLOAD);
      }
      for (int i = 0; i < FRAMES; i++) {
        long to = at + (long) i * PAYLOAD;
        MemorySegment.copy(frames[i], 0, fabric.to.segment(), to, PAYLOAD);
      }
    }
  }
}
