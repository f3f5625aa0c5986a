package irdma4j.driver;

import irdma4j.driver.ring.RingSizes;
import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.qp.Access;
import irdma4j.hwregs.qp.Common;
import irdma4j.hwregs.qp.Path;
import irdma4j.hwregs.qp.Queues;
import irdma4j.hwregs.qp.RoceQpContext;
import irdma4j.hwregs.qp.Steering;
import org.jspecify.annotations.Nullable;

/**
 * Says what the context of a RoCEv2 queue pair holds.
 *
 * <p>Source: Linux irdma_roce_fill_and_set_qpctx_info, irdma_modify_qp_roce in verbs.c.
 */
final class RoceContextWriter {
  private static final int ROCE_PORT = 4791;
  private static final int FIRST_DYNAMIC_PORT = 0xc000;
  private static final int UNLIMITED_CREDITS = 0x1e;
  private static final int CONGESTION_WINDOW = 0x400;
  private static final int LIMIT_SEQUENCE = 0xffff;
  private static final int LEAST_TIMEOUT = 5;
  private static final int DEFAULT_PKEY = 0xffff;

  /** Payload bytes of the largest packet. */
  static final int LARGEST_MTU = 4096;

  private static final int DEFAULT_MTU = 1024;
  private static final int DEFAULT_READS = 16;
  private static final int DEFAULT_RETRIES = 2;

  private RoceContextWriter() {}

  /**
   * Writes the whole context.
   *
   * @param path the way to the peer, or null while there is none
   * @param arpIndex ARP entry of the next hop
   */
  static void write(QueuePairCore core, @Nullable RcPath path, int arpIndex) {
    Access access =
        new Access(
            core.pdId(),
            path == null ? DEFAULT_READS : path.readsOut(),
            Access.encodedReads(path == null ? DEFAULT_READS : path.readsIn()),
            true,
            true,
            true,
            true,
            false);
    new RoceQpContext(
            queues(core),
            path == null ? noPath(arpIndex, DEFAULT_MTU) : path(path, core.qpn(), arpIndex),
            access,
            common(core),
            path == null ? noTransport(0) : transport(path),
            RoceQpContext.Congestion.NONE,
            false,
            false,
            false)
        .encode(core.memory().context(), 0);
  }

  /** Writes the whole context of a datagram queue pair. */
  static void writeDatagram(QueuePairCore core, int mtu, int queueKey) {
    boolean generalServices = core.qpn() == QueuePairCore.GENERAL_SERVICES;
    new RoceQpContext(
            queues(core),
            noPath(0, mtu),
            new Access(core.pdId(), 0, 0, false, false, false, false, false),
            common(core),
            noTransport(queueKey),
            RoceQpContext.Congestion.NONE,
            generalServices,
            false,
            false)
        .encode(core.memory().context(), 0);
  }

  private static Common common(QueuePairCore core) {
    RdmaDevice device = core.device();
    return new Common(
        device.macAddress(), device.statisticsInstance().index(), true, 0, false, LEAST_TIMEOUT);
  }

  private static Queues queues(QueuePairCore core) {
    QueuePairMemory memory = core.memory();
    return new Queues(
        memory.sendAddress(),
        memory.receiveAddress(),
        RingSizes.encoded(memory.sendQuanta()),
        RingSizes.encoded(memory.receiveQuanta()),
        memory.receiveShift(),
        core.config().sendQueue().id(),
        core.config().receiveQueue().id(),
        core.qpn(),
        core.queueSet(),
        core.pushPage(),
        Steering.NONE);
  }

  private static Path path(RcPath path, int qpId, int arpIndex) {
    return new Path(
        address(path.localGid()),
        address(path.remoteGid()),
        sourcePort(qpId, path.remoteQpn()),
        ROCE_PORT,
        path.hopLimit(),
        path.trafficClass(),
        0,
        path.vlan() != DatagramPath.NO_VLAN,
        path.vlan() == DatagramPath.NO_VLAN ? 0 : path.vlan(),
        path.mtu(),
        arpIndex,
        arpIndex);
  }

  private static Path noPath(int arpIndex, int mtu) {
    IpAddress none = IpAddress.ipv4(0);
    return new Path(
        none, none, FIRST_DYNAMIC_PORT, ROCE_PORT, 0, 0, 0, false, 0, mtu, arpIndex, arpIndex);
  }

  private static RoceQpContext.Transport transport(RcPath path) {
    return new RoceQpContext.Transport(
        0,
        path.remoteQpn(),
        0,
        DEFAULT_PKEY,
        path.localPsn(),
        LIMIT_SEQUENCE,
        path.remotePsn(),
        path.localPsn(),
        path.localPsn(),
        CONGESTION_WINDOW,
        path.retries(),
        path.rnrRetries(),
        UNLIMITED_CREDITS);
  }

  private static RoceQpContext.Transport noTransport(int queueKey) {
    return new RoceQpContext.Transport(
        0,
        0,
        queueKey,
        DEFAULT_PKEY,
        0,
        0,
        0,
        0,
        0,
        CONGESTION_WINDOW,
        DEFAULT_RETRIES,
        DEFAULT_RETRIES,
        UNLIMITED_CREDITS);
  }

  private static IpAddress address(Gid gid) {
    return IpAddress.of(gid.isIpv4(), gid.high(), gid.low());
  }

  /** Spreads queue pairs over source ports, so that switches spread them over paths. */
  private static int sourcePort(int qpId, int remoteQpn) {
    long hash = (long) qpId * remoteQpn;
    hash ^= hash >>> 20;
    hash ^= hash >>> 40;
    int folded = (int) (hash & 0xfffff);
    return (((folded & 0x3fff) ^ (folded >>> 14)) & 0x3fff) | FIRST_DYNAMIC_PORT;
  }
}
