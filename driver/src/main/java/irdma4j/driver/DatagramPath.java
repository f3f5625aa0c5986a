package irdma4j.driver;

/**
 * The way that datagrams take. Immutable.
 *
 * @param localGid own address; of the same family as the other
 * @param remoteGid the address that they go to, or a multicast group
 * @param remoteMac MAC address there, of the next hop, or of the group, as a 48-bit integer
 * @param hopLimit hop limit, 1 to 255
 * @param trafficClass traffic class, or type of service
 * @param flowLabel IPv6 flow label, 20 bits
 * @param vlan VLAN tag, 0 to 65535, or {@link #NO_VLAN}
 */
public record DatagramPath(
    Gid localGid,
    Gid remoteGid,
    long remoteMac,
    int hopLimit,
    int trafficClass,
    int flowLabel,
    int vlan) {
  /** Frames without VLAN tag. */
  public static final int NO_VLAN = -1;

  private static final int HOPS = 64;

  /** Checks the values. */
  public DatagramPath {
    if (localGid.isIpv4() != remoteGid.isIpv4()) {
      throw new IllegalArgumentException(
          "the addresses " + localGid + " and " + remoteGid + " are of different families");
    }
    range("hopLimit", hopLimit, 1, 255);
    range("trafficClass", trafficClass, 0, 255);
    range("flowLabel", flowLabel, 0, 0xfffff);
    range("vlan", vlan, NO_VLAN, 0xffff);
    if (remoteMac >>> 48 != 0) {
      throw new IllegalArgumentException("remoteMac 0x%x".formatted(remoteMac));
    }
  }

  private static void range(String name, int value, int low, int high) {
    if (value < low || value > high) {
      throw new IllegalArgumentException("%s %d: %d to %d".formatted(name, value, low, high));
    }
  }

  /** A path with hop limit 64 and no VLAN tag. */
  public static DatagramPath of(Gid localGid, Gid remoteGid, long remoteMac) {
    return new DatagramPath(localGid, remoteGid, remoteMac, HOPS, 0, 0, NO_VLAN);
  }

  /** A path to a multicast group, whose MAC address follows from its address. */
  public static DatagramPath toGroup(Gid localGid, Gid group) {
    return of(localGid, group, group.multicastMac());
  }

  /** With a VLAN tag. */
  public DatagramPath withVlan(int tag) {
    return new DatagramPath(localGid, remoteGid, remoteMac, hopLimit, trafficClass, flowLabel, tag);
  }
}
