package irdma4j.simulator.device;

import irdma4j.hwregs.HmcObject;
import irdma4j.simulator.CardProfile;

/**
 * What one function may have of a card's Host Memory Cache: its part of the segment descriptors,
 * and as large a part of each kind of object.
 *
 * <p>That the profile decides between physical and virtual functions is Linux's (irdma.h); by how
 * much is this project's own: virtual functions have a quarter of the card together, three quarters
 * if they are favoured, or each as much as the physical one.
 *
 * @param card all that there is
 * @param segments segment descriptors of the function
 */
record HmcShare(CardProfile card, int segments) {
  private static final int FAVOR_VF = 2;
  private static final int EQUAL = 3;

  /**
   * The part of each virtual function.
   *
   * @param profile the code in the control queue pair's context
   * @param count how many virtual functions there may be, at least 1
   */
  static HmcShare ofVirtual(CardProfile card, int profile, int count) {
    int all = card.maxSegments();
    return new HmcShare(
        card,
        switch (profile) {
          case EQUAL -> all / (count + 1);
          case FAVOR_VF -> all * 3 / 4 / count;
          default -> all / 4 / count;
        });
  }

  /** What the virtual functions leave to the physical one. */
  static HmcShare ofPhysical(CardProfile card, int profile, int count) {
    int all = card.maxSegments();
    return new HmcShare(
        card, count == 0 ? all : all - count * ofVirtual(card, profile, count).segments);
  }

  /** The most objects of a kind. */
  long limit(HmcObject object) {
    return object.maximum() == null
        ? card.limit(object)
        : card.limit(object) * segments / card.maxSegments();
  }
}
