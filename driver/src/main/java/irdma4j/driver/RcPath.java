package irdma4j.driver;

import java.util.Set;

/**
 * The way to the peer of a reliable connection, and how it is driven. Immutable.
 *
 * @param localGid own address; of the same family as the peer's
 * @param remoteGid the peer's address
 * @param remoteMac MAC address of the peer, or of the next hop, as a 48-bit integer
 * @param remoteQpn the peer's queue pair, 24 bits
 * @param localPsn PSN of the first packet sent, 24 bits
 * @param remotePsn PSN of the first packet expected, 24 bits
 * @param mtu payload bytes of a packet: 256, 512, 1024, 2048 or 4096
 * @param retries retries after a timeout, 0 to 7
 * @param rnrRetries retries after a receiver-not-ready, 0 to 7; 7 means without end
 * @param readsOut READ requests that may be outstanding, 1 to 255
 * @param readsIn READ requests of the peer that may be outstanding, 1 to 127
 * @param hopLimit hop limit, 1 to 255
 * @param trafficClass traffic class, or type of service
 * @param vlan VLAN tag, 0 to 65535, or {@link DatagramPath#NO_VLAN}
 */
public record RcPath(
    Gid localGid,
    Gid remoteGid,
    long remoteMac,
    int remoteQpn,
    int localPsn,
    int remotePsn,
    int mtu,
    int retries,
    int rnrRetries,
    int readsOut,
    int readsIn,
    int hopLimit,
    int trafficClass,
    int vlan) {

  private static final Set<Integer> MTUS = Set.of(256, 512, 1024, 2048, 4096);

  /** Checks the values. */
  public RcPath {
    if (localGid.isIpv4() != remoteGid.isIpv4()) {
      throw new IllegalArgumentException(
          "the addresses " + localGid + " and " + remoteGid + " are of different families");
    }
    requireMtu(mtu);
    range("remoteQpn", remoteQpn, 0, 0xffffff);
    range("localPsn", localPsn, 0, 0xffffff);
    range("remotePsn", remotePsn, 0, 0xffffff);
    range("retries", retries, 0, 7);
    range("rnrRetries", rnrRetries, 0, 7);
    range("readsOut", readsOut, 1, 255);
    range("readsIn", readsIn, 1, 127);
    range("hopLimit", hopLimit, 1, 255);
    range("trafficClass", trafficClass, 0, 255);
    range("vlan", vlan, DatagramPath.NO_VLAN, 0xffff);
    if (remoteMac >>> 48 != 0) {
      throw new IllegalArgumentException("remoteMac 0x%x".formatted(remoteMac));
    }
  }

  static void requireMtu(int mtu) {
    if (!MTUS.contains(mtu)) {
      throw new IllegalArgumentException("mtu " + mtu + ": 256, 512, 1024, 2048 or 4096");
    }
  }

  private static void range(String name, int value, int low, int high) {
    if (value < low || value > high) {
      throw new IllegalArgumentException("%s %d: %d to %d".formatted(name, value, low, high));
    }
  }

  /** A path with MTU 4096, 7 retries of each kind, 16 READs each way and no VLAN tag. */
  public static RcPath of(
      Gid localGid, Gid remoteGid, long remoteMac, int remoteQpn, int localPsn, int remotePsn) {
    return new RcPath(
        localGid,
        remoteGid,
        remoteMac,
        remoteQpn,
        localPsn,
        remotePsn,
        4096,
        7,
        7,
        16,
        16,
        64,
        0,
        DatagramPath.NO_VLAN);
  }

  /** With another MTU. */
  public RcPath withMtu(int value) {
    return new RcPath(
        localGid,
        remoteGid,
        remoteMac,
        remoteQpn,
        localPsn,
        remotePsn,
        value,
        retries,
        rnrRetries,
        readsOut,
        readsIn,
        hopLimit,
        trafficClass,
        vlan);
  }

  /** With other numbers of retries. */
  public RcPath withRetries(int timeouts, int receiverNotReady) {
    return new RcPath(
        localGid,
        remoteGid,
        remoteMac,
        remoteQpn,
        localPsn,
        remotePsn,
        mtu,
        timeouts,
        receiverNotReady,
        readsOut,
        readsIn,
        hopLimit,
        trafficClass,
        vlan);
  }

  /** With other numbers of READs. */
  public RcPath withReads(int out, int in) {
    return new RcPath(
        localGid,
        remoteGid,
        remoteMac,
        remoteQpn,
        localPsn,
        remotePsn,
        mtu,
        retries,
        rnrRetries,
        out,
        in,
        hopLimit,
        trafficClass,
        vlan);
  }

  /** With another traffic class, or type of service. */
  public RcPath withTrafficClass(int value) {
    return new RcPath(
        localGid,
        remoteGid,
        remoteMac,
        remoteQpn,
        localPsn,
        remotePsn,
        mtu,
        retries,
        rnrRetries,
        readsOut,
        readsIn,
        hopLimit,
        value,
        vlan);
  }

  /** With a VLAN tag. */
  public RcPath withVlan(int tag) {
    return new RcPath(
        localGid,
        remoteGid,
        remoteMac,
        remoteQpn,
        localPsn,
        remotePsn,
        mtu,
        retries,
        rnrRetries,
        readsOut,
        readsIn,
        hopLimit,
        trafficClass,
        tag);
  }
}
