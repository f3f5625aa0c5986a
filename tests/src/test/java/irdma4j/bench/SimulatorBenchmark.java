package irdma4j.bench;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
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
 * The whole path between two simulated functions, stepped, on one thread: post, doorbell, WQE
 * fetch, packets, ICRC, wire, responder, acknowledgement, completion and poll; beside it the copies
 * of the same bytes alone.
 *
 * <p>An operation is one message. Run with {@code -prof gc} for the bytes allocated by each.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgs = "--enable-native-access=ALL-UNNAMED")
public class SimulatorBenchmark {
  private static final int BATCH = 64;
  private static final int PAGE = 4096;
  private static final int SMALL = 64;
  private static final int LARGE = 1 << 20;
  private static final int LARGE_BATCH = 4;
  private static final long BYTES = (long) LARGE_BATCH * LARGE;

  private final Completion completion = new Completion();
  private Simulation simulation;
  private RdmaDevice near;
  private RdmaDevice far;
  private CompletionQueue nearQueue;
  private CompletionQueue farQueue;
  private QueuePair sender;
  private QueuePair receiver;
  private DmaMemory from;
  private DmaMemory to;
  private MemoryRegion source;
  private MemoryRegion sink;
  private DeviceClock clock;
  private long sequence;

  /** Brings two functions up and connects a queue pair between them. */
  @Setup(Level.Trial)
  public void connect() {
    simulation =
        Simulation.builder()
            .seed(1)
            .stepped()
            .profile(CardProfile.small().withMaxSegments(64))
            .build();
    clock = simulation.function(0).clock();
    near = open(0);
    far = open(1);
    ProtectionDomain nearDomain = near.allocateProtectionDomain();
    ProtectionDomain farDomain = far.allocateProtectionDomain();
    from = near.allocateMemory(BYTES, DmaPlacement.SCATTERED);
    to = far.allocateMemory(BYTES, DmaPlacement.SCATTERED);
    source = nearDomain.registerMemory(from, Access.LOCAL_WRITE);
    sink = farDomain.registerMemory(to, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    nearQueue = near.createCompletionQueue(4 * BATCH);
    farQueue = far.createCompletionQueue(4 * BATCH);
    sender =
        nearDomain.createQueuePair(QueuePairConfig.of(nearQueue).withRequests(2 * BATCH, BATCH));
    receiver =
        farDomain.createQueuePair(QueuePairConfig.of(farQueue).withRequests(BATCH, 2 * BATCH));
    Gid nearGid = Gid.of("10.0.0.1");
    Gid farGid = Gid.of("10.0.0.2");
    sender.connect(RcPath.of(nearGid, farGid, far.macAddress(), receiver.qpn(), 1, 1));
    receiver.connect(RcPath.of(farGid, nearGid, near.macAddress(), sender.qpn(), 1, 1));
  }

  private RdmaDevice open(int index) {
    return RdmaDevice.open(
        simulation.function(index),
        DeviceConfig.defaults().withMacAddress(0x02_00_00_00_00_01L + index).withQueuePairs(16),
        StageListener.none());
  }

  /** Closes all. */
  @TearDown(Level.Trial)
  public void disconnect() {
    near.close();
    far.close();
    simulation.close();
  }

  private void await(CompletionQueue queue, int completions) {
    int left = completions;
    while (left > 0) {
      if (!queue.poll(completion)) {
        clock.pause(0);
      } else if (completion.isSuccess()) {
        left--;
      } else {
        throw new IllegalStateException(completion.toString());
      }
    }
  }

  private void write(int messages, int bytes) {
    for (int i = 0; i < messages; i++) {
      long at = (long) i * bytes;
      sender.postWrite(
          sequence++,
          source.lkey(),
          source.address() + at,
          bytes,
          sink.address() + at,
          sink.rkey(),
          QueuePair.SIGNALED);
    }
    sender.ring();
    await(nearQueue, messages);
  }

  /** WRITEs of one page. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void write4KiB() {
    write(BATCH, PAGE);
  }

  /** WRITEs of 1 MiB. */
  @Benchmark
  @OperationsPerInvocation(LARGE_BATCH)
  public void write1MiB() {
    write(LARGE_BATCH, LARGE);
  }

  /** SENDs of 64 bytes into posted receives, completions on both sides. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void send64B() {
    for (int i = 0; i < BATCH; i++) {
      long at = (long) i * SMALL;
      receiver.postReceive(sequence, sink.lkey(), sink.address() + at, SMALL);
      sender.postSend(sequence++, source.lkey(), source.address() + at, SMALL, QueuePair.SIGNALED);
    }
    sender.ring();
    await(nearQueue, BATCH);
    await(farQueue, BATCH);
  }

  /** The bytes of {@link #write4KiB} copied once. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void copy4KiB() {
    copy(BATCH, PAGE);
  }

  /** The bytes of {@link #write1MiB} copied once. */
  @Benchmark
  @OperationsPerInvocation(LARGE_BATCH)
  public void copy1MiB() {
    copy(LARGE_BATCH, LARGE);
  }

  /** The bytes of {@link #send64B} copied once. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void copy64B() {
    copy(BATCH, SMALL);
  }

  private void copy(int messages, int bytes) {
    for (int i = 0; i < messages; i++) {
      long at = (long) i * bytes;
      MemorySegment.copy(from.segment(), at, to.segment(), at, bytes);
    }
  }
}
