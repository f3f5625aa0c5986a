package irdma4j.tests;

import irdma4j.hmc.FpmLimits;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.pble.PbleLevels;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Things to try allocators with. */
public final class HmcArbitraries {
  private static final long AREA_UNIT = 512;

  /** Kinds of objects in most layouts; they fill some segments. */
  private static final int FEW_KINDS = 6;

  private static final int KINDS = HmcObject.values().length;

  private HmcArbitraries() {}

  /** Answers of QUERY_FPM such as cards give: sizes of silicon, limits from small to large. */
  public static Arbitrary<FpmLimits> cards() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 18),
            Arbitraries.integers().between(0, 11),
            Arbitraries.integers().between(1, 13),
            Arbitraries.integers().between(0, 2),
            Arbitraries.of(true, false),
            Arbitraries.integers().between(0, 5))
        .as(HmcArbitraries::card);
  }

  private static FpmLimits card(
      int logQps, int logObjects, int logSegments, int logBlock, boolean withRrf, int tight) {
    long qps = 1L << logQps;
    EnumMap<HmcObject, FpmLimits.Limit> limits = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      long size = kind.logSize() == null ? kind.fixedSize() : 64;
      limits.put(kind, new FpmLimits.Limit((64L << logObjects), size));
    }
    long block = 1L << logBlock;
    limits.put(HmcObject.QP, new FpmLimits.Limit(qps, 512));
    limits.put(HmcObject.CQ, new FpmLimits.Limit(withRrf ? 2 * qps : qps, 64));
    limits.put(HmcObject.HTE, new FpmLimits.Limit(4 * qps + 16384, 32));
    limits.put(HmcObject.APBVT, new FpmLimits.Limit(1, 8192));
    limits.put(HmcObject.MR, new FpmLimits.Limit(16 * qps + 1024, 64));
    limits.put(HmcObject.XF, new FpmLimits.Limit(4 * block * qps, 64));
    limits.put(HmcObject.XFFL, new FpmLimits.Limit(4 * qps, 4));
    limits.put(HmcObject.Q1, new FpmLimits.Limit(Math.max(512, (256 * qps) >> tight), 32));
    limits.put(HmcObject.Q1FL, new FpmLimits.Limit(Math.max(512, (256 * qps) >> tight), 4));
    limits.put(HmcObject.TIMER, new FpmLimits.Limit(((qps / 512 + 2) * 512) >> (tight >> 2), 32));
    limits.put(HmcObject.PBLE, new FpmLimits.Limit(1L << (10 + logObjects + tight), 8));
    limits.put(HmcObject.RRF, new FpmLimits.Limit(withRrf ? 32 * qps : 0, 64));
    limits.put(HmcObject.RRFFL, new FpmLimits.Limit(withRrf ? 32 * qps : 0, 4));
    limits.put(HmcObject.HDR, new FpmLimits.Limit(qps, 64));
    limits.put(HmcObject.OOISC, new FpmLimits.Limit(withRrf ? 32 * qps : 0, 32));
    limits.put(HmcObject.OOISCFFL, new FpmLimits.Limit(withRrf ? 32 * qps : 0, 4));
    return new FpmLimits(limits, 0, 1 << logSegments, 512, block, block, 2, 512, block, block);
  }

  /** A few kinds of objects, or all of them, that share some segments of 2 MiB, in any order. */
  public static Arbitrary<HmcLayout> layouts() {
    return Combinators.combine(
            Arbitraries.frequencyOf(
                Tuple.of(4, Arbitraries.shuffle(HmcObject.values()).flatMap(HmcArbitraries::some)),
                Tuple.of(1, Arbitraries.shuffle(HmcObject.values()))),
            Arbitraries.integers().between(0, 1100).list().ofSize(KINDS),
            Arbitraries.of(4, 32, 64, 512, 8192).list().ofSize(KINDS))
        .as(HmcArbitraries::layout);
  }

  private static Arbitrary<List<HmcObject>> some(List<HmcObject> kinds) {
    return Arbitraries.integers().between(1, FEW_KINDS).map(few -> kinds.subList(0, few));
  }

  private static HmcLayout layout(List<HmcObject> kinds, List<Integer> pages, List<Integer> sizes) {
    EnumMap<HmcObject, HmcLayout.Area> areas = new EnumMap<>(HmcObject.class);
    // Many kinds take no more room than a few do.
    int share = Math.max(1, kinds.size() / FEW_KINDS);
    long base = 0;
    for (int i = 0; i < kinds.size(); i++) {
      long size = sizes.get(i);
      long bytes = pages.get(i) / share * 4000L + size;
      areas.put(kinds.get(i), new HmcLayout.Area(base, bytes / size, size));
      base = (base + bytes + AREA_UNIT - 1) / AREA_UNIT * AREA_UNIT;
    }
    return new HmcLayout(areas, segments(base));
  }

  private static long segments(long bytes) {
    return (bytes + HostMemoryCache.SEGMENT_SIZE - 1) / HostMemoryCache.SEGMENT_SIZE;
  }

  /** Objects that come and go, without failures. */
  public static Arbitrary<List<HmcAction>> hmcActions() {
    return Arbitraries.frequencyOf(Tuple.of(3, creations()), Tuple.of(3, deletions()))
        .list()
        .ofMaxSize(24);
  }

  /** Objects that come and go while memory and the device fail now and then. */
  public static Arbitrary<List<HmcAction>> hmcActionsWithFailures() {
    return Arbitraries.frequencyOf(
            Tuple.of(4, creations()),
            Tuple.of(2, deletions()),
            Tuple.of(2, Arbitraries.integers().between(1, 40).map(HmcAction.FailAllocation::new)),
            Tuple.of(2, Arbitraries.integers().between(1, 40).map(HmcAction.FailCall::new)),
            Tuple.of(1, Arbitraries.integers().between(1, 12).map(HmcAction.FailEverywhere::new)))
        .list()
        .ofMaxSize(24);
  }

  /** The same on several functions by turns. */
  public static Arbitrary<List<HmcAction>> hmcActionsOfFunctions() {
    return Arbitraries.frequencyOf(
            Tuple.of(6, creations()),
            Tuple.of(3, deletions()),
            Tuple.of(4, Arbitraries.integers().between(0, 7).map(HmcAction.Switch::new)),
            Tuple.of(1, Arbitraries.integers().between(1, 40).map(HmcAction.FailAllocation::new)),
            Tuple.of(1, Arbitraries.integers().between(1, 40).map(HmcAction.FailCall::new)))
        .list()
        .ofMaxSize(30);
  }

  private static Arbitrary<HmcAction> creations() {
    return Combinators.combine(
            Arbitraries.integers().between(0, KINDS - 1),
            shares(),
            shares(),
            Arbitraries.of(SegmentType.class))
        .as(HmcAction.Create::new);
  }

  private static Arbitrary<HmcAction> deletions() {
    return Combinators.combine(Arbitraries.integers().between(0, KINDS - 1), shares(), shares())
        .as(HmcAction.Delete::new);
  }

  private static Arbitrary<Integer> shares() {
    return Arbitraries.integers().between(0, 255);
  }

  /** A PBLE area behind objects that end anywhere, with or without objects after it. */
  public static Arbitrary<HmcLayout> pbleLayouts() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 5000),
            Arbitraries.integers().between(512, 700_000),
            Arbitraries.integers().between(0, 100))
        .as(
            (before, pbles, after) -> {
              EnumMap<HmcObject, HmcLayout.Area> areas = new EnumMap<>(HmcObject.class);
              long base = before * 512L;
              if (before > 0) {
                areas.put(HmcObject.QP, new HmcLayout.Area(0, before, 512));
              }
              // A page may be lost to alignment at the start.
              areas.put(HmcObject.PBLE, new HmcLayout.Area(base, pbles + 1024L, 8));
              base += (pbles + 1024L) * 8 + 511;
              base -= base % 512;
              if (after > 0) {
                areas.put(HmcObject.HDR, new HmcLayout.Area(base, after, 64));
              }
              return new HmcLayout(areas, segments(base + after * 64L));
            });
  }

  /** PBLEs that are taken and given back, without failures. */
  public static Arbitrary<List<PbleAction>> pbleActions() {
    return pbleAction(false).list().ofMaxSize(60);
  }

  /** PBLEs that are taken and given back while memory and the device fail now and then. */
  public static Arbitrary<List<PbleAction>> pbleActionsWithFailures() {
    return pbleAction(true).list().ofMaxSize(60);
  }

  private static Arbitrary<PbleAction> pbleAction(boolean failures) {
    List<Arbitrary<PbleAction>> actions = new ArrayList<>();
    Arbitrary<PbleAction> get =
        Combinators.combine(pbleCounts(), Arbitraries.of(PbleLevels.class)).as(PbleAction.Get::new);
    Arbitrary<PbleAction> free = Arbitraries.integers().between(0, 59).map(PbleAction.Free::new);
    actions.add(get);
    actions.add(get);
    actions.add(free);
    if (failures) {
      actions.add(Arbitraries.integers().between(1, 10).map(PbleAction.FailAllocation::new));
      actions.add(Arbitraries.integers().between(1, 600).map(PbleAction.FailCall::new));
    }
    return Arbitraries.oneOf(actions);
  }

  /** Sizes of page lists: around the unit, around the leaf, and long. */
  public static Arbitrary<Integer> pbleCounts() {
    return Arbitraries.frequencyOf(
        Tuple.of(6, Arbitraries.integers().between(1, 17)),
        Tuple.of(6, Arbitraries.integers().between(1, 600)),
        Tuple.of(6, Arbitraries.of(511, 512, 513, 1023, 1024, 1025, 1536, 4096)),
        Tuple.of(4, Arbitraries.integers().between(1, 20_000)),
        Tuple.of(1, Arbitraries.integers().between(1, 300_000)));
  }
}
