package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.Generation;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RqWqe;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;

/** A receive WQE taken apart; reused. The WQE's layout is {@link RqWqe}. */
final class ReceiveWork {
  /** What Linux allows at most; it fills an even number up to an odd one. */
  private static final int MAX_FRAGMENTS = Generation.GEN_2.maxFragments();

  private final Fragments fragments = new Fragments();

  /** Index of the WQE's first quantum. */
  int index;

  /** 0, or the asynchronous event code that says what is wrong with the WQE. */
  int refusal;

  /** Room in all fragments, in bytes. */
  long capacity() {
    return fragments.total();
  }

  /**
   * Takes apart the WQE at offset 0.
   *
   * @param quanta its quanta, as the queue pair's context has them
   */
  void parse(MemorySegment wqe, int quanta) {
    long header = LittleEndian.getLong(wqe, 24);
    int count = 1 + (int) RqWqe.ADDFRAGCNT.decode(header);
    boolean fits = count <= Math.min(MAX_FRAGMENTS, 2 * quanta - 1);
    refusal = fits ? 0 : AeCode.WQE_INVALID_FRAG_DATA.code();
    fragments.parse(wqe, 0, fits ? count : 0);
  }

  /** Copies a part of a message into the fragments; as {@link Fragments#scatter}. */
  int scatter(
      DeviceServices services, QpState qp, long offset, int count, Payload source, long from) {
    return fragments.scatter(services, qp, offset, count, source, from);
  }
}
