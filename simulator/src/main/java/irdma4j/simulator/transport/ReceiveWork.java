package irdma4j.simulator.transport;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RqWqe;
import irdma4j.simulator.device.DeviceServices;
import java.lang.foreign.MemorySegment;

/** A receive WQE taken apart; reused. The WQE's layout is {@link RqWqe}. */
final class ReceiveWork {
  private final Fragments fragments = new Fragments();

  /** Index of the WQE's first quantum. */
  int index;

  /** Room in all fragments, in bytes. */
  long capacity() {
    return fragments.total();
  }

  /** Takes apart the WQE at offset 0. */
  void parse(MemorySegment wqe, int quanta) {
    long header = LittleEndian.getLong(wqe, 24);
    int count = Math.min(1 + (int) RqWqe.ADDFRAGCNT.decode(header), 2 * quanta - 1);
    fragments.parse(wqe, 0, count);
  }

  /** Copies a part of a message into the fragments; as {@link Fragments#copy}. */
  int scatter(
      DeviceServices services,
      QpState qp,
      long offset,
      MemorySegment source,
      long sourceOffset,
      int count) {
    return fragments.copy(services, qp, offset, count, source, sourceOffset, false);
  }
}
