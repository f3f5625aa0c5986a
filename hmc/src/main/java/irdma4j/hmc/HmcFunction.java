package irdma4j.hmc;

import irdma4j.hwregs.Registers;

/**
 * Whose Host Memory Cache: that of a physical function, or of a virtual one that it backs. Each has
 * a segment descriptor table and an FPM address space of its own.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/icrdma_hw.h for the registers.
 *
 * @param id what control operations call the function, 0 to 63
 * @param virtualIndex which virtual function of its physical one, 0 to 31; -1 for a physical one
 */
public record HmcFunction(int id, int virtualIndex) {
  private static final int IDS = 64;
  private static final int VIRTUAL = 32;

  /** Refuses what no register or operation can name. */
  public HmcFunction {
    if (id < 0 || id >= IDS) {
      throw new IllegalArgumentException("HMC function " + id + ": 0 to " + (IDS - 1));
    }
    if (virtualIndex < -1 || virtualIndex >= VIRTUAL) {
      throw new IllegalArgumentException(
          "virtual function " + virtualIndex + ": 0 to " + (VIRTUAL - 1));
    }
  }

  /** A physical function. */
  public static HmcFunction physical(int id) {
    return new HmcFunction(id, -1);
  }

  /** A virtual function. */
  public static HmcFunction virtual(int id, int index) {
    if (index < 0) {
      throw new IllegalArgumentException("virtual function " + index);
    }
    return new HmcFunction(id, index);
  }

  /** Whether it is a virtual function. */
  public boolean isVirtual() {
    return virtualIndex >= 0;
  }

  /** Offset, in BAR 0, of the register that makes the device forget a page descriptor. */
  public int invalidationRegister() {
    return isVirtual()
        ? Registers.GLHMC_VFPDINV.offset() + Integer.BYTES * virtualIndex
        : Registers.PFHMC_PDINV.offset();
  }
}
