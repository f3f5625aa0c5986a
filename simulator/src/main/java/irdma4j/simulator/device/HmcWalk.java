package irdma4j.simulator.device;

import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.PageDescriptorEntry;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.SegmentDescriptor;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.watch.Watch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The device's view of its Host Memory Cache: where each kind of object begins in the FPM address
 * space, and the walk from an FPM address over segment and page descriptors to an IOVA.
 *
 * <pre>
 *   FPM address   63 ........ 21 | 20 ... 12 | 11 .... 0
 *                 segment          page        byte
 * </pre>
 *
 * <p>Segment descriptors are in the device, written by UPDATE_PE_SDS. The page descriptors of a
 * paged segment are in host memory; the device reads one when it needs it, valid or not, and
 * believes it until PFHMC_PDINV, or GLHMC_VFPDINV, names it or its segment descriptor is written
 * again.
 */
public final class HmcWalk {
  /** The answer of {@link #translate} if there is no memory behind an address. */
  public static final long FAULT = -1;

  /** More than the highest id of an HMC object. */
  static final int IDS = 32;

  private static final int PAGES_PER_SEGMENT = 512;
  private static final int SEGMENT_BITS = 21;
  private static final long UNKNOWN = -1;

  private final HostWords host;
  private final Watch watch;
  private final long[] segments;
  private final long[] @Nullable [] pages;
  private final int[] objectBytes = new int[IDS];
  private final long[] counts = new long[IDS];
  private final long[] bases = new long[IDS];
  private final long[] onePble = new long[1];
  private long hits;
  private long misses;
  private long faults;
  private long pbleBase;
  private long pbleCount;
  private int limit;

  /**
   * A walk of a function without objects.
   *
   * @param host where page descriptors and PBLEs are read
   * @param segments how many segment descriptors the function has
   */
  public HmcWalk(HostWords host, int segments) {
    this(host, segments, Watch.NONE);
  }

  private HmcWalk(HostWords host, int segments, Watch watch) {
    this.host = host;
    this.watch = watch;
    this.segments = new long[segments];
    this.limit = segments;
    this.pages = new long[segments][];
  }

  HmcWalk(HostWords host, CardProfile profile, Watch watch) {
    this(host, profile.maxSegments(), watch);
    for (HmcObject object : HmcObject.values()) {
      objectBytes[object.id()] = profile.objectBytes(object);
    }
  }

  /**
   * How many segment descriptors the function may use.
   *
   * @param most at most those that there are
   */
  void limit(int most) {
    limit = most;
  }

  /** Fixes where a kind of object begins and how many there are. */
  void place(HmcObject object, long base, long count) {
    bases[object.id()] = base;
    counts[object.id()] = count;
    if (object == HmcObject.PBLE) {
      pbleBase = base;
      pbleCount = count;
    }
  }

  /** How many objects of a kind were committed. */
  long count(HmcObject object) {
    return counts[object.id()];
  }

  /** Bytes of an object's slot. */
  int bytes(HmcObject object) {
    return objectBytes[object.id()];
  }

  /**
   * Obeys an entry of UPDATE_PE_SDS.
   *
   * @return false if the command is none that the device knows, or names no segment of it
   */
  public boolean update(int command, long data) {
    long word = Integer.toUnsignedLong(command);
    long known =
        SegmentDescriptor.PMSDWR.mask()
            | SegmentDescriptor.PMSDIDX.mask()
            | SegmentDescriptor.PMSDPARTSEL.mask();
    return SegmentDescriptor.PMSDWR.isSet(word)
        && (word & ~known) == 0
        && writeSegment((int) SegmentDescriptor.PMSDIDX.decode(word), data);
  }

  /** Obeys a write to PFHMC_PDINV, or to that of GLHMC_VFPDINV that is the function's. */
  public void invalidate(int value) {
    invalidatePage(
        (int) Registers.PDINV_PMSDIDX.decode(value), (int) Registers.PDINV_PMPDIDX.decode(value));
  }

  /** Writes a segment descriptor; the device forgets what it knew of its pages. */
  boolean writeSegment(int index, long data) {
    if (index < 0 || index >= limit) {
      return false;
    }
    segments[index] = data;
    pages[index] = null;
    return true;
  }

  /** Forgets one page descriptor. */
  void invalidatePage(int segment, int page) {
    if (segment < segments.length && pages[segment] != null) {
      pages[segment][page & (PAGES_PER_SEGMENT - 1)] = UNKNOWN;
    }
  }

