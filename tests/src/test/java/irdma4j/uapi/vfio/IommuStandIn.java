package irdma4j.uapi.vfio;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The IOMMU in front of a function: what is mapped, and what may be. */
final class IommuStandIn {
  static final List<IovaRange> X86 =
      List.of(new IovaRange(0, 0xfedf_ffffL), new IovaRange(0xfef0_0000L, (1L << 39) - 1));

  /** Bytes of each mapping by its IOVA. */
  private final TreeMap<Long, Long> mapped = new TreeMap<>();

  List<IovaRange> ranges = X86;
  long pageBytes = 4096;
  int mappingsAtMost = 65_535;
  long lockedAtMost = Long.MAX_VALUE;

  int mappings() {
    return mapped.size();
  }

  int mappingsLeft() {
    return mappingsAtMost - mapped.size();
  }

  long lockedBytes() {
    return mapped.values().stream().mapToLong(Long::longValue).sum();
  }

  /** What is wrong with a mapping that is asked for, or null. */
  String objection(long address, long iova, long bytes) {
    if (bytes <= 0 || ((address | iova | bytes) & (pageBytes - 1)) != 0) {
      return "not of whole pages: 0x%x at 0x%x, %d bytes".formatted(address, iova, bytes);
    }
    if (overlaps(iova, bytes)) {
      return "IOVA 0x%x is mapped already".formatted(iova);
    }
    boolean inside =
        ranges.stream()
            .anyMatch(
                range ->
                    Long.compareUnsigned(iova, range.first()) >= 0
                        && Long.compareUnsigned(iova + bytes - 1, range.last()) <= 0);
    return inside ? null : "IOVA 0x%x, %d bytes is in no range".formatted(iova, bytes);
  }

  private boolean overlaps(long iova, long bytes) {
    Map.Entry<Long, Long> below = mapped.lowerEntry(iova + bytes);
    return below != null && below.getKey() + below.getValue() > iova;
  }

  void map(long iova, long bytes) {
    mapped.put(iova, bytes);
  }

  /** Whether exactly that was mapped; it no longer is. */
  boolean unmap(long iova, long bytes) {
    return mapped.remove(iova, bytes);
  }

  void clear() {
    mapped.clear();
  }
}
