package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Destroy the asynchronous event queue.
 *
 * @param size entries of 16 bytes
 * @param firstPbleIndex first PBLE of the ring
 * @param pbleLevel level of the ring's page list
 * @param virtualRing the ring is described by PBLEs
 */
public record DestroyAeq(int size, int firstPbleIndex, int pbleLevel, boolean virtualRing)
    implements CqpCommand {
  private static final Field AEQECNT = Field.bits("AEQECNT", 16, 18, 0, "Entries of 16 bytes");
  private static final Field FIRSTPMPBLIDX =
      Field.bits("FIRSTPMPBLIDX", 48, 27, 0, "First PBLE of the ring");
  private static final Field LPBLSIZE =
      Field.bits("LPBLSIZE", 24, 45, 44, "Level of the ring's page list");
  private static final Field VMAP = Field.bit("VMAP", 24, 47, "The ring is described by PBLEs");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/destroy-aeq",
          CqpWqe.SIZE,
          "Destroy the asynchronous event queue",
          AEQECNT,
          FIRSTPMPBLIDX,
          LPBLSIZE,
          VMAP,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.DESTROY_AEQ;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = AEQECNT.encode(Integer.toUnsignedLong(size));
    long word48 = FIRSTPMPBLIDX.encode(Integer.toUnsignedLong(firstPbleIndex));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | LPBLSIZE.encode(Integer.toUnsignedLong(pbleLevel))
            | VMAP.encode(virtualRing);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 48, word48);
    return header;
  }

  static DestroyAeq decode(MemorySegment wqe, long base) {
    return new DestroyAeq(
        (int) AEQECNT.get(wqe, base),
        (int) FIRSTPMPBLIDX.get(wqe, base),
        (int) LPBLSIZE.get(wqe, base),
        VMAP.get(wqe, base) != 0);
  }
}
