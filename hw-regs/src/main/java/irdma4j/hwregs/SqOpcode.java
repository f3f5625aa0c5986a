package irdma4j.hwregs;

import org.jspecify.annotations.Nullable;

/**
 * Operations of a send queue, and the operations that a completion reports. Source: Linux
 * drivers/infiniband/hw/irdma/defs.h and user.h.
 */
public enum SqOpcode {
  /** RDMA WRITE. */
  RDMA_WRITE(0x0000, "RDMA WRITE"),
  /** RDMA READ. */
  RDMA_READ(0x0001, "RDMA READ"),
  /** SEND. */
  SEND(0x0003, "SEND"),
  /** SEND with invalidate. */
  SEND_INV(0x0004, "SEND with invalidate"),
  /** SEND with solicited event. */
  SEND_SOL(0x0005, "SEND with solicited event"),
  /** SEND with solicited event and invalidate. */
  SEND_SOL_INV(0x0006, "SEND with solicited event and invalidate"),
  /** Bind a memory window. */
  BIND_MW(0x0008, "Bind a memory window"),
  /** Register memory by a work request. */
  FAST_REGISTER(0x0009, "Register memory by a work request"),
  /** Invalidate a local stag. */
  LOCAL_INVALIDATE(0x000a, "Invalidate a local stag"),
  /** RDMA READ that invalidates the stag of its sink. */
  RDMA_READ_LOC_INV(0x000b, "RDMA READ that invalidates the stag of its sink"),
  /** No operation. */
  NOP(0x000c, "No operation"),
  /** RDMA WRITE with solicited event. */
  RDMA_WRITE_SOL(0x000d, "RDMA WRITE with solicited event"),
  /** Raise an event on entering RTS. */
  GEN_RTS_AE(0x0030, "Raise an event on entering RTS"),
  /** Receive. */
  RECEIVE(0x003e, "Receive"),
  /** Receive with immediate data. */
  RECEIVE_IMMEDIATE(0x003f, "Receive with immediate data");

  private final int code;
  private final String meaning;

  SqOpcode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /** The value of the OPCODE field. */
  public int code() {
    return code;
  }

  /** What it means, in a few words. */
  public String meaning() {
    return meaning;
  }

  /** The constant of a code, or null if the code is unknown. */
  public static @Nullable SqOpcode of(int code) {
    for (SqOpcode value : values()) {
      if (value.code == code) {
        return value;
      }
    }
    return null;
  }
}
