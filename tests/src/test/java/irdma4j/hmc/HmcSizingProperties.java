package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.campaign.FewerTries;
import irdma4j.hwregs.HmcObject;
import irdma4j.tests.HmcArbitraries;
import java.util.EnumMap;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;

/** The sizing policies on all sorts of cards. */
@PropertyDefaults(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
class HmcSizingProperties {
  private static Optional<HmcPlan> fit(FpmLimits limits, long wanted, boolean iwarpOnly) {
    try {
      return Optional.of(
          HmcSizing.fit(limits, new HmcRequest(wanted, HmcProfile.DEFAULT, iwarpOnly)));
    } catch (HmcException nothingFits) {
      return Optional.empty();
    }
  }

  private static FpmLimits withSegments(FpmLimits limits, int segments) {
    return new FpmLimits(
        limits.objects(),
        limits.firstSegment(),
        segments,
        limits.maxCeqs(),
        limits.xfBlockSize(),
        limits.q1BlockSize(),
        limits.hashTableMultiplier(),
        limits.timerBucket(),
        limits.rrfBlockSize(),
        limits.ooiscBlockSize());
  }

  /** Fails if a plan has more of a kind, or in all, than the card can hold. */
  @Property
  void keepsEveryLimit(
      @ForAll("cards") FpmLimits limits,
      @ForAll @LongRange(min = 1, max = 1 << 19) long wanted,
      @ForAll boolean iwarpOnly) {
    fit(limits, wanted, iwarpOnly)
        .ifPresent(
            plan -> {
              for (HmcObject kind : HmcObject.values()) {
                assertTrue(plan.count(kind) <= limits.of(kind).maxCount(), kind.name());
              }
              assertTrue(plan.segments() <= limits.maxSegments());
              HmcLayout layout = Firmware.layout(plan, limits, true);
              assertTrue(layout.segments() <= limits.maxSegments());
              assertEquals(1, Long.bitCount(plan.count(HmcObject.QP)));
              assertTrue(plan.count(HmcObject.QP) <= wanted);
            });
  }

  /** Fails if more segments ever mean fewer queue pairs, or a refusal where there was none. */
  @Property
  void moreSegmentsNeverMeanFewerQueuePairs(
      @ForAll("cards") FpmLimits limits,
      @ForAll @LongRange(min = 1, max = 1 << 19) long wanted,
      @ForAll @IntRange(min = 1, max = 500) int more) {
    Optional<HmcPlan> small = fit(limits, wanted, false);
    Optional<HmcPlan> large = fit(withSegments(limits, limits.maxSegments() + more), wanted, false);
    small.ifPresent(
        plan -> assertTrue(large.orElseThrow().count(HmcObject.QP) >= plan.count(HmcObject.QP)));
  }

  /**
   * Fails if queue pairs are given up without a reason, or regions or PBLEs while there is room.
   */
  @Property
  void leavesNothingUnused(
      @ForAll("cards") FpmLimits limits, @ForAll @LongRange(min = 1, max = 1 << 19) long wanted) {
    fit(limits, wanted, false)
        .ifPresent(
            plan -> {
              long asked = Long.highestOneBit(Math.min(wanted, limits.of(HmcObject.QP).maxCount()));
              assertEquals(
                  plan.count(HmcObject.QP) < asked || wanted > limits.of(HmcObject.QP).maxCount(),
                  plan.notes().stream().anyMatch(note -> note.contains("queue pairs of")));
              boolean all = plan.count(HmcObject.PBLE) == limits.of(HmcObject.PBLE).maxCount();
              assertTrue(all || plan.segments() == limits.maxSegments());
            });
  }

  /** Fails if fewer of a kind are had than wanted or offered, and no note says of which and why. */
  @Property
  void notesNameWhatWasGivenUp(
      @ForAll("cards") FpmLimits limits, @ForAll @LongRange(min = 1, max = 1 << 19) long wanted) {
    fit(limits, wanted, false)
        .ifPresent(
            plan -> {
              long qps = plan.count(HmcObject.QP);
              EnumMap<HmcObject, Long> hoped = new EnumMap<>(HmcObject.class);
              for (HmcObject kind :
                  List.of(HmcObject.MR, HmcObject.PBLE, HmcObject.FSIMC, HmcObject.FSIAV)) {
                hoped.put(kind, limits.of(kind).maxCount());
              }
              hoped.put(HmcObject.CQ, 2 * qps);
              hoped.put(HmcObject.TIMER, (Math.ceilDiv(qps, 512) + 1) * limits.timerBucket());
              hoped.forEach(
                  (kind, most) -> {
                    String note = plan.count(kind) + " of " + kind + ", and";
                    assertEquals(
                        plan.count(kind) < most,
                        plan.notes().stream()
                            .anyMatch(n -> n.startsWith(note) && n.contains(String.valueOf(most))),
                        () -> kind + " of " + most + ": " + plan);
                  });
            });
  }

  /** Fails if a queue pair comes without the regions and PBLEs that docs/hmc.md promises it. */
  @Property
  void queuePairsComeWithRegionsAndPbles(
      @ForAll("cards") FpmLimits limits, @ForAll @LongRange(min = 1, max = 1 << 19) long wanted) {
    fit(limits, wanted, false)
        .ifPresent(
            plan -> {
              long qps = plan.count(HmcObject.QP);
              assertTrue(
                  plan.count(HmcObject.MR)
                      >= Math.min(limits.of(HmcObject.MR).maxCount(), Math.max(1024, 2 * qps)));
              assertTrue(
                  plan.count(HmcObject.PBLE)
                      >= Math.min(limits.of(HmcObject.PBLE).maxCount(), Math.max(4096, 32 * qps)));
            });
  }

  /** Fails if an object that no segment can hold is planned for. */
  @Property(tries = 50)
  void objectsBeyondASegmentAreRefused(
      @ForAll("cards") FpmLimits limits, @ForAll HmcObject kind, @ForAll boolean tooLarge) {
    EnumMap<HmcObject, FpmLimits.Limit> objects = new EnumMap<>(limits.objects());
    objects.put(kind, new FpmLimits.Limit(1, tooLarge ? HostMemoryCache.SEGMENT_SIZE + 1 : 0));
    FpmLimits odd =
        new FpmLimits(
            objects,
            limits.firstSegment(),
            limits.maxSegments(),
            limits.maxCeqs(),
            limits.xfBlockSize(),
            limits.q1BlockSize(),
            limits.hashTableMultiplier(),
            limits.timerBucket(),
            limits.rrfBlockSize(),
            limits.ooiscBlockSize());
    HmcRequest request = new HmcRequest(1, HmcProfile.DEFAULT, false);
    for (String message :
        List.of(
            assertThrows(HmcException.class, () -> HmcSizing.fit(odd, request)).getMessage(),
            assertThrows(
                    HmcException.class, () -> HmcSizing.linux(odd, 1, HmcProfile.DEFAULT, false))
                .getMessage())) {
      assertTrue(message.endsWith("bytes for one of " + kind), message);
    }
  }

  /** Fails if an answer of the card, however odd, is met by anything but a plan or its refusal. */
  @Property
  void anyAnswerEndsInAPlanOrARefusal(
      @ForAll("oddCards") FpmLimits limits,
      @ForAll @LongRange(min = 1, max = 1L << 32) long wanted,
      @ForAll boolean iwarpOnly) {
    fit(limits, wanted, iwarpOnly)
        .ifPresent(
            plan -> {
              for (HmcObject kind : HmcObject.values()) {
                assertTrue(plan.count(kind) >= 0 && plan.count(kind) <= limits.of(kind).maxCount());
              }
              assertTrue(plan.segments() <= limits.maxSegments());
              assertTrue(plan.rounds() <= 33);
            });
  }

  @Provide
  Arbitrary<FpmLimits> oddCards() {
    Arbitrary<Long> count = Arbitraries.longs().between(0, (1L << 32) - 1);
    Arbitrary<Integer> logSize = Arbitraries.integers().between(0, 21);
    Arbitrary<Integer> small = Arbitraries.integers().between(1, 1 << 16);
    int ids = HmcObject.OOISCFFL.id() + 1;
    return Combinators.combine(
            count.list().ofSize(ids),
            logSize.list().ofSize(ids),
            Arbitraries.integers().between(0, 1 << 13),
            small.list().ofSize(6))
        .as(
            (counts, sizes, segments, others) -> {
              EnumMap<HmcObject, FpmLimits.Limit> limits = new EnumMap<>(HmcObject.class);
              for (HmcObject kind : HmcObject.values()) {
                limits.put(
                    kind, new FpmLimits.Limit(counts.get(kind.id()), 1L << sizes.get(kind.id())));
              }
              return new FpmLimits(
                  limits,
                  0,
                  segments,
                  1,
                  others.get(0),
                  others.get(1),
                  others.get(2),
                  others.get(3),
                  others.get(4),
                  others.get(5));
            });
  }

  /** Fails if Linux's search runs on for ever, or calls a plan fit that is not. */
  @Property
  void linuxEndsInAPlanOrAnError(
      @ForAll("cards") FpmLimits limits,
      @ForAll @LongRange(min = 0, max = 1 << 19) long wanted,
      @ForAll HmcProfile profile,
      @ForAll boolean iwarpOnly) {
    HmcPlan plan;
    try {
      plan = HmcSizing.linux(limits, wanted, profile, iwarpOnly);
    } catch (HmcException refused) {
      return;
    }
    assertTrue(plan.segments() <= limits.maxSegments());
    assertTrue(plan.rounds() <= 2000);
  }

  /** Linux's search would never end on this card. */
  @Example
  void tooFewReadRequestsEndLinuxsSearch() {
    EnumMap<HmcObject, FpmLimits.Limit> limits = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      limits.put(kind, new FpmLimits.Limit(1 << 20, 64));
    }
    limits.put(HmcObject.Q1, new FpmLimits.Limit(511, 32));
    FpmLimits card = new FpmLimits(limits, 0, 8192, 512, 4, 4, 2, 512, 4, 4);
    HmcException linux =
        assertThrows(
            HmcException.class, () -> HmcSizing.linux(card, 128, HmcProfile.DEFAULT, false));
    assertTrue(linux.getMessage().contains("511 Q1 entries"), linux.getMessage());
    HmcException fit =
        assertThrows(
            HmcException.class,
            () -> HmcSizing.fit(card, new HmcRequest(128, HmcProfile.DEFAULT, false)));
    assertTrue(fit.getMessage().contains("Q1"), fit.getMessage());
  }

  @Provide
  Arbitrary<FpmLimits> cards() {
    return HmcArbitraries.cards();
  }
}
