package irdma4j.hwregs;

import org.jspecify.annotations.Nullable;

/**
 * Why a queue is flushed: the minor error code of its flush completion. Source: Linux
 * drivers/infiniband/hw/irdma/user.h.
 */
public enum FlushCode {
  /** No flush. */
  INVALID(0x0000, "No flush"),
  /** Flushed because of an earlier error. */
  GENERAL_ERR(0x0001, "Flushed because of an earlier error"),
  /** Local protection error. */
  PROT_ERR(0x0002, "Local protection error"),
  /** Remote access error. */
  REM_ACCESS_ERR(0x0003, "Remote access error"),
  /** Local queue pair operation error. */
  LOC_QP_OP_ERR(0x0004, "Local queue pair operation error"),
  /** Remote operation error. */
  REM_OP_ERR(0x0005, "Remote operation error"),
  /** Local length error. */
  LOC_LEN_ERR(0x0006, "Local length error"),
  /** Fatal error. */
  FATAL_ERR(0x0007, "Fatal error"),
  /** Retries exhausted. */
  RETRY_EXC_ERR(0x0008, "Retries exhausted"),
  /** Memory window bind error. */
  MW_BIND_ERR(0x0009, "Memory window bind error"),
  /** Remote invalid request error. */
  REM_INV_REQ_ERR(0x000a, "Remote invalid request error");

  private final int code;
  private final String meaning;

  FlushCode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /** The minor error code. */
  public int code() {
    return code;
  }

  /** What it means, in a few words. */
  public String meaning() {
    return meaning;
  }

  /** The constant of a code, or null if the code is unknown. */
  public static @Nullable FlushCode of(int code) {
    for (FlushCode value : values()) {
      if (value.code == code) {
        return value;
      }
    }
    return null;
  }
}
