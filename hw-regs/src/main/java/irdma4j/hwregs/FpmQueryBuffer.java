package irdma4j.hwregs;

/**
 * The answer to QUERY_FPM: the most that the function can have of each HMC object, and the objects'
 * sizes as powers of two.
 *
 * <p>Source: Linux irdma_sc_parse_fpm_query_buf in ctrl.c.
 */
public final class FpmQueryBuffer {
  /** Its size in bytes. */
  public static final int SIZE = 176;

  /** First segment descriptor of the function. */
  public static final Field FIRST_PE_SD_INDEX =
      Field.bits("FIRST_PE_SD_INDEX", 0, 13, 0, "First segment descriptor of the function");

  /** Number of segment descriptors. */
  public static final Field MAX_PE_SDS =
      Field.bits("MAX_PE_SDS", 0, 45, 32, "Number of segment descriptors");

  /** Most queue pairs. */
  public static final Field MAX_QPS = Field.bits("MAX_QPS", 8, 18, 0, "Most queue pairs");

  /** Log2 of the bytes of a QP object. */
  public static final Field QP_SIZE =
      Field.bits("QP_SIZE", 8, 63, 32, "Log2 of the bytes of a QP object");

  /** Most completion queues. */
  public static final Field MAX_CQS = Field.bits("MAX_CQS", 16, 19, 0, "Most completion queues");

  /** Log2 of the bytes of a CQ object. */
  public static final Field CQ_SIZE =
      Field.bits("CQ_SIZE", 16, 63, 32, "Log2 of the bytes of a CQ object");

  /** Most hash table entries. */
  public static final Field MAX_HTE = Field.bits("MAX_HTE", 32, 31, 0, "Most hash table entries");

  /** Log2 of the bytes of a hash table entry. */
  public static final Field HTE_SIZE =
      Field.bits("HTE_SIZE", 32, 63, 32, "Log2 of the bytes of a hash table entry");

  /** Most ARP table entries. */
  public static final Field MAX_ARP = Field.bits("MAX_ARP", 40, 31, 0, "Most ARP table entries");

  /** Log2 of the bytes of an ARP entry. */
  public static final Field ARP_SIZE =
      Field.bits("ARP_SIZE", 40, 63, 32, "Log2 of the bytes of an ARP entry");

  /** Most memory regions and windows. */
  public static final Field MAX_MR =
      Field.bits("MAX_MR", 48, 31, 0, "Most memory regions and windows");

  /** Log2 of the bytes of an MR object. */
  public static final Field MR_SIZE =
      Field.bits("MR_SIZE", 48, 63, 32, "Log2 of the bytes of an MR object");

  /** Most transmit FIFO entries. */
  public static final Field MAX_XF = Field.bits("MAX_XF", 56, 31, 0, "Most transmit FIFO entries");

  /** Log2 of the bytes of a transmit FIFO entry. */
  public static final Field XF_SIZE =
      Field.bits("XF_SIZE", 56, 63, 32, "Log2 of the bytes of a transmit FIFO entry");

  /** Most entries of the transmit FIFO free list. */
  public static final Field MAX_XFFL =
      Field.bits("MAX_XFFL", 64, 31, 0, "Most entries of the transmit FIFO free list");

  /** Transmit FIFO entries in a block. */
  public static final Field XFBLOCKSIZE =
      Field.bits("XFBLOCKSIZE", 64, 63, 32, "Transmit FIFO entries in a block");

  /** Most Q1 entries. */
  public static final Field MAX_Q1 = Field.bits("MAX_Q1", 72, 31, 0, "Most Q1 entries");

  /** Log2 of the bytes of a Q1 entry. */
  public static final Field Q1_SIZE =
      Field.bits("Q1_SIZE", 72, 63, 32, "Log2 of the bytes of a Q1 entry");

  /** Most entries of the Q1 free list. */
  public static final Field MAX_Q1FL =
      Field.bits("MAX_Q1FL", 80, 31, 0, "Most entries of the Q1 free list");

  /** Q1 entries in a block. */
  public static final Field Q1BLOCKSIZE =
      Field.bits("Q1BLOCKSIZE", 80, 63, 32, "Q1 entries in a block");

  /** Most timer entries. */
  public static final Field MAX_TIMER = Field.bits("MAX_TIMER", 88, 31, 0, "Most timer entries");

  /** Log2 of the bytes of a timer entry. */
  public static final Field TIMER_SIZE =
      Field.bits("TIMER_SIZE", 88, 63, 32, "Log2 of the bytes of a timer entry");

  /** Most multicast group entries. */
  public static final Field MAX_FSIMC =
      Field.bits("MAX_FSIMC", 96, 31, 0, "Most multicast group entries");

  /** Log2 of the bytes of a multicast group entry. */
  public static final Field FSIMC_SIZE =
      Field.bits("FSIMC_SIZE", 96, 63, 32, "Log2 of the bytes of a multicast group entry");

