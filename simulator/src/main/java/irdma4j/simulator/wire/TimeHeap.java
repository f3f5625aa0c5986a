package irdma4j.simulator.wire;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Numbers that each have a time, the soonest first, and at the same nanosecond in an order that
 * whoever adds them gives. A binary heap that allocates nothing once it has held as many. Not
 * thread-safe.
 */
public final class TimeHeap {
  private static final int FIRST_SIZE = 64;

  private long[] times = new long[FIRST_SIZE];
  private long[] orders = new long[FIRST_SIZE];
  private int[] whats = new int[FIRST_SIZE];
  private int size;

  /** A heap without numbers. */
  public TimeHeap() {}

  /** How many there are. */
  public int size() {
    return size;
  }

  /** The number at a place; the places have no order but that the next one is at 0. */
  public int what(int place) {
    return whats[place];
  }

  /** The next one's time, or {@link Long#MAX_VALUE} if there is none. */
  public long nextTime() {
    return size == 0 ? Long.MAX_VALUE : times[0];
  }

  /** The next one's order; there must be one. */
  public long nextOrder() {
    return orders[0];
  }

  /** Whether a number added so would be the next one. */
  public boolean isFirst(long time, long order) {
    return size == 0 || before(time, order, 0);
  }

  /** Adds a number. */
  public void add(long time, long order, int what) {
    if (size == times.length) {
      times = Arrays.copyOf(times, size * 2);
      orders = Arrays.copyOf(orders, size * 2);
      whats = Arrays.copyOf(whats, size * 2);
    }
    siftUp(size++, time, order, what);
  }

  /** Takes the next one out; there must be one. */
  public void removeNext() {
    int last = --size;
    if (last == 0) {
      return;
    }
    long time = times[last];
    long order = orders[last];
    int what = whats[last];
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= last) {
        break;
      }
      if (child + 1 < last && before(times[child + 1], orders[child + 1], child)) {
        child++;
      }
      if (before(time, order, child)) {
        break;
      }
      move(child, at);
      at = child;
    }
    place(at, time, order, what);
  }

  /** Takes out the numbers that are not to be kept; asks once for each. */
  public void keep(IntPredicate kept) {
    int before = size;
    size = 0;
    for (int i = 0; i < before; i++) {
      if (kept.test(whats[i])) {
        // Never behind the place from which it is taken.
        siftUp(size++, times[i], orders[i], whats[i]);
      }
    }
  }

  /** Takes all out. */
  public void clear() {
    size = 0;
  }

  private void siftUp(int from, long time, long order, int what) {
    int at = from;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (!before(time, order, parent)) {
        break;
      }
      move(parent, at);
      at = parent;
    }
    place(at, time, order, what);
  }

  private boolean before(long time, long order, int place) {
    return time < times[place] || (time == times[place] && order < orders[place]);
  }

  private void move(int from, int to) {
    place(to, times[from], orders[from], whats[from]);
  }

  private void place(int at, long time, long order, int what) {
    times[at] = time;
    orders[at] = order;
    whats[at] = what;
  }
}
