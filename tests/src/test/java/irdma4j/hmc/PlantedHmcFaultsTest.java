package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertThrows;

import irdma4j.tests.HmcAction;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.HmcTrial;
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
class PlantedHmcFaultsTest {
  private static final int SEQUENCES = 2000;

  /** Fails if the kit calls a right allocator wrong. */
  @Property(tries = 300)
  void plainAllocatorIsRight(
      @ForAll("layouts") HmcLayout layout,
      @ForAll SegmentType type,
      @ForAll("actions") List<HmcAction> actions) {
    run(layout, type, actions, PlainHmc.Fault.NONE);
  }

  @Example
  void missingInvalidationIsFound() {
    assertFound(PlainHmc.Fault.NO_INVALIDATION);
  }

  @Example
  void sharedPageFreedEarlyIsFound() {
    assertFound(PlainHmc.Fault.SHARED_FREED_EARLY);
  }

  @Example
  void leakOnFailureIsFound() {
    assertFound(PlainHmc.Fault.LEAK_ON_FAILURE);
  }

  @Example
  void objectThatIsNotBackedIsFound() {
    assertFound(PlainHmc.Fault.SHORT_BY_ONE);
  }

  private static void assertFound(PlainHmc.Fault fault) {
    Random random = new Random(fault.name().length());
    Iterator<HmcLayout> layouts =
        HmcArbitraries.layouts().generator(SEQUENCES).stream(random)
            .map(shrinkable -> shrinkable.value())
            .iterator();
    Iterator<List<HmcAction>> sequences =
        HmcArbitraries.hmcActionsWithFailures().generator(SEQUENCES).stream(random)
            .map(shrinkable -> shrinkable.value())
            .iterator();
    assertThrows(
        Violation.class,
        () -> {
          for (int i = 0; i < SEQUENCES; i++) {
            run(layouts.next(), SegmentType.PAGED, sequences.next(), fault);
          }
        });
  }

  private static void run(
      HmcLayout layout, SegmentType type, List<HmcAction> actions, PlainHmc.Fault fault) {
    HmcTrial.run(
        layout,
        type,
        actions,
        (function, device, where, how) -> new PlainHmc(function, device, where, how, fault));
  }

  @Provide
  Arbitrary<HmcLayout> layouts() {
    return HmcArbitraries.layouts();
  }

  @Provide
  Arbitrary<List<HmcAction>> actions() {
    return HmcArbitraries.hmcActions();
  }
}
