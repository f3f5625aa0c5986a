package irdma4j.simulator;

import irdma4j.simulator.wire.TapWire;
import irdma4j.simulator.wire.UdpWire;
import irdma4j.simulator.wire.UnixDatagramWire;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/**
 * A cable that ends outside the simulation: frames to and from another process or the kernel. One
 * frame is one datagram, without header and without FCS, as qemu's {@code -netdev dgram} has it.
 *
 * <p>A wire given to a simulation belongs to it and is closed with it. {@link #send} is called on
 * the engine's thread and {@link #receive} on one of the wire's own.
 */
public interface Wire extends AutoCloseable {
  /** Bytes of the largest frame. */
  int MAX_FRAME = 9216;

  /**
   * Sends a frame and never waits: if the other end is not there or has no room, the frame is lost.
   *
   * @param frame the frame at offset 0; valid during the call only
   */
  void send(MemorySegment frame, int bytes);

  /**
   * Waits for a frame, and gives up now and then.
   *
   * @param target native memory of {@link #MAX_FRAME} bytes
   * @return the frame's length, 0 if none has come yet, or -1 once the wire is closed
   */
  int receive(MemorySegment target);

  @Override
  void close();

  /**
   * UDP datagrams between two addresses.
   *
   * @throws IOException if the local address cannot be bound
   */
  static Wire udp(InetSocketAddress local, InetSocketAddress remote) throws IOException {
    return UdpWire.open(local, remote);
  }

  /**
   * Datagrams between two sockets in the file system.
   *
   * @param local is created; a socket that is there already is replaced, and {@link #close} removes
   *     it
   * @param remote need not be there yet
   * @throws IOException if the local socket cannot be bound
   */
  static Wire unix(Path local, Path remote) throws IOException {
    return UnixDatagramWire.open(local, remote);
  }

  /**
   * A TAP device of the kernel's, created if it is not there.
   *
   * @param name 1 to 15 bytes
   * @throws IOException if the kernel refuses, for want of CAP_NET_ADMIN for instance
   */
  static Wire tap(String name) throws IOException {
    return TapWire.open(name);
  }
}
