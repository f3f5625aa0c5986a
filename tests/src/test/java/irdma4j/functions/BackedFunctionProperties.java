package irdma4j.functions;

import irdma4j.campaign.FewerTries;
import irdma4j.hmc.SegmentType;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterProperty;

/** A physical function and the virtual ones that it backs, in any order, on the simulated card. */
@PropertyDefaults(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
final class BackedFunctionProperties {
  // A bench serves many tries, and a try that fails gives it up.
  private final Map<SegmentType, FunctionBench> benches = new EnumMap<>(SegmentType.class);

  private void run(SegmentType type, List<FunctionAction> actions) {
    FunctionBench kept = benches.remove(type);
    FunctionBench bench = kept == null ? new FunctionBench(type) : kept;
    if (FunctionTrial.run(bench, actions)) {
      benches.put(type, bench);
    }
  }

  @AfterProperty
  void closeBenches() {
    benches.values().forEach(FunctionBench::close);
    benches.clear();
  }

  /**
   * Fails if two functions meet, if what is closed stays or what stays goes, if the device finds
   * what it should have forgotten, or if memory is left; {@link FunctionTrial} says it in full.
   */
  @Property
  void functionsComeAndGo(
      @ForAll SegmentType type, @ForAll("actions") List<FunctionAction> actions) {
    run(type, actions);
  }

  /** Fails, besides, if what fails in the middle leaves anything behind or takes it along. */
  @Property
  void failuresLeaveWhatWasThere(
      @ForAll SegmentType type, @ForAll("actionsWithFailures") List<FunctionAction> actions) {
    run(type, actions);
  }

  @Provide
  Arbitrary<List<FunctionAction>> actions() {
    return Arbitraries.frequencyOf(Tuple.of(5, backs()), Tuple.of(8, others()))
        .list()
        .ofMaxSize(16);
  }

  @Provide
  Arbitrary<List<FunctionAction>> actionsWithFailures() {
    return Arbitraries.frequencyOf(
            Tuple.of(5, backs()),
            Tuple.of(8, others()),
            Tuple.of(2, numbers(1, 6).map(FunctionAction.FailEverywhere::new)),
            Tuple.of(2, numbers(1, 60).map(FunctionAction.FailAllocation::new)),
            Tuple.of(2, numbers(1, 30).map(FunctionAction.FailOperation::new)))
        .list()
        .ofMaxSize(16);
  }

  private static Arbitrary<FunctionAction> backs() {
    return Combinators.combine(Arbitraries.of(0, 1, 3, 7, 31, 255), numbers(0, 8))
        .as(FunctionAction.Back::new);
  }

  private static Arbitrary<FunctionAction> others() {
    return Arbitraries.oneOf(
        numbers(0, 3).map(FunctionAction.Unback::new),
        Combinators.combine(numbers(0, 3), numbers(0, 600), numbers(1, 40))
            .as(FunctionAction.Extend::new),
        Combinators.combine(numbers(0, 3), numbers(0, 9)).as(FunctionAction.Release::new),
        numbers(2, FunctionBench.PAGES).map(FunctionAction.Register::new),
        numbers(0, 9).map(FunctionAction.Deregister::new));
  }

  private static Arbitrary<Integer> numbers(int from, int to) {
    return Arbitraries.integers().between(from, to);
  }
}
