package irdma4j.simulator.wire;

import irdma4j.simulator.Wire;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * A TAP device: the kernel's own network stack at the other end of the wire.
 *
 * <p>Source: Linux {@code Documentation/networking/tuntap.rst}, {@code linux/if_tun.h}.
 */
public final class TapWire implements Wire {
  private static final long TUNSETIFF = 0x4004_54caL;
  private static final short IFF_TAP = 2;
  private static final short IFF_NO_PI = 0x1000;
  private static final int IFREQ = 40;
  private static final int IFNAMSIZ = 16;

  private final FileWire file;
  private final String name;

  private TapWire(FileWire file, String name) {
    this.file = file;
    this.name = name;
  }

  /** See {@link Wire#tap}. */
  public static Wire open(String name) throws IOException {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length == 0 || bytes.length >= IFNAMSIZ) {
      throw new IOException("'" + name + "': a device's name has 1 to 15 bytes");
    }
    Arena arena = Arena.ofShared();
    try {
      MemorySegment state = Posix.errorState(arena);
      int fd =
          Posix.open(state, arena.allocateFrom("/dev/net/tun"), Posix.O_RDWR | Posix.O_NONBLOCK);
      if (fd < 0) {
        throw Posix.failed("/dev/net/tun", state);
      }
      MemorySegment request = arena.allocate(IFREQ, 8);
      MemorySegment.copy(bytes, 0, request, ValueLayout.JAVA_BYTE, 0, bytes.length);
      request.set(ValueLayout.JAVA_SHORT, IFNAMSIZ, (short) (IFF_TAP | IFF_NO_PI));
      if (Posix.ioctl(state, fd, TUNSETIFF, request) != 0) {
        IOException failure = Posix.failed("TAP device " + name, state);
        Posix.close(state, fd);
        throw failure;
      }
      return new TapWire(new FileWire(arena, fd), name);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  @Override
  public void send(MemorySegment frame, int bytes) {
    synchronized (file.sendState) {
      if (file.isOpen()) {
        Posix.write(file.sendState, file.fd, frame, bytes);
      }
    }
  }

  @Override
  public int receive(MemorySegment target) {
    return file.receive(target);
  }

  @Override
  public void close() {
    file.close();
  }

  @Override
  public String toString() {
    return "tap:" + name;
  }
}
