package irdma4j.uapi.vfio;

import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.pollfd;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** The kernel itself. */
final class LinuxCalls implements SystemCalls {
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final MethodHandle OPEN =
      handle(
          Linux.open.address(),
          FunctionDescriptor.of(Linux.C_INT, Linux.C_POINTER, Linux.C_INT),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle IOCTL_POINTER =
      handle(
          Linux.ioctl.address(),
          FunctionDescriptor.of(Linux.C_INT, Linux.C_INT, Linux.C_LONG, Linux.C_POINTER),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle IOCTL_NUMBER =
      handle(
          Linux.ioctl.address(),
          FunctionDescriptor.of(Linux.C_INT, Linux.C_INT, Linux.C_LONG, Linux.C_LONG),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle MMAP = handle(Linux.mmap$address(), Linux.mmap$descriptor());
  private static final MethodHandle PREAD = handle(Linux.pread$address(), Linux.pread$descriptor());
  private static final MethodHandle PWRITE =
      handle(Linux.pwrite$address(), Linux.pwrite$descriptor());
  private static final MethodHandle READ = handle(Linux.read$address(), Linux.read$descriptor());
  private static final MethodHandle EVENTFD =
      handle(Linux.eventfd$address(), Linux.eventfd$descriptor());
  private static final MethodHandle POLL = handle(Linux.poll$address(), Linux.poll$descriptor());
  private static final long MAP_FAILED = -1;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private static MethodHandle handle(
      MemorySegment function, FunctionDescriptor descriptor, Linker.Option... options) {
    Linker.Option[] all = new Linker.Option[options.length + 1];
    System.arraycopy(options, 0, all, 0, options.length);
    all[options.length] = Linker.Option.captureCallState("errno");
    return Linker.nativeLinker().downcallHandle(function, descriptor, all);
  }

  /** A call whose errno lands in the state that it is given. */
  @FunctionalInterface
  private interface Call {
    long make(Arena arena, MemorySegment state) throws Throwable;
  }

  private static long call(String what, Call call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      while (true) {
        long result = invoke(call, arena, state);
        if (result != -1) {
          return result;
        }
        int errno = (int) ERRNO.get(state, 0L);
        if (errno != Linux.EINTR()) {
          throw Errno.refused(what, errno);
        }
      }
    }
  }

  private static long invoke(Call call, Arena arena, MemorySegment state) {
    try {
      return call.make(arena, state);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public int open(String path) {
    return (int)
        call(
            "open(" + path + ")",
            (arena, state) ->
                (int)
                    OPEN.invokeExact(
                        state, arena.allocateFrom(path), Linux.O_RDWR() | Linux.O_CLOEXEC()));
  }

  @Override
  public void close(int fd) {
    // Whatever close returns, the descriptor is gone.
    Linux.close(fd);
  }

  @Override
  public int ioctl(String name, int fd, int request, MemorySegment argument) {
    return (int)
        call(
            name,
            (arena, state) ->
                (int)
                    IOCTL_POINTER.invokeExact(
                        state, fd, Integer.toUnsignedLong(request), argument));
  }

  @Override
  public int ioctl(String name, int fd, int request, long argument) {
    return (int)
        call(
            "%s(%d)".formatted(name, argument),
            (arena, state) ->
                (int)
                    IOCTL_NUMBER.invokeExact(state, fd, Integer.toUnsignedLong(request), argument));
  }

  @Override
  public MemorySegment mmap(long bytes, int protection, int flags, int fd, long offset) {
    String what =
        "mmap(%d bytes%s)"
            .formatted(bytes, (flags & Linux.MAP_HUGETLB()) != 0 ? ", MAP_HUGETLB" : "");
    long address =
        call(
            what,
            (arena, state) -> {
              MemorySegment at =
                  (MemorySegment)
                      MMAP.invokeExact(
                          state, MemorySegment.NULL, bytes, protection, flags, fd, offset);
              return at.address();
            });
    assert address != MAP_FAILED;
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  @Override
  public void munmap(MemorySegment mapping) {
    Linux.munmap(mapping, mapping.byteSize());
  }

  @Override
  public void pread(int fd, MemorySegment buffer, long offset) {
    long bytes = buffer.byteSize();
    String what = "pread(%d bytes at 0x%x)".formatted(bytes, offset);
    long done =
        call(what, (arena, state) -> (long) PREAD.invokeExact(state, fd, buffer, bytes, offset));
    if (done != bytes) {
      throw Errno.refused(what + " gave " + done, Linux.EIO());
    }
  }

  @Override
  public void pwrite(int fd, MemorySegment buffer, long offset) {
    long bytes = buffer.byteSize();
    String what = "pwrite(%d bytes at 0x%x)".formatted(bytes, offset);
    long done =
        call(what, (arena, state) -> (long) PWRITE.invokeExact(state, fd, buffer, bytes, offset));
    if (done != bytes) {
      throw Errno.refused(what + " took " + done, Linux.EIO());
    }
  }

  @Override
  public int eventfd() {
    int flags = Linux.EFD_NONBLOCK() | Linux.EFD_CLOEXEC();
    return (int) call("eventfd()", (arena, state) -> (int) EVENTFD.invokeExact(state, 0, flags));
  }

  @Override
  public long readEvent(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_LONG);
      MemorySegment state = arena.allocate(STATE);
      long got =
          invoke(
              (unused, s) -> (long) READ.invokeExact(s, fd, count, count.byteSize()), arena, state);
      if (got == count.byteSize()) {
        return count.get(ValueLayout.JAVA_LONG, 0);
      }
      int errno = (int) ERRNO.get(state, 0L);
      if (errno == Linux.EAGAIN() || errno == Linux.EINTR()) {
        return 0;
      }
      throw Errno.refused("read(eventfd %d)".formatted(fd), errno);
    }
  }

  @Override
  public void signalEvent(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      // One that is full is signalled already.
      Linux.write(fd, arena.allocateFrom(ValueLayout.JAVA_LONG, 1), Long.BYTES);
    }
  }

  @Override
  public boolean awaitEvent(int fd, long timeoutNanos) {
    // poll counts milliseconds; a part of one is waited as a whole.
    long millis = Math.ceilDiv(timeoutNanos, NANOS_PER_MILLI);
    int timeout = (int) Math.min(Integer.MAX_VALUE, millis);
    return call(
            "poll(eventfd %d)".formatted(fd),
            (arena, state) -> {
              MemorySegment one = pollfd.allocate(arena);
              pollfd.fd(one, fd);
              pollfd.events(one, (short) Linux.POLLIN());
              return (int) POLL.invokeExact(state, one, 1L, timeout);
            })
        > 0;
  }
}
