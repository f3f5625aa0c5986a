package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Add or remove a port of the accelerated port table.
 *
 * @param port TCP or UDP port
 * @param add add, not remove
 */
public record ManageApbvt(int port, boolean add) implements CqpCommand {
  private static final Field PORT = Field.bits("PORT", 16, 15, 0, "TCP or UDP port");
  private static final Field ADDPORT = Field.bit("ADDPORT", 24, 62, "Add, not remove");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/manage-apbvt",
          CqpWqe.SIZE,
          "Add or remove a port of the accelerated port table",
          PORT,
          ADDPORT,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_APBVT;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = PORT.encode(Integer.toUnsignedLong(port));
    long header = CqpWqe.OPCODE.encode(opcode().code()) | ADDPORT.encode(add);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static ManageApbvt decode(MemorySegment wqe, long base) {
    return new ManageApbvt((int) PORT.get(wqe, base), ADDPORT.get(wqe, base) != 0);
  }
}
