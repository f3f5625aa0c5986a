package irdma4j.simulator;

import irdma4j.simulator.device.Device;
import irdma4j.simulator.device.Mailbox;
import irdma4j.simulator.wire.Link;
import irdma4j.simulator.wire.Payload;
import irdma4j.uapi.PciException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs the devices and the wire of a simulation: on a thread of its own with the machine's clock,
 * or stepped inside its callers with virtual time.
 *
 * <p>Threaded, it parks when nothing is to be done. A writer puts its write into a mailbox and then
 * looks whether the engine is parked; the engine says that it parks and then looks into the
 * mailboxes once more. Between the two stands a full fence on either side, so one of them sees the
 * other.
 */
final class Engine implements AutoCloseable {
  private static final int SPINS_BEFORE_PARKING = 2000;
  private static final int RUNS_BETWEEN_CLOCK_READS = 4;
  private static final int FRAMES_AT_ONCE = 32;
  private static final long LATEST_TIMER = 20_000_000;
  private static final long SHORTEST_PARK = 50_000;
  private static final long SHORTEST_WAIT = 1_000;
  private static final long LONGEST_PARK = 1_000_000_000;
  private static final long READ_NANOS = 1_000;
  private static final long SMALLEST_PAUSE = 100;
  private static final int MOST_RUNS_AT_ONE_TIME = 10_000_000;

  private final boolean stepped;
  private final Device[] devices;
  private final Link link;
  private final WirePort[] wires;
  private final Link.Receiver receiver = this::arrived;
  private final ArrayDeque<Runnable> calls = new ArrayDeque<>();
  private final @Nullable Thread thread;
  private final EngineClock clock = new EngineClock(System.nanoTime());
  private volatile boolean callsWait;
  private volatile boolean parked;
  private volatile boolean stopping;
  private boolean ended;
  private volatile @Nullable Throwable failure;
  private long now;
  private int runsAtThisTime;

  Engine(boolean stepped, Device[] devices, Link link, List<Wire> outside) {
    this.stepped = stepped;
    this.wires = new WirePort[outside.size()];
    for (int i = 0; i < wires.length; i++) {
      wires[i] = new WirePort(outside.get(i), devices.length + i, this::wake);
    }
    this.devices = devices;
    this.link = link;
    this.now = stepped ? 0 : clock.now();
    this.thread =
        stepped ? null : Thread.ofPlatform().daemon().name("irdma4j-sim").unstarted(this::loop);
  }

  /** Starts the thread, once the devices are there. */
  void start() {
    if (thread != null) {
      thread.start();
    }
    for (WirePort wire : wires) {
      wire.start();
    }
  }

  boolean isStepped() {
    return stepped;
  }

  /** The engine's time, for the devices. */
  long now() {
    return now;
  }

  /** The time that a driver sees. */
  long clockNanos() {
    return stepped ? now : System.nanoTime();
  }

  // Register accesses.

  /** Posts a register write. */
  void post(Mailbox mailbox, int offset, int value) {
    long place = mailbox.claim();
    while (!mailbox.isFree(place)) {
      checkAlive();
      if (stepped) {
        runSome();
      } else {
        wake();
        Thread.onSpinWait();
      }
    }
    mailbox.put(place, offset, value);
    if (!stepped) {
      wake();
    }
  }

