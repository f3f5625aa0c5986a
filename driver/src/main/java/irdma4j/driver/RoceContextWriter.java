package irdma4j.driver;

import irdma4j.driver.ring.RingSizes;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RoceContext;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Writes the context of a RoCEv2 queue pair.
 *
 * <p>Source: Linux irdma_sc_qp_setctx_roce in ctrl.c and irdma_roce_fill_and_set_qpctx_info,
 * irdma_modify_qp_roce in verbs.c.
 */
final class RoceContextWriter {
  private static final int ROCE_PORT = 4791;
  private static final int FIRST_DYNAMIC_PORT = 0xc000;
  private static final int UNLIMITED_CREDITS = 0x1e;
  private static final int CONGESTION_WINDOW = 0x400;
  private static final int LIMIT_SEQUENCE = 0xffff;
  private static final int LEAST_TIMEOUT = 5;
  private static final int DEFAULT_PKEY = 0xffff;

  private RoceContextWriter() {}

  /**
   * Writes the whole context.
   *
   * @param path the way to the peer, or null while there is none
   * @param arpIndex ARP entry of the next hop
   */
  static void write(
      MemorySegment context,
      long macAddress,
      int pdId,
      QueuePairConfig config,
      QueuePairMemory memory,
      int qpId,
      @Nullable RcPath path,
      int arpIndex) {
    boolean ipv4 = path == null || path.localGid().isIpv4();
    LittleEndian.setLong(
        context,
        0,
        RoceContext.RQWQESIZE.encode(memory.receiveShift())
            | RoceContext.PDIDXHI.encode(pdId >> 16)
            | RoceContext.IPV4.encode(ipv4));
    LittleEndian.setLong(context, 8, memory.sendAddress());
    LittleEndian.setLong(context, 16, memory.receiveAddress());
    LittleEndian.setLong(
        context,
        24,
        RoceContext.RQSIZE.encode(RingSizes.encoded(memory.receiveQuanta()))
            | RoceContext.SQSIZE.encode(RingSizes.encoded(memory.sendQuanta()))
            | RoceContext.TTL.encode(path == null ? 0 : path.hopLimit())
            | RoceContext.TOS.encode(path == null ? 0 : path.trafficClass())
            | RoceContext.SRCPORTNUM.encode(
                path == null ? FIRST_DYNAMIC_PORT : sourcePort(qpId, path.remoteQpn()))
            | RoceContext.DESTPORTNUM.encode(ROCE_PORT));
    long[] remote = words(path == null ? new Gid(0, 0) : path.remoteGid());
    LittleEndian.setLong(
        context,
        32,
        RoceContext.DESTIPADDR2.encode(remote[2]) | RoceContext.DESTIPADDR3.encode(remote[3]));
    LittleEndian.setLong(
        context,
        40,
        RoceContext.DESTIPADDR0.encode(remote[0]) | RoceContext.DESTIPADDR1.encode(remote[1]));
    LittleEndian.setLong(
        context,
        48,
        RoceContext.SNDMSS.encode(path == null ? 1024 : path.mtu())
            | RoceContext.ARPIDX.encode(arpIndex));
    LittleEndian.setLong(
        context,
        56,
        RoceContext.PKEY.encode(DEFAULT_PKEY)
            | RoceContext.PDIDX.encode(pdId & 0xffff)
            | RoceContext.ACKCREDITS.encode(UNLIMITED_CREDITS));
    LittleEndian.setLong(
        context, 64, RoceContext.DESTQP.encode(path == null ? 0 : path.remoteQpn()));
    int localPsn = path == null ? 0 : path.localPsn();
    LittleEndian.setLong(
        context,
        80,
        RoceContext.PSNNXT.encode(localPsn)
            | RoceContext.LSN.encode(path == null ? 0 : LIMIT_SEQUENCE));
    LittleEndian.setLong(context, 88, RoceContext.EPSN.encode(path == null ? 0 : path.remotePsn()));
    LittleEndian.setLong(
        context, 96, RoceContext.PSNMAX.encode(localPsn) | RoceContext.PSNUNA.encode(localPsn));
    LittleEndian.setLong(context, 112, RoceContext.CWNDROCE.encode(CONGESTION_WINDOW));
    LittleEndian.setLong(
        context,
        128,
        RoceContext.RNRNAK_THRESH.encode(path == null ? 2 : path.rnrRetries())
            | RoceContext.REXMIT_THRESH.encode(path == null ? 2 : path.retries())
            | RoceContext.RTOMIN.encode(LEAST_TIMEOUT));
    LittleEndian.setLong(
        context,
        136,
        RoceContext.TXCQNUM.encode(config.sendQueue().id())
            | RoceContext.RXCQNUM.encode(config.receiveQueue().id()));
    LittleEndian.setLong(context, 144, 0);
    LittleEndian.setLong(context, 152, RoceContext.MACADDRESS.encode(macAddress));
    LittleEndian.setLong(
        context,
        160,
        RoceContext.ORDSIZE.encode(path == null ? 16 : path.readsOut())
            | RoceContext.IRDSIZE.encode(encodedReadsIn(path == null ? 16 : path.readsIn()))
            | RoceContext.WRRDRSPOK.encode(1)
            | RoceContext.RDOK.encode(1)
            | RoceContext.BINDEN.encode(1)
            | RoceContext.FASTREGEN.encode(1));
    LittleEndian.setLong(context, 168, qpId);
    LittleEndian.setLong(context, 176, 0);
    long[] local = words(path == null ? new Gid(0, 0) : path.localGid());
    LittleEndian.setLong(
        context,
        184,
        RoceContext.LOCAL_IPADDR3.encode(local[3]) | RoceContext.LOCAL_IPADDR2.encode(local[2]));
    LittleEndian.setLong(
        context,
        192,
        RoceContext.LOCAL_IPADDR1.encode(local[1]) | RoceContext.LOCAL_IPADDR0.encode(local[0]));
    LittleEndian.setLong(context, 200, 0);
    LittleEndian.setLong(context, 208, RoceContext.REMENDPOINTIDX.encode(arpIndex));
  }

  /** Four 32-bit words, the first of the address first; an IPv4 address is the last. */
  private static long[] words(Gid gid) {
    if (gid.isIpv4()) {
      return new long[] {0, 0, 0, gid.low() & 0xffffffffL};
    }
    return new long[] {
      gid.high() >>> 32, gid.high() & 0xffffffffL, gid.low() >>> 32, gid.low() & 0xffffffffL
    };
  }

  /** Spreads queue pairs over source ports, so that switches spread them over paths. */
  private static int sourcePort(int qpId, int remoteQpn) {
    long hash = (long) qpId * remoteQpn;
    hash ^= hash >>> 20;
    hash ^= hash >>> 40;
    int folded = (int) (hash & 0xfffff);
    return (((folded & 0x3fff) ^ (folded >>> 14)) & 0x3fff) | FIRST_DYNAMIC_PORT;
  }

  /**
   * The device's code for a number of READs, 1 to 127; Linux irdma_sc_get_encoded_ird_size in
   * ctrl.c.
   */
  static int encodedReadsIn(int reads) {
    if (reads > 64) {
      return 4;
    }
    if (reads > 32) {
      return 3;
    }
    return reads > 8 ? 2 : reads > 2 ? 1 : 0;
  }
}
