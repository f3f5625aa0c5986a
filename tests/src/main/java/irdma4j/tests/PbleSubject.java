package irdma4j.tests;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentProgrammer;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.pble.PageList;
import irdma4j.pble.PbleAllocation;
import irdma4j.pble.PbleLevels;
import irdma4j.pble.PblePool;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * What {@link PbleTrial} tries: something that hands out PBLEs. Wrap an allocator of your own in
 * this.
 *
 * <p>A request that can't be met throws a RuntimeException and changes nothing.
 */
public interface PbleSubject extends AutoCloseable {
  /** Makes a subject. */
  @FunctionalInterface
  interface Factory {
    /**
     * Makes one with nothing handed out, in a layout whose other objects exist.
     *
     * @param function where memory comes from
     * @param device the device to be told
     * @param layout where the PBLEs lie
     * @param type how the segments of the other objects are backed
     */
    PbleSubject open(
        PciFunction function, SegmentProgrammer device, HmcLayout layout, SegmentType type);
  }

  /**
   * PBLEs that were handed out.
   *
   * @param handle the subject's own
   * @param level 1 or 2
   * @param firstIndex index of the first PBLE, or of the root
   * @param leaves index of each leaf, empty for level 1
   */
  record Grant(Object handle, int level, long firstIndex, List<Long> leaves) {}

  /** Takes PBLEs. */
  Grant allocate(int count, PbleLevels levels);

  /** Gives PBLEs back. */
  void free(Grant grant);

  /** Writes a page list. */
  void fill(Grant grant, PageList pages);

  /** PBLEs that have memory. */
  long backed();

  /** Of these, how many can be handed out. */
  long free();

  /** Gives everything back, and tells the device. */
  @Override
  void close();

  /** The project's own, growing by so many pages. */
  static Factory pblePool(int chunkPages) {
    return over(cache -> new PblePool(cache, chunkPages));
  }

  /** The project's own, growing as Linux does. */
  static Factory linuxPool() {
    return over(PblePool::linux);
  }

  private static Factory over(Function<HostMemoryCache, PblePool> open) {
    return (function, device, layout, type) -> {
      HostMemoryCache cache = new HostMemoryCache(function, device, layout, type);
      layout.areas().keySet().stream()
          .filter(kind -> kind != HmcObject.PBLE)
          .forEach(cache::create);
      return new Pool(cache, open.apply(cache));
    };
  }

  /** A pool and the cache under it. */
  record Pool(HostMemoryCache cache, PblePool pool) implements PbleSubject {
    @Override
    public Grant allocate(int count, PbleLevels levels) {
      PbleAllocation allocation = pool.allocate(count, levels);
      List<Long> leaves = new ArrayList<>();
      for (int leaf = 0; leaf < allocation.leafCount(); leaf++) {
        leaves.add((long) allocation.leafIndex(leaf));
      }
      return new Grant(allocation, allocation.level(), allocation.firstIndex(), leaves);
    }

    @Override
    public void free(Grant grant) {
      pool.free((PbleAllocation) grant.handle());
    }

    @Override
    public void fill(Grant grant, PageList pages) {
      ((PbleAllocation) grant.handle()).fill(pages);
    }

    @Override
    public long backed() {
      return pool.usage().backed();
    }

    @Override
    public long free() {
      return pool.usage().free();
    }

    @Override
    public void close() {
      pool.close();
      cache.layout().areas().keySet().forEach(cache::delete);
      cache.close();
    }
  }
}