  /** Returns once all writes that were posted before have been handled. */
  void drain(Mailbox mailbox) {
    if (stepped) {
      advance(READ_NANOS);
      return;
    }
    long target = mailbox.claimed();
    int spins = 0;
    while (mailbox.handled() < target) {
      checkAlive();
      wake();
      if (++spins < SPINS_BEFORE_PARKING) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, SHORTEST_WAIT);
      }
    }
    checkAlive();
  }

  /** Runs something where no device works at the same time, and returns when it is done. */
  void call(Runnable work) {
    if (thread == null || Thread.currentThread() == thread) {
      synchronized (this) {
        work.run();
      }
      return;
    }
    CountDownLatch done = new CountDownLatch(1);
    boolean queued = false;
    synchronized (calls) {
      if (!ended) {
        queued = true;
        callsWait = true;
        calls.add(
            () -> {
              try {
                work.run();
              } finally {
                done.countDown();
              }
            });
      }
    }
    if (!queued) {
      // Nothing runs any more, so nothing works at the same time.
      synchronized (this) {
        work.run();
      }
      return;
    }
    wake();
    boolean interrupted = false;
    while (true) {
      try {
        done.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Fails if the engine has failed. */
  void checkAlive() {
    Throwable cause = failure;
    if (cause != null) {
      throw new PciException("the simulation's engine failed: " + cause, cause);
    }
  }

  // Time.

  /** As {@link irdma4j.uapi.DeviceClock#pause}. */
  @SuppressWarnings("ThreadPriorityCheck") // A hint: nothing but speed depends on it.
  void pause(long nanos) {
    if (stepped) {
      pauseStepped(Math.max(nanos, SMALLEST_PAUSE));
    } else if (nanos < SHORTEST_PARK) {
      long end = System.nanoTime() + nanos;
      do {
        // The device's own thread may need this processor.
        Thread.yield();
      } while (System.nanoTime() < end);
    } else {
      LockSupport.parkNanos(this, nanos);
    }
    checkAlive();
  }

  private synchronized void pauseStepped(long nanos) {
    long end = now + nanos;
    while (!runOnce()) {
      long next = nextEvent();
      if (next > end) {
        moveTo(end);
        return;
      }
      moveTo(next);
    }
  }

  /** Lets a stepped simulation run for a time. */
  synchronized void advance(long nanos) {
    long end = now + nanos;
    while (true) {
      if (runOnce()) {
        continue;
      }
      long next = nextEvent();
      if (next > end) {
        moveTo(end);
        return;
      }
      moveTo(next);
    }
  }

  /**
   * Lets a stepped simulation run until nothing is left to do now, and once more at the next event.
   */
  synchronized boolean step() {
    if (runOnce()) {
      return true;
    }
    long next = nextEvent();
    if (next == Long.MAX_VALUE) {
      return false;
    }
    moveTo(next);
    return runOnce();
  }

  private synchronized void runSome() {
    runOnce();
  }

  private void moveTo(long time) {
    if (time > now) {
      now = time;
      runsAtThisTime = 0;
    }
  }

  private long nextEvent() {
    long next = link.nextArrival();
    for (Device device : devices) {
      next = Math.min(next, device.timerAt());
    }
    return next;
  }

  /**
   * One turn: each device, then frames that have arrived, then timers. A timer waits while there is
   * other work to do, so that an engine that is behind does not take its own delay for a loss.
   */
  private boolean runOnce() {
    boolean worked = false;
    for (Device device : devices) {
      worked |= device.run();
    }
    for (WirePort wire : wires) {
      worked |= wire.drain(link, now);
    }
    for (int i = 0; i < FRAMES_AT_ONCE && link.deliver(now, receiver); i++) {
      worked = true;
    }
    long late = worked ? LATEST_TIMER : 0;
    for (Device device : devices) {
      worked |= device.runTimer(now - late);
    }
    if (stepped && worked && ++runsAtThisTime > MOST_RUNS_AT_ONE_TIME) {
      throw new IllegalStateException("the devices never rest, and time stands still at " + now);
    }
    return worked;
  }

  private void arrived(int port, MemorySegment frame, int bytes, @Nullable Payload lent) {
    if (port < devices.length) {
      devices[port].receive(frame, bytes, lent);
    } else {
      wires[port - devices.length].send(frame, bytes);
    }
  }

  // The thread.

  private void loop() {
    try {
      int idle = 0;
      while (!stopping) {
        clock.turn(System.nanoTime());
        now = clock.now();
        boolean worked = false;
        for (int i = 0; i < RUNS_BETWEEN_CLOCK_READS && runOnce(); i++) {
          worked = true;
        }
        if (callsWait) {
          runCalls();
          worked = true;
        }
        if (worked) {
          idle = 0;
        } else if (++idle < SPINS_BEFORE_PARKING) {
          Thread.onSpinWait();
        } else {
          park();
        }
      }
    } catch (Throwable e) {
      failure = e;
    } finally {
      synchronized (calls) {
        ended = true;
      }
      runCalls();
    }
  }

  private void park() {
    long wait = Math.min(clock.until(nextEvent(), System.nanoTime()), LONGEST_PARK);
    if (wait < SHORTEST_PARK) {
      return;
    }
    parked = true;
    VarHandle.fullFence();
    if (!callsWait && !stopping && nothingWaits()) {
      LockSupport.parkNanos(this, wait);
      clock.waited(System.nanoTime(), wait);
      now = clock.now();
    }
    parked = false;
  }

  private boolean nothingWaits() {
    for (Device device : devices) {
      if (!device.mailbox().isEmpty()) {
        return false;
      }
    }
    for (WirePort wire : wires) {
      if (wire.hasFrames()) {
        return false;
      }
    }
    return true;
  }

  private void wake() {
    VarHandle.fullFence();
    if (parked) {
      LockSupport.unpark(thread);
    }
  }

  private void runCalls() {
    while (true) {
      Runnable call;
      synchronized (calls) {
        call = calls.poll();
        if (call == null) {
          callsWait = false;
          return;
        }
      }
      call.run();
    }
  }

  /** Ends the thread. */
  @Override
  public void close() {
    stopping = true;
    for (WirePort wire : wires) {
      wire.close();
    }
    if (thread == null) {
      return;
    }
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
