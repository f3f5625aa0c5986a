package irdma4j.pble;

import irdma4j.hmc.Extent;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The PBLEs of a function: hands out runs of them, and grows by chunks as long as the HMC has room.
 *
 * <p>The newest chunk is asked first, and in it the lowest run that fits is taken, in units of
 * eight PBLEs. A request is tried as one run, then (if the caller allows it and it has more than
 * 512 pages) as a root with leaves, before the pool grows: the order of Linux's driver, so that
 * indices are the same. A request of {@link PbleLevels#LEVEL_2_ONLY} gets a root with leaves
 * whatever its size.
 *
 * <p>Growth differs: Linux gives up after a number of chunks that depends on the request's size
 * alone, and keeps them. This pool grows as long as that can help, and takes back what it grew by
 * for a request that is refused in the end. {@link #linux} does it as Linux does.
 *
 * <p>Not thread-safe. Source: Linux drivers/infiniband/hw/irdma/pble.c.
 */
public final class PblePool implements AutoCloseable {
  /** Pages of a chunk that covers a whole segment. */
  public static final int WHOLE_SEGMENT = 512;

  /** PBLEs that the device can name: its index has 28 bits. */
  private static final long NAMEABLE = 1L << 28;

  private static final int PER_PAGE = 512;
  private static final int PAGE = 4096;
  private static final int NOTHING = Integer.MAX_VALUE;
  private static final int LEAF = PbleAllocation.LEAF;
  private static final int LEAF_UNITS = LEAF / Chunk.UNIT;

  private final HostMemoryCache cache;
  private final long base;
  private final int chunkPages;
  private final boolean asLinux;
  private final List<Chunk> chunks = new ArrayList<>();
  private final ChunkIndex index = new ChunkIndex();
  private long nextAddress;
  private long unbacked;
  private long backed;
  private long free;
  private int level1;
  private int level2;
  private long granted;
  private long refused;
  private boolean closed;

  /** Where {@link #take} found a run. */
  private int takenUnit;

  /**
   * No run of {@link #searchedUnits} or more that its chunk knows to be free starts before unit
   * {@link #searchedUnit} of this chunk, in the order of the search. The chunk is -1 if there is
   * none anywhere, {@link #NOTHING} if that is not known of any place.
   */
  private int searchedChunk = NOTHING;

  private int searchedUnit;
  private int searchedUnits;

  /**
   * Whether a run was given back that its chunk does not know yet. The next request for {@link
   * #searchedUnits} gets it: no other run lies before it, and it does not go on to the left.
   */
  private boolean kept;

  private Chunk keptChunk;
  private int keptUnit;

  /**
   * A pool with its first chunk.
   *
   * @param cache whose PBLE area it takes, up to the 2<sup>28</sup> PBLEs that the device can name;
   *     it must outlive the pool
   * @param chunkPages most pages of 512 PBLEs that the pool grows by at once, 1 to 512; a list that
   *     no chunk can hold in one run gets a root with leaves
   * @throws PbleException if the area has no whole page, or memory for the first chunk is refused
   */
  public PblePool(HostMemoryCache cache, int chunkPages) {
    this(cache, chunkPages, false);
  }

  /**
   * A pool that grows by whole segments, and refuses and keeps exactly what Linux's driver does.
   */
  public static PblePool linux(HostMemoryCache cache) {
    return new PblePool(cache, WHOLE_SEGMENT, true);
  }

  private PblePool(HostMemoryCache cache, int chunkPages, boolean asLinux) {
    if (chunkPages < 1 || chunkPages > WHOLE_SEGMENT) {
      throw new IllegalArgumentException("chunkPages " + chunkPages + ": 1 to " + WHOLE_SEGMENT);
    }
    this.cache = cache;
    this.chunkPages = chunkPages;
    this.asLinux = asLinux;
    HmcLayout.Area area = cache.layout().of(HmcObject.PBLE);
    base = area.base();
    // A chunk is made of whole pages, so the PBLEs before the first page boundary are not used.
    nextAddress = (base + PAGE - 1) / PAGE * PAGE;
    unbacked = Math.max(0, Math.min(area.count(), NAMEABLE) - (nextAddress - base) / 8);
    if (unbacked < PER_PAGE) {
      throw new PbleException(
          "the PBLE area of %d entries has no whole page".formatted(area.count()));
    }
    RuntimeException failure = grow();
    if (failure != null) {
      throw new PbleException("no memory for the first PBLEs: " + failure.getMessage(), failure);
    }
    keptChunk = chunks.getFirst();
  }

  /**
   * Takes PBLEs.
   *
   * @param count pages of the list, at least 1
   * @param levels which levels are allowed
   * @throws PbleException if the area, or the memory behind it, is exhausted; nothing has changed
   *     then, except that a pool made by {@link #linux} may have grown
   */
  public PbleAllocation allocate(int count, PbleLevels levels) {
    if (count < 1) {
      throw new IllegalArgumentException("PBLE count " + count);
    }
    if (closed) {
      throw new IllegalStateException("the PBLE pool is closed");
    }
    PbleAllocation allocation = tryAllocate(count, levels);
    if (allocation == null) {
      allocation = growAndAllocate(count, levels);
    }
    granted++;
    if (allocation.level() == 1) {
      level1++;
    } else {
      level2++;
    }
    return allocation;
  }

  /**
   * Gives PBLEs back.
   *
   * @throws PbleException if they are not in use in this pool; nothing has changed then
   */
  public void free(PbleAllocation allocation) {
    if (allocation.owner != this || closed) {
      throw new PbleException(
          "the PBLEs at %d are not in use here".formatted(allocation.firstIndex()));
    }
    allocation.owner = null;
    int leaves = allocation.leafCount();
    if (leaves == 0) {
      give(allocation.chunk(), allocation.unit(), allocation.count());
      level1--;
      return;
    }
    give(allocation.chunk(), allocation.unit(), leaves);
    giveLeaves(allocation.leafChunks(), allocation.leafUnits(), leaves, allocation.count());
    level2--;
  }

  /** What is backed, free and in use. */
  public PbleUsage usage() {
    return new PbleUsage(backed, free, unbacked, chunks.size(), level1, level2, granted, refused);
  }

  /**
   * Gives all chunks back to the cache; allocations that were not freed are void. Goes on after a
   * failure, and throws it at the end. Closing twice does nothing.
   */
  @Override
  public void close() {
    closed = true;
    kept = false;
    RuntimeException first = null;
    while (!chunks.isEmpty()) {
      try {
        cache.release(chunks.removeLast().extent);
      } catch (RuntimeException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    backed = 0;
    free = 0;
    level1 = 0;
    level2 = 0;
    if (first != null) {
      throw first;
    }
  }

  /** The chunks, oldest first. */
  List<Chunk> chunks() {
    return chunks;
  }

  private PbleAllocation growAndAllocate(int count, PbleLevels levels) {
    int before = chunks.size();
    long attempts = asLinux ? count / ((long) chunkPages * PER_PAGE) + 1 : Long.MAX_VALUE;
    if (asLinux && levels == PbleLevels.LEVEL_1_ONLY) {
      attempts = 1;
    }
    RuntimeException failure = null;
    for (long i = 0; i < attempts && unbacked >= PER_PAGE; i++) {
      if (!asLinux && !growthHelps(count, levels)) {
        break;
      }
      failure = grow();
      if (failure != null) {
        break;
      }
      PbleAllocation allocation = tryAllocate(count, levels);
      if (allocation != null) {
        return allocation;
      }
    }
    refused++;
    PbleException refusal = refusal(count, levels, failure);
    try {
      while (!asLinux && chunks.size() > before) {
        dropNewest();
      }
    } catch (RuntimeException e) {
      refusal.addSuppressed(e);
    }
    throw refusal;
  }

  private PbleException refusal(int count, PbleLevels levels, @Nullable RuntimeException failure) {
    String message =
        "no room for %d PBLEs (%s): %d are free and the pool can grow by %d"
            .formatted(count, levels, free, unbacked);
    return failure == null
        ? new PbleException(message)
        : new PbleException(message + ", but " + failure.getMessage(), failure);
  }

  /** Whether the rest of the area, all of it backed, could hold what is missing. */
  private boolean growthHelps(int count, PbleLevels levels) {
    if (levels != PbleLevels.LEVEL_1_ONLY) {
      return free + unbacked >= count;
    }
    long toSegmentEnd = toSegmentEnd(nextAddress);
    long left = unbacked / PER_PAGE;
    long largest = Math.min(Math.min(toSegmentEnd, chunkPages), left);
    long beyond = Math.min(Math.min(WHOLE_SEGMENT, chunkPages), left - toSegmentEnd);
    return Math.max(largest, beyond) * PER_PAGE >= count;
  }

  private static boolean isLevel2(PbleLevels levels) {
    return levels == PbleLevels.LEVEL_2_ONLY;
  }

  private @Nullable PbleAllocation tryAllocate(int count, PbleLevels levels) {
    if (!isLevel2(levels)) {
      Chunk chunk = take(count);
      if (chunk != null) {
        return new PbleAllocation(this, count, chunk, takenUnit);
      }
      if (levels == PbleLevels.LEVEL_1_ONLY || count <= LEAF) {
        return null;
      }
    }
    return free < count ? null : tryLeaves(count);
  }

  private @Nullable PbleAllocation tryLeaves(int count) {
    int leafCount = (count - 1) / LEAF + 1;
    Chunk root = take(leafCount);
    if (root == null) {
      return null;
    }
    int rootUnit = takenUnit;
    long rootOffset = (long) rootUnit * Chunk.UNIT * 8;
    Chunk[] leafChunks = new Chunk[leafCount];
    int[] leafUnits = new int[leafCount];
    for (int leaf = 0; leaf < leafCount; ) {
      Chunk chunk = take(leafSize(count, leaf));
      if (chunk == null) {
        giveLeaves(leafChunks, leafUnits, leaf, count);
        give(root, rootUnit, leafCount);
        return null;
      }
      int next = leaf + 1 + takeFullLeaves(chunk, takenUnit + LEAF_UNITS, count / LEAF - leaf - 1);
      for (int unit = takenUnit; leaf < next; leaf++, unit += LEAF_UNITS) {
        leafChunks[leaf] = chunk;
        leafUnits[leaf] = unit;
        LittleEndian.setLong(
            root.memory, rootOffset + 8L * leaf, chunk.firstIndex + unit * Chunk.UNIT);
      }
    }
    return new PbleAllocation(this, count, root, rootUnit, leafChunks, leafUnits);
  }

  /**
   * Takes the leaves that lie behind one just taken, without a search: that one was the lowest run
   * of its length, so if there is room for another right behind it, that is the lowest now.
   *
   * @param most full leaves that are wanted
   * @return full leaves that were taken
   */
  private int takeFullLeaves(Chunk chunk, int unit, int most) {
    if (most <= 0) {
      return 0;
    }
    int leaves = chunk.runs.length(unit, most * LEAF_UNITS) / LEAF_UNITS;
    if (leaves == 0) {
      return 0;
    }
    chunk.runs.take(unit, leaves * LEAF_UNITS);
    free -= (long) leaves * LEAF;
    searchedUnit = unit + leaves * LEAF_UNITS;
    return leaves;
  }

  /** Gives the first leaves of a list back; neighbours go together. */
  private void giveLeaves(Chunk[] leafChunks, int[] leafUnits, int leaves, int count) {
    for (int leaf = 0; leaf < leaves; ) {
      Chunk chunk = leafChunks[leaf];
      int unit = leafUnits[leaf];
      int first = leaf;
      do {
        leaf++;
      } while (leaf < leaves
          && leafChunks[leaf] == chunk
          && leafUnits[leaf] == unit + (leaf - first) * LEAF_UNITS);
      give(chunk, unit, Math.min(count, leaf * LEAF) - first * LEAF);
    }
  }

  private static int leafSize(int count, int leaf) {
    return Math.min(LEAF, count - leaf * LEAF);
  }

  /** Takes the lowest run of the newest chunk that has one; {@link #takenUnit} says where. */
  private @Nullable Chunk take(int count) {
    int units = Chunk.units(count);
    if (kept && units == searchedUnits) {
      kept = false;
      free -= (long) units * Chunk.UNIT;
      takenUnit = keptUnit;
      return keptChunk;
    }
    settle();
    int code = ChunkIndex.code(units);
    int number = searchedChunk;
    int from = searchedUnit;
    if (number == NOTHING || units < searchedUnits) {
      number = index.last(code, chunks.size());
      from = 0;
    }
    searchedUnits = units;
    for (; number >= 0; number = index.last(code, number)) {
      Chunk chunk = chunks.get(number);
      int unit = chunk.runs.find(units, from);
      if (unit >= 0) {
        chunk.runs.take(unit, units);
        free -= (long) units * Chunk.UNIT;
        takenUnit = unit;
        searchedChunk = number;
        searchedUnit = unit + units;
        return chunk;
      }
      index.lower(number, ChunkIndex.code(chunk.runs.bound()));
      from = 0;
    }
    searchedChunk = -1;
    return null;
  }

  private void give(Chunk chunk, int unit, int count) {
    int units = Chunk.units(count);
    free += (long) units * Chunk.UNIT;
    settle();
    if (units == searchedUnits
        && isSearched(chunk.number, unit)
        && !chunk.runs.isFreeBefore(unit)) {
      kept = true;
      keptUnit = unit;
      if (keptChunk != chunk) { // A write that changes nothing costs a card mark.
        keptChunk = chunk;
      }
      return;
    }
    giveBack(chunk, unit, units);
  }

  /** Whether a unit comes before what the last search has left. */
  private boolean isSearched(int number, int unit) {
    return number > searchedChunk || (number == searchedChunk && unit < searchedUnit);
  }

  private void giveBack(Chunk chunk, int unit, int units) {
    int run = chunk.runs.give(unit, units);
    index.raise(chunk.number, ChunkIndex.code(run));
    // A run that starts further to the left was long enough before.
    int start = Math.max(0, unit - searchedUnits + 1);
    if (run >= Math.min(searchedUnits, FreeRuns.SHORT) && isSearched(chunk.number, start)) {
      searchedChunk = chunk.number;
      searchedUnit = start;
    }
  }

  /** Tells its chunk of the run that was kept. */
  private void settle() {
    if (kept) {
      kept = false;
      giveBack(keptChunk, keptUnit, searchedUnits);
    }
  }

  /** Adds the next chunk; answers why there is no memory for it, or null. */
  private @Nullable RuntimeException grow() {
    settle();
    searchedChunk = NOTHING;
    int pages =
        (int)
            Math.min(
                Math.min(toSegmentEnd(nextAddress), chunkPages),
                Math.min(WHOLE_SEGMENT, unbacked / PER_PAGE));
    Extent extent;
    try {
      extent = cache.extend(nextAddress, pages);
    } catch (RuntimeException e) {
      return e;
    }
    Chunk chunk = new Chunk(chunks.size(), extent, (int) ((nextAddress - base) / 8));
    chunks.add(chunk);
    index.grow(chunks.size());
    index.raise(chunk.number, ChunkIndex.code(chunk.runs.bound()));
    nextAddress += (long) pages * PAGE;
    unbacked -= chunk.entries();
    backed += chunk.entries();
    free += chunk.entries();
    return null;
  }

  /** Gives the newest chunk, which is free, back to the cache. */
  private void dropNewest() {
    settle();
    Chunk chunk = chunks.getLast();
    cache.release(chunk.extent);
    chunks.removeLast();
    searchedChunk = NOTHING;
    nextAddress = chunk.extent.address();
    unbacked += chunk.entries();
    backed -= chunk.entries();
    free -= chunk.entries();
  }

  private static long toSegmentEnd(long address) {
    return WHOLE_SEGMENT - address % HostMemoryCache.SEGMENT_SIZE / PAGE;
  }
}
