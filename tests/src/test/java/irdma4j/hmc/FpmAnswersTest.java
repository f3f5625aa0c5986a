package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.FpmQueryBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is read from the card's answers, and what is refused, at the edges. */
class FpmAnswersTest {
  private static final long SEGMENT = HostMemoryCache.SEGMENT_SIZE;

  /** Limits with a count and a size of each kind, on a card of so many segments. */
  private static FpmLimits limits(int segments, Map<HmcObject, FpmLimits.Limit> special) {
    EnumMap<HmcObject, FpmLimits.Limit> limits = new EnumMap<>(HmcObject.class);
    for (HmcObject kind : HmcObject.values()) {
      limits.put(kind, special.getOrDefault(kind, new FpmLimits.Limit(1 << 16, 64)));
    }
    return new FpmLimits(limits, 0, segments, 512, 4, 4, 2, 512, 4, 4);
  }

  /** A card that has room for so many queue pairs, but for what is special. */
  private static FpmLimits roomy(long queuePairs, Map<HmcObject, FpmLimits.Limit> special) {
    EnumMap<HmcObject, FpmLimits.Limit> limits = new EnumMap<>(HmcObject.class);
    limits.put(HmcObject.QP, new FpmLimits.Limit(queuePairs, 512));
    limits.put(HmcObject.CQ, new FpmLimits.Limit(2 * queuePairs, 64));
    limits.put(HmcObject.HTE, new FpmLimits.Limit(1 << 20, 64));
    limits.putAll(special);
    return limits(8192, limits);
  }

  private static HmcPlan fit(FpmLimits limits, long queuePairs) {
    return HmcSizing.fit(limits, new HmcRequest(queuePairs, HmcProfile.DEFAULT, false));
  }

  private static MemorySegment answer() {
    MemorySegment buffer = Arena.ofAuto().allocate(FpmQueryBuffer.SIZE, 8);
    FpmQueryBuffer.XFBLOCKSIZE.set(buffer, 0, 4);
    FpmQueryBuffer.Q1BLOCKSIZE.set(buffer, 0, 4);
    return buffer;
  }

  private static void refused(String kind, MemorySegment answer) {
    HmcException refusal = assertThrows(HmcException.class, () -> FpmLimits.parse(answer));
    assertEquals("the card reports a block size of 0 for " + kind, refusal.getMessage());
  }

  /**
   * Fails if objects of which none is offered must have a block size, or those that are need none.
   */
  @Test
  void onlyWhatIsPutInBlocksNeedsTheirSize() {
    FpmLimits.parse(answer());
    MemorySegment responses = answer();
    FpmQueryBuffer.MAX_RRFFL.set(responses, 0, 1);
    refused("RRF", responses);
    FpmQueryBuffer.RRFBLOCKSIZE.set(responses, 0, 1);
    assertEquals(1, FpmLimits.parse(responses).rrfBlockSize());
    MemorySegment contexts = answer();
    FpmQueryBuffer.MAX_OOISCFFL.set(contexts, 0, 1);
    refused("OOISC", contexts);
    FpmQueryBuffer.OOISCFBLOCKSIZE.set(contexts, 0, 1);
    assertEquals(1, FpmLimits.parse(contexts).ooiscBlockSize());
    MemorySegment transmit = answer();
    FpmQueryBuffer.XFBLOCKSIZE.set(transmit, 0, 0);
    refused("XF", transmit);
    MemorySegment reads = answer();
    FpmQueryBuffer.Q1BLOCKSIZE.set(reads, 0, 0);
    refused("Q1", reads);
  }

  /** Fails if an object as large as a segment is refused, or a larger one is laid out. */
  @Test
  void anObjectMayFillASegment() {
    HmcPlan plan = new HmcPlan(Map.of(HmcObject.QP, 2L), 2, 1, List.of());
    MemorySegment buffer = Arena.ofAuto().allocate(FpmCommitBuffer.SIZE, 8);
    plan.encode(buffer);
    FpmLimits whole = limits(2, Map.of(HmcObject.QP, new FpmLimits.Limit(2, SEGMENT)));
    HmcLayout layout = HmcLayout.parse(buffer, plan, whole);
    assertEquals(2, layout.segments());
    assertEquals(new HmcLayout.Area(0, 2, SEGMENT), layout.of(HmcObject.QP));
    FpmLimits larger = limits(8, Map.of(HmcObject.QP, new FpmLimits.Limit(2, SEGMENT + 1)));
    HmcException refusal =
        assertThrows(HmcException.class, () -> HmcLayout.parse(buffer, plan, larger));
    assertTrue(refusal.getMessage().endsWith("bytes for one of QP"), refusal.getMessage());
  }

  /** Fails if the last object's last byte begins a segment more, or its first byte none. */
  @Test
  void segmentsEndWithTheLastObject() {
    HmcPlan plan = new HmcPlan(Map.of(HmcObject.QP, 4096L), 1, 1, List.of());
    for (long count : new long[] {4096, 4097}) {
      MemorySegment buffer = Arena.ofAuto().allocate(FpmCommitBuffer.SIZE, 8);
      LittleEndian.setLong(buffer, HmcObject.QP.commitOffset(), count);
      FpmLimits card = limits(4, Map.of(HmcObject.QP, new FpmLimits.Limit(8192, 512)));
      assertEquals(count - 4095, HmcLayout.parse(buffer, plan, card).segments());
    }
  }

  /**
   * Fails if as many queue pairs as the card offers are called fewer than wanted, or one more is
   * not.
   */
  @Test
  void whatIsOfferedIsNotGivenUp() {
    FpmLimits card = roomy(16, Map.of());
    HmcPlan all = fit(card, 16);
    assertEquals(16, all.count(HmcObject.QP));
    assertEquals(List.of(), all.notes());
    assertEquals(1, all.rounds());
    assertEquals(List.of("16 queue pairs of 17 wanted: the card offers 16"), fit(card, 17).notes());
  }

  /** Fails if a round that halves the queue pairs is not counted. */
  @Test
  void everyHalvingIsARound() {
    FpmLimits card = roomy(64, Map.of(HmcObject.HDR, new FpmLimits.Limit(10, 64)));
    HmcPlan plan = fit(card, 64);
    assertEquals(8, plan.count(HmcObject.QP));
    assertEquals(4, plan.rounds());
    assertEquals(
        List.of(
            "8 queue pairs of 64 wanted: 16 of HDR are needed for more, and the card offers 10"),
        plan.notes());
  }

  /** Fails if segments are blamed for what a too small hash table makes impossible. */
  @Test
  void theNoteSaysWhatHandlesWereGivenUpFor() {
    FpmLimits card =
        roomy(
            16,
            Map.of(
                HmcObject.FSIMC, new FpmLimits.Limit(4096, 64),
                HmcObject.HTE, new FpmLimits.Limit(4096, 64)));
    HmcPlan plan = fit(card, 16);
    assertEquals(1024, plan.count(HmcObject.FSIMC));
    assertEquals(
        "1024 of FSIMC, and the card offers 4096: 8192 of HTE are needed for more, and the card"
            + " offers 4096",
        plan.notes().getFirst());
  }
}
