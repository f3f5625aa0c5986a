package irdma4j.hmc;

import java.util.List;

/**
 * How the Host Memory Cache tells the device of its segments; the driver's control queue does it.
 */
public interface SegmentProgrammer {
  /**
   * Writes entries of the device's segment descriptor table. Either all are written or an exception
   * is thrown and none is known to be.
   *
   * @param updates at least one
   */
  void updateSegments(List<SegmentUpdate> updates);

  /**
   * Makes the device forget a page descriptor that it may hold. When this returns the device has
   * been reached, so that the page's memory may go.
   *
   * @param segment index of the segment
   * @param page index of the page in it, 0 to 511
   */
  void invalidatePage(int segment, int page);
}
