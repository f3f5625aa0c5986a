package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;

/** Do nothing. */
public record Nop() implements CqpCommand {

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of("cqp/nop", CqpWqe.SIZE, "Do nothing", CqpWqe.OPCODE, CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.NOP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long header = CqpWqe.OPCODE.encode(opcode().code());
    CqpWqe.clear(wqe, base);
    return header;
  }

  static Nop decode(MemorySegment wqe, long base) {
    return new Nop();
  }
}
