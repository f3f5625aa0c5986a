package irdma4j.tests;

import irdma4j.hmc.SegmentProgrammer;
import irdma4j.hmc.SegmentUpdate;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SegmentDescriptor;
import irdma4j.simulator.FpmWalk;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The device's side of a function's Host Memory Cache: it obeys segment descriptors and
 * invalidations, and finds what lies behind an FPM address by the simulator's own walk, which
 * believes a page descriptor until it is told to forget it.
 *
 * <p>Any call can be made to fail ({@link #failCall}), once or for good.
 */
public final class HmcDevice implements SegmentProgrammer {
  /** What a failing call throws. */
  public static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String what) {
      super(what + " refused, as the test wants");
    }
  }

  private final FakePciFunction function;
  private final FpmWalk walk;
  private final TreeMap<Integer, Long> table = new TreeMap<>();
  private final List<List<SegmentUpdate>> updates = new ArrayList<>();
  private final List<Integer> invalidations = new ArrayList<>();
  private int countdown;
  private boolean forGood;

  /**
   * A device whose table is empty.
   *
   * @param function whose memory it reads
   * @param segments how many segment descriptors it has
   */
  public HmcDevice(FakePciFunction function, long segments) {
    this.function = function;
    walk = new FpmWalk(Math.toIntExact(segments), function::deviceWord);
  }

  /**
   * Makes a call fail. An update of several segments that fails has written the first half of them.
   *
   * @param n which one from now on: 1 is the next, 0 none
   * @param andAllLater whether every later call fails too
   */
  public void failCall(int n, boolean andAllLater) {
    countdown = n;
    forGood = andAllLater;
  }

  private boolean fails() {
    if (countdown == 0 || --countdown > 0) {
      return false;
    }
    countdown = forGood ? 1 : 0;
    return true;
  }

  @Override
  public void updateSegments(List<SegmentUpdate> list) {
    boolean fails = fails();
    for (SegmentUpdate update : fails ? list.subList(0, list.size() / 2) : list) {
      walk.update(update.command(), update.data());
      int index = (int) SegmentDescriptor.PMSDIDX.decode(update.command());
      if (SegmentDescriptor.PMSDVALID.isSet(update.data())) {
        table.put(index, update.data());
      } else {
        table.remove(index);
      }
    }
    if (fails) {
      throw new Refused("UPDATE_PE_SDS");
    }
    updates.add(List.copyOf(list));
  }

  @Override
  public void invalidatePage(int segment, int page) {
    if (fails()) {
      throw new Refused("PDINV");
    }
    walk.invalidate(
        (int)
            (Registers.PDINV_PMSDIDX.encode(segment)
                | Registers.PDINV_PMSDPARTSEL.encode(1)
                | Registers.PDINV_PMPDIDX.encode(page)));
    invalidations.add(page << 16 | segment);
  }

  /** Data words of the valid segment descriptors, by index. */
  public Map<Integer, Long> table() {
    return new TreeMap<>(table);
  }

  /** The updates since the last call. */
  public List<List<SegmentUpdate>> takeUpdates() {
    List<List<SegmentUpdate>> taken = List.copyOf(updates);
    updates.clear();
    return taken;
  }

  /** The page invalidations since the last call: page in bits 31 to 16, segment in 15 to 0. */
  public List<Integer> takeInvalidations() {
    List<Integer> taken = List.copyOf(invalidations);
    invalidations.clear();
    return taken;
  }

  /**
   * Where the device finds a byte of its FPM space, from what it was told and host memory.
   *
   * @return the IOVA, or 0 if there is none
   */
  public long translate(long fpmAddress) {
    long iova = walk.translate(fpmAddress);
    return iova == FpmWalk.FAULT ? 0 : iova;
  }

  /** Reads a word of the FPM space as the device does. */
  public long read(long fpmAddress) {
    return function.deviceWord(translate(fpmAddress));
  }
}
