package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Allocate a stag whose memory a work request will register.
 *
 * @param length most bytes that the region can have
 * @param pdId protection domain
 * @param stagIndex index of the stag
 * @param hmcFunction HMC function
 * @param firstPbleIndex first PBLE of the region
 * @param isRegion the stag is a memory region
 * @param pbleLevel level of the page list: 0 none, 1 one run, 3 root and leaves
 * @param pageSize 0 4 KiB, 1 2 MiB, 2 1 GiB
 * @param rights access rights
 * @param remoteAccess the peer may use the stag
 * @param useHmcFunction HMCFNIDX is valid
 * @param usePfRequesterId use the physical function's requester id
 */
public record AllocateStag(
    long length,
    int pdId,
    int stagIndex,
    int hmcFunction,
    int firstPbleIndex,
    boolean isRegion,
    int pbleLevel,
    int pageSize,
    int rights,
    boolean remoteAccess,
    boolean useHmcFunction,
    boolean usePfRequesterId)
    implements CqpCommand {
  private static final Field STAGLEN =
      Field.bits("STAGLEN", 8, 45, 0, "Most bytes that the region can have");
  private static final Field PDID = Field.bits("PDID", 8, 63, 46, "Protection domain");
  private static final Field IDX = Field.bits("IDX", 16, 31, 8, "Index of the stag");
  private static final Field HMCFNIDX = Field.bits("HMCFNIDX", 40, 5, 0, "HMC function");
  private static final Field FIRSTPMPBLIDX =
      Field.bits("FIRSTPMPBLIDX", 48, 27, 0, "First PBLE of the region");
  private static final Field MR = Field.bit("MR", 24, 43, "The stag is a memory region");
  private static final Field LPBLSIZE =
      Field.bits(
          "LPBLSIZE", 24, 45, 44, "Level of the page list: 0 none, 1 one run, 3 root and leaves");
  private static final Field HPAGESIZE =
      Field.bits("HPAGESIZE", 24, 47, 46, "0 4 KiB, 1 2 MiB, 2 1 GiB");
  private static final Field ARIGHTS = Field.bits("ARIGHTS", 24, 52, 48, "Access rights");
  private static final Field REMACCENABLED =
      Field.bit("REMACCENABLED", 24, 53, "The peer may use the stag");
  private static final Field USEHMCFNIDX = Field.bit("USEHMCFNIDX", 24, 60, "HMCFNIDX is valid");
  private static final Field USEPFRID =
      Field.bit("USEPFRID", 24, 61, "Use the physical function's requester id");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/alloc-stag",
          CqpWqe.SIZE,
          "Allocate a stag whose memory a work request will register",
          STAGLEN,
          PDID,
          IDX,
          HMCFNIDX,
          FIRSTPMPBLIDX,
          MR,
          LPBLSIZE,
          HPAGESIZE,
          ARIGHTS,
          REMACCENABLED,
          USEHMCFNIDX,
          USEPFRID,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.ALLOC_STAG;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word8 = STAGLEN.encode(length) | PDID.encode(Integer.toUnsignedLong(pdId));
    long word16 = IDX.encode(Integer.toUnsignedLong(stagIndex));
    long word40 = HMCFNIDX.encode(Integer.toUnsignedLong(hmcFunction));
    long word48 = FIRSTPMPBLIDX.encode(Integer.toUnsignedLong(firstPbleIndex));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | MR.encode(isRegion)
            | LPBLSIZE.encode(Integer.toUnsignedLong(pbleLevel))
            | HPAGESIZE.encode(Integer.toUnsignedLong(pageSize))
            | ARIGHTS.encode(Integer.toUnsignedLong(rights))
            | REMACCENABLED.encode(remoteAccess)
            | USEHMCFNIDX.encode(useHmcFunction)
            | USEPFRID.encode(usePfRequesterId);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 40, word40);
    LittleEndian.setLong(wqe, base + 48, word48);
    return header;
  }

  static AllocateStag decode(MemorySegment wqe, long base) {
    return new AllocateStag(
        STAGLEN.get(wqe, base),
        (int) PDID.get(wqe, base),
        (int) IDX.get(wqe, base),
        (int) HMCFNIDX.get(wqe, base),
        (int) FIRSTPMPBLIDX.get(wqe, base),
        MR.get(wqe, base) != 0,
        (int) LPBLSIZE.get(wqe, base),
        (int) HPAGESIZE.get(wqe, base),
        (int) ARIGHTS.get(wqe, base),
        REMACCENABLED.get(wqe, base) != 0,
        USEHMCFNIDX.get(wqe, base) != 0,
        USEPFRID.get(wqe, base) != 0);
  }

  static boolean isRegion(MemorySegment wqe, long base) {
    return MR.get(wqe, base) != 0;
  }
}