  /** Most address handles. */
  public static final Field MAX_FSIAV = Field.bits("MAX_FSIAV", 104, 31, 0, "Most address handles");

  /** Log2 of the bytes of an address handle. */
  public static final Field FSIAV_SIZE =
      Field.bits("FSIAV_SIZE", 104, 63, 32, "Log2 of the bytes of an address handle");

  /** Most PBLEs. */
  public static final Field MAX_PBLE = Field.bits("MAX_PBLE", 112, 31, 0, "Most PBLEs");

  /** Most completion event queues. */
  public static final Field MAX_CEQS =
      Field.bits("MAX_CEQS", 120, 9, 0, "Most completion event queues");

  /** Hash table entries for each wanted one. */
  public static final Field HTMULTIPLIER =
      Field.bits("HTMULTIPLIER", 120, 19, 16, "Hash table entries for each wanted one");

  /** Timer entries of a bucket. */
  public static final Field TIMERBUCKET =
      Field.bits("TIMERBUCKET", 120, 47, 32, "Timer entries of a bucket");

  /** Most read response FIFO entries. */
  public static final Field MAX_RRF =
      Field.bits("MAX_RRF", 128, 31, 0, "Most read response FIFO entries");

  /** Log2 of the bytes of a read response FIFO entry. */
  public static final Field RRF_SIZE =
      Field.bits("RRF_SIZE", 128, 63, 32, "Log2 of the bytes of a read response FIFO entry");

  /** Most entries of the read response FIFO free list. */
  public static final Field MAX_RRFFL =
      Field.bits("MAX_RRFFL", 136, 31, 0, "Most entries of the read response FIFO free list");

  /** Read response FIFO entries in a block. */
  public static final Field RRFBLOCKSIZE =
      Field.bits("RRFBLOCKSIZE", 136, 63, 32, "Read response FIFO entries in a block");

  /** Most header entries. */
  public static final Field MAX_HDR = Field.bits("MAX_HDR", 144, 31, 0, "Most header entries");

  /** Log2 of the bytes of a header entry. */
  public static final Field HDR_SIZE =
      Field.bits("HDR_SIZE", 144, 63, 32, "Log2 of the bytes of a header entry");

  /** Most message descriptor entries. */
  public static final Field MAX_MD =
      Field.bits("MAX_MD", 152, 31, 0, "Most message descriptor entries");

  /** Log2 of the bytes of a message descriptor entry. */
  public static final Field MD_SIZE =
      Field.bits("MD_SIZE", 152, 63, 32, "Log2 of the bytes of a message descriptor entry");

  /** Most out-of-order contexts. */
  public static final Field MAX_OOISC =
      Field.bits("MAX_OOISC", 160, 31, 0, "Most out-of-order contexts");

  /** Log2 of the bytes of an out-of-order context. */
  public static final Field OOISC_SIZE =
      Field.bits("OOISC_SIZE", 160, 63, 32, "Log2 of the bytes of an out-of-order context");

  /** Most entries of the out-of-order free list. */
  public static final Field MAX_OOISCFFL =
      Field.bits("MAX_OOISCFFL", 168, 31, 0, "Most entries of the out-of-order free list");

  /** Out-of-order contexts in a block. */
  public static final Field OOISCFBLOCKSIZE =
      Field.bits("OOISCFBLOCKSIZE", 168, 63, 32, "Out-of-order contexts in a block");

  /** What QUERY_FPM answers. */
  public static final Layout LAYOUT =
      Layout.of(
          "fpm-query",
          SIZE,
          "What QUERY_FPM answers",
          FIRST_PE_SD_INDEX,
          MAX_PE_SDS,
          MAX_QPS,
          QP_SIZE,
          MAX_CQS,
          CQ_SIZE,
          MAX_HTE,
          HTE_SIZE,
          MAX_ARP,
          ARP_SIZE,
          MAX_MR,
          MR_SIZE,
          MAX_XF,
          XF_SIZE,
          MAX_XFFL,
          XFBLOCKSIZE,
          MAX_Q1,
          Q1_SIZE,
          MAX_Q1FL,
          Q1BLOCKSIZE,
          MAX_TIMER,
          TIMER_SIZE,
          MAX_FSIMC,
          FSIMC_SIZE,
          MAX_FSIAV,
          FSIAV_SIZE,
          MAX_PBLE,
          MAX_CEQS,
          HTMULTIPLIER,
          TIMERBUCKET,
          MAX_RRF,
          RRF_SIZE,
          MAX_RRFFL,
          RRFBLOCKSIZE,
          MAX_HDR,
          HDR_SIZE,
          MAX_MD,
          MD_SIZE,
          MAX_OOISC,
          OOISC_SIZE,
          MAX_OOISCFFL,
          OOISCFBLOCKSIZE);

  private FpmQueryBuffer() {}
}