  /** The IOVA of an object, or {@link #FAULT} if it was not committed or has no memory. */
  long object(HmcObject object, long index) {
    int kind = object.id();
    if (index < 0 || index >= counts[kind]) {
      return fault();
    }
    return translate(bases[kind] + index * objectBytes[kind]);
  }

  /** The PBLE at an index, or {@link #FAULT}. */
  long pble(long index) {
    return pbles(index, 1, onePble) == 0 ? FAULT : onePble[0];
  }

  /**
   * Reads PBLEs that follow each other, as far as the page of the first goes.
   *
   * @param most how many are wanted, at least 1
   * @param target takes them from 0 on
   * @return how many there were; 0 if there is none at the index
   */
  int pbles(long index, int most, long[] target) {
    if (index < 0 || index >= pbleCount) {
      fault();
      return 0;
    }
    long address = pbleBase + (index << 3);
    long iova = translate(address);
    if (iova == FAULT) {
      return 0;
    }
    long faultsBefore = host.faults();
    target[0] = host.readPble(iova);
    if (host.faults() != faultsBefore) {
      fault();
      return 0;
    }
    int inPage = (int) (Iommu.PAGE - (address & Iommu.PAGE - 1)) >>> 3;
    int count = (int) Math.min(Math.min(most, inPage), pbleCount - index);
    for (int i = 1; i < count; i++) {
      target[i] = host.readPble(iova + ((long) i << 3));
    }
    return count;
  }

  /** The IOVA behind an FPM address, or {@link #FAULT}. */
  public long translate(long address) {
    long iova = walk(address);
    watch.object(address, iova);
    return iova;
  }

  private long walk(long address) {
    long segment = address >>> SEGMENT_BITS;
    if (segment >= limit) {
      return fault();
    }
    long descriptor = segments[(int) segment];
    if (!SegmentDescriptor.PMSDVALID.isSet(descriptor)) {
      return fault();
    }
    int page = (int) (address >>> 12) & (PAGES_PER_SEGMENT - 1);
    if (page >= SegmentDescriptor.PMSDBPCOUNT.decode(descriptor)) {
      return fault();
    }
    long base = descriptor & SegmentDescriptor.PMSDDATA.mask();
    if (SegmentDescriptor.PMSDTYPE.isSet(descriptor)) {
      return base + (address & ((1L << SEGMENT_BITS) - 1));
    }
    long entry = page((int) segment, page, base);
    if (!PageDescriptorEntry.VALID.isSet(entry)) {
      return fault();
    }
    return (entry & PageDescriptorEntry.ADDRESS.mask()) + (address & 0xfff);
  }

  /** Whether a segment descriptor is valid. */
  boolean hasSegments() {
    for (long descriptor : segments) {
      if (SegmentDescriptor.PMSDVALID.isSet(descriptor)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a segment is backed by the page of an IOVA, as far as the device knows. */
  boolean isBacking(long iova) {
    for (int i = 0; i < segments.length; i++) {
      long descriptor = segments[i];
      if (!SegmentDescriptor.PMSDVALID.isSet(descriptor)) {
        continue;
      }
      long base = descriptor & SegmentDescriptor.PMSDDATA.mask();
      long[] known = pages[i];
      if (SegmentDescriptor.PMSDTYPE.isSet(descriptor)) {
        if (iova >= base && iova < base + (1L << SEGMENT_BITS)) {
          return true;
        }
      } else if (known != null) {
        for (long entry : known) {
          if (entry != UNKNOWN
              && PageDescriptorEntry.VALID.isSet(entry)
              && (entry & PageDescriptorEntry.ADDRESS.mask()) == (iova & -4096L)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  long hits() {
    return hits;
  }

  long misses() {
    return misses;
  }

  long faults() {
    return faults;
  }

  void reset() {
    Arrays.fill(segments, 0);
    Arrays.fill(pages, null);
    Arrays.fill(counts, 0);
    Arrays.fill(bases, 0);
    pbleBase = 0;
    pbleCount = 0;
  }

  private long page(int segment, int page, long table) {
    long[] known = pages[segment];
    if (known == null) {
      known = new long[PAGES_PER_SEGMENT];
      Arrays.fill(known, UNKNOWN);
      pages[segment] = known;
    }
    long entry = known[page];
    if (entry != UNKNOWN) {
      hits++;
      return entry;
    }
    misses++;
    entry = host.readPageDescriptor(table + (long) page * PageDescriptorEntry.SIZE);
    known[page] = entry;
    return entry;
  }

  private long fault() {
    faults++;
    return FAULT;
  }
}
