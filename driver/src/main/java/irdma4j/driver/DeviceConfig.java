package irdma4j.driver;

import irdma4j.driver.ring.DoorbellPolicy;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SizingPolicy;
import irdma4j.hwregs.cqp.ControlQueueContext;
import irdma4j.hwregs.cqp.ControlQueueContext.Congestion;
import irdma4j.hwregs.cqp.ControlQueueContext.Protocol;
import irdma4j.pble.PblePool;
import java.security.SecureRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a device is to be brought up. Immutable; each {@code with} method gives a changed copy.
 *
 * @param queuePairs queue pairs to size the HMC for; the card may give fewer
 * @param profile how the HMC is shared among the card's functions
 * @param sizing by which rule the numbers of HMC objects are found
 * @param segmentType how HMC segments that hold objects are backed
 * @param pbleChunkPages most pages of 512 PBLEs that the pool grows by at once, 1 to 512
 * @param completionEventQueues wanted CEQs, at least 1; each has an interrupt vector of its own
 * @param interruptIntervalMicros least time between two interrupts of a vector other than that of
 *     asynchronous events, 0 to 8190
 * @param completionEventEntries most entries of a CEQ, at least 1; it gets no more than one for
 *     each completion queue, and with fewer events come late
 * @param asyncEventEntries most entries of the AEQ, at least 1; it gets no more than one for each
 *     queue pair and each completion queue, and with fewer events can be lost
 * @param alwaysRing ring every doorbell, rather than only those that the device may need
 * @param hmcFunction HMC function id, 0 to 63: the number of the PCI function on its card
 * @param virtualFunctions virtual functions that this function backs, 0 to 32
 * @param congestion parameters of DCQCN
 * @param qualityOfService how queue pairs share the port, or null for one queue set that the device
 *     has from the start
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
    int interruptIntervalMicros,
    int completionEventEntries,
    int asyncEventEntries,
    boolean alwaysRing,
    int hmcFunction,
    int virtualFunctions,
    Congestion congestion,
    @Nullable QualityOfService qualityOfService,
    long macAddress,
    long seed,
    long timeoutNanos) {

  /** Virtual functions that a function can back. */
  public static final int MAX_VIRTUAL_FUNCTIONS = 32;

  private static final int INTERFACE_MAJOR_GEN_2 = 3;
  private static final int MAX_INTERVAL_MICROS = 8190;
  private static final int CONTROL_CONTEXT = 1;

  /** Checks the values. */
  public DeviceConfig {
    require(queuePairs >= 1, "queuePairs", queuePairs);
    require(
        pbleChunkPages >= 1 && pbleChunkPages <= PblePool.WHOLE_SEGMENT,
        "pbleChunkPages",
        pbleChunkPages);
    require(completionEventQueues >= 1, "completionEventQueues", completionEventQueues);
    require(
        interruptIntervalMicros >= 0 && interruptIntervalMicros <= MAX_INTERVAL_MICROS,
        "interruptIntervalMicros",
        interruptIntervalMicros);
    require(completionEventEntries >= 1, "completionEventEntries", completionEventEntries);
    require(asyncEventEntries >= 1, "asyncEventEntries", asyncEventEntries);
    require(hmcFunction >= 0 && hmcFunction < 64, "hmcFunction", hmcFunction);
    require(
        virtualFunctions >= 0 && virtualFunctions <= MAX_VIRTUAL_FUNCTIONS,
        "virtualFunctions",
        virtualFunctions);
    require(macAddress >>> 48 == 0 && macAddress != 0, "macAddress", macAddress);
    require(timeoutNanos > 0, "timeoutNanos", timeoutNanos);
  }

  private static void require(boolean holds, String name, long value) {
    if (!holds) {
      throw new IllegalArgumentException(name + " " + value);
    }
  }

  /**
   * 256 queue pairs, sized by the project's own rule, two CEQs without throttling, direct segments,
   * one queue set, and a locally administered MAC address.
   */
  public static DeviceConfig defaults() {
    return new DeviceConfig(
        256,
        HmcProfile.DEFAULT,
        SizingPolicy.FIT,
        SegmentType.DIRECT,
        PblePool.WHOLE_SEGMENT,
        2,
        0,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE,
        false,
        0,
        0,
        Congestion.DEVICE,
        null,
        0x02_00_00_00_00_01L,
        new SecureRandom().nextLong(),
        5_000_000_000L);
  }

  /** With another number of queue pairs. */
  public DeviceConfig withQueuePairs(int value) {
    return with(copy -> copy.queuePairs = value);
  }

  /** With the card's HMC shared in another way. */
  public DeviceConfig withProfile(HmcProfile value) {
    return with(copy -> copy.profile = value);
  }

  /** With numbers of HMC objects found by another rule. */
  public DeviceConfig withSizing(SizingPolicy value) {
    return with(copy -> copy.sizing = value);
  }

  /** With segments backed in another way. */
  public DeviceConfig withSegmentType(SegmentType value) {
    return with(copy -> copy.segmentType = value);
  }

  /** With another step by which the PBLE pool grows. */
  public DeviceConfig withPbleChunkPages(int value) {
    return with(copy -> copy.pbleChunkPages = value);
  }

  /** With another number of completion event queues. */
  public DeviceConfig withCompletionEventQueues(int value) {
    return with(copy -> copy.completionEventQueues = value);
  }

  /** With fewer or more interrupts. */
  public DeviceConfig withInterruptIntervalMicros(int value) {
    return with(copy -> copy.interruptIntervalMicros = value);
  }

  /**
   * With smaller event queues, which take less memory.
   *
   * @param completionEvents most entries of a completion event queue
   * @param asyncEvents most entries of the asynchronous event queue
   */
  public DeviceConfig withEventEntries(int completionEvents, int asyncEvents) {
    return with(
        copy -> {
          copy.completionEventEntries = completionEvents;
          copy.asyncEventEntries = asyncEvents;
        });
  }

  /** Ringing every doorbell, or only those that the device may need. */
  public DeviceConfig withAlwaysRing(boolean value) {
    return with(copy -> copy.alwaysRing = value);
  }

  /** As another function of the card. */
  public DeviceConfig withHmcFunction(int value) {
    return with(copy -> copy.hmcFunction = value);
  }

  /** Backing virtual functions. */
  public DeviceConfig withVirtualFunctions(int value) {
    return with(copy -> copy.virtualFunctions = value);
  }

  /** With other parameters of DCQCN. */
  public DeviceConfig withCongestion(Congestion value) {
    return with(copy -> copy.congestion = value);
  }

  /** With queue sets for traffic classes. */
  public DeviceConfig withQualityOfService(QualityOfService value) {
    return with(copy -> copy.qualityOfService = value);
  }

  /** With another MAC address. */
  public DeviceConfig withMacAddress(long value) {
    return with(copy -> copy.macAddress = value);
  }

  /** With keys from another seed. */
  public DeviceConfig withSeed(long value) {
    return with(copy -> copy.seed = value);
  }

  /** With more or less patience for a control operation. */
  public DeviceConfig withTimeoutNanos(long value) {
    return with(copy -> copy.timeoutNanos = value);
  }

  private DeviceConfig with(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.config();
  }

  DoorbellPolicy doorbellPolicy() {
    return alwaysRing ? DoorbellPolicy.ALWAYS : DoorbellPolicy.SHADOW;
  }

  /** What the control queue pair's context says, but for its ring. */
  ControlQueueContext controlContext() {
    return new ControlQueueContext(
        0,
        false,
        false,
        Protocol.ROCE_ONLY,
        0,
        0,
        0,
        profile.code(),
        virtualFunctions,
        CONTROL_CONTEXT,
        0,
        INTERFACE_MAJOR_GEN_2,
        congestion);
  }

  /** The values while one of them changes. */
  private static final class Copy {
    private int queuePairs;
    private HmcProfile profile;
    private SizingPolicy sizing;
    private SegmentType segmentType;
    private int pbleChunkPages;
    private int completionEventQueues;
    private int interruptIntervalMicros;
    private int completionEventEntries;
    private int asyncEventEntries;
    private boolean alwaysRing;
    private int hmcFunction;
    private int virtualFunctions;
    private Congestion congestion;
    private @Nullable QualityOfService qualityOfService;
    private long macAddress;
    private long seed;
    private long timeoutNanos;

    Copy(DeviceConfig from) {
      queuePairs = from.queuePairs;
      profile = from.profile;
      sizing = from.sizing;
      segmentType = from.segmentType;
      pbleChunkPages = from.pbleChunkPages;
      completionEventQueues = from.completionEventQueues;
      interruptIntervalMicros = from.interruptIntervalMicros;
      completionEventEntries = from.completionEventEntries;
      asyncEventEntries = from.asyncEventEntries;
      alwaysRing = from.alwaysRing;
      hmcFunction = from.hmcFunction;
      virtualFunctions = from.virtualFunctions;
      congestion = from.congestion;
      qualityOfService = from.qualityOfService;
      macAddress = from.macAddress;
      seed = from.seed;
      timeoutNanos = from.timeoutNanos;
    }

    DeviceConfig config() {
      return new DeviceConfig(
          queuePairs,
          profile,
          sizing,
          segmentType,
          pbleChunkPages,
          completionEventQueues,
          interruptIntervalMicros,
          completionEventEntries,
          asyncEventEntries,
          alwaysRing,
          hmcFunction,
          virtualFunctions,
          congestion,
          qualityOfService,
          macAddress,
          seed,
          timeoutNanos);
    }
  }
}
