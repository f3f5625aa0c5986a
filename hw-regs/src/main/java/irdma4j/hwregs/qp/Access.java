package irdma4j.hwregs.qp;

import static irdma4j.hwregs.qp.ContextWords.flag;
import static irdma4j.hwregs.qp.ContextWords.integer;

import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;

/**
 * What a queue pair may do, and its peer to it.
 *
 * @param pdId protection domain
 * @param readsOut READ requests that may be outstanding
 * @param readsIn {@linkplain #encodedReads code} of the READ requests accepted at once
 * @param writes incoming WRITEs and READ responses are allowed
 * @param reads incoming READs are allowed
 * @param bind windows may be bound
 * @param fastRegister memory may be registered by work requests
 * @param privileged stag 0 is allowed
 */
public record Access(
    int pdId,
    int readsOut,
    int readsIn,
    boolean writes,
    boolean reads,
    boolean bind,
    boolean fastRegister,
    boolean privileged) {
  /** Most READ requests that the device accepts at once. */
  public static final int MAX_READS = 127;

  /**
   * The device's code for a number of READ requests accepted at once: it keeps places for 4, 16,
   * 64, 128 or 256, the least that is twice the number.
   *
   * <p>Source: Linux irdma_sc_get_encoded_ird_size in ctrl.c.
   *
   * @param reads 0 to {@link #MAX_READS}
   */
  public static int encodedReads(int reads) {
    if (reads < 0 || reads > MAX_READS) {
      throw new IllegalArgumentException(
          reads + " READ requests accepted at once: 0 to " + MAX_READS);
    }
    if (reads > 64) {
      return 4;
    }
    if (reads > 32) {
      return 3;
    }
    return reads > 8 ? 2 : reads > 2 ? 1 : 0;
  }

  void put(ContextWords words) {
    words
        .putPd(pdId)
        .put(RoceContext.ORDSIZE, readsOut)
        .put(RoceContext.IRDSIZE, readsIn)
        .put(RoceContext.WRRDRSPOK, writes)
        .put(RoceContext.RDOK, reads)
        .put(RoceContext.BINDEN, bind)
        .put(RoceContext.FASTREGEN, fastRegister)
        .put(RoceContext.PRIVEN, privileged);
  }

  static Access decode(MemorySegment context, long base) {
    return new Access(
        ContextWords.pd(context, base),
        integer(RoceContext.ORDSIZE, context, base),
        integer(RoceContext.IRDSIZE, context, base),
        flag(RoceContext.WRRDRSPOK, context, base),
        flag(RoceContext.RDOK, context, base),
        flag(RoceContext.BINDEN, context, base),
        flag(RoceContext.FASTREGEN, context, base),
        flag(RoceContext.PRIVEN, context, base));
  }
}
