package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Add, change or remove an entry of the quad hash table.
 *
 * @param macAddress MAC address as a big-endian integer
 * @param destinationPort destination port
 * @param sourcePort source port
 * @param qpn queue pair that gets the packets
 * @param queueSet queue set of the work scheduler
 * @param vlanId VLAN
 * @param source3 source, word 3 (IPv4: the address)
 * @param source2 source, word 2
 * @param source1 source, word 1
 * @param source0 source, word 0
 * @param destination3 destination, word 3 (IPv4: the address)
 * @param destination2 destination, word 2
 * @param destination1 destination, word 1
 * @param destination0 destination, word 0
 * @param entryType 1 TCP established, 2 TCP SYN, 3 UDP unicast, 4 UDP multicast, 5 RoCE multicast,
 *     6 RoCE unicast
 * @param vlanValid VLANID is valid
 * @param ipv4 the addresses are IPv4
 * @param manage 0 remove, 1 add, 2 change
 */
public record ManageQuadHash(
    long macAddress,
    int destinationPort,
    int sourcePort,
    int qpn,
    int queueSet,
    int vlanId,
    int source3,
    int source2,
    int source1,
    int source0,
    int destination3,
    int destination2,
    int destination1,
    int destination0,
    int entryType,
    boolean vlanValid,
    boolean ipv4,
    int manage)
    implements CqpCommand {
  private static final Field MACADDR =
      Field.bits("MACADDR", 0, 47, 0, "MAC address as a big-endian integer");
  private static final Field DEST_PORT = Field.bits("DEST_PORT", 8, 15, 0, "Destination port");
  private static final Field SRC_PORT = Field.bits("SRC_PORT", 8, 31, 16, "Source port");
  private static final Field QPN = Field.bits("QPN", 8, 49, 32, "Queue pair that gets the packets");
  private static final Field QS_HANDLE =
      Field.bits("QS_HANDLE", 16, 9, 0, "Queue set of the work scheduler");
  private static final Field VLANID = Field.bits("VLANID", 16, 43, 32, "VLAN");
  private static final Field SADDR3 =
      Field.bits("SADDR3", 32, 31, 0, "Source, word 3 (IPv4: the address)");
  private static final Field SADDR2 = Field.bits("SADDR2", 32, 63, 32, "Source, word 2");
  private static final Field SADDR1 = Field.bits("SADDR1", 40, 31, 0, "Source, word 1");
  private static final Field SADDR0 = Field.bits("SADDR0", 40, 63, 32, "Source, word 0");
  private static final Field ADDR3 =
      Field.bits("ADDR3", 48, 31, 0, "Destination, word 3 (IPv4: the address)");
  private static final Field ADDR2 = Field.bits("ADDR2", 48, 63, 32, "Destination, word 2");
  private static final Field ADDR1 = Field.bits("ADDR1", 56, 31, 0, "Destination, word 1");
  private static final Field ADDR0 = Field.bits("ADDR0", 56, 63, 32, "Destination, word 0");
  private static final Field ENTRYTYPE =
      Field.bits(
          "ENTRYTYPE",
          24,
          44,
          42,
          "1 TCP established, 2 TCP SYN, 3 UDP unicast, 4 UDP multicast, 5 RoCE multicast, 6 RoCE unicast");
  private static final Field VLANVALID = Field.bit("VLANVALID", 24, 59, "VLANID is valid");
  private static final Field IPV4VALID = Field.bit("IPV4VALID", 24, 60, "The addresses are IPv4");
  private static final Field MANAGE = Field.bits("MANAGE", 24, 62, 61, "0 remove, 1 add, 2 change");

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/manage-quad-hash",
          CqpWqe.SIZE,
          "Add, change or remove an entry of the quad hash table",
          MACADDR,
          DEST_PORT,
          SRC_PORT,
          QPN,
          QS_HANDLE,
          VLANID,
          SADDR3,
          SADDR2,
          SADDR1,
          SADDR0,
          ADDR3,
          ADDR2,
          ADDR1,
          ADDR0,
          ENTRYTYPE,
          VLANVALID,
          IPV4VALID,
          MANAGE,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.MANAGE_QUAD_HASH_TABLE_ENTRY;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = MACADDR.encode(macAddress);
    long word8 =
        DEST_PORT.encode(Integer.toUnsignedLong(destinationPort))
            | SRC_PORT.encode(Integer.toUnsignedLong(sourcePort))
            | QPN.encode(Integer.toUnsignedLong(qpn));
    long word16 =
        QS_HANDLE.encode(Integer.toUnsignedLong(queueSet))
            | VLANID.encode(Integer.toUnsignedLong(vlanId));
    long word32 =
        SADDR3.encode(Integer.toUnsignedLong(source3))
            | SADDR2.encode(Integer.toUnsignedLong(source2));
    long word40 =
        SADDR1.encode(Integer.toUnsignedLong(source1))
            | SADDR0.encode(Integer.toUnsignedLong(source0));
    long word48 =
        ADDR3.encode(Integer.toUnsignedLong(destination3))
            | ADDR2.encode(Integer.toUnsignedLong(destination2));
    long word56 =
        ADDR1.encode(Integer.toUnsignedLong(destination1))
            | ADDR0.encode(Integer.toUnsignedLong(destination0));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | ENTRYTYPE.encode(Integer.toUnsignedLong(entryType))
            | VLANVALID.encode(vlanValid)
            | IPV4VALID.encode(ipv4)
            | MANAGE.encode(Integer.toUnsignedLong(manage));
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, word32);
    LittleEndian.setLong(wqe, base + 40, word40);
    LittleEndian.setLong(wqe, base + 48, word48);
    LittleEndian.setLong(wqe, base + 56, word56);
    return header;
  }

  static ManageQuadHash decode(MemorySegment wqe, long base) {
    return new ManageQuadHash(
        MACADDR.get(wqe, base),
        (int) DEST_PORT.get(wqe, base),
        (int) SRC_PORT.get(wqe, base),
        (int) QPN.get(wqe, base),
        (int) QS_HANDLE.get(wqe, base),
        (int) VLANID.get(wqe, base),
        (int) SADDR3.get(wqe, base),
        (int) SADDR2.get(wqe, base),
        (int) SADDR1.get(wqe, base),
        (int) SADDR0.get(wqe, base),
        (int) ADDR3.get(wqe, base),
        (int) ADDR2.get(wqe, base),
        (int) ADDR1.get(wqe, base),
        (int) ADDR0.get(wqe, base),
        (int) ENTRYTYPE.get(wqe, base),
        VLANVALID.get(wqe, base) != 0,
        IPV4VALID.get(wqe, base) != 0,
        (int) MANAGE.get(wqe, base));
  }
}
