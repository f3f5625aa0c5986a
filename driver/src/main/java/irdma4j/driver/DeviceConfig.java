package irdma4j.driver;

import irdma4j.driver.ring.DoorbellPolicy;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SizingPolicy;
import irdma4j.pble.PblePool;
import java.security.SecureRandom;

/**
 * How a device is to be brought up. Immutable; each {@code with} method gives a changed copy.
 *
 * @param queuePairs queue pairs to size the HMC for; the card may give fewer
 * @param profile how the HMC is shared among the card's functions
 * @param sizing by which rule the numbers of HMC objects are found
 * @param segmentType how HMC segments that hold objects are backed
 * @param pbleChunkPages most pages of 512 PBLEs that the pool grows by at once, 1 to 512
 * @param completionEventQueues wanted CEQs, at least 1; each has an interrupt vector of its own
 * @param alwaysRing ring every doorbell, rather than only those that the device may need
 * @param hmcFunction HMC function id, 0 to 63: the number of the PCI function on its card
 * @param macAddress the port's MAC address as a 48-bit integer
 * @param seed where the keys of stags come from
 * @param timeoutNanos how long the device may take for one control operation
 */
public record DeviceConfig(
    int queuePairs,
    HmcProfile profile,
    SizingPolicy sizing,
    SegmentType segmentType,
    int pbleChunkPages,
    int completionEventQueues,
    boolean alwaysRing,
    int hmcFunction,
    long macAddress,
    long seed,
    long timeoutNanos) {

  /** Checks the values. */
  public DeviceConfig {
    require(queuePairs >= 1, "queuePairs", queuePairs);
    require(
        pbleChunkPages >= 1 && pbleChunkPages <= PblePool.WHOLE_SEGMENT,
        "pbleChunkPages",
        pbleChunkPages);
    require(completionEventQueues >= 1, "completionEventQueues", completionEventQueues);
    require(hmcFunction >= 0 && hmcFunction < 64, "hmcFunction", hmcFunction);
    require(macAddress >>> 48 == 0 && macAddress != 0, "macAddress", macAddress);
    require(timeoutNanos > 0, "timeoutNanos", timeoutNanos);
  }

  private static void require(boolean holds, String name, long value) {
    if (!holds) {
      throw new IllegalArgumentException(name + " " + value);
    }
  }

  /**
   * 256 queue pairs, sized by the project's own rule, two CEQs, direct segments, and a locally
   * administered MAC address.
   */
  public static DeviceConfig defaults() {
    return new DeviceConfig(
        256,
        HmcProfile.DEFAULT,
        SizingPolicy.FIT,
        SegmentType.DIRECT,
        PblePool.WHOLE_SEGMENT,
        2,
        false,
        0,
        0x02_00_00_00_00_01L,
        new SecureRandom().nextLong(),
        5_000_000_000L);
  }

  /** With another number of queue pairs. */
  public DeviceConfig withQueuePairs(int value) {
    return new DeviceConfig(
        value,
        profile,
        sizing,
        segmentType,
        pbleChunkPages,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        macAddress,
        seed,
        timeoutNanos);
  }

  /** With the card's HMC shared in another way. */
  public DeviceConfig withProfile(HmcProfile value) {
    return new DeviceConfig(
        queuePairs,
        value,
        sizing,
        segmentType,
        pbleChunkPages,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        macAddress,
        seed,
        timeoutNanos);
  }

  /** With numbers of HMC objects found by another rule. */
  public DeviceConfig withSizing(SizingPolicy value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        value,
        segmentType,
        pbleChunkPages,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        macAddress,
        seed,
        timeoutNanos);
  }

  /** With segments backed in another way. */
  public DeviceConfig withSegmentType(SegmentType value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        sizing,
        value,
        pbleChunkPages,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        macAddress,
        seed,
        timeoutNanos);
  }

  /** With another step by which the PBLE pool grows. */
  public DeviceConfig withPbleChunkPages(int value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        sizing,
        segmentType,
        value,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        macAddress,
        seed,
        timeoutNanos);
  }

  /** With another number of completion event queues. */
  public DeviceConfig withCompletionEventQueues(int value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        sizing,
        segmentType,
        pbleChunkPages,
        value,
        alwaysRing,
        hmcFunction,
        macAddress,
        seed,
        timeoutNanos);
  }

  /** Ringing every doorbell, or only those that the device may need. */
  public DeviceConfig withAlwaysRing(boolean value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        sizing,
        segmentType,
        pbleChunkPages,
        completionEventQueues,
        value,
        hmcFunction,
        macAddress,
        seed,
        timeoutNanos);
  }

  /** With another MAC address. */
  public DeviceConfig withMacAddress(long value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        sizing,
        segmentType,
        pbleChunkPages,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        value,
        seed,
        timeoutNanos);
  }

  /** With keys from another seed. */
  public DeviceConfig withSeed(long value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        sizing,
        segmentType,
        pbleChunkPages,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        macAddress,
        value,
        timeoutNanos);
  }

  /** With more or less patience for a control operation. */
  public DeviceConfig withTimeoutNanos(long value) {
    return new DeviceConfig(
        queuePairs,
        profile,
        sizing,
        segmentType,
        pbleChunkPages,
        completionEventQueues,
        alwaysRing,
        hmcFunction,
        macAddress,
        seed,
        value);
  }

  DoorbellPolicy doorbellPolicy() {
    return alwaysRing ? DoorbellPolicy.ALWAYS : DoorbellPolicy.SHADOW;
  }
}
