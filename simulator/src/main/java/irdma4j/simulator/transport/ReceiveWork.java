package irdma4j.simulator.transport;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RqWqe;
import irdma4j.simulator.device.DeviceServices;
import java.lang.foreign.MemorySegment;

/** A receive WQE taken apart; reused. The WQE's layout is {@link RqWqe}. */
final class ReceiveWork {
  private static final int MAX_FRAGMENTS = 16;

  private final long[] address = new long[MAX_FRAGMENTS];
  private final int[] stag = new int[MAX_FRAGMENTS];
  private final int[] bytes = new int[MAX_FRAGMENTS];
  private int fragments;

  /** Index of the WQE's first quantum. */
  int index;

  /** Room in all fragments. */
  long capacity;

  /** Takes apart the WQE at offset 0. */
  void parse(MemorySegment wqe, int quanta) {
    long header = LittleEndian.getLong(wqe, 24);
    int count = Math.min(1 + (int) RqWqe.ADDFRAGCNT.decode(header), 2 * quanta - 1);
    fragments = 0;
    capacity = 0;
    for (int i = 0; i < count; i++) {
      int at = i == 0 ? 0 : SendWork.QUANTUM + (i - 1) * 16;
      long word = LittleEndian.getLong(wqe, at + 8);
      int size = (int) RqWqe.FRAG_LEN.decode(word);
      if (size == 0) {
        continue;
      }
      address[fragments] = LittleEndian.getLong(wqe, at);
      stag[fragments] = (int) RqWqe.STAG.decode(word);
      bytes[fragments++] = size;
      capacity += size;
    }
  }

  /**
   * Copies a part of a message into the fragments, checking those that it touches.
   *
   * @return 0, or the asynchronous event code that says why not, or -1 after a fault
   */
  int scatter(
      DeviceServices services,
      int pdId,
      int qpId,
      long offset,
      MemorySegment source,
      long sourceOffset,
      int count) {
    long skip = offset;
    long at = sourceOffset;
    int left = count;
    for (int i = 0; i < fragments && left > 0; i++) {
      if (skip >= bytes[i]) {
        skip -= bytes[i];
        continue;
      }
      int code =
          services.checkAccess(
              stag[i], address[i], bytes[i], DeviceServices.LOCAL_WRITE, pdId, qpId);
      if (code != DeviceServices.ACCESS_OK) {
        return code;
      }
      int part = (int) Math.min(left, bytes[i] - skip);
      if (!services.writeRegion(stag[i], address[i] + skip, source, at, part)) {
        return -1;
      }
      skip = 0;
      at += part;
      left -= part;
    }
    return left == 0 ? 0 : -1;
  }
}
