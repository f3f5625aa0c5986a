package irdma4j.simulator.wire;

import irdma4j.simulator.Wire;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Frames as datagrams between two sockets in the file system. */
public final class UnixDatagramWire implements Wire {
  private static final int MAX_PATH = 107;
  private static final int RECEIVE_BUFFER = 4 << 20;

  private final FileWire file;
  private final Path local;
  private final MemorySegment remote;

  private UnixDatagramWire(FileWire file, Path local, MemorySegment remote) {
    this.file = file;
    this.local = local;
    this.remote = remote;
  }

  /** See {@link Wire#unix}. */
  public static Wire open(Path local, Path remote) throws IOException {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment state = Posix.errorState(arena);
      MemorySegment own = address(arena, local);
      MemorySegment other = address(arena, remote);
      int fd = Posix.socket(state, Posix.AF_UNIX, Posix.SOCK_DGRAM);
      if (fd < 0) {
        throw Posix.failed("socket", state);
      }
      try {
        if (Files.exists(local, LinkOption.NOFOLLOW_LINKS)
            && !Files.readAttributes(
                    local,
                    java.nio.file.attribute.BasicFileAttributes.class,
                    LinkOption.NOFOLLOW_LINKS)
                .isOther()) {
          throw new IOException(local + " is there and not a socket");
        }
        Files.deleteIfExists(local);
        if (Posix.bind(state, fd, own) != 0) {
          throw Posix.failed("bind " + local, state);
        }
        // A burst of the peer's must not be lost while the engine is busy; the kernel may give
        // less.
        MemorySegment room = arena.allocateFrom(ValueLayout.JAVA_INT, RECEIVE_BUFFER);
        Posix.setOption(state, fd, Posix.SO_RCVBUF, room);
      } catch (IOException e) {
        Posix.close(state, fd);
        throw e;
      }
      return new UnixDatagramWire(new FileWire(arena, fd), local, other);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /** A {@code struct sockaddr_un}: the family, then the path and a zero. */
  private static MemorySegment address(Arena arena, Path path) throws IOException {
    byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
    if (name.length == 0 || name.length > MAX_PATH) {
      throw new IOException("'%s': a socket's path has 1 to %d bytes".formatted(path, MAX_PATH));
    }
    MemorySegment address = arena.allocate(2 + name.length + 1, 2);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) Posix.AF_UNIX);
    MemorySegment.copy(name, 0, address, ValueLayout.JAVA_BYTE, 2, name.length);
    return address;
  }

  @Override
  public void send(MemorySegment frame, int bytes) {
    synchronized (file.sendState) {
      if (file.isOpen()) {
        // Whatever goes wrong here, to the receiver it is a frame that never came.
        Posix.sendTo(file.sendState, file.fd, frame, bytes, remote);
      }
    }
  }

  @Override
  public int receive(MemorySegment target) {
    return file.receive(target);
  }

  @Override
  public void close() {
    if (!file.isOpen()) {
      return;
    }
    file.close();
    try {
      Files.deleteIfExists(local);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return "unix:" + local;
  }
}
