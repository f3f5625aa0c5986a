package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Allocate or free a statistics instance. The completion of an allocation returns its index.
 *
 * @param hmcFunction HMC function
 * @param instance instance to free
 * @param useHmcFunction HMCFNIDX is valid
 * @param allocate allocate, not free
 */
public record ManageStats(int hmcFunction, int instance, boolean useHmcFunction, boolean allocate)
    implements CqpCommand {
  private static final Field HMCFNIDX = Field.bits("HMCFNIDX", 40, 5, 0, "HMC function");
  private static final Field INSTIDX = Field.bits("INSTIDX", 24, 6, 0, "Instance to free");
  private static final Field USE_HMC_FCN_INDEX =
      Field.bit("USE_HMC_FCN_INDEX", 24, 60, "HMCFNIDX is valid");
  private static final Field ALLOC_INST = Field.bit("ALLOC_INST", 24, 62, "Allocate, not free");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/manage-stats",
          CqpWqe.SIZE,
          "Allocate or free a statistics instance",
          HMCFNIDX,
          INSTIDX,
          USE_HMC_FCN_INDEX,
          ALLOC_INST,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_STATS;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word40 = HMCFNIDX.encode(Integer.toUnsignedLong(hmcFunction));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | INSTIDX.encode(Integer.toUnsignedLong(instance))
            | USE_HMC_FCN_INDEX.encode(useHmcFunction)
            | ALLOC_INST.encode(allocate);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 40, word40);
    return header;
  }

  static ManageStats decode(MemorySegment wqe, long base) {
    return new ManageStats(
        (int) HMCFNIDX.get(wqe, base),
        (int) INSTIDX.get(wqe, base),
        USE_HMC_FCN_INDEX.get(wqe, base) != 0,
        ALLOC_INST.get(wqe, base) != 0);
  }
}
