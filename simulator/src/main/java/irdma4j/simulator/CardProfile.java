package irdma4j.simulator;

import irdma4j.hwregs.HmcObject;
import java.util.EnumMap;
import java.util.Map;

/**
 * What a simulated card says of itself: the limits that QUERY_FPM answers, its features, its number
 * of interrupt vectors. Immutable.
 *
 * <p>The numbers are this project's belief of an E810; only their ranges (the widths of the fields
 * they are answered in) have a source.
 *
 * @param maxSegments segment descriptors of the function, 1 to 4096 (the width of PMSDIDX)
 * @param limits the most objects of each kind
 * @param objectBits log2 of an object's bytes, of the kinds whose size the card chooses
 * @param xfBlock transmit FIFO entries in a block
 * @param q1Block incoming read requests in a block
 * @param rrfBlock read response FIFO entries in a block
 * @param ooiscBlock out-of-order contexts in a block
 * @param hashMultiplier hash table entries for each wanted one
 * @param timerBucket timer entries of a bucket
 * @param maxCeqs completion event queues, at most 512
 * @param vectors MSI-X vectors, 1 to 2048
 * @param firmwareMajor major version of the firmware
 * @param firmwareMinor minor version of the firmware
 */
public record CardProfile(
    int maxSegments,
    Map<HmcObject, Long> limits,
    Map<HmcObject, Integer> objectBits,
    int xfBlock,
    int q1Block,
    int rrfBlock,
    int ooiscBlock,
    int hashMultiplier,
    int timerBucket,
    int maxCeqs,
    int vectors,
    int firmwareMajor,
    int firmwareMinor) {

  /** Checks the ranges and copies the maps. */
  public CardProfile {
    limits = Map.copyOf(limits);
    objectBits = Map.copyOf(objectBits);
    if (maxSegments < 1 || maxSegments > 4096) {
      throw new IllegalArgumentException(maxSegments + " segments: 1 to 4096");
    }
    if (vectors < 1 || vectors > 2048 || maxCeqs < 1 || maxCeqs > 512) {
      throw new IllegalArgumentException(vectors + " vectors, " + maxCeqs + " CEQs");
    }
  }

  /** A card like an E810 with all its resources in one function. */
  public static CardProfile e810() {
    Map<HmcObject, Long> limits = new EnumMap<>(HmcObject.class);
    limits.put(HmcObject.QP, 0x40000L);
    limits.put(HmcObject.CQ, 0x80000L);
    limits.put(HmcObject.HTE, 0x100000L);
    limits.put(HmcObject.ARP, 0x1000L);
    limits.put(HmcObject.MR, 0x40000L);
    limits.put(HmcObject.XF, 0x400000L);
    limits.put(HmcObject.XFFL, 0x100000L);
    limits.put(HmcObject.Q1, 0x4000000L);
    limits.put(HmcObject.Q1FL, 0x1000000L);
    limits.put(HmcObject.TIMER, 0x100000L);
    limits.put(HmcObject.FSIMC, 0x4000L);
    limits.put(HmcObject.FSIAV, 0x10000L);
    limits.put(HmcObject.PBLE, 0x10000000L);
    limits.put(HmcObject.RRF, 0x800000L);
    limits.put(HmcObject.RRFFL, 0x200000L);
    limits.put(HmcObject.HDR, 0x40000L);
    limits.put(HmcObject.MD, 0x10000L);
    limits.put(HmcObject.OOISC, 0x800000L);
    limits.put(HmcObject.OOISCFFL, 0x200000L);
    return new CardProfile(4096, limits, e810Sizes(), 4, 4, 4, 4, 2, 512, 512, 64, 1, 57);
  }

  /** A small card, whose tables a test can look through. */
  public static CardProfile small() {
    Map<HmcObject, Long> limits = new EnumMap<>(HmcObject.class);
    limits.put(HmcObject.QP, 0x400L);
    limits.put(HmcObject.CQ, 0x800L);
    limits.put(HmcObject.HTE, 0x1000L);
    limits.put(HmcObject.ARP, 0x100L);
    limits.put(HmcObject.MR, 0x4000L);
    limits.put(HmcObject.XF, 0x4000L);
    limits.put(HmcObject.XFFL, 0x2000L);
    limits.put(HmcObject.Q1, 0x40000L);
    limits.put(HmcObject.Q1FL, 0x20000L);
    limits.put(HmcObject.TIMER, 0x800L);
    limits.put(HmcObject.FSIMC, 0x100L);
    limits.put(HmcObject.FSIAV, 0x400L);
    limits.put(HmcObject.PBLE, 0x400000L);
    limits.put(HmcObject.RRF, 0x8000L);
    limits.put(HmcObject.RRFFL, 0x4000L);
    limits.put(HmcObject.HDR, 0x400L);
    limits.put(HmcObject.MD, 0x100L);
    limits.put(HmcObject.OOISC, 0x8000L);
    limits.put(HmcObject.OOISCFFL, 0x4000L);
    return new CardProfile(20, limits, e810Sizes(), 2, 2, 2, 2, 1, 64, 8, 16, 1, 57);
  }

  private static Map<HmcObject, Integer> e810Sizes() {
    Map<HmcObject, Integer> bits = new EnumMap<>(HmcObject.class);
    bits.put(HmcObject.QP, 9);
    bits.put(HmcObject.CQ, 6);
    bits.put(HmcObject.HTE, 5);
    bits.put(HmcObject.ARP, 6);
    bits.put(HmcObject.MR, 6);
    bits.put(HmcObject.XF, 6);
    bits.put(HmcObject.Q1, 5);
    bits.put(HmcObject.TIMER, 5);
    bits.put(HmcObject.FSIMC, 6);
    bits.put(HmcObject.FSIAV, 6);
    bits.put(HmcObject.RRF, 6);
    bits.put(HmcObject.HDR, 6);
    bits.put(HmcObject.MD, 6);
    bits.put(HmcObject.OOISC, 5);
    return bits;
  }

  /** The same card with another number of segment descriptors. */
  public CardProfile withMaxSegments(int segments) {
    return new CardProfile(
        segments,
        limits,
        objectBits,
        xfBlock,
        q1Block,
        rrfBlock,
        ooiscBlock,
        hashMultiplier,
        timerBucket,
        maxCeqs,
        vectors,
        firmwareMajor,
        firmwareMinor);
  }

  /** The same card with another limit of one kind of object. */
  public CardProfile withLimit(HmcObject object, long most) {
    Map<HmcObject, Long> changed = new EnumMap<>(limits);
    changed.put(object, most);
    return new CardProfile(
        maxSegments,
        changed,
        objectBits,
        xfBlock,
        q1Block,
        rrfBlock,
        ooiscBlock,
        hashMultiplier,
        timerBucket,
        maxCeqs,
        vectors,
        firmwareMajor,
        firmwareMinor);
  }

  /** The most objects of a kind. */
  public long limit(HmcObject object) {
    return object == HmcObject.APBVT ? 1 : limits.getOrDefault(object, 0L);
  }

  /** Bytes of an object of a kind. */
  public int objectBytes(HmcObject object) {
    return object.logSize() == null ? object.fixedSize() : 1 << objectBits.getOrDefault(object, 6);
  }
}
