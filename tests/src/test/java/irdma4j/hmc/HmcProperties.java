package irdma4j.hmc;

import irdma4j.campaign.FewerTries;
import irdma4j.hwregs.HmcObject;
import irdma4j.tests.HmcAction;
import irdma4j.tests.HmcArbitraries;
import irdma4j.tests.HmcSubject;
import irdma4j.tests.HmcTrial;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AddLifecycleHook;

/** The Host Memory Cache under random object traffic. */
@PropertyDefaults(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
@AddLifecycleHook(FewerTries.class)
class HmcProperties {
  /**
   * Fails if a segment or page goes before its last user or stays after it, if a page is backed
   * twice or not at all, or if a page descriptor changes without an invalidation.
   */
  @Property
  void objectsComeAndGo(
      @ForAll("layouts") HmcLayout layout, @ForAll("actions") List<HmcAction> actions) {
    HmcTrial.run(layout, actions, HmcSubject::hostMemoryCache);
  }

  /** Fails, besides, if what fails in the middle leaves anything behind or takes it along. */
  @Property
  void failuresLeaveWhatWasThere(
      @ForAll("layouts") HmcLayout layout, @ForAll("actionsWithFailures") List<HmcAction> actions) {
    HmcTrial.run(layout, actions, HmcSubject::hostMemoryCache);
  }

  /**
   * Fails if what one function does shows in another one's cache, or what is closed stays, or if a
   * function is opened twice or outlives the one that backs it.
   */
  @Property
  void functionsDoNotMeet(
      @ForAll("functions") List<HmcLayout> layouts,
      @ForAll("actionsOfFunctions") List<HmcAction> actions) {
    HmcTrial.run(
        layouts,
        actions,
        (memory, devices) -> {
          HmcFunctions functions =
              new HmcFunctions(
                  memory, owner -> devices.get(owner.isVirtual() ? (owner.id() - 8) / 3 : 0));
          List<HmcSubject> subjects = new ArrayList<>();
          for (int i = 0; i < devices.size(); i++) {
            HmcFunction owner =
                i == 0 ? HmcFunction.physical(0) : HmcFunction.virtual(8 + 3 * i, i - 1);
            HostMemoryCache cache = functions.open(owner, layouts.get(i), SegmentType.DIRECT);
            HmcSubject subject = HmcSubject.of(cache);
            subjects.add(
                new HmcSubject() {
                  @Override
                  public void create(HmcObject kind, long first, long count, SegmentType type) {
                    subject.create(kind, first, count, type);
                  }

                  @Override
                  public void delete(HmcObject kind, long first, long count) {
                    subject.delete(kind, first, count);
                  }

                  @Override
                  public void close() {
                    functions.close(owner);
                  }
                });
          }
          return subjects;
        });
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

  @Provide
  Arbitrary<List<HmcAction>> actionsOfFunctions() {
    return HmcArbitraries.hmcActionsOfFunctions();
  }

  /** A physical function and up to seven virtual ones. */
  @Provide
  Arbitrary<List<HmcLayout>> functions() {
    return HmcArbitraries.layouts().list().ofMinSize(2).ofMaxSize(8);
  }
}
