package irdma4j.pble;

import static org.junit.jupiter.api.Assertions.assertThrows;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.SegmentType;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.PbleAction;
import irdma4j.tests.PbleTrial;
import irdma4j.tests.Violation;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The kit accepts an allocator that is right, and finds each fault planted in it. */
class PlantedPbleFaultsTest {
  private static final int SEQUENCES = 2000;

  /** Fails if the kit calls a right allocator wrong. */
  @Property(tries = 100)
  void plainAllocatorIsRight(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("actions") List<PbleAction> actions) {
    run(layout, type, actions, PlainPbles.Fault.NONE);
  }

  @Example
  void wrongLeafCountIsFound() {
    assertFound(PlainPbles.Fault.LEAF_COUNT);
  }

  @Example
  void leakOnFailedLevel2IsFound() {
    assertFound(PlainPbles.Fault.LEAK_ON_FAILED_LEVEL_2);
  }

  @Example
  void wrongIndexBaseIsFound() {
    assertFound(PlainPbles.Fault.WRONG_INDEX_BASE);
  }

  @Example
  void wrongRootIsFound() {
    assertFound(PlainPbles.Fault.WRONG_ROOT);
  }

  @Example
  void doubleFreeIsFound() {
    assertFound(PlainPbles.Fault.DOUBLE_FREE);
  }

  private static void assertFound(PlainPbles.Fault fault) {
    Random random = new Random(fault.name().length());
    Iterator<HmcLayout> layouts =
        HmcArbitraries.pbleLayouts().generator(SEQUENCES).stream(random)
            .map(shrinkable -> shrinkable.value())
            .iterator();
    Iterator<List<PbleAction>> sequences =
        HmcArbitraries.pbleActions().generator(SEQUENCES).stream(random)
            .map(shrinkable -> shrinkable.value())
            .iterator();
    assertThrows(
        Violation.class,
        () -> {
          for (int i = 0; i < SEQUENCES; i++) {
            run(layouts.next(), SegmentType.DIRECT, sequences.next(), fault);
          }
        });
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
  Arbitrary<HmcLayout> layouts() {
    return HmcArbitraries.pbleLayouts();
  }

  @Provide
  Arbitrary<List<PbleAction>> actions() {
    return HmcArbitraries.pbleActions();
  }
}
