package irdma4j.hmc;

import irdma4j.Planted;
import irdma4j.tests.HmcAction;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.HmcTrial;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The kit accepts an allocator that is right, and finds each fault planted in it. */
class PlantedHmcFaultsTest {
  // [guide
  /** Fails if the kit calls a right allocator wrong. */
  @Property(tries = 300)
  void plainAllocatorIsRight(
      @ForAll("layouts") HmcLayout layout, @ForAll("actions") List<HmcAction> actions) {
    run(layout, actions, PlainHmc.Fault.NONE);
  }

  @Provide
  Arbitrary<HmcLayout> layouts() {
    return HmcArbitraries.layouts();
  }

  @Provide
  Arbitrary<List<HmcAction>> actions() {
    return HmcArbitraries.hmcActions();
  }

  private static void run(HmcLayout layout, List<HmcAction> actions, PlainHmc.Fault fault) {
    HmcTrial.run(
        layout, actions, (function, device, where) -> new PlainHmc(function, device, where, fault));
  }

  // guide]

  /** Fails if the kit overlooks one of the faults, each of which is tried. */
  @Property
  void isFound(@ForAll("faults") PlainHmc.Fault fault) {
    Planted.assertFound(
        fault,
        HmcArbitraries.layouts(),
        HmcArbitraries.hmcActionsWithFailures(),
        (layout, actions) -> run(layout, actions, fault));
  }

  @Provide
  Arbitrary<PlainHmc.Fault> faults() {
    return Arbitraries.of(PlainHmc.Fault.class).filter(fault -> fault != PlainHmc.Fault.NONE);
  }
}
