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
     * @param type how segments are to be backed
     */
    HmcSubject open(
        PciFunction function, SegmentProgrammer device, HmcLayout layout, SegmentType type);
  }

  /** Makes objects {@code first} to {@code first + count - 1}, of which none exists. */
  void create(HmcObject kind, long first, long count);

  /** Removes objects, all of which exist. */
  void delete(HmcObject kind, long first, long count);

  /** Gives all memory back without telling the device. */
  @Override
  void close();

  /** The project's own. */
  static HmcSubject hostMemoryCache(
      PciFunction function, SegmentProgrammer device, HmcLayout layout, SegmentType type) {
    HostMemoryCache cache = new HostMemoryCache(function, device, layout, type);
    return new HmcSubject() {
      @Override
      public void create(HmcObject kind, long first, long count) {
        cache.create(kind, first, count);
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
