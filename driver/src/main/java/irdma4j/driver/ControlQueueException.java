package irdma4j.driver;

import irdma4j.hwregs.cqp.CqpOpcode;
import java.util.Map;

/** A control operation that the device refused. */
public final class ControlQueueException extends RdmaException {
  private static final long serialVersionUID = 1L;

  // Linux drivers/infiniband/hw/irdma/defs.h and irdma_noncrit_err_list in utils.c.
  private static final Map<Integer, String> MAJOR =
      Map.of(0xf000, "object cache error", 0xf001, "context cache error", 0xffff, "error");
  private static final Map<Integer, String> MINOR =
      Map.of(
          0x8002, "invalid state",
          0x8006, "flush: no WQE pending",
          0x8007, "modify QP: bad close",
          0x8009, "connection closed",
          0x800a, "reset not sent");

  private final CqpOpcode opcode;
  private final int major;
  private final int minor;

  ControlQueueException(CqpOpcode opcode, int major, int minor) {
    super(
        "%s failed: major 0x%04x (%s), minor 0x%04x (%s)"
            .formatted(
                opcode,
                major,
                MAJOR.getOrDefault(major, "unknown"),
                minor,
                MINOR.getOrDefault(minor, "unknown")));
    this.opcode = opcode;
    this.major = major;
    this.minor = minor;
  }

  /** The operation. */
  public CqpOpcode opcode() {
    return opcode;
  }

  /** The device's major error code. */
  public int major() {
    return major;
  }

  /** The device's minor error code. */
  public int minor() {
    return minor;
  }
}
