package irdma4j.tests;

import static irdma4j.tests.Violation.unless;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.PciException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs a sequence of actions on a subject and holds it, after each, to a model that knows only
 * which indices are handed out:
 *
 * <ul>
 *   <li>a request gets a level that it allows; level 2 has one leaf for each 512 pages or part;
 *   <li>every index lies inside the area, and no two live runs overlap;
 *   <li>what the device reads behind the indices, through its own walk and through the root that it
 *       finds, is the page list that was written, when it is written and when it is given back;
 *   <li>what is backed is free or handed out, in units of eight;
 *   <li>a request that fails changes nothing, unless its exception tells by a suppressed one that
 *       the device failed a second time;
 *   <li>after the last free and close, nothing is allocated and the device knows no segment.
 * </ul>
 */
public final class PbleTrial {
  private static final int LEAF = 512;
  private static final int UNIT = 8;
  private static final int LOOKED_AT = 1100;

  private record Live(PbleSubject.Grant grant, int count, long firstPage) {
    long page(long page) {
      return (firstPage + page) << 12;
    }
  }

  private final FakePciFunction function = new FakePciFunction();
  private final HmcDevice device;
  private final HmcLayout.Area area;
  private final PbleSubject subject;
  private final boolean keepsGrowth;
  private final List<Live> live = new ArrayList<>();

  /** End of each run that is handed out, by its first index. */
  private final TreeMap<Long, Long> runs = new TreeMap<>();

  private long nextPage = 1;

  private PbleTrial(
      HmcLayout layout, SegmentType type, PbleSubject.Factory factory, boolean keepsGrowth) {
    device = new HmcDevice(function, layout.segments());
    area = layout.of(HmcObject.PBLE);
    this.keepsGrowth = keepsGrowth;
    subject = factory.open(function, device, layout, type);
  }

  /**
   * Runs the actions, then gives back what is left.
   *
   * @param keepsGrowth whether a refused request may leave more backed than before
   * @throws Violation if the subject breaks its contract
   */
  public static void run(
      HmcLayout layout,
      SegmentType type,
      List<? extends PbleAction> actions,
      PbleSubject.Factory factory,
      boolean keepsGrowth) {
    PbleTrial trial = new PbleTrial(layout, type, factory, keepsGrowth);
    for (PbleAction action : actions) {
      trial.step(action);
      trial.checkAccount();
    }
    trial.function.failAllocation(0);
    trial.device.failCall(0, false);
    while (!trial.live.isEmpty()) {
      trial.free(0);
      trial.checkAccount();
    }
    unless(trial.subject.free() == trial.subject.backed(), "not all that is backed is free");
    trial.subject.close();
    unless(trial.device.table().isEmpty(), "the device knows %s", trial.device.table().keySet());
    unless(
        trial.function.dmaUsage().currentBytes() == 0, "%s is left", trial.function.allocations());
  }

  private void step(PbleAction action) {
    switch (action) {
      case PbleAction.Get(int count, PbleLevels levels) -> get(count, levels);
      case PbleAction.Free(int which) -> {
        if (!live.isEmpty()) {
          free(Math.floorMod(which, live.size()));
        }
      }
      case PbleAction.FailAllocation(int n) -> {
        device.failCall(0, false);
        function.failAllocation(n);
      }
      case PbleAction.FailCall(int n) -> {
        function.failAllocation(0);
        device.failCall(n, false);
      }
    }
  }

  private void get(int count, PbleLevels levels) {
    long memory = function.fingerprint();
    Map<Integer, Long> table = device.table();
    long backed = subject.backed();
    PbleSubject.Grant grant;
    try {
      grant = subject.allocate(count, levels);
    } catch (RuntimeException refused) {
      if (!keepsGrowth && refused.getSuppressed().length == 0) {
        unless(
            memory == function.fingerprint()
                && table.equals(device.table())
                && backed == subject.backed(),
            "%d PBLEs were refused (%s), and something has changed",
            count,
            refused);
      }
      return;
    }
    checkLevel(grant, count, levels);
    if (grant.level() == 1) {
      claim(grant.firstIndex(), count);
    } else {
      claim(grant.firstIndex(), grant.leaves().size());
      for (int leaf = 0; leaf < grant.leaves().size(); leaf++) {
        claim(grant.leaves().get(leaf), leafSize(count, leaf));
      }
    }
    Live added = new Live(grant, count, nextPage);
    nextPage += count;
    live.add(added);
    subject.fill(grant, added::page);
    checkContent(added);
  }

