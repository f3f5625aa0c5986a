package irdma4j.uapi.vfio;

import java.util.function.IntFunction;

/**
 * The eventfds of enabled vectors. They are closed when the last thread that uses one has left:
 * closed below a thread that waits, a descriptor's number could be somebody else's when it wakes.
 * Safe for use by several threads.
 */
final class EventFiles {
  private final SystemCalls calls;
  private final int[] files;
  private int users;
  private boolean stopped;

  /**
   * Makes eventfds.
   *
   * @throws irdma4j.uapi.SystemCallException if the kernel refuses one; none is left then
   */
  EventFiles(SystemCalls calls, int count) {
    this.calls = calls;
    this.files = new int[count];
    int made = 0;
    try {
      while (made < count) {
        files[made] = calls.eventfd();
        made++;
      }
    } catch (RuntimeException e) {
      for (int i = 0; i < made; i++) {
        calls.close(files[i]);
      }
      throw e;
    }
  }

  /** How many there are. */
  int count() {
    return files.length;
  }

  /** Their descriptors, for the kernel. */
  int[] descriptors() {
    return files.clone();
  }

  /**
   * Uses a vector's eventfd.
   *
   * @return what the use returned, or {@code otherwise} after {@link #stop()}
   */
  <T> T use(int vector, T otherwise, IntFunction<T> use) {
    synchronized (this) {
      if (stopped) {
        return otherwise;
      }
      users++;
    }
    try {
      return use.apply(files[vector]);
    } finally {
      synchronized (this) {
        users--;
        notifyAll();
      }
    }
  }

  /** Whether {@link #stop()} was called. */
  synchronized boolean isStopped() {
    return stopped;
  }

  /** Lets nobody use them any more, wakes the threads that wait, and waits until they have left. */
  synchronized void stop() {
    stopped = true;
    boolean interrupted = false;
    while (users > 0) {
      for (int file : files) {
        calls.signalEvent(file);
      }
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes what nobody uses; once. */
  void close() {
    for (int file : files) {
      calls.close(file);
    }
  }
}
