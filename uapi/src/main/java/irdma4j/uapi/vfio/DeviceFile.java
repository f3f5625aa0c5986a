package irdma4j.uapi.vfio;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntFunction;

/**
 * An open device's descriptor. Once it is closed the kernel gives its number to somebody else, so
 * nothing gets past {@link #close()} here. Safe for use by several threads.
 */
final class DeviceFile {
  private final SystemCalls calls;
  private final int fd;
  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private boolean closed;

  /** Owns a descriptor from now on. */
  DeviceFile(SystemCalls calls, int fd) {
    this.calls = calls;
    this.fd = fd;
  }

  private <T> T use(IntFunction<T> use) {
    lock.readLock().lock();
    try {
      if (closed) {
        throw new IllegalStateException("the device is closed");
      }
      return use.apply(fd);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** As {@link SystemCalls#ioctl(String, int, int, MemorySegment)}. */
  int ioctl(String name, int request, MemorySegment argument) {
    return use(file -> calls.ioctl(name, file, request, argument));
  }

  /** As {@link SystemCalls#ioctl(String, int, int, long)}. */
  int ioctl(String name, int request, long argument) {
    return use(file -> calls.ioctl(name, file, request, argument));
  }

  /** As {@link SystemCalls#mmap}. */
  MemorySegment mmap(long bytes, int protection, int flags, long offset) {
    return use(file -> calls.mmap(bytes, protection, flags, file, offset));
  }

  /** As {@link SystemCalls#pread}. */
  void pread(MemorySegment buffer, long offset) {
    use(
        file -> {
          calls.pread(file, buffer, offset);
          return 0;
        });
  }

  /** As {@link SystemCalls#pwrite}. */
  void pwrite(MemorySegment buffer, long offset) {
    use(
        file -> {
          calls.pwrite(file, buffer, offset);
          return 0;
        });
  }

  /** Waits for the calls that are under way, and closes; nothing if it is closed. */
  void close() {
    lock.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        calls.close(fd);
      }
    } finally {
      lock.writeLock().unlock();
    }
  }
}
