package irdma4j.hwregs;

/**
 * A send-queue WQE. It takes 1 to 8 quanta of 32 bytes; the header is the last word of the first
 * quantum and is written last, because its valid bit hands the WQE to the device.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/defs.h and uk.c.
 */
public final class SqWqe {
  /** Its size in bytes. */
  public static final int SIZE = 32;

  /** Virtual address of the fragment's first byte. */
  public static final Field FRAG_TO =
      Field.word("FRAG_TO", 0, "Virtual address of the fragment's first byte");

  /** Stag (lkey) of the fragment. */
  public static final Field FRAG_STAG =
      Field.bits("FRAG_STAG", 8, 31, 0, "Stag (lkey) of the fragment");

  /** Bytes in the fragment. */
  public static final Field FRAG_LEN = Field.bits("FRAG_LEN", 8, 62, 32, "Bytes in the fragment");

  /** Valid bit of the fragment's word, equal to the ring's polarity. */
  public static final Field FRAG_VALID =
      Field.bit(
          "FRAG_VALID", 8, 63, "Valid bit of the fragment's word, equal to the ring's polarity");

  /** Immediate data in the low 32 bits, as a host-order integer. */
  public static final Field IMMDATA =
      Field.word("IMMDATA", 0, "Immediate data in the low 32 bits, as a host-order integer")
          .when("IMMDATAFLAG = 1");

  /** Virtual address at the peer. */
  public static final Field REMTO =
      Field.word("REMTO", 16, "Virtual address at the peer").when("READ or WRITE");

  /** Q_Key to send with. */
  public static final Field DESTQKEY =
      Field.bits("DESTQKEY", 16, 31, 0, "Q_Key to send with").when("UD");

  /** QPN at the peer. */
  public static final Field DESTQPN =
      Field.bits("DESTQPN", 16, 55, 32, "QPN at the peer").when("UD");

  /** Bytes of the window. */
  public static final Field MWLEN = Field.word("MWLEN", 16, "Bytes of the window").when("BIND_MW");

  /** Bytes of the region. */
  public static final Field STAGLEN =
      Field.bits("STAGLEN", 16, 40, 0, "Bytes of the region").when("FAST_REGISTER");

  /** Low 16 bits of the first PBLE's index. */
  public static final Field FIRSTPMPBLIDXLO =
      Field.bits("FIRSTPMPBLIDXLO", 16, 63, 48, "Low 16 bits of the first PBLE's index")
          .when("FAST_REGISTER");

  /** Base virtual address, or the offset of the first byte in its page. */
  public static final Field BASEVA_TO_FBO =
      Field.word(
              "BASEVA_TO_FBO",
              0,
              "Base virtual address, or the offset of the first byte in its page")
          .when("BIND_MW or FAST_REGISTER");

  /** Stag of the window. */
  public static final Field MWSTAG =
      Field.bits("MWSTAG", 8, 31, 0, "Stag of the window").when("BIND_MW");

  /** Stag of the region that the window opens. */
  public static final Field PARENTMRSTAG =
      Field.bits("PARENTMRSTAG", 8, 63, 32, "Stag of the region that the window opens")
          .when("BIND_MW");

  /** Stag to invalidate. */
  public static final Field LOCSTAG =
      Field.bits("LOCSTAG", 8, 31, 0, "Stag to invalidate").when("LOCAL_INVALIDATE");

  /** High 12 bits of the first PBLE's index. */
  public static final Field FIRSTPMPBLIDXHI =
      Field.bits("FIRSTPMPBLIDXHI", 8, 11, 0, "High 12 bits of the first PBLE's index")
          .when("FAST_REGISTER");

  /** IOVA of the first page, in units of 4 KiB. */
  public static final Field PBLADDR =
      Field.bits("PBLADDR", 8, 63, 12, "IOVA of the first page, in units of 4 KiB")
          .when("FAST_REGISTER");

  /** Stag (rkey) at the peer. */
  public static final Field REMSTAG =
      Field.bits("REMSTAG", 24, 31, 0, "Stag (rkey) at the peer").when("READ or WRITE");

  /** Stag that the peer is asked to invalidate. */
  public static final Field REMSTAGINV =
      Field.bits("REMSTAGINV", 24, 31, 0, "Stag that the peer is asked to invalidate")
          .when("SEND with invalidate");

  /** Address handle of the destination. */
  public static final Field AHID =
      Field.bits("AHID", 24, 16, 0, "Address handle of the destination").when("UD");

