package irdma4j.simulator.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The values of the registers in BAR 0. The engine writes them; any thread reads them.
 *
 * <p>A register that was never written reads 0 and costs no memory.
 */
public final class RegisterFile {
  private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(int[].class);
  private static final int PAGE_BITS = 12;
  private static final int MOST_UNKNOWN = 1024;

  private final AtomicReferenceArray<int[]> pages;
  private final ConcurrentSkipListSet<Integer> unknown = new ConcurrentSkipListSet<>();

  RegisterFile(long bytes) {
    pages = new AtomicReferenceArray<>((int) (bytes >>> PAGE_BITS));
  }

  /** The value of a register. */
  public int get(int offset) {
    int[] page = pages.get(offset >>> PAGE_BITS);
    return page == null ? 0 : (int) VALUE.getAcquire(page, (offset & 0xfff) >>> 2);
  }

  void set(int offset, int value) {
    int[] page = pages.get(offset >>> PAGE_BITS);
    if (page == null) {
      page = new int[1 << (PAGE_BITS - 2)];
      pages.set(offset >>> PAGE_BITS, page);
    }
    VALUE.setRelease(page, (offset & 0xfff) >>> 2, value);
  }

  /** Remembers that something touched an offset where no register is known. */
  public void touchedUnknown(int offset) {
    if (unknown.size() < MOST_UNKNOWN) {
      unknown.add(offset);
    }
  }

  /** The offsets without a known register that were touched, in rising order. */
  public int[] unknownOffsets() {
    return unknown.stream().mapToInt(Integer::intValue).toArray();
  }

  void clear() {
    for (int i = 0; i < pages.length(); i++) {
      pages.set(i, null);
    }
  }
}
