package irdma4j.hwregs;

/**
 * The host context of the control queue pair: where its ring is and what the function wants.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/defs.h and irdma_sc_cqp_create in ctrl.c.
 */
public final class CqpHostContext {
  /** Its size in bytes. */
  public static final int SIZE = 64;

  /** Do not handle packed FPDUs. */
  public static final Field DISABLE_PFPDUS =
      Field.bit("DISABLE_PFPDUS", 0, 1, "Do not handle packed FPDUs");

  /** Retransmission timeout policy of RoCEv2. */
  public static final Field ROCEV2_RTO_POLICY =
      Field.bit("ROCEV2_RTO_POLICY", 0, 2, "Retransmission timeout policy of RoCEv2");

  /** 0 any, 1 iWARP only, 2 RoCE only. */
  public static final Field PROTOCOL_USED =
      Field.bits("PROTOCOL_USED", 0, 4, 3, "0 any, 1 iWARP only, 2 RoCE only");

  /** Encoded number of WQEs in the control ring. */
  public static final Field SQSIZE =
      Field.bits("SQSIZE", 0, 11, 8, "Encoded number of WQEs in the control ring");

  /** Version of this structure. */
  public static final Field SVER = Field.bits("SVER", 0, 31, 24, "Version of this structure");

  /** CEQs of each virtual function. */
  public static final Field CEQPERVF =
      Field.bits("CEQPERVF", 0, 39, 32, "CEQs of each virtual function");

  /** IOVA of the control ring, in units of 512 bytes. */
  public static final Field SQBASE =
      Field.bits("SQBASE", 8, 63, 9, "IOVA of the control ring, in units of 512 bytes");

  /** How the HMC is shared: 1 default, 2 favour VFs, 3 equal. */
  public static final Field HMC_PROFILE =
      Field.bits(
          "HMC_PROFILE", 16, 2, 0, "How the HMC is shared: 1 default, 2 favour VFs, 3 equal");

  /** Number of virtual functions. */
  public static final Field ENABLED_VFS =
      Field.bits("ENABLED_VFS", 16, 37, 32, "Number of virtual functions");

  /** Completion context of the control queue pair. */
  public static final Field QPCTX =
      Field.word("QPCTX", 24, "Completion context of the control queue pair");

  /** Minor version of the interface that the driver speaks. */
  public static final Field HW_MINVER =
      Field.bits("HW_MINVER", 32, 15, 0, "Minor version of the interface that the driver speaks");

  /** Major version of the interface that the driver speaks. */
  public static final Field HW_MAJVER =
      Field.bits("HW_MAJVER", 32, 31, 16, "Major version of the interface that the driver speaks");

  /** Congestion control: lowest rate. */
  public static final Field MIN_RATE =
      Field.bits("MIN_RATE", 32, 51, 48, "Congestion control: lowest rate");

  /** Congestion control: smallest decrease. */
  public static final Field MIN_DEC_FACTOR =
      Field.bits("MIN_DEC_FACTOR", 32, 59, 56, "Congestion control: smallest decrease");

  /** Congestion control: DCQCN timer. */
  public static final Field DCQCN_T =
      Field.bits("DCQCN_T", 48, 15, 0, "Congestion control: DCQCN timer");

  /** Congestion control: hyper-active increase. */
  public static final Field HAI_FACTOR =
      Field.bits("HAI_FACTOR", 48, 47, 32, "Congestion control: hyper-active increase");

  /** Congestion control: active increase. */
  public static final Field RAI_FACTOR =
      Field.bits("RAI_FACTOR", 48, 63, 48, "Congestion control: active increase");

  /** Congestion control: DCQCN byte counter. */
  public static final Field DCQCN_B =
      Field.bits("DCQCN_B", 56, 24, 0, "Congestion control: DCQCN byte counter");

  /** Congestion control: DCQCN fast recovery steps. */
  public static final Field DCQCN_F =
      Field.bits("DCQCN_F", 56, 27, 25, "Congestion control: DCQCN fast recovery steps");

  /** The congestion control values are valid. */
  public static final Field CC_CFG_VALID =
      Field.bit("CC_CFG_VALID", 56, 31, "The congestion control values are valid");

  /** Congestion control: least time between two rate reductions. */
  public static final Field RREDUCE_MPERIOD =
      Field.bits(
          "RREDUCE_MPERIOD",
          56,
          63,
          32,
          "Congestion control: least time between two rate reductions");

  /** Host context of the control queue pair. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp-context",
          SIZE,
          "Host context of the control queue pair",
          DISABLE_PFPDUS,
          ROCEV2_RTO_POLICY,
          PROTOCOL_USED,
          SQSIZE,
          SVER,
          CEQPERVF,
          SQBASE,
          HMC_PROFILE,
          ENABLED_VFS,
          QPCTX,
          HW_MINVER,
          HW_MAJVER,
          MIN_RATE,
          MIN_DEC_FACTOR,
          DCQCN_T,
          HAI_FACTOR,
          RAI_FACTOR,
          DCQCN_B,
          DCQCN_F,
          CC_CFG_VALID,
          RREDUCE_MPERIOD);

  private CqpHostContext() {}
}
