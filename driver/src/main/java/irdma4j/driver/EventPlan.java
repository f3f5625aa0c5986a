package irdma4j.driver;

import irdma4j.hmc.HmcLayout;
import irdma4j.hwregs.Generation;
import irdma4j.hwregs.HmcObject;

/**
 * Sizes and interrupt vectors of the event queues.
 *
 * <p>Source of the sizes: Linux irdma_create_ceq and irdma_create_aeq in hw.c: a completion queue
 * that is armed only after its event was taken has one entry of its CEQ, and each queue has one of
 * the AEQ.
 *
 * @param ceqEntries entries of each completion event queue
 * @param aeqEntries entries of the asynchronous event queue
 * @param aeqVector vector of the asynchronous event queue
 * @param firstCeqVector vector of CEQ 0, which may be that of the AEQ; the others follow
 */
record EventPlan(int ceqEntries, int aeqEntries, int aeqVector, int firstCeqVector) {
  /**
   * For the objects of a function; CEQ 0 and the AEQ share vector 0.
   *
   * @param ceqLimit most entries of a completion event queue, at least 1
   * @param aeqLimit most entries of the asynchronous event queue, at least 1
   */
  static EventPlan shared(HmcLayout layout, int ceqLimit, int aeqLimit) {
    long pairs = layout.of(HmcObject.QP).count();
    long queues = layout.of(HmcObject.CQ).count();
    return new EventPlan(
        (int) Math.min(queues, Math.min(ceqLimit, Generation.GEN_2.maxCeqEntries())),
        (int) Math.min(pairs + queues, Math.min(aeqLimit, Generation.GEN_2.maxAeqEntries())),
        0,
        0);
  }
}
