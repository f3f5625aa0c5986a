package irdma4j.pble;

import irdma4j.campaign.FewerTries;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.SegmentType;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.PbleAction;
import irdma4j.tests.PbleSubject;
import irdma4j.tests.PbleTrial;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AddLifecycleHook;

/** The PBLE pool under random traffic. */
@PropertyDefaults(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
class PbleProperties {
  /**
   * Fails if runs overlap or leave the area, if a root and its leaves disagree, if the device reads
   * another page than was written, if a count is wrong, or if anything is left in the end.
   */
  @Property
  void listsComeAndGo(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("chunkPages") int chunkPages,
      @ForAll("actions") List<PbleAction> actions) {
    PbleTrial.run(layout, type, actions, PbleSubject.pblePool(chunkPages), false);
  }

  /** Fails, besides, if a request that is refused in the middle changes anything. */
  @Property
  void refusalsChangeNothing(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("chunkPages") int chunkPages,
      @ForAll("actionsWithFailures") List<PbleAction> actions) {
    PbleTrial.run(layout, type, actions, PbleSubject.pblePool(chunkPages), false);
  }

  /** The same for a pool that grows as Linux does, which may keep what it grew by. */
  @Property
  void linuxPoolKeepsItsBooks(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("actionsWithFailures") List<PbleAction> actions) {
    PbleTrial.run(layout, type, actions, PbleSubject.linuxPool(), true);
  }

  @Provide
  Arbitrary<HmcLayout> layouts() {
    return HmcArbitraries.pbleLayouts();
  }

  @Provide
  Arbitrary<Integer> chunkPages() {
    return Arbitraries.oneOf(
        Arbitraries.integers().between(1, 16), Arbitraries.integers().between(1, 512));
  }

  @Provide
  Arbitrary<List<PbleAction>> actions() {
    return HmcArbitraries.pbleActions();
  }

  @Provide
  Arbitrary<List<PbleAction>> actionsWithFailures() {
    return HmcArbitraries.pbleActionsWithFailures();
  }
}
