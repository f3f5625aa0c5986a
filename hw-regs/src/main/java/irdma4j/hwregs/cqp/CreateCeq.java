package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Create a completion event queue.
 *
 * @param size entries of 8 bytes
 * @param ringAddress IOVA of the ring, or 0 if it is described by PBLEs
 * @param firstPbleIndex first PBLE of the ring
 * @param steeringTag steering tag
 * @param vsi virtual station interface
 * @param ceqId number of the event queue
 * @param pbleLevel level of the ring's page list
 * @param immediateInterrupt interrupt without waiting for the throttle timer
 * @param virtualRing the ring is described by PBLEs
 * @param steeringEnabled use the steering tag
 */
public record CreateCeq(
    int size,
    long ringAddress,
    int firstPbleIndex,
    int steeringTag,
    int vsi,
    int ceqId,
    int pbleLevel,
    boolean immediateInterrupt,
    boolean virtualRing,
    boolean steeringEnabled)
    implements CqpCommand {
  private static final Field CEQSIZE = Field.bits("CEQSIZE", 16, 21, 0, "Entries of 8 bytes");
  private static final Field CEQADDR =
      Field.word("CEQADDR", 32, "IOVA of the ring, or 0 if it is described by PBLEs");
  private static final Field FIRSTPMPBLIDX =
      Field.bits("FIRSTPMPBLIDX", 48, 27, 0, "First PBLE of the ring");
  private static final Field TPHVAL = Field.bits("TPHVAL", 56, 7, 0, "Steering tag");
  private static final Field VSIIDX = Field.bits("VSIIDX", 56, 17, 8, "Virtual station interface");
  private static final Field CEQID = Field.bits("CEQID", 24, 9, 0, "Number of the event queue");
  private static final Field LPBLSIZE =
      Field.bits("LPBLSIZE", 24, 45, 44, "Level of the ring's page list");
  private static final Field ITRNOEXPIRE =
      Field.bit("ITRNOEXPIRE", 24, 46, "Interrupt without waiting for the throttle timer");
  private static final Field VMAP = Field.bit("VMAP", 24, 47, "The ring is described by PBLEs");
  private static final Field TPHEN = Field.bit("TPHEN", 24, 60, "Use the steering tag");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/create-ceq",
          CqpWqe.SIZE,
          "Create a completion event queue",
          CEQSIZE,
          CEQADDR,
          FIRSTPMPBLIDX,
          TPHVAL,
          VSIIDX,
          CEQID,
          LPBLSIZE,
          ITRNOEXPIRE,
          VMAP,
          TPHEN,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.CREATE_CEQ;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = CEQSIZE.encode(Integer.toUnsignedLong(size));
    long word32 = CEQADDR.encode(ringAddress);
    long word48 = FIRSTPMPBLIDX.encode(Integer.toUnsignedLong(firstPbleIndex));
    long word56 =
        TPHVAL.encode(Integer.toUnsignedLong(steeringTag))
            | VSIIDX.encode(Integer.toUnsignedLong(vsi));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | CEQID.encode(Integer.toUnsignedLong(ceqId))
            | LPBLSIZE.encode(Integer.toUnsignedLong(pbleLevel))
            | ITRNOEXPIRE.encode(immediateInterrupt)
            | VMAP.encode(virtualRing)
            | TPHEN.encode(steeringEnabled);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, word32);
    LittleEndian.setLong(wqe, base + 48, word48);
    LittleEndian.setLong(wqe, base + 56, word56);
    return header;
  }

  static CreateCeq decode(MemorySegment wqe, long base) {
    return new CreateCeq(
        (int) CEQSIZE.get(wqe, base),
        CEQADDR.get(wqe, base),
        (int) FIRSTPMPBLIDX.get(wqe, base),
        (int) TPHVAL.get(wqe, base),
        (int) VSIIDX.get(wqe, base),
        (int) CEQID.get(wqe, base),
        (int) LPBLSIZE.get(wqe, base),
        ITRNOEXPIRE.get(wqe, base) != 0,
        VMAP.get(wqe, base) != 0,
        TPHEN.get(wqe, base) != 0);
  }
}
