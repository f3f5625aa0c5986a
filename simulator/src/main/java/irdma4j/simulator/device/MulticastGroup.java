package irdma4j.simulator.device;

import irdma4j.hwregs.MulticastContext;
import irdma4j.hwregs.cqp.ManageMulticastGroup;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A multicast group as the device keeps it: which packets are its own, and who gets copies. */
public final class MulticastGroup {
  private static final int VLAN_MASK = 0xfff;

  final int id;
  private final long mac;
  private final boolean ipv4;
  private final long ipHigh;
  private final long ipLow;
  private final int vlan;
  private final int[] qpIds;
  private final int[] ports;

  /** The next group whose address falls into the same bucket. */
  @Nullable MulticastGroup next;

  MulticastGroup(ManageMulticastGroup c, List<MulticastContext.Member> members) {
    id = c.id();
    mac = c.macAddress();
    ipv4 = c.address().ipv4();
    ipHigh = ipv4 ? 0 : c.address().high();
    ipLow = c.address().low();
    vlan = c.vlanValid() ? c.vlanId() & VLAN_MASK : 0;
    qpIds = members.stream().mapToInt(MulticastContext.Member::qpId).toArray();
    ports = members.stream().mapToInt(MulticastContext.Member::port).toArray();
  }

  /** The lower half of the group's address. */
  long ipLow() {
    return ipLow;
  }

  /** Whether a packet is for the group; VLAN 0 is none. */
  boolean takes(long toMac, boolean version4, long toHigh, long toLow, int vlanTag) {
    return ipLow == toLow
        && ipHigh == toHigh
        && ipv4 == version4
        && mac == toMac
        && vlan == (vlanTag < 0 ? 0 : vlanTag & VLAN_MASK);
  }

  /** Number of members. */
  public int members() {
    return qpIds.length;
  }

  /** Queue pair of a member. */
  public int qpId(int member) {
    return qpIds[member];
  }

  /** Whether a member takes packets to a UDP port; one with port 0 takes all. */
  public boolean takesPort(int member, int port) {
    return ports[member] == 0 || ports[member] == port;
  }
}
