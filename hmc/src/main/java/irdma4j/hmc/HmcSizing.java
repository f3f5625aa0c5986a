package irdma4j.hmc;

import irdma4j.hwregs.HmcObject;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Finds object counts that fit a card's limits, by one of two policies.
 *
 * <p>{@link #fit} is the project's own: it always ends, never gives fewer queue pairs for more
 * segments, and keeps the limit of every kind of object. {@link #linux} makes the search that
 * Linux's driver makes (irdma_cfg_fpm_val in ctrl.c): start from the most that the card offers and
 * give up regions, PBLEs and queue pairs in turn until the segments suffice. It may fail where
 * {@link #fit} does not, and gives surplus segments to PBLEs beyond the card's limit. Where that
 * search has no end, this one says so.
 */
public final class HmcSizing {
  private static final int STEP = 1024;
  private static final int MAX_ROUNDS = 2000;
  private static final int MIN_SHRINKABLE_QPS = 128;
  private static final int MIN_SHRINKABLE_ENTRIES = 256;

  private final FpmLimits limits;
  private final boolean iwarpOnly;
  private final EnumMap<HmcObject, Long> counts = new EnumMap<>(HmcObject.class);

  private HmcSizing(FpmLimits limits, boolean iwarpOnly) {
    this.limits = limits;
    this.iwarpOnly = iwarpOnly;
  }

  /**
   * Counts for a wanted number of queue pairs, found as Linux finds them.
   *
   * @param limits what the card offers
   * @param queuePairs how many are wanted; fewer may be had
   * @param profile how the HMC is shared
   * @param iwarpOnly whether the function speaks iWARP alone, which needs fewer Q1 entries
   * @throws HmcException if the search ends without a fit
   */
  public static HmcPlan linux(
      FpmLimits limits, long queuePairs, HmcProfile profile, boolean iwarpOnly) {
    return new HmcSizing(limits, iwarpOnly).search(queuePairs, profile);
  }

  /**
   * The most queue pairs that fit, and as much of everything else as the segments hold.
   *
   * @param limits what the card offers
   * @param request what is wanted
   * @throws HmcException if not even one queue pair fits; says what stands in the way
   */
  public static HmcPlan fit(FpmLimits limits, HmcRequest request) {
    for (HmcObject kind : HmcObject.values()) {
      limits.requireSensibleSize(kind);
    }
    return new Fit(limits, request).find();
  }

  private HmcPlan search(long queuePairs, HmcProfile profile) {
    for (HmcObject kind : HmcObject.values()) {
      limits.requireSensibleSize(kind);
      counts.put(kind, limits.of(kind).maxCount());
    }
    long qps = Long.highestOneBit(Math.min(queuePairs, limits.of(HmcObject.QP).maxCount()));
    long mrs = limits.of(HmcObject.MR).maxCount();
    long pbles = limits.of(HmcObject.PBLE).maxCount();
    counts.put(HmcObject.APBVT, 1L);
    long q1Limit = limits.of(HmcObject.Q1).maxCount();
    while (q1(qps, iwarpOnly) > q1Limit) {
      if (qps == 0) {
        throw new HmcException(
            "the card offers %d Q1 entries, and %d are needed for no queue pair at all"
                .formatted(q1Limit, q1(0, iwarpOnly)));
      }
      qps /= 2;
    }
    int rounds = 0;
    long needed;
    do {
      rounds++;
      setCounts(counts, limits, iwarpOnly, qps, mrs, pbles);
      needed = segments(counts, limits);
      if (needed <= limits.maxSegments()) {
        break;
      }
      long excess = needed - limits.maxSegments();
      if (excess > 128) {
        if (rounds % 2 == 0 && qps > MIN_SHRINKABLE_QPS) {
          qps /= 2;
        } else {
          mrs /= 2;
          pbles /= 2;
        }
        continue;
      }
      if (profile != HmcProfile.FAVOR_VF && pbles > 512L * STEP * excess) {
        pbles -= 256L * STEP * excess;
        continue;
      } else if (pbles > 100 * STEP) {
        pbles -= 10 * STEP;
      } else if (pbles > STEP) {
        pbles -= STEP;
      } else if (qps <= MIN_SHRINKABLE_QPS) {
        halve(HmcObject.FSIMC);
        halve(HmcObject.FSIAV);
      }
      if (mrs > STEP) {
        mrs -= STEP;
      }
      if (rounds % 10 == 0 && qps > MIN_SHRINKABLE_QPS) {
        qps /= 2;
        halve(HmcObject.FSIAV);
      }
    } while (rounds < MAX_ROUNDS);

    if (needed > limits.maxSegments()) {
      throw new HmcException(
          "no object counts fit: %d segments are needed and the card has %d"
              .formatted(needed, limits.maxSegments()));
    }
    if (rounds > 1 && needed < limits.maxSegments()) {
      counts.put(HmcObject.PBLE, pbles + (limits.maxSegments() - needed) * 256L * STEP);
      needed = segments(counts, limits);
    }
    return new HmcPlan(counts, needed, rounds, List.of());
  }

  /** Sets what depends on the number of queue pairs; the rest of the map says what is offered. */
  static void setCounts(
      EnumMap<HmcObject, Long> counts,
      FpmLimits limits,
      boolean iwarpOnly,
      long qps,
      long mrs,
      long pbles) {
    counts.put(HmcObject.QP, qps);
    counts.merge(HmcObject.CQ, 2 * qps, Math::min);
    counts.put(HmcObject.MR, mrs);
    long hash = roundUp(qps + counts.get(HmcObject.FSIMC), 512);
    counts.put(HmcObject.HTE, ceilingPowerOfTwo(hash) * limits.hashTableMultiplier());
    counts.put(HmcObject.XF, 4 * limits.xfBlockSize() * qps);
    counts.put(HmcObject.XFFL, counts.get(HmcObject.XF) / limits.xfBlockSize());
    counts.put(HmcObject.HDR, qps);
    ifOffered(counts, limits, HmcObject.RRF, 32 * qps);
    if (limits.of(HmcObject.RRFFL).maxCount() != 0) {
      counts.put(HmcObject.RRFFL, counts.get(HmcObject.RRF) / limits.rrfBlockSize());
    }
    ifOffered(counts, limits, HmcObject.OOISC, 32 * qps);
    if (limits.of(HmcObject.OOISCFFL).maxCount() != 0) {
      counts.put(HmcObject.OOISCFFL, counts.get(HmcObject.OOISC) / limits.ooiscBlockSize());
    }
    counts.put(HmcObject.Q1, q1(qps, iwarpOnly));
    counts.put(HmcObject.Q1FL, counts.get(HmcObject.Q1) / limits.q1BlockSize());
    counts.put(HmcObject.TIMER, timers(qps, limits));
    counts.put(HmcObject.PBLE, pbles);
  }

  /** Timers that so many queue pairs want. */
  static long timers(long qps, FpmLimits limits) {
    return (roundUp(qps, 512) / 512 + 1) * limits.timerBucket();
  }

  private static void ifOffered(
      Map<HmcObject, Long> counts, FpmLimits limits, HmcObject kind, long count) {
    if (limits.of(kind).maxCount() != 0) {
      counts.put(kind, count);
    }
  }

  private void halve(HmcObject kind) {
    if (counts.get(kind) > MIN_SHRINKABLE_ENTRIES) {
      counts.merge(kind, 2L, (count, two) -> count / two);
    }
  }

  private static long q1(long qps, boolean iwarpOnly) {
    // The device needs room for the most READ requests that a queue pair may receive, twice.
    long entries = MAX_IRD * 2L * qps;
    return iwarpOnly ? entries : ceilingPowerOfTwo(entries + 512);
  }

  /** READ requests that the device accepts at once on one queue pair. */
  static final int MAX_IRD = 127;

  /** Segments that the objects need together. */
  static long segments(Map<HmcObject, Long> counts, FpmLimits limits) {
    return (bytes(counts, limits) + HostMemoryCache.SEGMENT_SIZE - 1)
        / HostMemoryCache.SEGMENT_SIZE;
  }

  /** Bytes that the objects need together; the device begins each kind at a multiple of 512. */
  static long bytes(Map<HmcObject, Long> counts, FpmLimits limits) {
    long bytes = 0;
    for (Map.Entry<HmcObject, Long> entry : counts.entrySet()) {
      bytes += roundUp(entry.getValue() * limits.of(entry.getKey()).size(), 512);
    }
    return bytes;
  }

  private static long roundUp(long value, long multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }

  private static long ceilingPowerOfTwo(long value) {
    return value <= 1 ? 1 : Long.highestOneBit(value - 1) << 1;
  }
}
