package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Register a memory region.
 *
 * @param address base virtual address, or the offset of the first byte in its page
 * @param length bytes of the region
 * @param pdId protection domain
 * @param stagKey key part of the stag
 * @param stagIndex index part of the stag
 * @param physicalAddress IOVA of the first page if there is no page list
 * @param hmcFunction HMC function
 * @param firstPbleIndex first PBLE, or the root's index
 * @param isRegion the stag is a memory region
 * @param pbleLevel level of the page list: 0 none, 1 one run, 3 root and leaves
 * @param pageSize 0 4 KiB, 1 2 MiB, 2 1 GiB
 * @param rights access rights
 * @param remoteAccess the peer may use the stag
 * @param virtualAddressBased addresses are virtual addresses, not offsets
 * @param useHmcFunction HMCFNIDX is valid
 * @param usePfRequesterId use the physical function's requester id
 */
public record RegisterMr(
    long address,
    long length,
    int pdId,
    int stagKey,
    int stagIndex,
    long physicalAddress,
    int hmcFunction,
    int firstPbleIndex,
    boolean isRegion,
    int pbleLevel,
    int pageSize,
    int rights,
    boolean remoteAccess,
    boolean virtualAddressBased,
    boolean useHmcFunction,
    boolean usePfRequesterId)
    implements CqpCommand {
  private static final Field VA_FBO =
      Field.word("VA_FBO", 0, "Base virtual address, or the offset of the first byte in its page");
  private static final Field STAGLEN = Field.bits("STAGLEN", 8, 45, 0, "Bytes of the region");
  private static final Field PDID = Field.bits("PDID", 8, 63, 46, "Protection domain");
  private static final Field KEY = Field.bits("KEY", 16, 7, 0, "Key part of the stag");
  private static final Field IDX = Field.bits("IDX", 16, 31, 8, "Index part of the stag");
  private static final Field PBA =
      Field.word("PBA", 32, "IOVA of the first page if there is no page list");
  private static final Field HMCFNIDX = Field.bits("HMCFNIDX", 40, 5, 0, "HMC function");
  private static final Field FIRSTPMPBLIDX =
      Field.bits("FIRSTPMPBLIDX", 48, 27, 0, "First PBLE, or the root's index");
  private static final Field MR = Field.bit("MR", 24, 43, "The stag is a memory region");
  private static final Field LPBLSIZE =
      Field.bits(
          "LPBLSIZE", 24, 45, 44, "Level of the page list: 0 none, 1 one run, 3 root and leaves");
  private static final Field HPAGESIZE =
      Field.bits("HPAGESIZE", 24, 47, 46, "0 4 KiB, 1 2 MiB, 2 1 GiB");
  private static final Field ARIGHTS = Field.bits("ARIGHTS", 24, 52, 48, "Access rights");
  private static final Field REMACCENABLED =
      Field.bit("REMACCENABLED", 24, 53, "The peer may use the stag");
  private static final Field VABASEDTO =
      Field.bit("VABASEDTO", 24, 59, "Addresses are virtual addresses, not offsets");
  private static final Field USEHMCFNIDX = Field.bit("USEHMCFNIDX", 24, 60, "HMCFNIDX is valid");
  private static final Field USEPFRID =
      Field.bit("USEPFRID", 24, 61, "Use the physical function's requester id");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/reg-mr",
          CqpWqe.SIZE,
          "Register a memory region",
          VA_FBO,
          STAGLEN,
          PDID,
          KEY,
          IDX,
          PBA,
          HMCFNIDX,
          FIRSTPMPBLIDX,
          MR,
          LPBLSIZE,
          HPAGESIZE,
          ARIGHTS,
          REMACCENABLED,
          VABASEDTO,
          USEHMCFNIDX,
          USEPFRID,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.REG_MR;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = VA_FBO.encode(address);
    long word8 = STAGLEN.encode(length) | PDID.encode(Integer.toUnsignedLong(pdId));
    long word16 =
        KEY.encode(Integer.toUnsignedLong(stagKey)) | IDX.encode(Integer.toUnsignedLong(stagIndex));
    long word32 = PBA.encode(physicalAddress);
    long word40 = HMCFNIDX.encode(Integer.toUnsignedLong(hmcFunction));
    long word48 = FIRSTPMPBLIDX.encode(Integer.toUnsignedLong(firstPbleIndex));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | MR.encode(isRegion)
            | LPBLSIZE.encode(Integer.toUnsignedLong(pbleLevel))
            | HPAGESIZE.encode(Integer.toUnsignedLong(pageSize))
            | ARIGHTS.encode(Integer.toUnsignedLong(rights))
            | REMACCENABLED.encode(remoteAccess)
            | VABASEDTO.encode(virtualAddressBased)
            | USEHMCFNIDX.encode(useHmcFunction)
            | USEPFRID.encode(usePfRequesterId);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, word32);
    LittleEndian.setLong(wqe, base + 40, word40);
    LittleEndian.setLong(wqe, base + 48, word48);
    return header;
  }

  static RegisterMr decode(MemorySegment wqe, long base) {
    return new RegisterMr(
        VA_FBO.get(wqe, base),
        STAGLEN.get(wqe, base),
        (int) PDID.get(wqe, base),
        (int) KEY.get(wqe, base),
        (int) IDX.get(wqe, base),
        PBA.get(wqe, base),
        (int) HMCFNIDX.get(wqe, base),
        (int) FIRSTPMPBLIDX.get(wqe, base),
        MR.get(wqe, base) != 0,
        (int) LPBLSIZE.get(wqe, base),
        (int) HPAGESIZE.get(wqe, base),
        (int) ARIGHTS.get(wqe, base),
        REMACCENABLED.get(wqe, base) != 0,
        VABASEDTO.get(wqe, base) != 0,
        USEHMCFNIDX.get(wqe, base) != 0,
        USEPFRID.get(wqe, base) != 0);
  }
}
