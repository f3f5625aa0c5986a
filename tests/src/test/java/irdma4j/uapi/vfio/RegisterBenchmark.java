package irdma4j.uapi.vfio;

import irdma4j.uapi.Bar;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What an access to a register costs beside a plain store or load of the same page; memory stands
 * in place of the registers, so this is the cost of the code and not of the bus.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class RegisterBenchmark {
  private static final int WHOLE = 3;
  private static final int SPARSE = 0;
  private static final long DOORBELL = 0x9040;
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private Path root;
  private VfioFunction function;
  private Bar whole;
  private Bar sparse;
  private MemorySegment page;
  private int value;

  /** Opens a function whose BARs are memory: one mapped whole, one with a hole. */
  @Setup(Level.Trial)
  public void open() throws IOException {
    root = MadeUpMachine.in(Files.createTempDirectory("irdma4j"), true);
    CardStandIn card =
        new CardStandIn()
            .withBar(SPARSE, 1 << 20, new Region.Area(0, 0x8000), new Region.Area(0x9000, 0xf7000))
            .withBar(WHOLE, 1 << 16);
    function =
        VfioFunction.open(
            new KernelStandIn(card),
            CardStandIn.BDF,
            new VfioOptions(VfioOptions.Access.CDEV, VfioOptions.PageSize.SMALL, root));
    whole = function.bar(WHOLE);
    sparse = function.bar(SPARSE);
    page = card.bar(WHOLE).memory();
  }

  /** Closes it. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    function.close();
    MadeUpMachine.remove(root);
  }

  /** A store of 32 bits that orders nothing. */
  @Benchmark
  public void plainStore32() {
    page.set(ValueLayout.JAVA_INT, DOORBELL, value++);
  }

  /** A store with release order. */
  @Benchmark
  public void releaseStore32() {
    INT.setRelease(page, DOORBELL, value++);
  }

  /** A register of a BAR that is mapped whole. */
  @Benchmark
  public void write32() {
    whole.write32(DOORBELL, value++);
  }

  /** A register of a BAR with a hole, in its second part. */
  @Benchmark
  public void write32Sparse() {
    sparse.write32(DOORBELL, value++);
  }

  /** A register of 64 bits. */
  @Benchmark
  public void write64() {
    whole.write64(DOORBELL, value++);
  }

  /** A load of 32 bits that orders nothing. */
  @Benchmark
  public int plainLoad32() {
    return page.get(ValueLayout.JAVA_INT, DOORBELL);
  }

  /** A register of a BAR that is mapped whole. */
  @Benchmark
  public int read32() {
    return whole.read32(DOORBELL);
  }

  /** A register of a BAR with a hole, in its second part. */
  @Benchmark
  public int read32Sparse() {
    return sparse.read32(DOORBELL);
  }

  /** A register of 64 bits. */
  @Benchmark
  public long read64() {
    return whole.read64(DOORBELL);
  }
}
