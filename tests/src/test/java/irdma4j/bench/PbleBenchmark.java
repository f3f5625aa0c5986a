package irdma4j.bench;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.pble.PageList;
import irdma4j.pble.PbleAllocation;
import irdma4j.pble.PbleException;
import irdma4j.pble.PbleLevels;
import irdma4j.pble.PblePool;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Taking and giving back PBLEs at several occupancies, and filling a page list. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
// The compiler settles late after the pool was filled.
@Warmup(iterations = 8, time = 1)
@Measurement(iterations = 5, time = 1)
public class PbleBenchmark {
  private static final int RING = 8;

  /** PBLEs of a request. */
  @Param({"1", "100", "512", "1024", "100000"})
  int count;

  /**
   * What is in use before: nothing; all but the oldest of the chunks; nine tenths, with holes of
   * random sizes everywhere.
   */
  @Param({"empty", "oldest", "holes"})
  String occupancy;

  /** Segments of PBLEs. */
  @Param({"4", "64"})
  int chunks;

  private FakePciFunction function;
  private HostMemoryCache cache;
  private PblePool pool;
  private PbleAllocation list;
  private PbleAllocation[] ring;
  private int oldest;
  private int next;
  private MemorySegment iovas;
  private MemorySegment copy;
  private PageList pages;

  /** Fills the pool. */
  @Setup(Level.Trial)
  public void fill() {
    function = new FakePciFunction();
    EnumMap<HmcObject, HmcLayout.Area> areas = new EnumMap<>(HmcObject.class);
    areas.put(HmcObject.PBLE, new HmcLayout.Area(0, chunks * 262144L, 8));
    cache =
        new HostMemoryCache(
            function,
            new HmcDevice(function, chunks),
            new HmcLayout(areas, chunks),
            SegmentType.DIRECT);
    pool = new PblePool(cache, PblePool.WHOLE_SEGMENT);
    switch (occupancy) {
      case "empty" -> {}
      case "oldest" -> {
        List<PbleAllocation> whole = new ArrayList<>();
        for (int chunk = 0; chunk < chunks; chunk++) {
          whole.add(pool.allocate(262144, PbleLevels.LEVEL_1_ONLY));
        }
        pool.free(whole.getFirst());
      }
      case "holes" -> {
        Random random = new Random(7);
        List<PbleAllocation> taken = new ArrayList<>();
        try {
          while (true) {
            taken.add(pool.allocate(1 + random.nextInt(1024), PbleLevels.LEVEL_1_ONLY));
          }
        } catch (PbleException full) {
          long wanted = chunks * 26214L + 262144 / 8;
          while (pool.usage().free() < wanted) {
            pool.free(taken.remove(random.nextInt(taken.size())));
          }
        }
      }
      default -> throw new IllegalArgumentException(occupancy);
    }
    list = pool.allocate(count, PbleLevels.ANY);
    ring = fillRing();
    iovas = Arena.ofAuto().allocate(count * 8L, 4096);
    copy = Arena.ofAuto().allocate(count * 8L, 4096);
    pages = page -> page << 12;
  }

  private PbleAllocation[] fillRing() {
    List<PbleAllocation> granted = new ArrayList<>();
    try {
      while (granted.size() <= RING) {
        granted.add(pool.allocate(count, PbleLevels.ANY));
      }
    } catch (PbleException full) {
      // Fewer must do.
    }
    // The next request needs room.
    pool.free(granted.isEmpty() ? list : granted.removeLast());
    return granted.toArray(PbleAllocation[]::new);
  }

  /** Gives everything back. */
  @TearDown(Level.Trial)
  public void close() {
    pool.close();
    cache.close();
    function.close();
  }

  /** Takes PBLEs and gives them back. */
  @Benchmark
  public int getAndFree() {
    PbleAllocation allocation = pool.allocate(count, PbleLevels.ANY);
    int index = allocation.firstIndex();
    pool.free(allocation);
    return index;
  }

  /**
   * Takes PBLEs and gives the oldest of some others back: the pool has always changed meanwhile.
   */
  @Benchmark
  public int getAndFreeOldest() {
    return replaceOldest(count);
  }

  /** The same with requests of other sizes between, {@code count} being the largest. */
  @Benchmark
  public int getAndFreeOldestMixed() {
    next = next == 2 ? 0 : next + 1;
    return replaceOldest(Math.max(1, count >> (3 * next)));
  }

  private int replaceOldest(int size) {
    PbleAllocation allocation = pool.allocate(size, PbleLevels.ANY);
    int index = allocation.firstIndex();
    if (ring.length == 0) {
      pool.free(allocation);
      return index;
    }
    pool.free(ring[oldest]);
    ring[oldest] = allocation;
    oldest = oldest + 1 == ring.length ? 0 : oldest + 1;
    return index;
  }

  /** Writes the list page by page. */
  @Benchmark
  public PbleAllocation fillByPage() {
    list.fill(pages);
    return list;
  }

  /** Copies the list. */
  @Benchmark
  public PbleAllocation fillByCopy() {
    list.fill(iovas);
    return list;
  }

  /** Copies as many bytes from memory to memory: the bound. */
  @Benchmark
  public MemorySegment copyBaseline() {
    MemorySegment.copy(iovas, 0, copy, 0, count * 8L);
    return copy;
  }
}