  /** Key part of the stag. */
  public static final Field STAGKEY =
      Field.bits("STAGKEY", 24, 7, 0, "Key part of the stag").when("FAST_REGISTER");

  /** Index part of the stag. */
  public static final Field STAGINDEX =
      Field.bits("STAGINDEX", 24, 31, 8, "Index part of the stag").when("FAST_REGISTER");

  /** What to do. */
  public static final Field OPCODE = Field.bits("OPCODE", 24, 37, 32, "What to do");

  /** Further fragments beyond the first. */
  public static final Field ADDFRAGCNT =
      Field.bits("ADDFRAGCNT", 24, 41, 38, "Further fragments beyond the first");

  /** Length of the transport header. */
  public static final Field L4LEN =
      Field.bits("L4LEN", 24, 45, 42, "Length of the transport header").when("UD");

  /** Copy the page list into the HMC. */
  public static final Field COPYHOSTPBLS =
      Field.bit("COPYHOSTPBLS", 24, 43, "Copy the page list into the HMC").when("FAST_REGISTER");

  /** Level of the page list: 0 none, 1 one run, 3 root and leaves. */
  public static final Field LPBLSIZE =
      Field.bits(
              "LPBLSIZE",
              24,
              45,
              44,
              "Level of the page list: 0 none, 1 one run, 3 root and leaves")
          .when("FAST_REGISTER");

  /** Report the round trip time in the completion. */
  public static final Field REPORTRTT =
      Field.bit("REPORTRTT", 24, 46, "Report the round trip time in the completion")
          .when("READ, WRITE or SEND");

  /** Page size: 0 4 KiB, 1 2 MiB, 2 1 GiB. */
  public static final Field HPAGESIZE =
      Field.bits("HPAGESIZE", 24, 47, 46, "Page size: 0 4 KiB, 1 2 MiB, 2 1 GiB")
          .when("FAST_REGISTER");

  /** The WQE carries immediate data. */
  public static final Field IMMDATAFLAG =
      Field.bit("IMMDATAFLAG", 24, 47, "The WQE carries immediate data").when("SEND or WRITE");

  /** Bytes of inline data. */
  public static final Field INLINEDATALEN =
      Field.bits("INLINEDATALEN", 24, 55, 48, "Bytes of inline data").when("INLINEDATAFLAG = 1");

  /** Access rights of the region or window. */
  public static final Field STAGRIGHTS =
      Field.bits("STAGRIGHTS", 24, 52, 48, "Access rights of the region or window")
          .when("BIND_MW or FAST_REGISTER");

  /** Addresses are virtual addresses, not offsets. */
  public static final Field VABASEDTO =
      Field.bit("VABASEDTO", 24, 53, "Addresses are virtual addresses, not offsets")
          .when("BIND_MW or FAST_REGISTER");

  /** The window is of type 1. */
  public static final Field MEMWINDOWTYPE =
      Field.bit("MEMWINDOWTYPE", 24, 54, "The window is of type 1").when("BIND_MW");

  /** The WQE is also written to the push page. */
  public static final Field PUSHWQE =
      Field.bit("PUSHWQE", 24, 56, "The WQE is also written to the push page");

  /** The payload stands in the WQE itself. */
  public static final Field INLINEDATAFLAG =
      Field.bit("INLINEDATAFLAG", 24, 57, "The payload stands in the WQE itself");

  /** Send as a TCP stream, before MPA starts. */
  public static final Field STREAMMODE =
      Field.bit("STREAMMODE", 24, 58, "Send as a TCP stream, before MPA starts");

  /** Wait for the peer's first FPDU. */
  public static final Field WAITFORRCVPDU =
      Field.bit("WAITFORRCVPDU", 24, 59, "Wait for the peer's first FPDU");

  /** Start only when all earlier RDMA READs are complete. */
  public static final Field READFENCE =
      Field.bit("READFENCE", 24, 60, "Start only when all earlier RDMA READs are complete");

  /** Start only when all earlier WQEs are complete. */
  public static final Field LOCALFENCE =
      Field.bit("LOCALFENCE", 24, 61, "Start only when all earlier WQEs are complete").when("RC");

  /** The WQE supplies the UDP header. */
  public static final Field UDPHEADER =
      Field.bit("UDPHEADER", 24, 61, "The WQE supplies the UDP header")
          .when("UD with its own header");

  /** Write a CQE even on success. */
  public static final Field SIGCOMPL = Field.bit("SIGCOMPL", 24, 62, "Write a CQE even on success");

