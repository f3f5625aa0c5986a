package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;

/**
 * Destroy an address handle.
 *
 * @param ahId number of the address handle
 */
public record DestroyAddressHandle(int ahId) implements CqpCommand {
  private static final Field AVIDX = Field.bits("AVIDX", 24, 16, 0, "Number of the address handle");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/destroy-ah",
          CqpWqe.SIZE,
          "Destroy an address handle",
          AVIDX,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.DESTROY_ADDR_HANDLE;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long header =
        CqpWqe.OPCODE.encode(opcode().code()) | AVIDX.encode(Integer.toUnsignedLong(ahId));
    CqpWqe.clear(wqe, base);
    return header;
  }

  static DestroyAddressHandle decode(MemorySegment wqe, long base) {
    return new DestroyAddressHandle((int) AVIDX.get(wqe, base));
  }
}
