package irdma4j.driver.ring;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;

/**
 * Two pages of the BAR through which a queue pair hands WQEs to the device without its having to
 * fetch them: one takes the eight quanta of a chunk, the other their doorbell.
 *
 * <p>Source: Linux irdma_setup_push_mmap_entries in verbs.c, irdma_qp_push_wqe and
 * irdma_qp_ring_push_db in uk.c.
 *
 * @param bar where the pages are
 * @param index of the first, in pages of 4 KiB from {@link Registers#PUSH_AREA} on
 */
public record PushPage(Bar bar, int index) {
  private static final int CHUNK_SHIFT = 3;
  private static final int CHUNK_MASK = 7;

  /** Whether the BAR reaches that far. */
  public boolean isInBar() {
    return doorbell() + Registers.PUSH_PAGE_BYTES <= bar.size();
  }

  private long wqes() {
    return Registers.PUSH_AREA + (long) index * Registers.PUSH_PAGE_BYTES;
  }

  private long doorbell() {
    return wqes() + Registers.PUSH_PAGE_BYTES;
  }

  /**
   * Hands over the quanta of one WQE, which are in the ring already.
   *
   * @param ring the send queue's memory
   * @param first quantum of the WQE
   */
  void push(MemorySegment ring, int first, int quanta, int qpId) {
    long from = (long) first * RingSizes.QUANTUM;
    long to = wqes() + (long) (first & CHUNK_MASK) * RingSizes.QUANTUM;
    for (long at = 0; at < (long) quanta * RingSizes.QUANTUM; at += Long.BYTES) {
      bar.write64(to + at, LittleEndian.getLong(ring, from + at));
    }
    bar.write32(
        doorbell(),
        (int)
            (Registers.WQEALLOC_WQE_DESC_INDEX.encode(first >>> CHUNK_SHIFT)
                | Registers.WQEALLOC_QPID.encode(qpId)));
  }
}
