package irdma4j.hwregs;

import java.util.List;
import java.util.Map;

/**
 * The PCI ids of Intel's functions with RDMA.
 *
 * <p>Source: Linux drivers/net/ethernet/intel/ice/ice_devids.h, i40e/i40e_devids.h.
 */
public final class PciIds {
  /** Intel. */
  public static final int INTEL = 0x8086;

  private static final Map<Integer, String> SECOND_GENERATION =
      Map.ofEntries(
          Map.entry(0x1591, "E810-C, backplane"),
          Map.entry(0x1592, "E810-C, QSFP"),
          Map.entry(0x1593, "E810-C, SFP"),
          Map.entry(0x1599, "E810-XXV, backplane"),
          Map.entry(0x159a, "E810-XXV, QSFP"),
          Map.entry(0x159b, "E810-XXV, SFP"),
          Map.entry(0x1888, "E822"),
          Map.entry(0x1890, "E822-C, backplane"),
          Map.entry(0x1891, "E822-C, QSFP"),
          Map.entry(0x1892, "E822-C, SFP"),
          Map.entry(0x1893, "E822-C, 10GBASE-T"),
          Map.entry(0x1894, "E822-C, SGMII"),
          Map.entry(0x1897, "E822-L, backplane"),
          Map.entry(0x1898, "E822-L, SFP"),
          Map.entry(0x1899, "E822-L, 10GBASE-T"),
          Map.entry(0x189a, "E822-L, SGMII"),
          Map.entry(0x188a, "E823-C, backplane"),
          Map.entry(0x188b, "E823-C, QSFP"),
          Map.entry(0x188c, "E823-C, SFP"),
          Map.entry(0x188d, "E823-C, 10GBASE-T"),
          Map.entry(0x188e, "E823-C, SGMII"),
          Map.entry(0x124c, "E823-L, backplane"),
          Map.entry(0x124d, "E823-L, SFP"),
          Map.entry(0x124e, "E823-L, 10GBASE-T"),
          Map.entry(0x124f, "E823-L, 1GbE"),
          Map.entry(0x151d, "E823-L, QSFP"));

  private static final Map<Integer, String> FIRST_GENERATION =
      Map.of(
          0x37ce, "X722, KX",
          0x37cf, "X722, QSFP",
          0x37d0, "X722, SFP",
          0x37d1, "X722, 1GBASE-T",
          0x37d2, "X722, 10GBASE-T",
          0x37d3, "X722, SFP (I)",
          0x0dda, "X722, SFP (A)");

  private PciIds() {}

  /** What a function is to this project. */
  public enum Family {
    /** The E810 family: second generation, which is what the driver is for. */
    E810,
    /** X722: first generation, whose registers and layouts differ. */
    X722,
    /** Something else. */
    OTHER
  }

  /** The family of a function. */
  public static Family family(int vendor, int device) {
    if (vendor != INTEL) {
      return Family.OTHER;
    }
    if (SECOND_GENERATION.containsKey(device)) {
      return Family.E810;
    }
    return FIRST_GENERATION.containsKey(device) ? Family.X722 : Family.OTHER;
  }

  /** Device ids of the E810 family, all of vendor {@link #INTEL}, in ascending order. */
  public static List<Integer> secondGeneration() {
    return SECOND_GENERATION.keySet().stream().sorted().toList();
  }

  /** A function's name, or "not ours". */
  public static String name(int vendor, int device) {
    return switch (family(vendor, device)) {
      case E810 -> SECOND_GENERATION.getOrDefault(device, "");
      case X722 -> FIRST_GENERATION.getOrDefault(device, "");
      case OTHER -> "not ours";
    };
  }
}
