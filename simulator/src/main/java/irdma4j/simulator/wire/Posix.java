package irdma4j.simulator.wire;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The few system calls behind wires that Java's own library does not reach: datagram sockets in the
 * file system, and TAP devices. Numbers are those of Linux on every architecture that it shares
 * them on; source: {@code bits/socket.h}, {@code fcntl.h}, {@code poll.h}, {@code linux/if_tun.h}.
 */
@SuppressWarnings("restricted")
final class Posix {
  static final int AF_UNIX = 1;
  static final int SOCK_DGRAM = 2;
  static final int SOL_SOCKET = 1;
  static final int SO_RCVBUF = 8;
  static final int MSG_DONTWAIT = 0x40;
  static final int O_RDWR = 2;
  static final int O_NONBLOCK = 0x800;
  static final int EINTR = 4;
  static final int EAGAIN = 11;
  static final int ENOENT = 2;
  static final int ENOBUFS = 105;
  static final int ECONNREFUSED = 111;
  static final int EIO = 5;
  private static final short POLLIN = 1;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final VarHandle ERRNO_FIELD =
      Linker.Option.captureStateLayout().varHandle(PathElement.groupElement("errno"));
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

  private static final MethodHandle SOCKET = call("socket", INT, INT, INT, INT);
  private static final MethodHandle BIND = call("bind", INT, INT, ValueLayout.ADDRESS, INT);
  private static final MethodHandle SETSOCKOPT =
      call("setsockopt", INT, INT, INT, INT, ValueLayout.ADDRESS, INT);
  private static final MethodHandle SENDTO =
      call("sendto", LONG, INT, ValueLayout.ADDRESS, LONG, INT, ValueLayout.ADDRESS, INT);
  private static final MethodHandle READ = call("read", LONG, INT, ValueLayout.ADDRESS, LONG);
  private static final MethodHandle WRITE = call("write", LONG, INT, ValueLayout.ADDRESS, LONG);
  private static final MethodHandle POLL = call("poll", INT, ValueLayout.ADDRESS, LONG, INT);
  private static final MethodHandle CLOSE = call("close", INT, INT);
  private static final MethodHandle OPEN = variadic("open", 2, INT, ValueLayout.ADDRESS, INT, INT);
  private static final MethodHandle IOCTL =
      variadic("ioctl", 2, INT, INT, LONG, ValueLayout.ADDRESS);
  private static final MethodHandle STRERROR =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("strerror"),
          FunctionDescriptor.of(ValueLayout.ADDRESS, INT));

  private Posix() {}

  private static MethodHandle call(String name, ValueLayout result, ValueLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments), ERRNO);
  }

  private static MethodHandle variadic(
      String name, int fixed, ValueLayout result, ValueLayout... arguments) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(result, arguments),
        ERRNO,
        Linker.Option.firstVariadicArg(fixed));
  }

  /** Where a call leaves its error number; one for each thread that calls. */
  static MemorySegment errorState(Arena arena) {
    return arena.allocate(Linker.Option.captureStateLayout());
  }

  static int errno(MemorySegment state) {
    return (int) ERRNO_FIELD.get(state, 0L);
  }

  static IOException failed(String what, MemorySegment state) {
    int errno = errno(state);
    try {
      MemorySegment text = (MemorySegment) STRERROR.invokeExact(errno);
      return new IOException(what + ": " + text.reinterpret(256).getString(0));
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static int socket(MemorySegment state, int domain, int type) {
    try {
      return (int) SOCKET.invokeExact(state, domain, type, 0);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static int bind(MemorySegment state, int fd, MemorySegment address) {
    try {
      return (int) BIND.invokeExact(state, fd, address, (int) address.byteSize());
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static int setOption(MemorySegment state, int fd, int option, MemorySegment value) {
    try {
      return (int)
          SETSOCKOPT.invokeExact(state, fd, SOL_SOCKET, option, value, (int) value.byteSize());
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static long sendTo(
      MemorySegment state, int fd, MemorySegment bytes, long count, MemorySegment address) {
    try {
      return (long)
          SENDTO.invokeExact(
              state, fd, bytes, count, MSG_DONTWAIT, address, (int) address.byteSize());
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static long read(MemorySegment state, int fd, MemorySegment target, long count) {
    try {
      return (long) READ.invokeExact(state, fd, target, count);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static long write(MemorySegment state, int fd, MemorySegment bytes, long count) {
    try {
      return (long) WRITE.invokeExact(state, fd, bytes, count);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /** Fills a {@code struct pollfd} that waits for input. */
  static MemorySegment pollInput(Arena arena, int fd) {
    MemorySegment entry = arena.allocate(8, 4);
    entry.set(INT, 0, fd);
    entry.set(ValueLayout.JAVA_SHORT, 4, POLLIN);
    return entry;
  }

  static int poll(MemorySegment state, MemorySegment entry, int millis) {
    try {
      return (int) POLL.invokeExact(state, entry, 1L, millis);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static int close(MemorySegment state, int fd) {
    try {
      return (int) CLOSE.invokeExact(state, fd);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static int open(MemorySegment state, MemorySegment path, int flags) {
    try {
      return (int) OPEN.invokeExact(state, path, flags, 0);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static int ioctl(MemorySegment state, int fd, long request, MemorySegment argument) {
    try {
      return (int) IOCTL.invokeExact(state, fd, request, argument);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
