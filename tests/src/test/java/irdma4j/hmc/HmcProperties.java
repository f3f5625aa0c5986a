package irdma4j.hmc;

import irdma4j.tests.HmcAction;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.HmcSubject;
import irdma4j.tests.HmcTrial;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;

/** The Host Memory Cache under random object traffic. */
@PropertyDefaults(tries = 10_000)
class HmcProperties {
  /**
   * Fails if a segment or page goes before its last user or stays after it, if a page is backed
   * twice or not at all, or if a page descriptor changes without an invalidation.
   */
  @Property
  void objectsComeAndGo(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("actions") List<HmcAction> actions) {
    HmcTrial.run(layout, type, actions, HmcSubject::hostMemoryCache);
  }

  /** Fails, besides, if what fails in the middle leaves anything behind or takes it along. */
  @Property
  void failuresLeaveWhatWasThere(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("actionsWithFailures") List<HmcAction> actions) {
    HmcTrial.run(layout, type, actions, HmcSubject::hostMemoryCache);
  }

  @Provide
  Arbitrary<HmcLayout> layouts() {
    return HmcArbitraries.layouts();
  }

  @Provide
  Arbitrary<List<HmcAction>> actions() {
    return HmcArbitraries.hmcActions();
  }

  @Provide
  Arbitrary<List<HmcAction>> actionsWithFailures() {
    return HmcArbitraries.hmcActionsWithFailures();
  }
}
