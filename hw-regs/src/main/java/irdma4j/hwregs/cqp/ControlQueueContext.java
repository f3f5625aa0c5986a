package irdma4j.hwregs.cqp;

import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * What the host context of the control queue pair says.
 *
 * <p>Source: Linux irdma_sc_cqp_create in ctrl.c.
 *
 * @param structureVersion version of the structure
 * @param packedFpdusDisabled packed FPDUs are not handled (iWARP)
 * @param rtoPolicy retransmission timeout policy of RoCEv2
 * @param protocol which protocols will be used
 * @param ringSizeCode encoded number of slots, 4 bits
 * @param ceqsPerVf completion event queues of each virtual function
 * @param ringAddress IOVA of the ring, a multiple of 512
 * @param hmcProfile how the HMC is shared: 1 default, 2 favour VFs, 3 equal
 * @param virtualFunctions number of virtual functions
 * @param completionContext what completions carry
 * @param minorVersion of the interface that the driver speaks
 * @param majorVersion of the interface that the driver speaks; 3 for the second generation
 * @param congestion how rates go down and up again
 */
public record ControlQueueContext(
    int structureVersion,
    boolean packedFpdusDisabled,
    boolean rtoPolicy,
    Protocol protocol,
    int ringSizeCode,
    int ceqsPerVf,
    long ringAddress,
    int hmcProfile,
    int virtualFunctions,
    long completionContext,
    int minorVersion,
    int majorVersion,
    Congestion congestion) {

  /** Which protocols a function uses. */
  public enum Protocol {
    /** Any. */
    ANY(0),
    /** iWARP alone. */
    IWARP_ONLY(1),
    /** RoCEv2 alone. */
    ROCE_ONLY(2),
    /** Not defined. */
    RESERVED(3);

    private final int code;

    Protocol(int code) {
      this.code = code;
    }

    /** The protocol of a code of two bits. */
    public static Protocol of(int code) {
      for (Protocol protocol : values()) {
        if (protocol.code == code) {
          return protocol;
        }
      }
      throw new IllegalArgumentException("protocol " + code + ": 0 to 3");
    }
  }

  /**
   * The parameters of DCQCN.
   *
   * @param valid they count; otherwise the device uses its own
   * @param minRate lowest rate, 4 bits
   * @param minDecreaseFactor smallest decrease, 4 bits
   * @param fastRecovery steps of fast recovery, 3 bits
   * @param activeIncrease step of active increase, 16 bits
   * @param hyperIncrease step of hyper increase, 16 bits
   * @param timer timer, 16 bits
   * @param byteCounter byte counter, 25 bits
   * @param leastReductionPeriod least time between two reductions, 32 bits
   */
  public record Congestion(
      boolean valid,
      int minRate,
      int minDecreaseFactor,
      int fastRecovery,
      int activeIncrease,
      int hyperIncrease,
      int timer,
      int byteCounter,
      int leastReductionPeriod) {
    /** The device's own. */
    public static final Congestion DEVICE = new Congestion(false, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  private static final int RING_ALIGNMENT = 512;

  /** Checks the ring's address. */
  public ControlQueueContext {
    if (ringAddress % RING_ALIGNMENT != 0) {
      throw new IllegalArgumentException(
          "control ring at 0x%x, which is no multiple of 512".formatted(ringAddress));
    }
  }

  /** The same for a ring. */
  public ControlQueueContext withRing(long address, int sizeCode) {
    return new ControlQueueContext(
        structureVersion,
        packedFpdusDisabled,
        rtoPolicy,
        protocol,
        sizeCode,
        ceqsPerVf,
        address,
        hmcProfile,
        virtualFunctions,
        completionContext,
        minorVersion,
        majorVersion,
        congestion);
  }

  /**
   * Writes all 64 bytes.
   *
   * @throws irdma4j.hwregs.FieldRangeException if a value does not fit its field; nothing was
   *     written
   */
  public void encode(MemorySegment memory, long base) {
    long word0 =
        CqpHostContext.SQSIZE.encode(Integer.toUnsignedLong(ringSizeCode))
            | CqpHostContext.SVER.encode(Integer.toUnsignedLong(structureVersion))
            | CqpHostContext.DISABLE_PFPDUS.encode(packedFpdusDisabled)
            | CqpHostContext.CEQPERVF.encode(Integer.toUnsignedLong(ceqsPerVf))
            | CqpHostContext.ROCEV2_RTO_POLICY.encode(rtoPolicy)
            | CqpHostContext.PROTOCOL_USED.encode(protocol.code);
    long word16 =
        CqpHostContext.ENABLED_VFS.encode(Integer.toUnsignedLong(virtualFunctions))
            | CqpHostContext.HMC_PROFILE.encode(Integer.toUnsignedLong(hmcProfile));
    long word32 =
        CqpHostContext.HW_MAJVER.encode(Integer.toUnsignedLong(majorVersion))
            | CqpHostContext.HW_MINVER.encode(Integer.toUnsignedLong(minorVersion))
            | CqpHostContext.MIN_RATE.encode(Integer.toUnsignedLong(congestion.minRate()))
            | CqpHostContext.MIN_DEC_FACTOR.encode(
                Integer.toUnsignedLong(congestion.minDecreaseFactor()));
    long word48 =
        CqpHostContext.DCQCN_T.encode(Integer.toUnsignedLong(congestion.timer()))
            | CqpHostContext.RAI_FACTOR.encode(Integer.toUnsignedLong(congestion.activeIncrease()))
            | CqpHostContext.HAI_FACTOR.encode(Integer.toUnsignedLong(congestion.hyperIncrease()));
    long word56 =
        CqpHostContext.DCQCN_B.encode(Integer.toUnsignedLong(congestion.byteCounter()))
            | CqpHostContext.DCQCN_F.encode(Integer.toUnsignedLong(congestion.fastRecovery()))
            | CqpHostContext.CC_CFG_VALID.encode(congestion.valid())
            | CqpHostContext.RREDUCE_MPERIOD.encode(
                Integer.toUnsignedLong(congestion.leastReductionPeriod()));
    LittleEndian.setLong(memory, base, word0);
    LittleEndian.setLong(memory, base + 8, ringAddress);
    LittleEndian.setLong(memory, base + 16, word16);
    LittleEndian.setLong(memory, base + 24, completionContext);
    LittleEndian.setLong(memory, base + 32, word32);
    LittleEndian.setLong(memory, base + 40, 0);
    LittleEndian.setLong(memory, base + 48, word48);
    LittleEndian.setLong(memory, base + 56, word56);
  }

  /** Reads it. */
  public static ControlQueueContext decode(MemorySegment memory, long base) {
    return new ControlQueueContext(
        (int) CqpHostContext.SVER.get(memory, base),
        CqpHostContext.DISABLE_PFPDUS.get(memory, base) != 0,
        CqpHostContext.ROCEV2_RTO_POLICY.get(memory, base) != 0,
        Protocol.of((int) CqpHostContext.PROTOCOL_USED.get(memory, base)),
        (int) CqpHostContext.SQSIZE.get(memory, base),
        (int) CqpHostContext.CEQPERVF.get(memory, base),
        CqpHostContext.SQBASE.get(memory, base) << CqpHostContext.SQBASE.shift(),
        (int) CqpHostContext.HMC_PROFILE.get(memory, base),
        (int) CqpHostContext.ENABLED_VFS.get(memory, base),
        CqpHostContext.QPCTX.get(memory, base),
        (int) CqpHostContext.HW_MINVER.get(memory, base),
        (int) CqpHostContext.HW_MAJVER.get(memory, base),
        new Congestion(
            CqpHostContext.CC_CFG_VALID.get(memory, base) != 0,
            (int) CqpHostContext.MIN_RATE.get(memory, base),
            (int) CqpHostContext.MIN_DEC_FACTOR.get(memory, base),
            (int) CqpHostContext.DCQCN_F.get(memory, base),
            (int) CqpHostContext.RAI_FACTOR.get(memory, base),
            (int) CqpHostContext.HAI_FACTOR.get(memory, base),
            (int) CqpHostContext.DCQCN_T.get(memory, base),
            (int) CqpHostContext.DCQCN_B.get(memory, base),
            (int) CqpHostContext.RREDUCE_MPERIOD.get(memory, base)));
  }
}
