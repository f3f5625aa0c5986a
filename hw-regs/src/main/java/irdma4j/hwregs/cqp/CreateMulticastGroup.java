package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Create a multicast group.
 *
 * @param macAddress destination MAC address as a big-endian integer
 * @param hmcFunction HMC function
 * @param queueSet queue set of the work scheduler
 * @param vlanId VLAN
 * @param contextAddress IOVA of the group's context: up to eight entries of eight bytes
 * @param address3 group address, word 3 (IPv4: the address)
 * @param address2 group address, word 2
 * @param address1 group address, word 1
 * @param address0 group address, word 0
 * @param groupId number of the group
 * @param vlanValid VLANID is valid
 * @param ipv4 the address is IPv4
 */
public record CreateMulticastGroup(
    long macAddress,
    int hmcFunction,
    int queueSet,
    int vlanId,
    long contextAddress,
    int address3,
    int address2,
    int address1,
    int address0,
    int groupId,
    boolean vlanValid,
    boolean ipv4)
    implements CqpCommand {
  private static final Field MACADDR =
      Field.bits("MACADDR", 0, 47, 0, "Destination MAC address as a big-endian integer");
  private static final Field HMC_FCN_ID = Field.bits("HMC_FCN_ID", 8, 5, 0, "HMC function");
  private static final Field QS_HANDLE =
      Field.bits("QS_HANDLE", 16, 9, 0, "Queue set of the work scheduler");
  private static final Field VLANID = Field.bits("VLANID", 16, 43, 32, "VLAN");
  private static final Field CONTEXTADDR =
      Field.word(
          "CONTEXTADDR", 32, "IOVA of the group's context: up to eight entries of eight bytes");
  private static final Field ADDR3 =
      Field.bits("ADDR3", 48, 31, 0, "Group address, word 3 (IPv4: the address)");
  private static final Field ADDR2 = Field.bits("ADDR2", 48, 63, 32, "Group address, word 2");
  private static final Field ADDR1 = Field.bits("ADDR1", 56, 31, 0, "Group address, word 1");
  private static final Field ADDR0 = Field.bits("ADDR0", 56, 63, 32, "Group address, word 0");
  private static final Field MGIDX = Field.bits("MGIDX", 24, 12, 0, "Number of the group");
  private static final Field VLANVALID = Field.bit("VLANVALID", 24, 59, "VLANID is valid");
  private static final Field IPV4VALID = Field.bit("IPV4VALID", 24, 60, "The address is IPv4");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/create-multicast-group",
          CqpWqe.SIZE,
          "Create a multicast group",
          MACADDR,
          HMC_FCN_ID,
          QS_HANDLE,
          VLANID,
          CONTEXTADDR,
          ADDR3,
          ADDR2,
          ADDR1,
          ADDR0,
          MGIDX,
          VLANVALID,
          IPV4VALID,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.CREATE_MCAST_GRP;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = MACADDR.encode(macAddress);
    long word8 = HMC_FCN_ID.encode(Integer.toUnsignedLong(hmcFunction));
    long word16 =
        QS_HANDLE.encode(Integer.toUnsignedLong(queueSet))
            | VLANID.encode(Integer.toUnsignedLong(vlanId));
    long word32 = CONTEXTADDR.encode(contextAddress);
    long word48 =
        ADDR3.encode(Integer.toUnsignedLong(address3))
            | ADDR2.encode(Integer.toUnsignedLong(address2));
    long word56 =
        ADDR1.encode(Integer.toUnsignedLong(address1))
            | ADDR0.encode(Integer.toUnsignedLong(address0));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | MGIDX.encode(Integer.toUnsignedLong(groupId))
            | VLANVALID.encode(vlanValid)
            | IPV4VALID.encode(ipv4);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, word32);
    LittleEndian.setLong(wqe, base + 48, word48);
    LittleEndian.setLong(wqe, base + 56, word56);
    return header;
  }

  static CreateMulticastGroup decode(MemorySegment wqe, long base) {
    return new CreateMulticastGroup(
        MACADDR.get(wqe, base),
        (int) HMC_FCN_ID.get(wqe, base),
        (int) QS_HANDLE.get(wqe, base),
        (int) VLANID.get(wqe, base),
        CONTEXTADDR.get(wqe, base),
        (int) ADDR3.get(wqe, base),
        (int) ADDR2.get(wqe, base),
        (int) ADDR1.get(wqe, base),
        (int) ADDR0.get(wqe, base),
        (int) MGIDX.get(wqe, base),
        VLANVALID.get(wqe, base) != 0,
        IPV4VALID.get(wqe, base) != 0);
  }
}
