package irdma4j.simulator.transport;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.SqWqe;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.MemorySegment;

/** Where the bytes of a work request lie, in order; reused. */
final class Fragments {
  /** As many as the 8 quanta of a WQE have room for. */
  static final int MOST = 15;

  /** What is copied out, in hand. */
  private final Payload whole = new Payload();

  private final long[] address = new long[MOST];
  private final int[] stag = new int[MOST];
  private final int[] bytes = new int[MOST];
  private int count;
  private long total;

  void clear() {
    count = 0;
    total = 0;
  }

  /**
   * Takes the fragments of a WQE, of which empty ones are none. The places are the same in send and
   * receive WQEs: one in the first quantum, two in each further one.
   *
   * @param wqe the WQE at offset 0
   * @param first the first place that holds a fragment
   * @param end one more than the last, at most {@link #MOST}
   */
  void parse(MemorySegment wqe, int first, int end) {
    clear();
    for (int i = first; i < end; i++) {
      int at = i == 0 ? 0 : SendWork.QUANTUM + (i - 1) * 16;
      long word = LittleEndian.getLong(wqe, at + 8);
      int size = (int) SqWqe.FRAG_LEN.decode(word);
      if (size != 0) {
        address[count] = LittleEndian.getLong(wqe, at);
        stag[count] = (int) SqWqe.FRAG_STAG.decode(word);
        bytes[count++] = size;
        total += size;
      }
    }
  }

  /** Fragments that are not empty. */
  int count() {
    return count;
  }

  /** Bytes in all fragments. */
  long total() {
    return total;
  }

  /** The stag of the first fragment. */
  int firstStag() {
    return stag[0];
  }

  /**
   * Checks all fragments.
   *
   * @param rights as of {@link DeviceServices#checkAccess}
   * @return {@link DeviceServices#ACCESS_OK}, or the asynchronous event code that says why not
   */
  int check(DeviceServices services, QpState qp, int rights) {
    for (int i = 0; i < count; i++) {
      int code = services.checkAccess(stag[i], address[i], bytes[i], rights, qp.pdId, qp.id);
      if (code != DeviceServices.ACCESS_OK) {
        return code;
      }
    }
    return DeviceServices.ACCESS_OK;
  }

  /**
   * Says where a part of the bytes lies. The fragments that it touches are checked each time: their
   * regions may have been taken away, and their stags given to others, since the message began.
   *
   * @param offset of the part
   * @param size of the part
   * @return {@link DeviceServices#ACCESS_OK}, or the asynchronous event code that says why not
   */
  int lend(DeviceServices services, QpState qp, long offset, int size, Payload payload) {
    return reach(services, qp, offset, size, false, payload, 0);
  }

  /** Copies a part of the bytes out; otherwise as {@link #lend}. */
  int gather(
      DeviceServices services,
      QpState qp,
      long offset,
      int size,
      MemorySegment target,
      long targetOffset) {
    whole.clear();
    int code = lend(services, qp, offset, size, whole);
    if (code == DeviceServices.ACCESS_OK) {
      whole.copyTo(0, target, targetOffset, size);
    }
    return code;
  }

  /**
   * Copies bytes into a part; otherwise as {@link #lend}.
   *
   * @param from the first byte of the source
   */
  int scatter(
      DeviceServices services, QpState qp, long offset, int size, Payload source, long from) {
    return reach(services, qp, offset, size, true, source, from);
  }

  private int reach(
      DeviceServices services,
      QpState qp,
      long offset,
      int size,
      boolean writes,
      Payload payload,
      long from) {
    int rights = writes ? DeviceServices.LOCAL_WRITE : DeviceServices.LOCAL_READ;
    long skip = offset;
    long at = from;
    int left = size;
    for (int i = 0; i < count && left > 0; i++) {
      if (skip >= bytes[i]) {
        skip -= bytes[i];
        continue;
      }
      int code = services.checkAccess(stag[i], address[i], bytes[i], rights, qp.pdId, qp.id);
      if (code != DeviceServices.ACCESS_OK) {
        return code;
      }
      int part = (int) Math.min(left, bytes[i] - skip);
      boolean done =
          writes
              ? services.writeRegion(stag[i], address[i] + skip, payload, at, part)
              : services.lendRegion(stag[i], address[i] + skip, payload, part);
      if (!done) {
        return Core.fault();
      }
      skip = 0;
      at += part;
      left -= part;
    }
    return left == 0 ? DeviceServices.ACCESS_OK : Core.fault();
  }
}
