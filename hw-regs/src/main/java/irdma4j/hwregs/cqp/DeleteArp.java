package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;

/**
 * Free an entry of the ARP table.
 *
 * @param index entry of the table
 */
public record DeleteArp(int index) implements CqpCommand {
  private static final Field ARPENTRYIDX =
      Field.bits("ARPENTRYIDX", 24, 11, 0, "Entry of the table");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/delete-arp",
          CqpWqe.SIZE,
          "Free an entry of the ARP table",
          ARPENTRYIDX,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_ARP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long header =
        CqpWqe.OPCODE.encode(opcode().code()) | ARPENTRYIDX.encode(Integer.toUnsignedLong(index));
    CqpWqe.clear(wqe, base);
    return header;
  }

  static DeleteArp decode(MemorySegment wqe, long base) {
    return new DeleteArp((int) ARPENTRYIDX.get(wqe, base));
  }
}
