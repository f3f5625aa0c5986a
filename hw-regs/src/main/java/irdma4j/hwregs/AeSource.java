package irdma4j.hwregs;

import org.jspecify.annotations.Nullable;

/**
 * The part of the device that raised an asynchronous event. Source: Linux
 * drivers/infiniband/hw/irdma/defs.h.
 */
public enum AeSource {
  /** Not a queue. */
  RSVD(0x0000, "Not a queue"),
  /** Receive queue. */
  RQ(0x0001, "Receive queue"),
  /** Completion queue. */
  CQ(0x0002, "Completion queue"),
  /** Receive queue. */
  RQ_0011(0x0003, "Receive queue"),
  /** Send queue. */
  SQ(0x0005, "Send queue"),
  /** Completion queue. */
  CQ_0110(0x0006, "Completion queue"),
  /** Send queue. */
  SQ_0111(0x0007, "Send queue"),
  /** Incoming READ request or WRITE. */
  IN_RR_WR(0x0009, "Incoming READ request or WRITE"),
  /** Completion queue. */
  CQ_1010(0x000a, "Completion queue"),
  /** Incoming READ request or WRITE. */
  IN_RR_WR_1011(0x000b, "Incoming READ request or WRITE"),
  /** Outgoing READ request. */
  OUT_RR(0x000d, "Outgoing READ request"),
  /** Completion queue. */
  CQ_1110(0x000e, "Completion queue"),
  /** Outgoing READ request. */
  OUT_RR_1111(0x000f, "Outgoing READ request");

  private final int code;
  private final String meaning;

  AeSource(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /** The value of the AESRC field of an AEQE. */
  public int code() {
    return code;
  }

  /** What it means, in a few words. */
  public String meaning() {
    return meaning;
  }

  /** The constant of a code, or null if the code is unknown. */
  public static @Nullable AeSource of(int code) {
    for (AeSource value : values()) {
      if (value.code == code) {
        return value;
      }
    }
    return null;
  }
}
