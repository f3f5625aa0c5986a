package irdma4j.hwregs.qp;

import static irdma4j.hwregs.qp.ContextWords.address;
import static irdma4j.hwregs.qp.ContextWords.flag;
import static irdma4j.hwregs.qp.ContextWords.integer;

import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;

/**
 * The way to the peer.
 *
 * @param local own address
 * @param remote the peer's address, of the same family
 * @param localPort own UDP or TCP port
 * @param remotePort the peer's port
 * @param hopLimit hop limit
 * @param typeOfService traffic class, or type of service
 * @param flowLabel IPv6 flow label
 * @param insertVlan send with the VLAN tag
 * @param vlanTag VLAN tag
 * @param segmentBytes payload bytes of a packet
 * @param arpIndex ARP table entry of the next hop
 * @param remoteEndpoint remote endpoint
 */
public record Path(
    IpAddress local,
    IpAddress remote,
    int localPort,
    int remotePort,
    int hopLimit,
    int typeOfService,
    int flowLabel,
    boolean insertVlan,
    int vlanTag,
    int segmentBytes,
    int arpIndex,
    int remoteEndpoint) {
  private static final int ECN_BITS = 3;
  private static final int ECN_CAPABLE = 2;

  /** Checks that both addresses are of one family. */
  public Path {
    if (local.ipv4() != remote.ipv4()) {
      throw new IllegalArgumentException("one address is IPv4, the other IPv6");
    }
  }

  /**
   * Adds the fields.
   *
   * @param ecn packets say that they may be marked when there is congestion, unless the type of
   *     service already says something about it
   */
  void put(ContextWords words, boolean ecn) {
    int service =
        ecn && (typeOfService & ECN_BITS) == 0 ? typeOfService | ECN_CAPABLE : typeOfService;
    words
        .put(RoceContext.IPV4, remote.ipv4())
        .put(
            RoceContext.LOCAL_IPADDR0,
            RoceContext.LOCAL_IPADDR1,
            RoceContext.LOCAL_IPADDR2,
            RoceContext.LOCAL_IPADDR3,
            local)
        .put(
            RoceContext.DESTIPADDR0,
            RoceContext.DESTIPADDR1,
            RoceContext.DESTIPADDR2,
            RoceContext.DESTIPADDR3,
            remote)
        .put(RoceContext.SRCPORTNUM, localPort)
        .put(RoceContext.DESTPORTNUM, remotePort)
        .put(RoceContext.TTL, hopLimit)
        .put(RoceContext.TOS, service)
        .put(RoceContext.FLOWLABEL, flowLabel)
        .put(RoceContext.INSERTVLANTAG, insertVlan)
        .put(RoceContext.VLANTAG, vlanTag)
        .put(RoceContext.SNDMSS, segmentBytes)
        .put(RoceContext.ARPIDX, arpIndex)
        .put(RoceContext.REMENDPOINTIDX, remoteEndpoint);
  }

  static Path decode(MemorySegment context, long base) {
    return new Path(
        address(
            RoceContext.LOCAL_IPADDR0,
            RoceContext.LOCAL_IPADDR1,
            RoceContext.LOCAL_IPADDR2,
            RoceContext.LOCAL_IPADDR3,
            context,
            base),
        address(
            RoceContext.DESTIPADDR0,
            RoceContext.DESTIPADDR1,
            RoceContext.DESTIPADDR2,
            RoceContext.DESTIPADDR3,
            context,
            base),
        integer(RoceContext.SRCPORTNUM, context, base),
        integer(RoceContext.DESTPORTNUM, context, base),
        integer(RoceContext.TTL, context, base),
        integer(RoceContext.TOS, context, base),
        integer(RoceContext.FLOWLABEL, context, base),
        flag(RoceContext.INSERTVLANTAG, context, base),
        integer(RoceContext.VLANTAG, context, base),
        integer(RoceContext.SNDMSS, context, base),
        integer(RoceContext.ARPIDX, context, base),
        integer(RoceContext.REMENDPOINTIDX, context, base));
  }
}
