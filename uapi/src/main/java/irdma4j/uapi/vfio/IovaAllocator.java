package irdma4j.uapi.vfio;

import irdma4j.uapi.PciException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Hands out IOVAs of the ranges that the IOMMU has: the lowest run that fits. Runs that are given
 * back join their neighbours. Not thread-safe.
 */
final class IovaAllocator {
  /** IOVA 0 is never handed out: to hardware and people alike it means nothing. */
  private static final long LOWEST = 1 << 16;

  /** Last byte of each free run, by its first; all below 2^63. */
  private final TreeMap<Long, Long> free = new TreeMap<>();

  /**
   * All of the ranges free, but for the lowest 64 KiB and what lies above 2^63.
   *
   * @param ranges that do not overlap
   */
  IovaAllocator(List<IovaRange> ranges) {
    for (IovaRange range : ranges) {
      if (range.first() < 0) {
        continue;
      }
      long first = Math.max(range.first(), LOWEST);
      long last = range.last() < 0 ? Long.MAX_VALUE : range.last();
      if (first <= last) {
        free.put(first, last);
      }
    }
  }

  /**
   * Takes a run.
   *
   * @param bytes at least 1
   * @param alignment a power of two
   * @throws PciException if there is none
   */
  long take(long bytes, long alignment) {
    for (Map.Entry<Long, Long> run : free.entrySet()) {
      long start = (run.getKey() + alignment - 1) & -alignment;
      if (start >= run.getKey() && start <= run.getValue() && run.getValue() - start >= bytes - 1) {
        cut(run.getKey(), run.getValue(), start, bytes);
        return start;
      }
    }
    throw new PciException(
        "no %d IOVAs aligned to 0x%x are left for the device".formatted(bytes, alignment));
  }

  private void cut(long first, long last, long start, long bytes) {
    free.remove(first);
    if (start > first) {
      free.put(first, start - 1);
    }
    if (last - start > bytes - 1) {
      free.put(start + bytes, last);
    }
  }

  /** Gives a run back that was taken. */
  void give(long first, long bytes) {
    long from = first;
    long last = first + bytes - 1;
    Map.Entry<Long, Long> below = free.lowerEntry(from);
    if (below != null && below.getValue() == from - 1) {
      from = below.getKey();
    }
    Long above = free.remove(last + 1);
    free.put(from, above == null ? last : above);
  }
}
