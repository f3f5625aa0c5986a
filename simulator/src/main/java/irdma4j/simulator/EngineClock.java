package irdma4j.simulator;

/**
 * The time of a threaded engine: the machine's, less what passed while the engine did not run.
 *
 * <p>A card's timers and its wire go on together. An engine that the machine kept from running
 * would see all its timers late at once, before it could handle what was to come before them; so
 * such a gap counts as one short step.
 */
final class EngineClock {
  /** What passes at most between two turns, in nanoseconds. */
  static final long LONGEST_STEP = 1_000_000;

  private long machine;
  private long now;

  /** Starts at the machine's time. */
  EngineClock(long machineNanos) {
    machine = machineNanos;
    now = machineNanos;
  }

  long now() {
    return now;
  }

  /** The engine begins a turn. */
  void turn(long machineNanos) {
    advance(machineNanos, LONGEST_STEP);
  }

  /** The engine has waited, and meant to wait no longer than a time. */
  void waited(long machineNanos, long longest) {
    advance(machineNanos, longest);
  }

  /** How long the engine may wait from now on, if something is due at a time. */
  long until(long due, long machineNanos) {
    return due - now - (machineNanos - machine);
  }

  private void advance(long machineNanos, long longest) {
    now += Math.clamp(machineNanos - machine, 0, longest);
    machine = Math.max(machine, machineNanos);
  }
}
