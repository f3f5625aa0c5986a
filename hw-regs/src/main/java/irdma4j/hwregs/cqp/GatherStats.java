package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Write statistics to host memory.
 *
 * @param bufferAddress IOVA of the statistics buffer
 * @param hmcFunction HMC function
 * @param instance statistics instance
 * @param useHmcFunction HMCFNIDX is valid
 * @param useInstance INSTIDX is valid
 */
public record GatherStats(
    long bufferAddress, int hmcFunction, int instance, boolean useHmcFunction, boolean useInstance)
    implements CqpCommand {
  private static final Field BUFADDR = Field.word("BUFADDR", 32, "IOVA of the statistics buffer");
  private static final Field HMCFNIDX = Field.bits("HMCFNIDX", 40, 5, 0, "HMC function");
  private static final Field INSTIDX = Field.bits("INSTIDX", 24, 6, 0, "Statistics instance");
  private static final Field USE_HMC_FCN_INDEX =
      Field.bit("USE_HMC_FCN_INDEX", 24, 60, "HMCFNIDX is valid");
  private static final Field USE_INST = Field.bit("USE_INST", 24, 61, "INSTIDX is valid");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/gather-stats",
          CqpWqe.SIZE,
          "Write statistics to host memory",
          BUFADDR,
          HMCFNIDX,
          INSTIDX,
          USE_HMC_FCN_INDEX,
          USE_INST,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.GATHER_STATS;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word32 = BUFADDR.encode(bufferAddress);
    long word40 = HMCFNIDX.encode(Integer.toUnsignedLong(hmcFunction));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | INSTIDX.encode(Integer.toUnsignedLong(instance))
            | USE_HMC_FCN_INDEX.encode(useHmcFunction)
            | USE_INST.encode(useInstance);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 32, word32);
    LittleEndian.setLong(wqe, base + 40, word40);
    return header;
  }

  static GatherStats decode(MemorySegment wqe, long base) {
    return new GatherStats(
        BUFADDR.get(wqe, base),
        (int) HMCFNIDX.get(wqe, base),
        (int) INSTIDX.get(wqe, base),
        USE_HMC_FCN_INDEX.get(wqe, base) != 0,
        USE_INST.get(wqe, base) != 0);
  }
}
