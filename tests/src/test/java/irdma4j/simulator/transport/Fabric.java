package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.simulator.FrameTap;
import irdma4j.simulator.wire.Icrc;
import irdma4j.simulator.wire.Link;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Functions joined by a link, and the virtual clock that drives them. */
final class Fabric {
  final Link link;
  final FakeFunction[] functions;
  long now = 1_000_000;

  Fabric(int count, long memory, LinkFaults faults, long seed, @Nullable FrameTap tap) {
    link = new Link(count, 100, 500, faults, seed, tap);
    functions = new FakeFunction[count];
    for (int i = 0; i < count; i++) {
      functions[i] = new FakeFunction(this, i, memory);
    }
  }

  /** Is shown each frame that is sent, taken apart. */
  @FunctionalInterface
  interface Shown {
    /**
     * A frame is sent.
     *
     * @param frame its fields, during the call only
     * @param memory the frame at offset 0, during the call only
     */
    void sent(long time, int from, RoceFrame frame, MemorySegment memory);
  }

  /** Two functions whose frames are shown; one that is not whole RoCE fails the test. */
  static Fabric shown(long memory, LinkFaults faults, Shown shown) {
    RoceFrame frame = new RoceFrame();
    Icrc icrc = new Icrc();
    return new Fabric(
        2,
        memory,
        faults,
        1,
        (time, from, bytes, length, dropped) -> {
          assertTrue(frame.parse(bytes, length));
          assertTrue(frame.icrcMatches(bytes, icrc));
          shown.sent(time, from, frame, bytes);
        });
  }

  /** Does all work that is due, then moves the clock to the next event; false if there is none. */
  boolean step() {
    boolean busy = true;
    while (busy) {
      busy = false;
      for (FakeFunction function : functions) {
        busy |= function.engine.run();
      }
    }
    long next = link.nextArrival();
    for (FakeFunction function : functions) {
      next = Math.min(next, function.timer);
    }
    if (next == Long.MAX_VALUE) {
      return false;
    }
    now = Math.max(now, next);
    while (link.deliver(
        now, (port, frame, bytes, lent) -> functions[port].engine.receive(frame, bytes, lent))) {}
    for (FakeFunction function : functions) {
      if (function.timer <= now) {
        function.timer = Long.MAX_VALUE;
        function.engine.timer(now);
      }
    }
    return true;
  }

  /** Steps until nothing is left to do; fails if that takes longer than a time of the clock. */
  void settle(long nanos) {
    long end = now + nanos;
    while (step()) {
      if (now > end) {
        throw new AssertionError("not settled after " + nanos + " ns");
      }
    }
  }
}
