package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Set an entry of the ARP table.
 *
 * @param reachMax milliseconds that the entry stays reachable
 * @param macAddress MAC address as a big-endian integer
 * @param index entry of the table
 * @param valid the entry is valid
 * @param permanent the entry never ages
 */
public record AddArp(int reachMax, long macAddress, int index, boolean valid, boolean permanent)
    implements CqpCommand {
  private static final Field REACHMAX =
      Field.bits("REACHMAX", 8, 31, 0, "Milliseconds that the entry stays reachable");
  private static final Field MACADDR =
      Field.bits("MACADDR", 16, 47, 0, "MAC address as a big-endian integer");
  private static final Field ARPENTRYIDX =
      Field.bits("ARPENTRYIDX", 24, 11, 0, "Entry of the table");
  private static final Field VALID_ENTRY = Field.bit("VALID_ENTRY", 24, 42, "The entry is valid");
  private static final Field PERMANENT = Field.bit("PERMANENT", 24, 43, "The entry never ages");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/add-arp",
          CqpWqe.SIZE,
          "Set an entry of the ARP table",
          REACHMAX,
          MACADDR,
          ARPENTRYIDX,
          VALID_ENTRY,
          PERMANENT,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_ARP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word8 = REACHMAX.encode(Integer.toUnsignedLong(reachMax));
    long word16 = MACADDR.encode(macAddress);
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | ARPENTRYIDX.encode(Integer.toUnsignedLong(index))
            | VALID_ENTRY.encode(valid)
            | PERMANENT.encode(permanent);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static AddArp decode(MemorySegment wqe, long base) {
    return new AddArp(
        (int) REACHMAX.get(wqe, base),
        MACADDR.get(wqe, base),
        (int) ARPENTRYIDX.get(wqe, base),
        VALID_ENTRY.get(wqe, base) != 0,
        PERMANENT.get(wqe, base) != 0);
  }

  static boolean isAdd(MemorySegment wqe, long base) {
    return VALID_ENTRY.get(wqe, base) != 0;
  }
}
