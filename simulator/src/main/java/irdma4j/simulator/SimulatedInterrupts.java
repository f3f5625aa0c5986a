package irdma4j.simulator;

import irdma4j.uapi.Interrupts;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/**
 * The MSI-X vectors of a simulated function: the engine fires them, a driver's thread takes them.
 */
final class SimulatedInterrupts implements Interrupts {
  private final Engine engine;
  private final AtomicIntegerArray pending;
  private final AtomicLongArray fired;
  private final AtomicReferenceArray<Thread> waiting;
  private volatile int enabled;

  SimulatedInterrupts(Engine engine, int vectors) {
    this.engine = engine;
    this.pending = new AtomicIntegerArray(vectors);
    this.fired = new AtomicLongArray(vectors);
    this.waiting = new AtomicReferenceArray<>(vectors);
  }

  @Override
  public int count() {
    return pending.length();
  }

  @Override
  public void enable(int vectors) {
    if (vectors < 0 || vectors > count()) {
      throw new IllegalArgumentException(vectors + " vectors: the function has " + count());
    }
    for (int i = 0; i < vectors; i++) {
      pending.set(i, 0);
      fired.set(i, 0);
    }
    enabled = vectors;
  }

  @Override
  public void disable() {
    enabled = 0;
    for (int i = 0; i < count(); i++) {
      pending.set(i, 0);
    }
  }

  @Override
  public boolean poll(int vector) {
    Objects.checkIndex(vector, enabled);
    return take(vector);
  }

  @Override
  public boolean await(int vector, long timeoutNanos) {
    Objects.checkIndex(vector, enabled);
    if (take(vector)) {
      return true;
    }
    if (timeoutNanos <= 0) {
      return false;
    }
    return engine.isStepped() ? stepUntil(vector, timeoutNanos) : parkUntil(vector, timeoutNanos);
  }

  private boolean stepUntil(int vector, long timeoutNanos) {
    long end = engine.now() + timeoutNanos;
    while (!take(vector)) {
      if (engine.now() >= end) {
        return false;
      }
      engine.pause(end - engine.now());
    }
    return true;
  }

  private boolean parkUntil(int vector, long timeoutNanos) {
    long end = System.nanoTime() + timeoutNanos;
    waiting.set(vector, Thread.currentThread());
    try {
      // The engine sets pending before it looks for a waiter; this looks after it became one.
      while (!take(vector)) {
        engine.checkAlive();
        long left = end - System.nanoTime();
        if (left <= 0 || Thread.currentThread().isInterrupted()) {
          return false;
        }
        LockSupport.parkNanos(this, left);
      }
      return true;
    } finally {
      waiting.set(vector, null);
    }
  }

  @Override
  public long fired(int vector) {
    Objects.checkIndex(vector, enabled);
    return fired.get(vector);
  }

  private boolean take(int vector) {
    return pending.get(vector) != 0 && pending.getAndSet(vector, 0) != 0;
  }

  /** An MSI-X message arrives. */
  void fire(int vector) {
    if (vector >= enabled) {
      return;
    }
    fired.incrementAndGet(vector);
    pending.set(vector, 1);
    Thread thread = waiting.get(vector);
    if (thread != null) {
      LockSupport.unpark(thread);
    }
  }
}
