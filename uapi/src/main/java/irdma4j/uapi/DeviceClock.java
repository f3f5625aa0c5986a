package irdma4j.uapi;

/**
 * The time that a device lives in. A card's is the machine's monotonic clock; a simulated device
 * that is stepped by hand has virtual time, and it moves only while someone waits.
 */
public interface DeviceClock {
  /** Nanoseconds since an arbitrary start; never goes back. */
  long nanos();

  /**
   * Waits about this long; for a stepped device, lets it run for that much of its time, and returns
   * sooner once it has done something.
   *
   * @param nanos how long to wait, 0 or more; 0 is the smallest wait there is (a spin hint)
   */
  void pause(long nanos);
}
