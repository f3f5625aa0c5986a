package irdma4j.bench;

import irdma4j.driver.QueuePair;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a WRITE of 64 bytes costs when many queue pairs are live: stepped, on one thread. The ones
 * in use take turns of some messages; the others are connected and idle.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgs = {"--enable-native-access=ALL-UNNAMED", "-Xmx8g"})
public class ManyPairsBenchmark {
  private static final int MESSAGES = 1 << 14;
  private static final int SMALL = 64;
  private static final int WINDOW = 256;
  private static final int MOST_OF_A_PAIR = 64;

  /** Queue pairs that are connected. */
  @Param({"1", "16384"})
  int live;

  /** Those of them that are used. */
  @Param({"1", "16384"})
  int used;

  /** Messages that a queue pair is given in its turn. */
  @Param({"1", "32"})
  int burst;

  private Fabric fabric;
  private int turn;
  private int inTurn;

  /** Brings two functions up and connects the queue pairs between them. */
  @Setup(Level.Trial)
  public void connect() {
    int depth = live == 1 ? 2 * WINDOW : MOST_OF_A_PAIR;
    fabric = new Fabric(Fabric.cards().stepped().build(), live, depth, 1 << 20);
    used = Math.min(used, live);
  }

  /** Closes all. */
  @TearDown(Level.Trial)
  public void disconnect() {
    fabric.close();
  }

  private QueuePair next() {
    if (++inTurn > burst) {
      inTurn = 1;
      turn = turn + 1 == used ? 0 : turn + 1;
    }
    return fabric.senders[turn];
  }

  /** WRITEs of 64 bytes, up to 32 outstanding of each queue pair and 256 of all. */
  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public void write64B() {
    int window = used == 1 && live > 1 ? MOST_OF_A_PAIR / 2 : WINDOW;
    int posted = 0;
    int done = 0;
    while (done < MESSAGES) {
      if (posted < MESSAGES && posted - done < window) {
        QueuePair pair = next();
        long at = posted % WINDOW * (long) SMALL;
        pair.postWrite(
            posted++,
            fabric.source.lkey(),
            fabric.source.address() + at,
            SMALL,
            fabric.sink.address() + at,
            fabric.sink.rkey(),
            QueuePair.SIGNALED);
        if (inTurn == burst) {
          pair.ring();
        }
      } else {
        fabric.senders[turn].ring();
        fabric.step();
        done += fabric.polled(fabric.nearQueue);
      }
    }
  }
}
