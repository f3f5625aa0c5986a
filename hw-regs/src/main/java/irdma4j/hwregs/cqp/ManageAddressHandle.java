package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Create, change or destroy an address handle: where datagrams go. To destroy one, the device needs
 * its number alone.
 *
 * @param opcode CREATE_ADDR_HANDLE, MODIFY_ADDR_HANDLE or DESTROY_ADDR_HANDLE
 * @param id number of the address handle, 17 bits
 * @param pdId protection domain, 18 bits
 * @param macAddress own MAC address as a big-endian integer
 * @param insertVlan send with a VLAN tag
 * @param vlanTag VLAN tag, 16 bits
 * @param trafficClass traffic class, or type of service
 * @param flowLabel IPv6 flow label, 20 bits
 * @param hopLimit hop limit
 * @param arpIndex ARP table entry of the next hop
 * @param destination destination address
 * @param source own address, of the same family
 * @param loopback loop back inside the device
 */
public record ManageAddressHandle(
    CqpOpcode opcode,
    int id,
    int pdId,
    long macAddress,
    boolean insertVlan,
    int vlanTag,
    int trafficClass,
    int flowLabel,
    int hopLimit,
    int arpIndex,
    IpAddress destination,
    IpAddress source,
    boolean loopback)
    implements CqpCommand {
  private static final int PD_HIGH_SHIFT = 16;

  private static final Field MACADDR =
      Field.bits("MACADDR", 0, 63, 16, "Own MAC address as a big-endian integer");
  private static final Field VLANTAG = Field.bits("VLANTAG", 8, 15, 0, "VLAN tag");
  private static final Field TC = Field.bits("TC", 8, 39, 32, "Traffic class, or type of service");
  private static final Field PDINDEXLO =
      Field.bits("PDINDEXLO", 8, 63, 48, "Protection domain, bits 15 to 0");
  private static final Field FLOWLABEL = Field.bits("FLOWLABEL", 16, 19, 0, "IPv6 flow label");
  private static final Field PDINDEXHI =
      Field.bits("PDINDEXHI", 16, 21, 20, "Protection domain, bits 17 and 16");
  private static final Field HOPLIMIT = Field.bits("HOPLIMIT", 16, 39, 32, "Hop limit");
  private static final Field ARPINDEX =
      Field.bits("ARPINDEX", 16, 63, 48, "ARP table entry of the next hop");
  private static final Field ADDR3 =
      Field.bits("ADDR3", 32, 31, 0, "Destination, word 3 (IPv4: the address)");
  private static final Field ADDR2 = Field.bits("ADDR2", 32, 63, 32, "Destination, word 2");
  private static final Field ADDR1 = Field.bits("ADDR1", 40, 31, 0, "Destination, word 1");
  private static final Field ADDR0 = Field.bits("ADDR0", 40, 63, 32, "Destination, word 0");
  private static final Field SADDR3 =
      Field.bits("SADDR3", 48, 31, 0, "Source, word 3 (IPv4: the address)");
  private static final Field SADDR2 = Field.bits("SADDR2", 48, 63, 32, "Source, word 2");
  private static final Field SADDR1 = Field.bits("SADDR1", 56, 31, 0, "Source, word 1");
  private static final Field SADDR0 = Field.bits("SADDR0", 56, 63, 32, "Source, word 0");
  private static final Field AVIDX = Field.bits("AVIDX", 24, 16, 0, "Number of the address handle");
  private static final Field IPV4VALID = Field.bit("IPV4VALID", 24, 59, "The addresses are IPv4");
  private static final Field INSERTVLANTAG =
      Field.bit("INSERTVLANTAG", 24, 60, "Send with a VLAN tag");
  private static final Field DOLOOPBACKK =
      Field.bit("DOLOOPBACKK", 24, 62, "Loop back inside the device");

  /** The WQE of these operations. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/address-handle",
          CqpWqe.SIZE,
          "Create, change or destroy an address handle",
          MACADDR,
          VLANTAG,
          TC,
          PDINDEXLO,
          FLOWLABEL,
          PDINDEXHI,
          HOPLIMIT,
          ARPINDEX,
          ADDR3,
          ADDR2,
          ADDR1,
          ADDR0,
          SADDR3,
          SADDR2,
          SADDR1,
          SADDR0,
          AVIDX,
          IPV4VALID,
          INSERTVLANTAG,
          DOLOOPBACKK,
          CqpWqe.OPCODE,
          CqpWqe.VALID);

  /** Checks the operation and the addresses' family. */
  public ManageAddressHandle {
    if (opcode != CqpOpcode.CREATE_ADDR_HANDLE
        && opcode != CqpOpcode.MODIFY_ADDR_HANDLE
        && opcode != CqpOpcode.DESTROY_ADDR_HANDLE) {
      throw new IllegalArgumentException(opcode + " is no operation of an address handle");
    }
    if (destination.ipv4() != source.ipv4()) {
      throw new IllegalArgumentException(
          source + " and " + destination + " are of different families");
    }
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = MACADDR.encode(macAddress);
    long word8 =
        VLANTAG.encode(Integer.toUnsignedLong(vlanTag))
            | TC.encode(Integer.toUnsignedLong(trafficClass))
            | PDINDEXLO.encode(pdId & PDINDEXLO.max());
    long word16 =
        FLOWLABEL.encode(Integer.toUnsignedLong(flowLabel))
            | PDINDEXHI.encode(pdId >>> PD_HIGH_SHIFT)
            | HOPLIMIT.encode(Integer.toUnsignedLong(hopLimit))
            | ARPINDEX.encode(Integer.toUnsignedLong(arpIndex));
    long header =
        CqpWqe.OPCODE.encode(opcode.code())
            | AVIDX.encode(Integer.toUnsignedLong(id))
            | IPV4VALID.encode(destination.ipv4())
            | INSERTVLANTAG.encode(insertVlan)
            | DOLOOPBACKK.encode(loopback);
    CqpWqe.clear(wqe, base);
    LittleEndian.setLong(wqe, base + 0, word0);
    LittleEndian.setLong(wqe, base + 8, word8);
    LittleEndian.setLong(wqe, base + 16, word16);
    LittleEndian.setLong(wqe, base + 32, destination.low());
    LittleEndian.setLong(wqe, base + 40, destination.high());
    LittleEndian.setLong(wqe, base + 48, source.low());
    LittleEndian.setLong(wqe, base + 56, source.high());
    return header;
  }

  static ManageAddressHandle decode(CqpOpcode opcode, MemorySegment wqe, long base) {
    boolean ipv4 = IPV4VALID.get(wqe, base) != 0;
    return new ManageAddressHandle(
        opcode,
        (int) AVIDX.get(wqe, base),
        (int) (PDINDEXHI.get(wqe, base) << PD_HIGH_SHIFT | PDINDEXLO.get(wqe, base)),
        MACADDR.get(wqe, base),
        INSERTVLANTAG.get(wqe, base) != 0,
        (int) VLANTAG.get(wqe, base),
        (int) TC.get(wqe, base),
        (int) FLOWLABEL.get(wqe, base),
        (int) HOPLIMIT.get(wqe, base),
        (int) ARPINDEX.get(wqe, base),
        IpAddress.of(
            ipv4, LittleEndian.getLong(wqe, base + 40), LittleEndian.getLong(wqe, base + 32)),
        IpAddress.of(
            ipv4, LittleEndian.getLong(wqe, base + 56), LittleEndian.getLong(wqe, base + 48)),
        DOLOOPBACKK.get(wqe, base) != 0);
  }
}
