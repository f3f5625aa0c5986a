package irdma4j.pble;

import irdma4j.Planted;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.SegmentType;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.PbleAction;
import irdma4j.tests.PbleTrial;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The kit accepts an allocator that is right, and finds each fault planted in it. */
class PlantedPbleFaultsTest {
  /** Fails if the kit calls a right allocator wrong. */
  @Property(tries = 100)
  void plainAllocatorIsRight(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("actions") List<PbleAction> actions) {
    run(layout, type, actions, PlainPbles.Fault.NONE);
  }

  /** Fails if the kit overlooks one of the faults, each of which is tried. */
  @Property
  void isFound(@ForAll("faults") PlainPbles.Fault fault) {
    Planted.assertFound(
        fault,
        HmcArbitraries.pbleLayouts(),
        HmcArbitraries.pbleActions(),
        (layout, actions) -> run(layout, SegmentType.DIRECT, actions, fault));
  }

  private static void run(
      HmcLayout layout, SegmentType type, List<PbleAction> actions, PlainPbles.Fault fault) {
    PbleTrial.run(
        layout,
        type,
        actions,
        (function, device, where, how) -> new PlainPbles(function, device, where, how, fault),
        false);
  }

  @Provide
  Arbitrary<PlainPbles.Fault> faults() {
    return Arbitraries.of(PlainPbles.Fault.class).filter(fault -> fault != PlainPbles.Fault.NONE);
  }

  @Provide
  Arbitrary<HmcLayout> layouts() {
    return HmcArbitraries.pbleLayouts();
  }

  @Provide
  Arbitrary<List<PbleAction>> actions() {
    return HmcArbitraries.pbleActions();
  }
}
