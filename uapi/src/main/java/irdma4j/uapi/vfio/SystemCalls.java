package irdma4j.uapi.vfio;

import java.lang.foreign.MemorySegment;

/**
 * The system calls that VFIO needs, and nothing more: {@link LinuxCalls} makes them, and tests put
 * a kernel of their own here. Safe for use by several threads.
 *
 * <p>Each throws {@link irdma4j.uapi.SystemCallException} if the kernel refuses, and is repeated if
 * a signal interrupts it.
 */
interface SystemCalls {
  /** Opens a file for reading and writing; the descriptor is closed on exec. */
  int open(String path);

  /** Closes a descriptor; never fails. */
  void close(int fd);

  /**
   * An ioctl with a structure.
   *
   * @param name of the request, for the error
   * @param request its number
   * @param argument the structure, in native memory
   * @return what the kernel returned, 0 or more
   */
  int ioctl(String name, int fd, int request, MemorySegment argument);

  /** An ioctl with a number. */
  int ioctl(String name, int fd, int request, long argument);

  /**
   * Maps memory.
   *
   * @return the memory, until {@link #munmap}
   */
  MemorySegment mmap(long bytes, int protection, int flags, int fd, long offset);

  /** Takes a mapping away; never fails. */
  void munmap(MemorySegment mapping);

  /** Reads all of a buffer from a file at an offset. */
  void pread(int fd, MemorySegment buffer, long offset);

  /** Writes all of a buffer to a file at an offset. */
  void pwrite(int fd, MemorySegment buffer, long offset);

  /** Makes an eventfd that does not block. */
  int eventfd();

  /**
   * Takes what an eventfd has counted.
   *
   * @return how often it was signalled since the last call, or 0
   */
  long readEvent(int fd);

  /** Signals an eventfd, as a device's interrupt does; never fails. */
  void signalEvent(int fd);

  /**
   * Waits until an eventfd is signalled.
   *
   * @param timeoutNanos how long to wait at most
   * @return whether it is
   */
  boolean awaitEvent(int fd, long timeoutNanos);
}
