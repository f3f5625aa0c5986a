package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Set the map of user priorities to traffic classes.
 *
 * @param map one byte for each priority, the lowest first
 * @param hmcFunction HMC function
 * @param cnpPriority priority of congestion notification packets
 * @param useCnpPriority CNPOVERRIDE is valid
 * @param useVlan take the priority from the VLAN tag
 */
public record SetUserPriorityMap(
    long map, int hmcFunction, int cnpPriority, boolean useCnpPriority, boolean useVlan)
    implements CqpCommand {
  private static final Field MAP =
      Field.word("MAP", 0, "One byte for each priority, the lowest first");
  private static final Field HMCFCNIDX = Field.bits("HMCFCNIDX", 40, 5, 0, "HMC function");
  private static final Field CNPOVERRIDE =
      Field.bits("CNPOVERRIDE", 40, 37, 32, "Priority of congestion notification packets");
  private static final Field USEOVERRIDE = Field.bit("USEOVERRIDE", 24, 61, "CNPOVERRIDE is valid");
  private static final Field USEVLAN =
      Field.bit("USEVLAN", 24, 62, "Take the priority from the VLAN tag");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/set-up-map",
          CqpWqe.SIZE,
          "Set the map of user priorities to traffic classes",
          MAP,
          HMCFCNIDX,
          CNPOVERRIDE,
          USEOVERRIDE,
          USEVLAN,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.UP_MAP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = MAP.encode(map);
    long word40 =
        HMCFCNIDX.encode(Integer.toUnsignedLong(hmcFunction))
            | CNPOVERRIDE.encode(Integer.toUnsignedLong(cnpPriority));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | USEOVERRIDE.encode(useCnpPriority)
            | USEVLAN.encode(useVlan);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 40, word40);
    return header;
  }

  static SetUserPriorityMap decode(MemorySegment wqe, long base) {
    return new SetUserPriorityMap(
        MAP.get(wqe, base),
        (int) HMCFCNIDX.get(wqe, base),
        (int) CNPOVERRIDE.get(wqe, base),
        USEOVERRIDE.get(wqe, base) != 0,
        USEVLAN.get(wqe, base) != 0);
  }
}
