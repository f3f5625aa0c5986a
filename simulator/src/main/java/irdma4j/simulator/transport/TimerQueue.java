package irdma4j.simulator.transport;

import java.util.Arrays;

/**
 * Deadlines of queue pairs, earliest first: a binary heap. A queue pair whose deadline moves away
 * stays where it is and is put back when its old time comes, so the common case (an acknowledgement
 * moves the deadline) costs nothing.
 */
final class TimerQueue {
  private long[] time = new long[16];
  private int[] id = new int[16];
  private int size;

  /** The earliest time, or {@link Long#MAX_VALUE}. */
  long earliest() {
    return size == 0 ? Long.MAX_VALUE : time[0];
  }

  /** The queue pair of the earliest time. */
  int first() {
    return id[0];
  }

  void add(long when, int qpId) {
    if (size == time.length) {
      time = Arrays.copyOf(time, size * 2);
      id = Arrays.copyOf(id, size * 2);
    }
    int at = size++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (!before(when, qpId, parent)) {
        break;
      }
      time[at] = time[parent];
      id[at] = id[parent];
      at = parent;
    }
    time[at] = when;
    id[at] = qpId;
  }

  void removeFirst() {
    int last = --size;
    long when = time[last];
    int qpId = id[last];
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= last) {
        break;
      }
      if (child + 1 < last && before(time[child + 1], id[child + 1], child)) {
        child++;
      }
      if (before(when, qpId, child)) {
        break;
      }
      time[at] = time[child];
      id[at] = id[child];
      at = child;
    }
    time[at] = when;
    id[at] = qpId;
  }

  private boolean before(long when, int qpId, int index) {
    return when < time[index] || (when == time[index] && qpId < id[index]);
  }

  void clear() {
    size = 0;
  }
}
