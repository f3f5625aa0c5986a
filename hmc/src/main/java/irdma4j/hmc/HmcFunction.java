package irdma4j.hmc;

import irdma4j.hwregs.Generation;
import irdma4j.hwregs.Registers;

/**
 * Whose Host Memory Cache: that of a physical function, or of a virtual one that it backs. Each has
 * a segment descriptor table and an FPM address space of its own.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/icrdma_hw.h for the registers and the first id of a
 * virtual function, drivers/net/ethernet/intel/ice/ice_vf_lib.h for their number, and i40iw_hmc.h
 * of Linux 5.13 for the register that belongs to an id.
 *
 * @param id what control operations call the function, 0 to 63; 8 to 39 of a virtual one
 * @param virtualIndex which virtual function of its physical one, 0 to 255; -1 for a physical one
 */
public record HmcFunction(int id, int virtualIndex) {
  private static final int IDS = 64;
  private static final int VIRTUAL = 256;

  /** Refuses what no register or operation can name. */
  public HmcFunction {
    if (id < 0 || id >= IDS) {
      throw new IllegalArgumentException("HMC function " + id + ": 0 to " + (IDS - 1));
    }
    if (virtualIndex != -1) {
      requireVirtualIndex(virtualIndex);
      int first = Generation.GEN_2.firstVfFunction();
      int last = first + Registers.GLHMC_VFPDINV.count() - 1;
      if (id < first || id > last) {
        throw new IllegalArgumentException(
            "HMC function %d of a virtual function: %d to %d".formatted(id, first, last));
      }
    }
  }

  /** A physical function. */
  public static HmcFunction physical(int id) {
    return new HmcFunction(id, -1);
  }

  /** A virtual function. */
  public static HmcFunction virtual(int id, int index) {
    requireVirtualIndex(index);
    return new HmcFunction(id, index);
  }

  /**
   * Checks the number of a virtual function.
   *
   * @throws IllegalArgumentException if no physical function has one of this number
   */
  public static void requireVirtualIndex(int index) {
    if (index < 0 || index >= VIRTUAL) {
      throw new IllegalArgumentException("virtual function " + index + ": 0 to " + (VIRTUAL - 1));
    }
  }

  /** Whether it is a virtual function. */
  public boolean isVirtual() {
    return virtualIndex >= 0;
  }

  /** Offset, in BAR 0, of the register that makes the device forget a page descriptor. */
  public int invalidationRegister() {
    return isVirtual()
        ? Registers.GLHMC_VFPDINV.offset()
            + Registers.GLHMC_VFPDINV.stride() * (id - Generation.GEN_2.firstVfFunction())
        : Registers.PFHMC_PDINV.offset();
  }

  /**
   * What is written there to make it forget one. Only a physical function's register has a field
   * for the partition of the table.
   *
   * @param segment index of the segment, 0 to 4095
   * @param page index of the page in it, 0 to 511
   */
  public int invalidation(int segment, int page) {
    return (int)
        (Registers.PDINV_PMSDIDX.encode(segment)
            | Registers.PDINV_PMSDPARTSEL.encode(!isVirtual())
            | Registers.PDINV_PMPDIDX.encode(page));
  }
}
