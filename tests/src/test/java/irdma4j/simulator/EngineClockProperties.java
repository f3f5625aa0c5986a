package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

class EngineClockProperties {
  /**
   * However long the machine keeps the engine from running, no timer that is more than a step ahead
   * is passed in one turn. It fails if a turn takes over the machine's time.
   */
  @Property
  void aGapIsOneStep(
      @ForAll @Size(min = 1, max = 50)
          List<@LongRange(min = 0, max = 1_000_000_000_000L) Long> gaps,
      @ForAll @LongRange(min = -(1L << 62), max = 1L << 62) long start) {
    EngineClock clock = new EngineClock(start);
    long machine = start;
    for (long gap : gaps) {
      long before = clock.now();
      machine += gap;
      clock.turn(machine);
      long passed = clock.now() - before;
      assertEquals(Math.min(gap, EngineClock.LONGEST_STEP), passed);
      assertTrue(clock.now() <= machine, "ahead of the machine");
    }
  }

  /**
   * An engine that waits for a timer and is woken late wakes at the timer's time. It fails if the
   * whole wait counts.
   */
  @Property
  void aLateWakeUpIsOnTime(
      @ForAll @LongRange(min = 1, max = 1_000_000_000L) long wait,
      @ForAll @LongRange(min = 0, max = 1_000_000_000L) long late,
      @ForAll @LongRange(min = 0, max = 1_000_000L) long running) {
    EngineClock clock = new EngineClock(0);
    long due = running + wait;
    clock.turn(0);
    long longest = clock.until(due, running);
    assertEquals(wait, longest);
    clock.turn(running);
    clock.waited(running + wait + late, longest);
    assertEquals(due, clock.now());
  }
}
