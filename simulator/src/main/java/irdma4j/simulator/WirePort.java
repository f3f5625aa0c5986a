package irdma4j.simulator;

import irdma4j.simulator.wire.Link;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Semaphore;

/**
 * The port of a link at which a wire ends: a thread that waits for frames, and slots in which they
 * wait for the engine. When all slots are taken the thread leaves frames where they are.
 */
final class WirePort implements AutoCloseable {
  private static final int SLOTS = 256;

  /** One less than there are, so that all taken and none taken differ. */
  private static final int USABLE = SLOTS - 1;

  private final Wire wire;
  private final int port;
  private final Runnable wake;
  private final MemorySegment[] slots = new MemorySegment[SLOTS];
  private final int[] bytes = new int[SLOTS];
  private final Semaphore free = new Semaphore(USABLE);
  private final Thread thread;
  private volatile int filled;
  private int taken;

  WirePort(Wire wire, int port, Runnable wake) {
    this.wire = wire;
    this.port = port;
    this.wake = wake;
    Arena arena = Arena.ofAuto();
    for (int i = 0; i < SLOTS; i++) {
      slots[i] = arena.allocate(Wire.MAX_FRAME, 64);
    }
    thread = Thread.ofPlatform().daemon().name("irdma4j-wire").unstarted(this::loop);
  }

  void start() {
    thread.start();
  }

  private void loop() {
    int next = 0;
    while (true) {
      free.acquireUninterruptibly();
      int count;
      do {
        count = wire.receive(slots[next]);
      } while (count >= 0 && count < Link.LEAST_FRAME);
      if (count < 0) {
        return;
      }
      bytes[next] = count;
      next = (next + 1) % SLOTS;
      filled = next;
      wake.run();
    }
  }

  /** Whether a frame waits for the engine. */
  boolean hasFrames() {
    return filled != taken;
  }

  /** Puts what has come in on the link; on the engine's thread. */
  boolean drain(Link link, long now) {
    boolean any = false;
    while (filled != taken) {
      link.send(port, slots[taken], bytes[taken], now);
      taken = (taken + 1) % SLOTS;
      free.release();
      any = true;
    }
    return any;
  }

  /** Sends a frame that arrived at the port. */
  void send(MemorySegment frame, int count) {
    wire.send(frame, count);
  }

  @Override
  public void close() {
    wire.close();
    free.release(USABLE);
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
