package irdma4j.tests;

import static irdma4j.tests.Violation.unless;

import irdma4j.hmc.HmcLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a sequence of actions on subjects, each of which is the Host Memory Cache of a function, and
 * holds them, after each action, to a model that knows only which objects exist:
 *
 * <ul>
 *   <li>the device has a segment descriptor for each segment in which an object lies, and for no
 *       other;
 *   <li>it finds memory behind each page of each object, no page behind two, be they of two
 *       functions, and behind no page without objects of a paged segment;
 *   <li>exactly the memory for these segments, pages and tables is allocated;
 *   <li>an operation that fails changes none of this;
 *   <li>after the last object nothing is allocated.
 * </ul>
 */
public final class HmcTrial {
  private final FakePciFunction function = new FakePciFunction();
  private final List<HmcDevice> devices = new ArrayList<>();
  private final List<HmcModel> models = new ArrayList<>();
  private int current;

  private HmcTrial(List<HmcLayout> layouts, Factories subjects) {
    PagesSeen seen = new PagesSeen();
    for (HmcLayout layout : layouts) {
      devices.add(new HmcDevice(function, layout.segments()));
    }
    List<HmcSubject> opened = subjects.open(function, List.copyOf(devices));
    for (int i = 0; i < layouts.size(); i++) {
      models.add(new HmcModel(function, devices.get(i), layouts.get(i), opened.get(i), seen));
    }
  }

  /** Makes the subjects of several functions. */
  @FunctionalInterface
  public interface Factories {
    /**
     * Makes one subject with no object for each function.
     *
     * @param function where memory comes from
     * @param devices the device to be told, for each function
     */
    List<HmcSubject> open(FakePciFunction function, List<HmcDevice> devices);
  }

  /**
   * Runs the actions on one function, then removes what is left.
   *
   * @throws Violation if the subject breaks its contract
   */
  public static void run(
      HmcLayout layout, List<? extends HmcAction> actions, HmcSubject.Factory factory) {
    run(
        List.of(layout),
        actions,
        (function, devices) -> List.of(factory.open(function, devices.getFirst(), layout)));
  }

  /**
   * Runs the actions on several functions, then removes what is left.
   *
   * @param layouts of each function
   * @throws Violation if a subject breaks its contract
   */
  public static void run(
      List<HmcLayout> layouts, List<? extends HmcAction> actions, Factories subjects) {
    HmcTrial trial = new HmcTrial(layouts, subjects);
    for (HmcAction action : actions) {
      trial.step(action);
      trial.check();
    }
    trial.fail(0, 0);
    trial.models.forEach(HmcModel::deleteAll);
    trial.check();
    unless(trial.function.dmaUsage().currentBytes() == 0, "memory is left without an object");
    // The first function goes last.
    trial.models.reversed().forEach(HmcModel::close);
  }

  private void step(HmcAction action) {
    HmcModel model = models.get(current);
    switch (action) {
      case HmcAction.Create create -> model.create(create);
      case HmcAction.Delete delete -> model.delete(delete);
      case HmcAction.FailAllocation(int n) -> fail(n, 0);
      case HmcAction.FailCall(int n) -> fail(0, n);
      case HmcAction.FailEverywhere(int most) -> {
        fail(0, 0);
        model.failEverywhere(most);
      }
      case HmcAction.Switch(int which) -> current = Math.floorMod(which, models.size());
    }
  }

  private void fail(int allocation, int call) {
    function.failAllocation(allocation);
    devices.forEach(device -> device.failCall(call, false));
  }

  private void check() {
    long bytes = 0;
    for (HmcModel model : models) {
      bytes += model.check();
    }
    long allocated = function.dmaUsage().currentBytes();
    unless(bytes == allocated, "%d bytes are allocated, %d are needed", allocated, bytes);
  }
}
