package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Write segment descriptors: up to three in the WQE, up to eight more in a buffer.
 *
 * @param command0 command of the first entry
 * @param data0 data of the first entry
 * @param hmcFunction HMC function
 * @param bufferAddress IOVA of the further entries, in units of 128 bytes
 * @param command1 command of the second entry
 * @param entry1 the second entry is there
 * @param data1 data of the second entry
 * @param command2 command of the third entry
 * @param entry2 the third entry is there
 * @param data2 data of the third entry
 * @param bufferEntries entries in the buffer
 * @param skipFirst the first entry is not there
 */
public record UpdatePeSds(
    int command0,
    long data0,
    int hmcFunction,
    long bufferAddress,
    int command1,
    boolean entry1,
    long data1,
    int command2,
    boolean entry2,
    long data2,
    int bufferEntries,
    boolean skipFirst)
    implements CqpCommand {
  private static final Field SDCMD0 = Field.bits("SDCMD0", 0, 31, 0, "Command of the first entry");
  private static final Field SDDATA0 = Field.word("SDDATA0", 8, "Data of the first entry");
  private static final Field HMCFNID = Field.bits("HMCFNID", 16, 5, 0, "HMC function");
  private static final Field BUFADDR =
      Field.bits("BUFADDR", 16, 63, 7, "IOVA of the further entries, in units of 128 bytes");
  private static final Field SDCMD1 =
      Field.bits("SDCMD1", 32, 31, 0, "Command of the second entry");
  private static final Field ENTRY1_VALID =
      Field.bit("ENTRY1_VALID", 32, 63, "The second entry is there");
  private static final Field SDDATA1 = Field.word("SDDATA1", 40, "Data of the second entry");
  private static final Field SDCMD2 = Field.bits("SDCMD2", 48, 31, 0, "Command of the third entry");
  private static final Field ENTRY2_VALID =
      Field.bit("ENTRY2_VALID", 48, 63, "The third entry is there");
  private static final Field SDDATA2 = Field.word("SDDATA2", 56, "Data of the third entry");
  private static final Field ENTRY_COUNT =
      Field.bits("ENTRY_COUNT", 24, 3, 0, "Entries in the buffer");
  private static final Field SKIP_ENTRY =
      Field.bit("SKIP_ENTRY", 24, 7, "The first entry is not there");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/update-pe-sds",
          CqpWqe.SIZE,
          "Write segment descriptors: up to three in the WQE, up to eight more in a buffer",
          SDCMD0,
          SDDATA0,
          HMCFNID,
          BUFADDR,
          SDCMD1,
          ENTRY1_VALID,
          SDDATA1,
          SDCMD2,
          ENTRY2_VALID,
          SDDATA2,
          ENTRY_COUNT,
          SKIP_ENTRY,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.UPDATE_PE_SDS;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = SDCMD0.encode(Integer.toUnsignedLong(command0));
    long word8 = SDDATA0.encode(data0);
    long word16 =
        HMCFNID.encode(Integer.toUnsignedLong(hmcFunction)) | BUFADDR.encode(bufferAddress);
    long word32 = SDCMD1.encode(Integer.toUnsignedLong(command1)) | ENTRY1_VALID.encode(entry1);
    long word40 = SDDATA1.encode(data1);
    long word48 = SDCMD2.encode(Integer.toUnsignedLong(command2)) | ENTRY2_VALID.encode(entry2);
    long word56 = SDDATA2.encode(data2);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | ENTRY_COUNT.encode(Integer.toUnsignedLong(bufferEntries))
            | SKIP_ENTRY.encode(skipFirst);
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

  static UpdatePeSds decode(MemorySegment wqe, long base) {
    return new UpdatePeSds(
        (int) SDCMD0.get(wqe, base),
        SDDATA0.get(wqe, base),
        (int) HMCFNID.get(wqe, base),
        BUFADDR.get(wqe, base),
        (int) SDCMD1.get(wqe, base),
        ENTRY1_VALID.get(wqe, base) != 0,
        SDDATA1.get(wqe, base),
        (int) SDCMD2.get(wqe, base),
        ENTRY2_VALID.get(wqe, base) != 0,
        SDDATA2.get(wqe, base),
        (int) ENTRY_COUNT.get(wqe, base),
        SKIP_ENTRY.get(wqe, base) != 0);
  }
}
