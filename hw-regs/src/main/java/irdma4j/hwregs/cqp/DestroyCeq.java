package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Destroy a completion event queue.
 *
 * @param size entries of 8 bytes
 * @param firstPbleIndex first PBLE of the ring
 * @param ceqId number of the event queue
 * @param pbleLevel level of the ring's page list
 * @param virtualRing the ring is described by PBLEs
 * @param steeringEnabled use the steering tag
 */
public record DestroyCeq(
    int size,
    int firstPbleIndex,
    int ceqId,
    int pbleLevel,
    boolean virtualRing,
    boolean steeringEnabled)
    implements CqpCommand {
  private static final Field CEQSIZE = Field.bits("CEQSIZE", 16, 21, 0, "Entries of 8 bytes");
  private static final Field FIRSTPMPBLIDX =
      Field.bits("FIRSTPMPBLIDX", 48, 27, 0, "First PBLE of the ring");
  private static final Field CEQID = Field.bits("CEQID", 24, 9, 0, "Number of the event queue");
  private static final Field LPBLSIZE =
      Field.bits("LPBLSIZE", 24, 45, 44, "Level of the ring's page list");
  private static final Field VMAP = Field.bit("VMAP", 24, 47, "The ring is described by PBLEs");
  private static final Field TPHEN = Field.bit("TPHEN", 24, 60, "Use the steering tag");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/destroy-ceq",
          CqpWqe.SIZE,
          "Destroy a completion event queue",
          CEQSIZE,
          FIRSTPMPBLIDX,
          CEQID,
          LPBLSIZE,
          VMAP,
          TPHEN,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.DESTROY_CEQ;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = CEQSIZE.encode(Integer.toUnsignedLong(size));
    long word48 = FIRSTPMPBLIDX.encode(Integer.toUnsignedLong(firstPbleIndex));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | CEQID.encode(Integer.toUnsignedLong(ceqId))
            | LPBLSIZE.encode(Integer.toUnsignedLong(pbleLevel))
            | VMAP.encode(virtualRing)
            | TPHEN.encode(steeringEnabled);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 48, word48);
    return header;
  }

  static DestroyCeq decode(MemorySegment wqe, long base) {
    return new DestroyCeq(
        (int) CEQSIZE.get(wqe, base),
        (int) FIRSTPMPBLIDX.get(wqe, base),
        (int) CEQID.get(wqe, base),
        (int) LPBLSIZE.get(wqe, base),
        VMAP.get(wqe, base) != 0,
        TPHEN.get(wqe, base) != 0);
  }
}
