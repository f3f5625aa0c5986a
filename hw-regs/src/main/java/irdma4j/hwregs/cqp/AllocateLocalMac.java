package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Layout;
import java.lang.foreign.MemorySegment;

/** Allocate an entry of the local MAC table. The completion returns its index. */
public record AllocateLocalMac() implements CqpCommand {

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/alloc-local-mac",
          CqpWqe.SIZE,
          "Allocate an entry of the local MAC table",
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.ALLOCATE_LOC_MAC_TABLE_ENTRY;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long header = CqpWqe.OPCODE.encode(opcode().code());
    CqpWqe.clear(wqe, base);
    return header;
  }

  static AllocateLocalMac decode(MemorySegment wqe, long base) {
    return new AllocateLocalMac();
  }
}
