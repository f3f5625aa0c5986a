package irdma4j.driver.cm;

import irdma4j.driver.Gid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How connections are managed. Immutable.
 *
 * @param addresses the port's, at least one
 * @param mtu payload bytes of a packet that connections are asked for with: 256, 512, 1024, 2048 or
 *     4096; a peer behind Ethernet of 1500 bytes takes 1024
 * @param responseTimeout how long an answer may take: 4.096 microseconds times two to this power, 8
 *     to 31
 * @param retries how often a message without answer is sent again, 0 to 15
 * @param ackTimeout how long the peer's queue pair is to wait for an acknowledgement, as an
 *     exponent like {@code responseTimeout}, 0 to 31
 * @param seed where ids and packet sequence numbers come from
 */
public record CmConfig(
    List<LocalAddress> addresses,
    int mtu,
    int responseTimeout,
    int retries,
    int ackTimeout,
    long seed) {
  /** Checks the values. */
  public CmConfig {
    addresses = List.copyOf(addresses);
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException("a port has at least one address");
    }
    if (Integer.bitCount(mtu) != 1 || mtu < 256 || mtu > 4096) {
      throw new IllegalArgumentException("mtu " + mtu + ": 256, 512, 1024, 2048 or 4096");
    }
    range("responseTimeout", responseTimeout, 8, 31);
    range("retries", retries, 0, 15);
    range("ackTimeout", ackTimeout, 0, 31);
  }

  private static void range(String name, int value, int low, int high) {
    if (value < low || value > high) {
      throw new IllegalArgumentException("%s %d: %d to %d".formatted(name, value, low, high));
    }
  }

  /** As Linux: answers within 4.3 s, 15 retries; MTU 1024. */
  public static CmConfig of(List<LocalAddress> addresses, long seed) {
    return new CmConfig(addresses, 1024, 20, 15, 16, seed);
  }

  /** With another MTU. */
  public CmConfig withMtu(int value) {
    return new CmConfig(addresses, value, responseTimeout, retries, ackTimeout, seed);
  }

  /** With more or less patience. */
  public CmConfig withPatience(int timeout, int count) {
    return new CmConfig(addresses, mtu, timeout, count, ackTimeout, seed);
  }

  static long nanos(int exponent) {
    return 4096L << exponent;
  }

  static int mtuCode(int bytes) {
    return Integer.numberOfTrailingZeros(bytes) - 7;
  }

  /** The own address of this value in the VLAN of a tag, or null. */
  @Nullable LocalAddress local(Gid gid, int tag) {
    for (LocalAddress address : addresses) {
      if (address.gid().equals(gid) && address.isIn(tag)) {
        return address;
      }
    }
    return null;
  }

  /** Whether a peer is this port itself. */
  boolean isOwn(Gid gid) {
    return addresses.stream().anyMatch(address -> address.gid().equals(gid));
  }

  /** The own address by which a peer is a neighbour. */
  LocalAddress toward(Gid peer) {
    return addresses.stream()
        .filter(address -> address.reaches(peer))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("no address here has " + peer + " as a neighbour"));
  }
}
