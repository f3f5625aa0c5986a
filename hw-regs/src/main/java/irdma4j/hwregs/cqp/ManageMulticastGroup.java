package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Create, change or destroy a multicast group.
 *
 * @param opcode CREATE_MCAST_GRP, MODIFY_MCAST_GRP or DESTROY_MCAST_GRP
 * @param id number of the group, 13 bits
 * @param address the group's address
 * @param macAddress destination MAC address as a big-endian integer
 * @param vlanValid the group is in a VLAN
 * @param vlanId VLAN, 12 bits
 * @param hmcFunction HMC function
 * @param queueSet queue set of the work scheduler, 10 bits
 * @param contextAddress IOVA of the members, see {@link irdma4j.hwregs.MulticastContext}
 */
public record ManageMulticastGroup(
    CqpOpcode opcode,
    int id,
    IpAddress address,
    long macAddress,
    boolean vlanValid,
    int vlanId,
    int hmcFunction,
    int queueSet,
    long contextAddress)
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

  /** The WQE of these operations. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/multicast-group",
          CqpWqe.SIZE,
          "Create, change or destroy a multicast group",
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

  /** Checks the operation. */
  public ManageMulticastGroup {
    if (opcode != CqpOpcode.CREATE_MCAST_GRP
        && opcode != CqpOpcode.MODIFY_MCAST_GRP
        && opcode != CqpOpcode.DESTROY_MCAST_GRP) {
      throw new IllegalArgumentException(opcode + " is no operation of a multicast group");
    }
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = MACADDR.encode(macAddress);
    long word8 = HMC_FCN_ID.encode(Integer.toUnsignedLong(hmcFunction));
    long word16 =
        QS_HANDLE.encode(Integer.toUnsignedLong(queueSet))
            | VLANID.encode(Integer.toUnsignedLong(vlanId));
    long header =
        CqpWqe.OPCODE.encode(opcode.code())
            | MGIDX.encode(Integer.toUnsignedLong(id))
            | VLANVALID.encode(vlanValid)
            | IPV4VALID.encode(address.ipv4());
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, contextAddress);
    LittleEndian.setLong(wqe, base + 48, address.low());
    LittleEndian.setLong(wqe, base + 56, address.high());
    return header;
  }

  static ManageMulticastGroup decode(CqpOpcode opcode, MemorySegment wqe, long base) {
    return new ManageMulticastGroup(
        opcode,
        (int) MGIDX.get(wqe, base),
        IpAddress.of(
            IPV4VALID.get(wqe, base) != 0,
            LittleEndian.getLong(wqe, base + 56),
            LittleEndian.getLong(wqe, base + 48)),
        MACADDR.get(wqe, base),
        VLANVALID.get(wqe, base) != 0,
        (int) VLANID.get(wqe, base),
        (int) HMC_FCN_ID.get(wqe, base),
        (int) QS_HANDLE.get(wqe, base),
        CONTEXTADDR.get(wqe, base));
  }
}
