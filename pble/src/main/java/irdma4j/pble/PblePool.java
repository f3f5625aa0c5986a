package irdma4j.pble;

import irdma4j.hmc.Extent;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The PBLEs of a function: hands out runs of them, and grows by chunks as long as the HMC has room.
 *
 * <p>The newest chunk is asked first, and in it the lowest run that fits is taken, in units of
 * eight PBLEs. A request is tried as one run, then (if the caller allows it and it has more than
 * 512 pages) as a root with leaves, before the pool grows: the order of Linux's driver, so that
 * indices are the same. Not thread-safe.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/pble.c.
 */
public final class PblePool implements AutoCloseable {
  /** Pages of a chunk that covers a whole segment. */
  public static final int WHOLE_SEGMENT = 512;

  private static final int PER_PAGE = 512;
  private static final int PAGE = 4096;

  private final HostMemoryCache cache;
  private final long base;
  private final int chunkPages;
  private final List<Chunk> chunks = new ArrayList<>();
  private final Set<PbleAllocation> live = Collections.newSetFromMap(new IdentityHashMap<>());
  private long nextAddress;
  private long unbacked;
  private long backed;
  private long free;
  private int level1;
  private int level2;

  /**
   * A pool with its first chunk.
   *
   * @param cache whose PBLE area it takes
   * @param chunkPages most pages of 512 PBLEs that the pool grows by at once, 1 to 512; a list that
   *     no chunk can hold in one run gets a root with leaves
   * @throws PbleException if the area has no whole page
   */
  public PblePool(HostMemoryCache cache, int chunkPages) {
    if (chunkPages < 1 || chunkPages > WHOLE_SEGMENT) {
      throw new IllegalArgumentException("chunkPages " + chunkPages + ": 1 to " + WHOLE_SEGMENT);
    }
    this.cache = cache;
    this.chunkPages = chunkPages;
    HmcLayout.Area area = cache.layout().of(HmcObject.PBLE);
    base = area.base();
    // A chunk is made of whole pages, so the PBLEs before the first page boundary are not used.
    nextAddress = (base + PAGE - 1) / PAGE * PAGE;
    unbacked = area.count() - (nextAddress - base) / 8;
    if (!grow()) {
      throw new PbleException(
          "the PBLE area of %d entries has no whole page".formatted(area.count()));
    }
  }

  /**
   * Takes PBLEs.
   *
   * @param count pages of the list, at least 1
   * @param levels which levels are allowed
   * @throws PbleException if the area is exhausted; the pool may have grown
   */
  public PbleAllocation allocate(int count, PbleLevels levels) {
    if (count < 1) {
      throw new IllegalArgumentException("PBLE count " + count);
    }
    PbleAllocation allocation = tryAllocate(count, levels);
    long attempts = count / ((long) chunkPages * PER_PAGE) + 1;
    for (long i = 0; allocation == null && i < attempts && grow(); i++) {
      allocation = tryAllocate(count, levels);
      if (levels == PbleLevels.LEVEL_1_ONLY) {
        break;
      }
    }
    if (allocation == null) {
      throw new PbleException(
          "no room for %d PBLEs (%s): %d are free and the pool can grow by %d"
              .formatted(count, levels, free, unbacked));
    }
    live.add(allocation);
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
   * @throws PbleException if they are not in use in this pool
   */
  public void free(PbleAllocation allocation) {
    if (!live.remove(allocation)) {
      throw new PbleException(
          "the PBLEs at %d are not in use here".formatted(allocation.firstIndex()));
    }
    give(allocation.head());
    for (Run leaf : allocation.leaves()) {
      give(leaf);
    }
    if (allocation.level() == 1) {
      level1--;
    } else {
      level2--;
    }
  }

  /** What is backed, free and in use. */
  public PbleUsage usage() {
    return new PbleUsage(backed, free, unbacked, chunks.size(), level1, level2);
  }

  /** Gives all chunks back to the cache. */
  @Override
  public void close() {
    for (Chunk chunk : chunks) {
      cache.release(chunk.extent());
    }
    chunks.clear();
    live.clear();
    backed = 0;
    free = 0;
    level1 = 0;
    level2 = 0;
  }

  private @Nullable PbleAllocation tryAllocate(int count, PbleLevels levels) {
    if (levels != PbleLevels.LEVEL_2_ONLY) {
      Run run = take(count);
      if (run != null) {
        return new PbleAllocation(count, run);
      }
    }
    boolean leavesHelp = count > PbleAllocation.LEAF || levels == PbleLevels.LEVEL_2_ONLY;
    return levels == PbleLevels.LEVEL_1_ONLY || !leavesHelp ? null : tryLeaves(count);
  }

  private @Nullable PbleAllocation tryLeaves(int count) {
    int leafCount = (count + PbleAllocation.LEAF - 1) / PbleAllocation.LEAF;
    Run root = take(leafCount);
    if (root == null) {
      return null;
    }
    Run[] leaves = new Run[leafCount];
    for (int leaf = 0; leaf < leafCount; leaf++) {
      Run run = take(Math.min(PbleAllocation.LEAF, count - leaf * PbleAllocation.LEAF));
      if (run == null) {
        for (int taken = 0; taken < leaf; taken++) {
          give(leaves[taken]);
        }
        give(root);
        return null;
      }
      leaves[leaf] = run;
      LittleEndian.setLong(root.chunk().memory(), root.offset() + 8L * leaf, run.index());
    }
    return new PbleAllocation(count, root, leaves);
  }

  private @Nullable Run take(int count) {
    int units = Run.units(count);
    for (int i = chunks.size() - 1; i >= 0; i--) {
      Chunk chunk = chunks.get(i);
      int unit = chunk.runs().find(units);
      if (unit >= 0) {
        chunk.runs().take(unit, units);
        free -= (long) units * Run.UNIT;
        return new Run(chunk, unit, count);
      }
    }
    return null;
  }

  private void give(Run run) {
    run.chunk().runs().give(run.unit(), run.units());
    free += (long) run.units() * Run.UNIT;
  }

  private boolean grow() {
    if (unbacked < PER_PAGE) {
      return false;
    }
    int toSegmentEnd = WHOLE_SEGMENT - (int) (nextAddress % HostMemoryCache.SEGMENT_SIZE / PAGE);
    int pages = (int) Math.min(Math.min(toSegmentEnd, chunkPages), unbacked / PER_PAGE);
    Extent extent = cache.extend(nextAddress, pages);
    chunks.add(new Chunk(extent, (int) ((nextAddress - base) / 8)));
    long entries = (long) pages * PER_PAGE;
    nextAddress += (long) pages * PAGE;
    unbacked -= entries;
    backed += entries;
    free += entries;
    return true;
  }
}
