package irdma4j.driver;

/** Told of each stage of bring-up as it passes. */
@FunctionalInterface
public interface StageListener {
  /**
   * A stage is up.
   *
   * @param stage its name
   * @param detail what it found or made, in a few words; may be empty
   * @param nanos how long it took, in the device's time
   */
  void passed(String stage, String detail, long nanos);

  /** Listens to nothing. */
  static StageListener none() {
    return (stage, detail, nanos) -> {};
  }
}
