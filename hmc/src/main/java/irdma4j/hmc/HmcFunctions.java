package irdma4j.hmc;

import irdma4j.uapi.PciFunction;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The Host Memory Caches of a physical function and of the virtual ones that it backs: their memory
 * comes from the physical function, and it tells the device of their segments.
 *
 * <p>The physical function comes first and goes last. Not thread-safe.
 */
public final class HmcFunctions implements AutoCloseable {
  private final PciFunction memory;
  private final Function<HmcFunction, SegmentProgrammer> programmers;
  private final Map<HmcFunction, HostMemoryCache> caches = new LinkedHashMap<>();

  /**
   * None yet.
   *
   * @param memory where all memory comes from
   * @param programmers how the device is told of a function's segments
   */
  public HmcFunctions(PciFunction memory, Function<HmcFunction, SegmentProgrammer> programmers) {
    this.memory = memory;
    this.programmers = programmers;
  }

  /**
   * Opens a function's cache, with no object in it.
   *
   * @param function whose
   * @param layout the card's answer to that function's COMMIT_FPM
   * @param type how segments are backed that hold objects
   * @throws HmcException if the id, or the number among the virtual functions, is in use; if a
   *     virtual function comes before the physical one, or a second physical one comes
   */
  public HostMemoryCache open(HmcFunction function, HmcLayout layout, SegmentType type) {
    for (HmcFunction other : caches.keySet()) {
      if (other.id() == function.id() || other.virtualIndex() == function.virtualIndex()) {
        throw new HmcException(function + ": " + other + " is open");
      }
    }
    if (function.isVirtual() && caches.isEmpty()) {
      throw new HmcException(function + ": the physical function comes first");
    }
    HostMemoryCache cache = new HostMemoryCache(memory, programmers.apply(function), layout, type);
    caches.put(function, cache);
    return cache;
  }

  /** The open functions, the physical one first. */
  public List<HmcFunction> functions() {
    return List.copyOf(caches.keySet());
  }

  /**
   * The cache of an open function.
   *
   * @throws HmcException if it is not open
   */
  public HostMemoryCache of(HmcFunction function) {
    HostMemoryCache cache = caches.get(function);
    if (cache == null) {
      throw new HmcException(function + " is not open");
    }
    return cache;
  }

  /**
   * Gives a function's memory back without telling the device, which must have stopped or reset
   * that function before.
   *
   * @throws HmcException if it is not open, or still backs virtual functions
   */
  public void close(HmcFunction function) {
    HostMemoryCache cache = of(function);
    if (!function.isVirtual() && caches.size() > 1) {
      throw new HmcException(function + " backs " + (caches.size() - 1) + " virtual functions");
    }
    cache.close();
    caches.remove(function);
  }

  /** Closes all caches, after a reset of the physical function, which resets all. */
  @Override
  public void close() {
    functions().reversed().forEach(this::close);
  }
}
