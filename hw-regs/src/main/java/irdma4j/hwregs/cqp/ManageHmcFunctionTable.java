package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;

/**
 * Allocate or free an HMC function. The completion of an allocation returns its number.
 *
 * @param vfId virtual function
 * @param free free, not allocate
 */
public record ManageHmcFunctionTable(int vfId, boolean free) implements CqpCommand {
  private static final Field VFIDX = Field.bits("VFIDX", 24, 15, 0, "Virtual function");
  private static final Field FREEPMFN = Field.bit("FREEPMFN", 24, 62, "Free, not allocate");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/manage-hmc-function",
          CqpWqe.SIZE,
          "Allocate or free an HMC function",
          VFIDX,
          FREEPMFN,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_HMC_PM_FUNC_TABLE;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | VFIDX.encode(Integer.toUnsignedLong(vfId))
            | FREEPMFN.encode(free);
    CqpWqe.clear(wqe, base);
    return header;
  }

  static ManageHmcFunctionTable decode(MemorySegment wqe, long base) {
    return new ManageHmcFunctionTable((int) VFIDX.get(wqe, base), FREEPMFN.get(wqe, base) != 0);
  }
}
