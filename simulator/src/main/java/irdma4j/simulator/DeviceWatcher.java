package irdma4j.simulator;

/** Is told of everything that the simulated functions see and do, as it happens. */
@FunctionalInterface
public interface DeviceWatcher {
  /**
   * Called for each event, by one thread at a time: the engine's, or for a register read the thread
   * that reads. It must not call into the simulation.
   *
   * @param nanos the simulation's time
   * @param function index of the function
   * @param event what happened; may be kept
   */
  void event(long nanos, int function, DeviceEvent event);

  /** Both this watcher and another, in that order. */
  default DeviceWatcher and(DeviceWatcher other) {
    return (nanos, function, event) -> {
      event(nanos, function, event);
      other.event(nanos, function, event);
    };
  }
}
