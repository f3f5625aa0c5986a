package irdma4j.bench;

import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What a field costs over the shift and mask that it stands for. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class FieldBenchmark {
  private final MemorySegment cqe = Arena.ofAuto().allocate(64, 64);

  /** Reads the QP's number through its field. */
  @Benchmark
  public long field() {
    return Cqe.QPID.get(cqe, 0);
  }

  /** Reads the same bits by hand. */
  @Benchmark
  public long byHand() {
    return (LittleEndian.getLong(cqe, 16) >>> 32) & 0xffffff;
  }
}
