package irdma4j.hmc;

import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.HmcObject;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Where the objects lie in a function's FPM address space: the card's answer to COMMIT_FPM.
 *
 * @param areas for each kind that has objects, where they lie
 * @param segments number of segments from address 0 to the end of the last object
 */
public record HmcLayout(Map<HmcObject, Area> areas, long segments) {

  /**
   * The objects of one kind.
   *
   * @param base FPM address of the first, in bytes
   * @param count how many there are
   * @param size bytes of one
   */
  public record Area(long base, long count, long size) {
    /** The first address beyond the area. */
    public long end() {
      return base + count * size;
    }
  }

  /** Copies the map. */
  public HmcLayout {
    areas = Collections.unmodifiableMap(new EnumMap<>(areas));
  }

  /** The area of one kind; empty if there are none of it. */
  public Area of(HmcObject kind) {
    Area area = areas.get(kind);
    return area == null ? new Area(0, 0, 1) : area;
  }

  /**
   * Reads the buffer of COMMIT_FPM after the device has filled it in.
   *
   * @param buffer at least {@link FpmCommitBuffer#SIZE} bytes
   * @param plan what was asked for
   * @param limits where the sizes come from
   * @throws HmcException if two areas overlap, an object is larger than a segment, or the whole
   *     does not fit the card's segments
   */
  public static HmcLayout parse(MemorySegment buffer, HmcPlan plan, FpmLimits limits) {
    EnumMap<HmcObject, Area> areas = new EnumMap<>(HmcObject.class);
    long end = 0;
    for (HmcObject kind : HmcObject.values()) {
      Area area = area(buffer, kind, limits);
      if (area.count() == 0 || plan.count(kind) == 0) {
        continue;
      }
      limits.requireSensibleSize(kind);
      for (Map.Entry<HmcObject, Area> other : areas.entrySet()) {
        if (area.base() < other.getValue().end() && other.getValue().base() < area.end()) {
          throw new HmcException(
              "the card put %s at 0x%x, inside %s".formatted(kind, area.base(), other.getKey()));
        }
      }
      areas.put(kind, area);
      end = Math.max(end, area.end());
    }
    long segments = (end + HostMemoryCache.SEGMENT_SIZE - 1) / HostMemoryCache.SEGMENT_SIZE;
    if (segments > limits.maxSegments()) {
      throw new HmcException(
          "the card's layout needs %d segments of %d".formatted(segments, limits.maxSegments()));
    }
    return new HmcLayout(areas, segments);
  }

  /**
   * Reads what the device answered about one kind.
   *
   * @param buffer at least {@link FpmCommitBuffer#SIZE} bytes
   * @param kind which
   * @param limits where the size comes from
   */
  public static Area area(MemorySegment buffer, HmcObject kind, FpmLimits limits) {
    long base = FpmCommitBuffer.BASE.get(buffer, kind.commitOffset()) * FpmCommitBuffer.BASE_UNIT;
    long count = kind.isCommitted() ? FpmCommitBuffer.COUNT.get(buffer, kind.commitOffset()) : 1;
    // The other bits of these two counts are not the device's to use.
    if (kind == HmcObject.QP) {
      count &= (1L << 19) - 1;
    } else if (kind == HmcObject.CQ) {
      count &= (1L << 20) - 1;
    }
    return new Area(base, count, limits.of(kind).size());
  }
}
