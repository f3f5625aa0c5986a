package irdma4j.hwregs;

import org.jspecify.annotations.Nullable;

/**
 * The kinds of objects that the device keeps in host memory, in the order of their ids.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/hmc.h and irdma_sc_parse_fpm_query_buf,
 * irdma_sc_cfg_iw_fpm in ctrl.c.
 */
public enum HmcObject {
  /** Queue pair contexts. */
  QP(0, "Queue pair contexts", FpmQueryBuffer.MAX_QPS, FpmQueryBuffer.QP_SIZE, 0, 0),
  /** Completion queue contexts. */
  CQ(1, "Completion queue contexts", FpmQueryBuffer.MAX_CQS, FpmQueryBuffer.CQ_SIZE, 0, 8),
  /** Hash table entries. */
  HTE(3, "Hash table entries", FpmQueryBuffer.MAX_HTE, FpmQueryBuffer.HTE_SIZE, 0, 24),
  /** ARP table entries. */
  ARP(4, "ARP table entries", FpmQueryBuffer.MAX_ARP, FpmQueryBuffer.ARP_SIZE, 0, 32),
  /** Accelerated port bit vector. */
  APBVT(5, "Accelerated port bit vector", null, null, 8192, 40),
  /** Memory regions and windows. */
  MR(6, "Memory regions and windows", FpmQueryBuffer.MAX_MR, FpmQueryBuffer.MR_SIZE, 0, 48),
  /** Transmit FIFO entries. */
  XF(7, "Transmit FIFO entries", FpmQueryBuffer.MAX_XF, FpmQueryBuffer.XF_SIZE, 0, 56),
  /** Transmit FIFO free list. */
  XFFL(8, "Transmit FIFO free list", FpmQueryBuffer.MAX_XFFL, null, 4, 64),
  /** Incoming read requests. */
  Q1(9, "Incoming read requests", FpmQueryBuffer.MAX_Q1, FpmQueryBuffer.Q1_SIZE, 0, 72),
  /** Free list of incoming read requests. */
  Q1FL(10, "Free list of incoming read requests", FpmQueryBuffer.MAX_Q1FL, null, 4, 80),
  /** Timers. */
  TIMER(11, "Timers", FpmQueryBuffer.MAX_TIMER, FpmQueryBuffer.TIMER_SIZE, 0, 88),
  /** Multicast groups. */
  FSIMC(12, "Multicast groups", FpmQueryBuffer.MAX_FSIMC, FpmQueryBuffer.FSIMC_SIZE, 0, 96),
  /** Address handles. */
  FSIAV(13, "Address handles", FpmQueryBuffer.MAX_FSIAV, FpmQueryBuffer.FSIAV_SIZE, 0, 104),
  /** Physical buffer list entries. */
  PBLE(14, "Physical buffer list entries", FpmQueryBuffer.MAX_PBLE, null, 8, 112),
  /** Read response FIFO entries. */
  RRF(15, "Read response FIFO entries", FpmQueryBuffer.MAX_RRF, FpmQueryBuffer.RRF_SIZE, 0, 128),
  /** Read response FIFO free list. */
  RRFFL(16, "Read response FIFO free list", FpmQueryBuffer.MAX_RRFFL, null, 4, 136),
  /** Headers. */
  HDR(17, "Headers", FpmQueryBuffer.MAX_HDR, FpmQueryBuffer.HDR_SIZE, 0, 144),
  /** Message descriptors. */
  MD(18, "Message descriptors", FpmQueryBuffer.MAX_MD, FpmQueryBuffer.MD_SIZE, 0, 152),
  /** Out-of-order contexts. */
  OOISC(19, "Out-of-order contexts", FpmQueryBuffer.MAX_OOISC, FpmQueryBuffer.OOISC_SIZE, 0, 160),
  /** Out-of-order free list. */
  OOISCFFL(20, "Out-of-order free list", FpmQueryBuffer.MAX_OOISCFFL, null, 4, 168);

  private final int id;
  private final String meaning;
  private final @Nullable Field maximum;
  private final @Nullable Field logSize;
  private final int fixedSize;
  private final int commitOffset;

  HmcObject(
      int id,
      String meaning,
      @Nullable Field maximum,
      @Nullable Field logSize,
      int fixedSize,
      int commitOffset) {
    this.id = id;
    this.meaning = meaning;
    this.maximum = maximum;
    this.logSize = logSize;
    this.fixedSize = fixedSize;
    this.commitOffset = commitOffset;
  }

  /** The hardware's number for this kind. */
  public int id() {
    return id;
  }

  /** What it holds, in a few words. */
  public String meaning() {
    return meaning;
  }

  /**
   * The field of the query buffer that holds the most there can be; null if there is always one.
   */
  public @Nullable Field maximum() {
    return maximum;
  }

  /**
   * The field of the query buffer that holds the log2 of an object's bytes; null if it is fixed.
   */
  public @Nullable Field logSize() {
    return logSize;
  }

  /** Bytes of an object if {@link #logSize()} is null. */
  public int fixedSize() {
    return fixedSize;
  }

  /** Byte offset of this kind's word in the commit buffer. */
  public int commitOffset() {
    return commitOffset;
  }

  /** Whether the driver asks for a number of these when it commits; the APBVT is always there. */
  public boolean isCommitted() {
    return this != APBVT;
  }
}
