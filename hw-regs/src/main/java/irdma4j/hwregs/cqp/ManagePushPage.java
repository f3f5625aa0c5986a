package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Allocate or free a push page. The completion of an allocation returns its index.
 *
 * @param queueSet queue set of the work scheduler
 * @param pushPage push page to free
 * @param type kind of push page
 * @param free free, not allocate
 */
public record ManagePushPage(int queueSet, int pushPage, int type, boolean free)
    implements CqpCommand {
  private static final Field QS_HANDLE =
      Field.bits("QS_HANDLE", 16, 9, 0, "Queue set of the work scheduler");
  private static final Field PPIDX = Field.bits("PPIDX", 24, 9, 0, "Push page to free");
  private static final Field PPTYPE = Field.bits("PPTYPE", 24, 61, 60, "Kind of push page");
  private static final Field FREE_PAGE = Field.bit("FREE_PAGE", 24, 62, "Free, not allocate");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/manage-push-page",
          CqpWqe.SIZE,
          "Allocate or free a push page",
          QS_HANDLE,
          PPIDX,
          PPTYPE,
          FREE_PAGE,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_PUSH_PAGES;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word16 = QS_HANDLE.encode(Integer.toUnsignedLong(queueSet));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | PPIDX.encode(Integer.toUnsignedLong(pushPage))
            | PPTYPE.encode(Integer.toUnsignedLong(type))
            | FREE_PAGE.encode(free);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 16, word16);
    return header;
  }

  static ManagePushPage decode(MemorySegment wqe, long base) {
    return new ManagePushPage(
        (int) QS_HANDLE.get(wqe, base),
        (int) PPIDX.get(wqe, base),
        (int) PPTYPE.get(wqe, base),
        FREE_PAGE.get(wqe, base) != 0);
  }
}
