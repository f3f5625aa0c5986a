package irdma4j.hmc;

import irdma4j.hwregs.HmcObject;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The project's own sizing: the most queue pairs whose least needs fit, then the rest of the
 * segments for what they can use.
 *
 * <p>The least needs of a number of queue pairs grow with it, so the largest number that fits grows
 * with the segments; it is found in at most 19 steps.
 */
final class Fit {
  /** Regions and PBLEs that there are at least, and that come with each queue pair. */
  private static final long LEAST_REGIONS = 1024;

  private static final long REGIONS_PER_QP = 2;
  private static final long LEAST_PBLES = 4096;
  private static final long PBLES_PER_QP = 32;

  /** Multicast groups and address handles that are not given up. */
  private static final long LEAST_HANDLES = 256;

  private final FpmLimits limits;
  private final HmcRequest request;

  /** What multicast groups and address handles were given up for, if they were. */
  private String handlesObstacle = "";

  Fit(FpmLimits limits, HmcRequest request) {
    this.limits = limits;
    this.request = request;
  }

  HmcPlan find() {
    long offered = max(HmcObject.QP);
    if (offered == 0) {
      throw new HmcException("the card offers no queue pair");
    }
    List<String> notes = new ArrayList<>();
    long wanted = Long.highestOneBit(Math.min(request.queuePairs(), offered));
    int rounds = 1;
    String obstacle = "";
    long qps = wanted;
    for (; qps > 0; qps /= 2, rounds++) {
      String here = obstacle(least(qps));
      if (here.isEmpty()) {
        break;
      }
      obstacle = here;
    }
    if (qps == 0) {
      throw new HmcException("not even one queue pair fits: " + obstacle);
    }
    if (request.queuePairs() > offered) {
      notes.add(
          "%d queue pairs of %d wanted: the card offers %d"
              .formatted(qps, request.queuePairs(), offered));
    } else if (qps < wanted) {
      notes.add("%d queue pairs of %d wanted: %s".formatted(qps, wanted, obstacle));
    }
    EnumMap<HmcObject, Long> counts = grow(qps);
    noteIfFewer(notes, counts, HmcObject.CQ, 2 * qps);
    noteIfFewer(notes, counts, HmcObject.TIMER, HmcSizing.timers(qps, limits));
    noteIfGivenUp(notes, counts, HmcObject.FSIMC, handlesObstacle);
    noteIfGivenUp(notes, counts, HmcObject.FSIAV, handlesObstacle);
    String full = "its %d segments hold no more".formatted(limits.maxSegments());
    noteIfGivenUp(notes, counts, HmcObject.MR, full);
    noteIfGivenUp(notes, counts, HmcObject.PBLE, full);
    return new HmcPlan(counts, HmcSizing.segments(counts, limits), rounds, notes);
  }

  private void noteIfGivenUp(
      List<String> notes, Map<HmcObject, Long> counts, HmcObject kind, String why) {
    if (counts.get(kind) < max(kind)) {
      notes.add(
          "%d of %s, and the card offers %d: %s".formatted(counts.get(kind), kind, max(kind), why));
    }
  }

  private static void noteIfFewer(
      List<String> notes, Map<HmcObject, Long> counts, HmcObject kind, long wanted) {
    long count = counts.getOrDefault(kind, 0L);
    if (count < wanted) {
      notes.add(
          "%d of %s, and %d are wanted: the card offers no more".formatted(count, kind, wanted));
    }
  }

  /** The counts that so many queue pairs can't do without. */
  private EnumMap<HmcObject, Long> least(long qps) {
    return counts(
        qps,
        Math.min(max(HmcObject.MR), Math.max(LEAST_REGIONS, REGIONS_PER_QP * qps)),
        Math.min(max(HmcObject.PBLE), Math.max(LEAST_PBLES, PBLES_PER_QP * qps)),
        Math.min(max(HmcObject.FSIMC), LEAST_HANDLES),
        Math.min(max(HmcObject.FSIAV), LEAST_HANDLES));
  }

  private EnumMap<HmcObject, Long> counts(
      long qps, long regions, long pbles, long groups, long handles) {
    EnumMap<HmcObject, Long> counts = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      counts.put(kind, max(kind));
    }
    counts.put(HmcObject.FSIMC, groups);
    counts.put(HmcObject.FSIAV, handles);
    HmcSizing.setCounts(counts, limits, request.iwarpOnly(), qps, regions, pbles);
    // Timers are shared, so fewer will do.
    counts.merge(HmcObject.TIMER, max(HmcObject.TIMER), Math::min);
    return counts;
  }

  /** Why the counts can't be had, or empty. */
  private String obstacle(Map<HmcObject, Long> counts) {
    for (Map.Entry<HmcObject, Long> entry : counts.entrySet()) {
      if (entry.getValue() > max(entry.getKey())) {
        return "%d of %s are needed for more, and the card offers %d"
            .formatted(entry.getValue(), entry.getKey(), max(entry.getKey()));
      }
    }
    long segments = HmcSizing.segments(counts, limits);
    return segments <= limits.maxSegments()
        ? ""
        : "%d segments are needed for more, and the card has %d"
            .formatted(segments, limits.maxSegments());
  }

  /** Fills the segments that the least counts leave. */
  private EnumMap<HmcObject, Long> grow(long qps) {
    EnumMap<HmcObject, Long> least = least(qps);
    long regions = least.get(HmcObject.MR);
    long pbles = least.get(HmcObject.PBLE);
    long groups = max(HmcObject.FSIMC);
    long handles = max(HmcObject.FSIAV);
    for (; ; ) {
      String obstacle = obstacle(counts(qps, regions, pbles, groups, handles));
      if (obstacle.isEmpty()) {
        break;
      }
      handlesObstacle = obstacle;
      groups = Math.max(least.get(HmcObject.FSIMC), groups / 2);
      handles = Math.max(least.get(HmcObject.FSIAV), handles / 2);
    }
    // Each kind is rounded up to 512 bytes, so the last two units stay in reserve.
    long left =
        limits.maxSegments() * HostMemoryCache.SEGMENT_SIZE
            - HmcSizing.bytes(counts(qps, regions, pbles, groups, handles), limits)
            - 1024;
    long regionSize = limits.of(HmcObject.MR).size();
    long pbleSize = limits.of(HmcObject.PBLE).size();
    if (left > 0) {
      long more = Math.min(max(HmcObject.MR) - regions, left / 4 / regionSize);
      regions += more;
      left -= more * regionSize;
      more = Math.min(max(HmcObject.PBLE) - pbles, left / pbleSize);
      pbles += more;
      left -= more * pbleSize;
      regions += Math.min(max(HmcObject.MR) - regions, left / regionSize);
    }
    return counts(qps, regions, pbles, groups, handles);
  }

  private long max(HmcObject kind) {
    return limits.of(kind).maxCount();
  }
}
