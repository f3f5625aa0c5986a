package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Set an entry of the local MAC table.
 *
 * @param macAddress MAC address as a big-endian integer
 * @param index entry of the table
 */
public record AddLocalMac(long macAddress, int index) implements CqpCommand {
  private static final Field MAC =
      Field.bits("MAC", 32, 47, 0, "MAC address as a big-endian integer");
  private static final Field TABLEIDX = Field.bits("TABLEIDX", 24, 5, 0, "Entry of the table");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/add-local-mac",
          CqpWqe.SIZE,
          "Set an entry of the local MAC table",
          MAC,
          TABLEIDX,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_LOC_MAC_TABLE;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word32 = MAC.encode(macAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code()) | TABLEIDX.encode(Integer.toUnsignedLong(index));
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 32, word32);
    return header;
  }

  static AddLocalMac decode(MemorySegment wqe, long base) {
    return new AddLocalMac(MAC.get(wqe, base), (int) TABLEIDX.get(wqe, base));
  }
}
