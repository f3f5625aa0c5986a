package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Destroy a completion queue.
 *
 * @param cqId number of the completion queue
 * @param cqSize entries of 32 bytes
 * @param context context returned in each event, shifted right by one
 * @param shadowAddress IOVA of the shadow area
 * @param firstPbleIndex first PBLE of the ring
 * @param ceqId completion event queue
 * @param pbleLevel level of the ring's page list
 * @param virtualRing the ring is described by PBLEs
 * @param eventMask raise events only when armed
 * @param ceqIdValid the queue has an event queue
 * @param steeringEnabled use the steering tag
 * @param avoidConflict entries of 64 bytes
 */
public record DestroyCq(
    int cqId,
    int cqSize,
    long context,
    long shadowAddress,
    int firstPbleIndex,
    int ceqId,
    int pbleLevel,
    boolean virtualRing,
    boolean eventMask,
    boolean ceqIdValid,
    boolean steeringEnabled,
    boolean avoidConflict)
    implements CqpCommand {
  private static final Field CQID = Field.bits("CQID", 24, 18, 0, "Number of the completion queue");
  private static final Field CQSIZE = Field.bits("CQSIZE", 0, 20, 0, "Entries of 32 bytes");
  private static final Field CQCTX =
      Field.bits("CQCTX", 8, 62, 0, "Context returned in each event, shifted right by one");
  private static final Field DBSHADOWADDR =
      Field.word("DBSHADOWADDR", 40, "IOVA of the shadow area");
  private static final Field FIRSTPMPBLIDX =
      Field.bits("FIRSTPMPBLIDX", 48, 27, 0, "First PBLE of the ring");
  private static final Field CEQID = Field.bits("CEQID", 24, 31, 22, "Completion event queue");
  private static final Field LPBLSIZE =
      Field.bits("LPBLSIZE", 24, 45, 44, "Level of the ring's page list");
  private static final Field VIRTMAP =
      Field.bit("VIRTMAP", 24, 47, "The ring is described by PBLEs");
  private static final Field ENCEQEMASK =
      Field.bit("ENCEQEMASK", 24, 48, "Raise events only when armed");
  private static final Field CEQIDVALID =
      Field.bit("CEQIDVALID", 24, 49, "The queue has an event queue");
  private static final Field TPHEN = Field.bit("TPHEN", 24, 60, "Use the steering tag");
  private static final Field AVOIDMEMCNFLCT =
      Field.bit("AVOIDMEMCNFLCT", 24, 61, "Entries of 64 bytes");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/destroy-cq",
          CqpWqe.SIZE,
          "Destroy a completion queue",
          CQID,
          CQSIZE,
          CQCTX,
          DBSHADOWADDR,
          FIRSTPMPBLIDX,
          CEQID,
          LPBLSIZE,
          VIRTMAP,
          ENCEQEMASK,
          CEQIDVALID,
          TPHEN,
          AVOIDMEMCNFLCT,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.DESTROY_CQ;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = CQSIZE.encode(Integer.toUnsignedLong(cqSize));
    long word8 = CQCTX.encode(context);
    long word40 = DBSHADOWADDR.encode(shadowAddress);
    long word48 = FIRSTPMPBLIDX.encode(Integer.toUnsignedLong(firstPbleIndex));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | CQID.encode(Integer.toUnsignedLong(cqId))
            | CEQID.encode(Integer.toUnsignedLong(ceqId))
            | LPBLSIZE.encode(Integer.toUnsignedLong(pbleLevel))
            | VIRTMAP.encode(virtualRing)
            | ENCEQEMASK.encode(eventMask)
            | CEQIDVALID.encode(ceqIdValid)
            | TPHEN.encode(steeringEnabled)
            | AVOIDMEMCNFLCT.encode(avoidConflict);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 40, word40);
    LittleEndian.setLong(wqe, base + 48, word48);
    return header;
  }

  static DestroyCq decode(MemorySegment wqe, long base) {
    return new DestroyCq(
        (int) CQID.get(wqe, base),
        (int) CQSIZE.get(wqe, base),
        CQCTX.get(wqe, base),
        DBSHADOWADDR.get(wqe, base),
        (int) FIRSTPMPBLIDX.get(wqe, base),
        (int) CEQID.get(wqe, base),
        (int) LPBLSIZE.get(wqe, base),
        VIRTMAP.get(wqe, base) != 0,
        ENCEQEMASK.get(wqe, base) != 0,
        CEQIDVALID.get(wqe, base) != 0,
        TPHEN.get(wqe, base) != 0,
        AVOIDMEMCNFLCT.get(wqe, base) != 0);
  }
}
