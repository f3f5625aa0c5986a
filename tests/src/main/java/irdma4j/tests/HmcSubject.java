package irdma4j.tests;

import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentProgrammer;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.uapi.PciFunction;

/**
 * What {@link HmcTrial} tries: something that backs HMC objects with memory and tells the device.
 * Wrap an allocator of your own in this.
 *
 * <p>An operation that can't be done throws a RuntimeException and leaves everything as it was.
 */
public interface HmcSubject extends AutoCloseable {
  /** Makes a subject. */
  @FunctionalInterface
  interface Factory {
    /**
     * Makes one with no object.
     *
     * @param function where memory comes from
     * @param device the device to be told
     * @param layout where the objects lie
     */
    HmcSubject open(PciFunction function, SegmentProgrammer device, HmcLayout layout);
  }

  /**
   * Makes objects {@code first} to {@code first + count - 1}, of which none exists.
   *
   * @param type how a segment is backed that is not there yet; any other stays what it is
   */
  void create(HmcObject kind, long first, long count, SegmentType type);

  /**
   * How a new segment is really backed if this is wanted. An allocator that knows one kind alone
   * says so here.
   */
  default SegmentType backing(SegmentType wanted) {
    return wanted;
  }

  /** Removes objects, all of which exist. */
  void delete(HmcObject kind, long first, long count);

  /** Gives all memory back without telling the device. */
  @Override
  void close();

  /** The project's own. */
  static HmcSubject hostMemoryCache(
      PciFunction function, SegmentProgrammer device, HmcLayout layout) {
    return of(new HostMemoryCache(function, device, layout, SegmentType.DIRECT));
  }

  /** A cache of the project's own. */
  static HmcSubject of(HostMemoryCache cache) {
    return new HmcSubject() {
      @Override
      public void create(HmcObject kind, long first, long count, SegmentType type) {
        cache.create(kind, first, count, type);
      }

      @Override
      public void delete(HmcObject kind, long first, long count) {
        cache.delete(kind, first, count);
      }

      @Override
      public void close() {
        cache.close();
      }
    };
  }
}
