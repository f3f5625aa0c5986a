package irdma4j.driver.ring;

/**
 * How large rings must be, and how their sizes are told to the device.
 *
 * <p>Source: Linux irdma_get_sqdepth, irdma_get_rqdepth, irdma_get_wqe_shift in uk.c,
 * irdma_get_encoded_wqe_size in ctrl.c and irdma_create_cq in verbs.c.
 */
public final class RingSizes {
  /** Bytes of a quantum, the unit in which send and receive queues are counted. */
  public static final int QUANTUM = 32;

  /** Quanta of the largest ring that the device takes. */
  public static final int MAX_QUANTA = 32768;

  /** Most fragments of a WQE. */
  public static final int MAX_FRAGMENTS = 13;

  /** Most bytes of inline data that the device is said to take. */
  public static final int MAX_INLINE = 101;

  /** Most bytes of inline data that a WQE of eight quanta has room for. */
  public static final int WQE_INLINE = 225;

  /** Bytes of inline data in the first quantum. */
  static final int INLINE_FIRST = 8;

  /** Bytes of inline data in each further quantum; its last byte holds its valid bit. */
  static final int INLINE_NEXT = 31;

  /** Quanta that a send queue is made larger by than its work requests need. */
  private static final int SQ_RESERVED = 258;

  private static final int RQ_RESERVED = 1;
  private static final int MIN_COMPLETIONS = 4;
  private static final int MAX_COMPLETIONS = 1048574;
  private static final int MIN_WORK_REQUESTS = 8;

  private RingSizes() {}

  /** Log2 of the quanta of a WQE with that many fragments and that much inline data. */
  public static int shift(int fragments, int inlineBytes) {
    if (fragments <= 1 && inlineBytes <= 8) {
      return 0;
    }
    if (fragments < 4 && inlineBytes <= 39) {
      return 1;
    }
    return fragments < 8 && inlineBytes <= MAX_INLINE ? 2 : 3;
  }

  /**
   * Quanta of a send queue for a number of work requests.
   *
   * @throws IllegalArgumentException if the device has no ring that large
   */
  public static int sendQuanta(int workRequests, int shift) {
    return depth("send", workRequests, shift, SQ_RESERVED);
  }

  /**
   * Quanta of a receive queue for a number of work requests.
   *
   * @throws IllegalArgumentException if the device has no ring that large
   */
  public static int receiveQuanta(int workRequests, int shift) {
    return depth("receive", workRequests, shift, RQ_RESERVED);
  }

  private static int depth(String queue, int workRequests, int shift, int reserved) {
    if (workRequests < 1) {
      throw new IllegalArgumentException(queue + " queue of " + workRequests + " work requests");
    }
    long quanta = ceilingPowerOfTwo(((long) workRequests << shift) + reserved);
    quanta = Math.max(quanta, (long) MIN_WORK_REQUESTS << shift);
    if (quanta > MAX_QUANTA) {
      throw new IllegalArgumentException(
          "%s queue of %d work requests needs %d quanta; the device takes %d"
              .formatted(queue, workRequests, quanta, MAX_QUANTA));
    }
    return (int) quanta;
  }

  private static long ceilingPowerOfTwo(long value) {
    return value <= 1 ? 1 : Long.highestOneBit(value - 1) << 1;
  }

  /** The SQSIZE and RQSIZE fields of a context: log2 of the quanta, less two. */
  public static int encoded(int quanta) {
    return Math.max(0, 31 - Integer.numberOfLeadingZeros(quanta) - 2);
  }

  /** The SQSIZE field of the control context: log2 of the WQEs less one. */
  public static int encodedControl(int wqes) {
    return 31 - Integer.numberOfLeadingZeros(wqes) - 1;
  }

  /** Quanta of a send WQE with a number of fragments, immediate data counted as one. */
  static int quanta(int fragments) {
    return fragments <= 1 ? 1 : fragments / 2 + 1;
  }

  /** Quanta of a WQE with inline data. */
  static int inlineQuanta(int bytes) {
    return bytes <= INLINE_FIRST ? 1 : (bytes - INLINE_FIRST + INLINE_NEXT - 1) / INLINE_NEXT + 1;
  }

  /**
   * Entries of a completion queue for a number of completions: each may be followed by an
   * extension.
   *
   * @throws IllegalArgumentException if the device has no queue that large
   */
  public static int completionEntries(int completions) {
    long entries = Math.max(MIN_COMPLETIONS, (completions + 1L) * 2);
    if (completions < 1 || entries > MAX_COMPLETIONS) {
      throw new IllegalArgumentException("completion queue of " + completions + " entries");
    }
    return (int) entries;
  }
}
