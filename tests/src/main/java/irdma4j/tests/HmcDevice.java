package irdma4j.tests;

import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentProgrammer;
import irdma4j.hmc.SegmentUpdate;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.PageDescriptorEntry;
import irdma4j.hwregs.SegmentDescriptor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The device's side of the Host Memory Cache: a table of segment descriptors, a cache of page
 * descriptors that forgets only what it is told to forget, and the walk from an FPM address to host
 * memory. It knows the layouts alone, not how {@link HostMemoryCache} keeps its books.
 *
 * <p>Any call can be made to fail ({@link #failCall}), once or for good.
 */
public final class HmcDevice implements SegmentProgrammer {
  private static final int PAGE = 4096;

  /** What a failing call throws. */
  public static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String what) {
      super(what + " refused, as the test wants");
    }
  }

  private final FakePciFunction function;
  private final TreeMap<Integer, Long> table = new TreeMap<>();
  private final Map<Long, Long> pageCache = new HashMap<>();
  private final List<List<SegmentUpdate>> updates = new ArrayList<>();
  private final List<Integer> invalidations = new ArrayList<>();
  private int countdown;
  private boolean forGood;

  /** A device whose table is empty. */
  public HmcDevice(FakePciFunction function) {
    this.function = function;
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
    pageCache.remove(pageKey(segment, page));
    invalidations.add(page << 16 | segment);
  }

  private static long pageKey(int segment, int page) {
    return segment * 512L + page;
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
   * Where the device finds a byte of its FPM space, from its caches and host memory.
   *
   * @return the IOVA, or 0 if a descriptor on the way is not valid
   */
  public long translate(long fpmAddress) {
    int segment = (int) (fpmAddress / HostMemoryCache.SEGMENT_SIZE);
    long offset = fpmAddress % HostMemoryCache.SEGMENT_SIZE;
    Long data = table.get(segment);
    if (data == null) {
      return 0;
    }
    long address = data & SegmentDescriptor.PMSDDATA.mask();
    if (SegmentDescriptor.PMSDTYPE.isSet(data)) {
      return address + offset;
    }
    int page = (int) (offset / PAGE);
    long descriptor =
        pageCache.computeIfAbsent(
            pageKey(segment, page),
            key -> LittleEndian.getLong(function.deviceView(address + page * 8L, 8), 0));
    return PageDescriptorEntry.VALID.isSet(descriptor)
        ? (descriptor & PageDescriptorEntry.ADDRESS.mask()) + offset % PAGE
        : 0;
  }

  /** Reads a word of the FPM space as the device does. */
  public long read(long fpmAddress) {
    return LittleEndian.getLong(function.deviceView(translate(fpmAddress), 8), 0);
  }
}
