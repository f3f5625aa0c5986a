package irdma4j.bench;

import irdma4j.driver.Completion;
import irdma4j.driver.ring.CompletionRing;
import irdma4j.driver.ring.DoorbellPolicy;
import irdma4j.driver.ring.QueuePairRings;
import irdma4j.driver.ring.ReceiveQueue;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.uapi.Bar;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
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

/**
 * What posting a WQE, ringing and polling its completion cost, with a page of memory in place of
 * the device's registers. The baselines store and load the same bytes and decide nothing.
 *
 * <p>The benchmark plays the device: it writes each completion before it polls it, in both cases.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class PostPollBenchmark {
  private static final int QUANTA = 1024;
  private static final int ENTRIES = 1024;
  private static final int QP_ID = 5;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment page = arena.allocate(4096, 4096);
  private final MemorySegment sq = arena.allocate(QUANTA * 32L, 4096);
  private final MemorySegment cq = arena.allocate(ENTRIES * 32L, 4096);
  private final MemorySegment sqShadow = arena.allocate(64, 64);
  private final MemorySegment cqShadow = arena.allocate(64, 64);
  private final MemorySegment payload = arena.allocate(4096, 4096);
  private final Bar bar = new PageBar(page);
  private final SendQueue shadowed = queue(DoorbellPolicy.SHADOW);
  private final SendQueue always = queue(DoorbellPolicy.ALWAYS);
  private final QueuePairRings shadowedRings = rings(shadowed);
  private final QueuePairRings alwaysRings = rings(always);
  private final Completion completion = new Completion();
  private final SgeList sges = new SgeList();
  private QueuePairRings current = alwaysRings;
  private final CompletionRing completions =
      new CompletionRing(cq, ENTRIES, false, cqShadow, 0, 9, bar, 64, context -> current);

  private int wqe;
  private int entry;
  private int valid = 1;
  private long number;

  private SendQueue queue(DoorbellPolicy policy) {
    return new SendQueue(sq, QUANTA, sqShadow, 0, bar, 0, QP_ID, 3, 64, policy);
  }

  private QueuePairRings rings(SendQueue queue) {
    return new QueuePairRings(QP_ID, queue, new ReceiveQueue(arena.allocate(512, 64), 16, 0, 1));
  }

  /** A register page that is memory, stored to as a mapped BAR is. */
  private record PageBar(MemorySegment page) implements Bar {
    @Override
    public int index() {
      return 0;
    }

    @Override
    public long size() {
      return page.byteSize();
    }

    @Override
    public int read32(long offset) {
      return LittleEndian.getIntAcquire(page, offset);
    }

    @Override
    public void write32(long offset, int value) {
      LittleEndian.setIntRelease(page, offset, value);
    }

    @Override
    public long read64(long offset) {
      return LittleEndian.getLongAcquire(page, offset);
    }

    @Override
    public void write64(long offset, long value) {
      LittleEndian.setLongRelease(page, offset, value);
    }
  }

  /** The device's part: completes the WQE, and publishes its tail. */
  private void complete(int quanta) {
    long base = (long) entry * 32;
    LittleEndian.setLong(cq, base, 0);
    LittleEndian.setLong(cq, base + 8, QP_ID);
    LittleEndian.setLong(cq, base + 16, Cqe.QPID.encode(QP_ID));
    LittleEndian.setLongRelease(
        cq,
        base + 24,
        Cqe.SQ.encode(1)
            | Cqe.OP.encode(SqOpcode.SEND.code())
            | Cqe.WQEIDX.encode(wqe)
            | Cqe.VALID.encode(valid));
    wqe = (wqe + quanta) & (QUANTA - 1);
    LittleEndian.setLongRelease(sqShadow, 0, wqe);
    if (++entry == ENTRIES) {
      entry = 0;
      valid ^= 1;
    }
  }

  /** Post a SEND of one entry, ring always, poll. */
  @Benchmark
  public boolean send() {
    current = alwaysRings;
    boolean posted = always.send(number++, 1, 0, 0, sges.set(0x1000, 64, 77));
    always.ring();
    complete(1);
    boolean polled = completions.poll(completion);
    return posted && polled;
  }

  /** Post a SEND of one entry, ring as the shadow area says, poll. */
  @Benchmark
  public boolean sendShadow() {
    current = shadowedRings;
    boolean posted = shadowed.send(number++, 1, 0, 0, sges.set(0x1000, 64, 77));
    shadowed.ring();
    complete(1);
    boolean polled = completions.poll(completion);
    return posted && polled;
  }

  /** Post an RDMA WRITE of one entry, ring always, poll. */
  @Benchmark
  public boolean write() {
    current = alwaysRings;
    boolean posted = always.write(number++, 1, 0, 0x99000, 33, sges.set(0x1000, 4096, 77));
    always.ring();
    complete(1);
    boolean polled = completions.poll(completion);
    return posted && polled;
  }

  /** Post a SEND of 39 bytes in the WQE, ring always, poll. */
  @Benchmark
  public boolean sendInline() {
    current = alwaysRings;
    boolean posted = always.sendInline(number++, 1, 0, 0, payload, 0, 39);
    always.ring();
    complete(2);
    boolean polled = completions.poll(completion);
    return posted && polled;
  }

  private long baselineSum;

  private long stores(long header) {
    long base = (long) wqe * 32;
    LittleEndian.setLong(sq, base, 0x1000);
    LittleEndian.setLong(sq, base + 8, 77L | (64L << 32));
    LittleEndian.setLong(sq, base + 16, 0);
    LittleEndian.setLongRelease(sq, base + 24, header);
    return base;
  }

  private long loads() {
    long base = (long) entry * 32;
    complete(1);
    long sum = LittleEndian.getLongAcquire(cq, base + 24);
    sum += LittleEndian.getLong(cq, base);
    sum += LittleEndian.getLong(cq, base + 8);
    sum += LittleEndian.getLong(cq, base + 16);
    LittleEndian.setLongRelease(cqShadow, 0, entry);
    return sum;
  }

  /** Only stores a WQE's and a doorbell's bytes and loads a completion's. */
  @Benchmark
  public long baseline() {
    stores(SqWqe.VALID.encode(valid));
    bar.write32(0, QP_ID);
    baselineSum += loads();
    return baselineSum;
  }

  /** The same with the full fence and the load that the shadow area's rule costs. */
  @Benchmark
  public long baselineShadow() {
    stores(SqWqe.VALID.encode(valid));
    VarHandle.fullFence();
    baselineSum += LittleEndian.getLongAcquire(sqShadow, 0);
    bar.write32(0, QP_ID);
    baselineSum += loads();
    return baselineSum;
  }
}