  private static void checkLevel(PbleSubject.Grant grant, int count, PbleLevels levels) {
    int leaves = grant.leaves().size();
    switch (grant.level()) {
      case 1 -> {
        unless(levels != PbleLevels.LEVEL_2_ONLY, "level 1 for %d PBLEs of level 2", count);
        unless(leaves == 0, "%d leaves at level 1", leaves);
      }
      case 2 -> {
        unless(levels != PbleLevels.LEVEL_1_ONLY, "level 2 for %d PBLEs of level 1", count);
        unless(
            leaves == (count + LEAF - 1) / LEAF,
            "%d leaves for %d PBLEs of level 2",
            leaves,
            count);
      }
      default -> throw new Violation("level " + grant.level());
    }
  }

  private static int leafSize(int count, int leaf) {
    return Math.min(LEAF, count - leaf * LEAF);
  }

  private void claim(long first, int count) {
    long end = first + count;
    unless(first >= 0 && end <= area.count(), "PBLEs %d to %d of %d", first, end - 1, area.count());
    Map.Entry<Long, Long> before = runs.lowerEntry(end);
    unless(
        before == null || before.getValue() <= first,
        "PBLEs %d to %d were handed out while %s were in use",
        first,
        end - 1,
        before);
    runs.put(first, end);
  }

  private void free(int which) {
    Live gone = live.remove(which);
    checkContent(gone);
    try {
      subject.free(gone.grant);
    } catch (RuntimeException e) {
      throw new Violation("PBLEs in use were not taken back", e);
    }
    runs.remove(gone.grant.firstIndex());
    for (long leaf : gone.grant.leaves()) {
      runs.remove(leaf);
    }
    try {
      subject.free(gone.grant);
    } catch (RuntimeException expected) {
      return;
    }
    throw new Violation("PBLEs were taken back twice");
  }

  /** What the device reads: all of a short list, the ends of a long one's leaves. */
  private void checkContent(Live list) {
    PbleSubject.Grant grant = list.grant;
    for (int page = 0; page < list.count; page++) {
      int inLeaf = page % LEAF;
      if (list.count > LOOKED_AT && inLeaf > 1 && inLeaf < LEAF - 1 && page < list.count - 1) {
        continue;
      }
      long index = grant.firstIndex() + page;
      if (grant.level() == 2) {
        long leaf = read(grant.firstIndex() + page / LEAF);
        unless(
            leaf == grant.leaves().get(page / LEAF),
            "the root says that leaf %d is at %d, and it is at %d",
            page / LEAF,
            leaf,
            grant.leaves().get(page / LEAF));
        index = leaf + inLeaf;
      }
      long found = read(index);
      unless(
          found == list.page(page),
          "page %d of %d is 0x%x, the device reads 0x%x at PBLE %d",
          page,
          list.count,
          list.page(page),
          found,
          index);
    }
  }

  private long read(long index) {
    try {
      return device.read(area.base() + index * 8);
    } catch (PciException e) {
      throw new Violation("the device can't read PBLE " + index, e);
    }
  }

  private void checkAccount() {
    long taken = 0;
    for (Map.Entry<Long, Long> run : runs.entrySet()) {
      taken += (run.getValue() - run.getKey() + UNIT - 1) / UNIT * UNIT;
    }
    unless(
        subject.backed() == subject.free() + taken,
        "of %d PBLEs %d are free and %d in use",
        subject.backed(),
        subject.free(),
        taken);
  }
}
