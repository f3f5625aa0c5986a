package irdma4j.driver.ring;

import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * The word of a completion queue's shadow area that asks for an event.
 *
 * <p>Source: Linux irdma_uk_cq_request_notification in uk.c, irdma_sc_ccq_arm in ctrl.c.
 */
final class Arming {
  private static final int WORD = 32;

  private Arming() {}

  /**
   * Counts the request up and sets what it asks for; the rest of the word becomes zero.
   *
   * @param solicited sets the bit for solicited completions; if not, it stays as it is
   * @param next the value of the bit for any completion
   */
  static void arm(MemorySegment shadow, long offset, boolean solicited, boolean next) {
    long word = LittleEndian.getLong(shadow, offset + WORD);
    long sequence = (CqShadow.ARM_SEQ_NUM.decode(word) + 1) & CqShadow.ARM_SEQ_NUM.max();
    LittleEndian.setLongRelease(
        shadow,
        offset + WORD,
        CqShadow.ARM_SEQ_NUM.encode(sequence)
            | CqShadow.SW_CQ_SELECT.encode(CqShadow.SW_CQ_SELECT.decode(word))
            | CqShadow.ARM_NEXT_SE.encode(solicited || CqShadow.ARM_NEXT_SE.isSet(word))
            | CqShadow.ARM_NEXT.encode(next));
  }
}
