package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Change or resize a completion queue.
 *
 * @param cqId number of the completion queue
 * @param cqSize entries of 32 bytes
 * @param context context returned in each event, shifted right by one
 * @param shadowReadThreshold entries before the device reads the shadow area
 * @param ringAddress IOVA of the ring
 * @param shadowAddress IOVA of the shadow area
 * @param firstPbleIndex first PBLE of the ring
 * @param steeringTag steering tag
 * @param vsi virtual station interface
 * @param resize the ring is a new one
 * @param pbleLevel level of the ring's page list
 * @param checkOverflow check for overflow
 * @param virtualRing the ring is described by PBLEs
 * @param eventMask raise events only when armed
 * @param steeringEnabled use the steering tag
 * @param avoidConflict entries of 64 bytes
 */
public record ModifyCq(
    int cqId,
    int cqSize,
    long context,
    int shadowReadThreshold,
    long ringAddress,
    long shadowAddress,
    int firstPbleIndex,
    int steeringTag,
    int vsi,
    boolean resize,
    int pbleLevel,
    boolean checkOverflow,
    boolean virtualRing,
    boolean eventMask,
    boolean steeringEnabled,
    boolean avoidConflict)
    implements CqpCommand {
  private static final Field CQID = Field.bits("CQID", 24, 18, 0, "Number of the completion queue");
  private static final Field CQSIZE = Field.bits("CQSIZE", 0, 20, 0, "Entries of 32 bytes");
  private static final Field CQCTX =
      Field.bits("CQCTX", 8, 62, 0, "Context returned in each event, shifted right by one");
  private static final Field SHADOW_READ_THRESHOLD =
      Field.bits(
          "SHADOW_READ_THRESHOLD", 16, 17, 0, "Entries before the device reads the shadow area");
  private static final Field CQADDR = Field.word("CQADDR", 32, "IOVA of the ring");
  private static final Field DBSHADOWADDR =
      Field.word("DBSHADOWADDR", 40, "IOVA of the shadow area");
  private static final Field FIRSTPMPBLIDX =
      Field.bits("FIRSTPMPBLIDX", 48, 27, 0, "First PBLE of the ring");
  private static final Field TPHVAL = Field.bits("TPHVAL", 56, 7, 0, "Steering tag");
  private static final Field VSIIDX = Field.bits("VSIIDX", 56, 17, 8, "Virtual station interface");
  private static final Field CQRESIZE = Field.bit("CQRESIZE", 24, 43, "The ring is a new one");
  private static final Field LPBLSIZE =
      Field.bits("LPBLSIZE", 24, 45, 44, "Level of the ring's page list");
  private static final Field CHKOVERFLOW = Field.bit("CHKOVERFLOW", 24, 46, "Check for overflow");
  private static final Field VIRTMAP =
      Field.bit("VIRTMAP", 24, 47, "The ring is described by PBLEs");
  private static final Field ENCEQEMASK =
      Field.bit("ENCEQEMASK", 24, 48, "Raise events only when armed");
  private static final Field TPHEN = Field.bit("TPHEN", 24, 60, "Use the steering tag");
  private static final Field AVOIDMEMCNFLCT =
      Field.bit("AVOIDMEMCNFLCT", 24, 61, "Entries of 64 bytes");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/modify-cq",
          CqpWqe.SIZE,
          "Change or resize a completion queue",
          CQID,
          CQSIZE,
          CQCTX,
          SHADOW_READ_THRESHOLD,
          CQADDR,
          DBSHADOWADDR,
          FIRSTPMPBLIDX,
          TPHVAL,
          VSIIDX,
          CQRESIZE,
          LPBLSIZE,
          CHKOVERFLOW,
          VIRTMAP,
          ENCEQEMASK,
          TPHEN,
          AVOIDMEMCNFLCT,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MODIFY_CQ;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = CQSIZE.encode(Integer.toUnsignedLong(cqSize));
    long word8 = CQCTX.encode(context);
    long word16 = SHADOW_READ_THRESHOLD.encode(Integer.toUnsignedLong(shadowReadThreshold));
    long word32 = CQADDR.encode(ringAddress);
    long word40 = DBSHADOWADDR.encode(shadowAddress);
    long word48 = FIRSTPMPBLIDX.encode(Integer.toUnsignedLong(firstPbleIndex));
    long word56 =
        TPHVAL.encode(Integer.toUnsignedLong(steeringTag))
            | VSIIDX.encode(Integer.toUnsignedLong(vsi));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | CQID.encode(Integer.toUnsignedLong(cqId))
            | CQRESIZE.encode(resize)
            | LPBLSIZE.encode(Integer.toUnsignedLong(pbleLevel))
            | CHKOVERFLOW.encode(checkOverflow)
            | VIRTMAP.encode(virtualRing)
            | ENCEQEMASK.encode(eventMask)
            | TPHEN.encode(steeringEnabled)
            | AVOIDMEMCNFLCT.encode(avoidConflict);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, word32);
    LittleEndian.setLong(wqe, base + 40, word40);
    LittleEndian.setLong(wqe, base + 48, word48);
    LittleEndian.setLong(wqe, base + 56, word56);
    return header;
  }

  static ModifyCq decode(MemorySegment wqe, long base) {
    return new ModifyCq(
        (int) CQID.get(wqe, base),
        (int) CQSIZE.get(wqe, base),
        CQCTX.get(wqe, base),
        (int) SHADOW_READ_THRESHOLD.get(wqe, base),
        CQADDR.get(wqe, base),
        DBSHADOWADDR.get(wqe, base),
        (int) FIRSTPMPBLIDX.get(wqe, base),
        (int) TPHVAL.get(wqe, base),
        (int) VSIIDX.get(wqe, base),
        CQRESIZE.get(wqe, base) != 0,
        (int) LPBLSIZE.get(wqe, base),
        CHKOVERFLOW.get(wqe, base) != 0,
        VIRTMAP.get(wqe, base) != 0,
        ENCEQEMASK.get(wqe, base) != 0,
        TPHEN.get(wqe, base) != 0,
        AVOIDMEMCNFLCT.get(wqe, base) != 0);
  }
}
