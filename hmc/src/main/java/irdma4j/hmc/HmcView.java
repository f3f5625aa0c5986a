package irdma4j.hmc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Questions to a Host Memory Cache, which change nothing. Answers are of the moment; ask on the
 * thread that changes the cache.
 */
public interface HmcView {
  /** Where the objects lie. */
  HmcLayout layout();

  /**
   * What lies at an FPM address.
   *
   * @return the location, or null if no object of the layout lies there
   */
  @Nullable FpmLocation locate(long address);

  /** The backed segments, by index. */
  List<SegmentUse> segments();

  /** What there is of each kind, by address. */
  List<ObjectUse> objects();
}
