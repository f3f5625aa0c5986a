package irdma4j.hwregs.cqp;

import org.jspecify.annotations.Nullable;

/** Operations of the control queue pair. Source: Linux drivers/infiniband/hw/irdma/defs.h. */
public enum CqpOpcode {
  /** Create a queue pair. */
  CREATE_QP(0x00),
  /** Change a queue pair. */
  MODIFY_QP(0x01),
  /** Destroy a queue pair. */
  DESTROY_QP(0x02),
  /** Create a completion queue. */
  CREATE_CQ(0x03),
  /** Change or resize a completion queue. */
  MODIFY_CQ(0x04),
  /** Destroy a completion queue. */
  DESTROY_CQ(0x05),
  /** Allocate a stag for fast registration. */
  ALLOC_STAG(0x09),
  /** Register a memory region. */
  REG_MR(0x0a),
  /** Read a stag entry. */
  QUERY_STAG(0x0b),
  /** Register a shared memory region. */
  REG_SMR(0x0c),
  /** Free a stag. */
  DEALLOC_STAG(0x0d),
  /** Set or free an entry of the local MAC table. */
  MANAGE_LOC_MAC_TABLE(0x0e),
  /** Set or free an entry of the ARP table. */
  MANAGE_ARP(0x0f),
  /** Give a virtual function pages for PBLEs. */
  MANAGE_VF_PBLE_BP(0x10),
  /** Allocate or free a push page. */
  MANAGE_PUSH_PAGES(0x11),
  /** Read the features of the firmware. */
  QUERY_RDMA_FEATURES(0x12),
  /** Write a queue pair context to host memory. */
  UPLOAD_CONTEXT(0x13),
  /** Allocate an entry of the local MAC table. */
  ALLOCATE_LOC_MAC_TABLE_ENTRY(0x14),
  /** Allocate or free an HMC function. */
  MANAGE_HMC_PM_FUNC_TABLE(0x15),
  /** Create a completion event queue. */
  CREATE_CEQ(0x16),
  /** Destroy a completion event queue. */
  DESTROY_CEQ(0x18),
  /** Create the asynchronous event queue. */
  CREATE_AEQ(0x19),
  /** Destroy the asynchronous event queue. */
  DESTROY_AEQ(0x1b),
  /** Create an address handle. */
  CREATE_ADDR_HANDLE(0x1c),
  /** Change an address handle. */
  MODIFY_ADDR_HANDLE(0x1d),
  /** Destroy an address handle. */
  DESTROY_ADDR_HANDLE(0x1e),
  /** Write segment descriptors. */
  UPDATE_PE_SDS(0x1f),
  /** Read the limits of the HMC. */
  QUERY_FPM_VAL(0x20),
  /** Fix the object counts of the HMC. */
  COMMIT_FPM_VAL(0x21),
  /** Flush the queues of a queue pair, or raise an asynchronous event. */
  FLUSH_WQES(0x22),
  /** Add or remove a port of the accelerated port table. */
  MANAGE_APBVT(0x23),
  /** Do nothing. */
  NOP(0x24),
  /** Add or remove an entry of the quad hash table. */
  MANAGE_QUAD_HASH_TABLE_ENTRY(0x25),
  /** Create a multicast group. */
  CREATE_MCAST_GRP(0x26),
  /** Change a multicast group. */
  MODIFY_MCAST_GRP(0x27),
  /** Destroy a multicast group. */
  DESTROY_MCAST_GRP(0x28),
  /** Suspend a queue pair. */
  SUSPEND_QP(0x29),
  /** Resume a queue pair. */
  RESUME_QP(0x2a),
  /** Say that the static HMC pages are there. */
  SHMC_PAGES_ALLOCATED(0x2b),
  /** Add, change or delete a node of the work scheduler. */
  WORK_SCHED_NODE(0x2c),
  /** Allocate or free a statistics instance. */
  MANAGE_STATS(0x2d),
  /** Write statistics to host memory. */
  GATHER_STATS(0x2e),
  /** Set the map of user priorities. */
  UP_MAP(0x2f);

  private static final @Nullable CqpOpcode[] BY_CODE = new @Nullable CqpOpcode[64];

  static {
    for (CqpOpcode opcode : values()) {
      BY_CODE[opcode.code] = opcode;
    }
  }

  private final int code;

  CqpOpcode(int code) {
    this.code = code;
  }

  /** The value of the WQE's opcode field. */
  public int code() {
    return code;
  }

  /** The operation that a code names, or null if none is known. */
  public static @Nullable CqpOpcode of(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
