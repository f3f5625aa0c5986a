package irdma4j.driver.cm;

/**
 * The port spaces of the RDMA IP connection manager: what a service's port number is a number in.
 *
 * <p>Source: InfiniBand Architecture Specification, volume 1, annex A11 (RDMA IP CM Service).
 */
public enum PortSpace {
  /** Reliable connections. */
  TCP(0x06),
  /** Datagrams. */
  UDP(0x11);

  private static final long PREFIX = 0x0000_0000_0100_0000L;

  private final int protocol;

  PortSpace(int protocol) {
    this.protocol = protocol;
  }

  /** The service id of a port. */
  long serviceId(int port) {
    return PREFIX | (long) protocol << 16 | port;
  }

  static int requirePort(int port) {
    if (port < 1 || port > 0xffff) {
      throw new IllegalArgumentException("port " + port + ": 1 to 65535");
    }
    return port;
  }

  static int portOf(long serviceId) {
    return (int) serviceId & 0xffff;
  }
}
