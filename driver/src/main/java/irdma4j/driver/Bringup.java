package irdma4j.driver;

import irdma4j.uapi.DeviceClock;
import java.util.ArrayDeque;
import java.util.Deque;

/** Stages that came up, and how to take them down again. Not thread-safe. */
final class Bringup {
  /** What a stage does when it comes up. */
  @FunctionalInterface
  interface Up {
    /** Brings the stage up wholly, or throws and leaves nothing; says what it found. */
    String run();
  }

  private record Passed(String name, Runnable down) {}

  private final DeviceClock clock;
  private final StageListener listener;
  private final Deque<Passed> passed = new ArrayDeque<>();

  Bringup(DeviceClock clock, StageListener listener) {
    this.clock = clock;
    this.listener = listener;
  }

  /**
   * Brings a stage up.
   *
   * @throws RdmaException if it fails; all stages that were up are down then
   */
  void stage(String name, Up up, Runnable down) {
    long start = clock.nanos();
    String detail;
    try {
      detail = up.run();
    } catch (RuntimeException e) {
      RdmaException failure =
          new RdmaException("bring-up failed at stage '" + name + "': " + e.getMessage(), e);
      try {
        unwind();
      } catch (RuntimeException alsoFailed) {
        failure.addSuppressed(alsoFailed);
      }
      throw failure;
    }
    passed.push(new Passed(name, down));
    listener.passed(name, detail, clock.nanos() - start);
  }

  /** Tells of a stage that has its place here and is not needed yet. */
  void omitted(String name, String why) {
    listener.passed(name, why, 0);
  }

  /** Takes every stage down, last first. Goes on after a failure, then throws the first. */
  void unwind() {
    Failures failures = new Failures();
    while (!passed.isEmpty()) {
      Passed stage = passed.pop();
      try {
        stage.down().run();
      } catch (RuntimeException e) {
        failures.add(
            new RdmaException("tear-down of '" + stage.name() + "': " + e.getMessage(), e));
      }
    }
    failures.throwFirst();
  }
}