  /** Valid bit, equal to the ring's polarity. */
  public static final Field VALID =
      Field.bit("VALID", 24, 63, "Valid bit, equal to the ring's polarity");

  /** SEND, with or without immediate or invalidate. */
  public static final Layout SEND =
      Layout.of(
          "sq/send",
          SIZE,
          "SEND, with or without immediate or invalidate",
          FRAG_TO,
          FRAG_STAG,
          FRAG_LEN,
          FRAG_VALID,
          DESTQKEY,
          DESTQPN,
          REMSTAGINV,
          AHID,
          OPCODE,
          ADDFRAGCNT,
          L4LEN,
          REPORTRTT,
          IMMDATAFLAG,
          PUSHWQE,
          INLINEDATAFLAG,
          STREAMMODE,
          WAITFORRCVPDU,
          READFENCE,
          LOCALFENCE,
          UDPHEADER,
          SIGCOMPL,
          VALID);

  /** RDMA WRITE, with or without immediate. */
  public static final Layout WRITE =
      Layout.of(
          "sq/write",
          SIZE,
          "RDMA WRITE, with or without immediate",
          FRAG_TO,
          FRAG_STAG,
          FRAG_LEN,
          FRAG_VALID,
          REMTO,
          REMSTAG,
          OPCODE,
          ADDFRAGCNT,
          REPORTRTT,
          IMMDATAFLAG,
          PUSHWQE,
          INLINEDATAFLAG,
          READFENCE,
          LOCALFENCE,
          SIGCOMPL,
          VALID);

  /** RDMA READ, with or without invalidation of the sink's stag. */
  public static final Layout READ =
      Layout.of(
          "sq/read",
          SIZE,
          "RDMA READ, with or without invalidation of the sink's stag",
          FRAG_TO,
          FRAG_STAG,
          FRAG_LEN,
          FRAG_VALID,
          REMTO,
          REMSTAG,
          OPCODE,
          ADDFRAGCNT,
          REPORTRTT,
          PUSHWQE,
          READFENCE,
          LOCALFENCE,
          SIGCOMPL,
          VALID);

  /** SEND or RDMA WRITE whose payload stands in the WQE. */
  public static final Layout INLINE =
      Layout.of(
          "sq/inline",
          SIZE,
          "SEND or RDMA WRITE whose payload stands in the WQE",
          REMTO,
          DESTQKEY,
          DESTQPN,
          REMSTAG,
          REMSTAGINV,
          AHID,
          OPCODE,
          ADDFRAGCNT,
          L4LEN,
          REPORTRTT,
          IMMDATAFLAG,
          INLINEDATALEN,
          PUSHWQE,
          INLINEDATAFLAG,
          STREAMMODE,
          WAITFORRCVPDU,
          READFENCE,
          LOCALFENCE,
          UDPHEADER,
          SIGCOMPL,
          VALID);

  /** Bind a memory window. */
  public static final Layout BIND_MW =
      Layout.of(
          "sq/bind-mw",
          SIZE,
          "Bind a memory window",
          BASEVA_TO_FBO,
          MWSTAG,
          PARENTMRSTAG,
          MWLEN,
          OPCODE,
          STAGRIGHTS,
          VABASEDTO,
          MEMWINDOWTYPE,
          READFENCE,
          LOCALFENCE,
          SIGCOMPL,
          VALID);

  /** Register memory by a work request. */
  public static final Layout FAST_REGISTER =
      Layout.of(
          "sq/fast-register",
          SIZE,
          "Register memory by a work request",
          BASEVA_TO_FBO,
          FIRSTPMPBLIDXHI,
          PBLADDR,
          STAGLEN,
          FIRSTPMPBLIDXLO,
          STAGKEY,
          STAGINDEX,
          OPCODE,
          COPYHOSTPBLS,
          LPBLSIZE,
          HPAGESIZE,
          STAGRIGHTS,
          VABASEDTO,
          READFENCE,
          LOCALFENCE,
          SIGCOMPL,
          VALID);

  /** Invalidate a stag of one's own. */
  public static final Layout LOCAL_INVALIDATE =
      Layout.of(
          "sq/local-invalidate",
          SIZE,
          "Invalidate a stag of one's own",
          LOCSTAG,
          OPCODE,
          READFENCE,
          LOCALFENCE,
          SIGCOMPL,
          VALID);

  /** Do nothing; also fills the rest of a chunk. */
  public static final Layout NOP =
      Layout.of(
          "sq/nop", SIZE, "Do nothing; also fills the rest of a chunk", OPCODE, SIGCOMPL, VALID);

  private SqWqe() {}
}
