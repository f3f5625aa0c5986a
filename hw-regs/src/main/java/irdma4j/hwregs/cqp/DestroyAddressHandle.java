package irdma4j.hwregs.cqp;

import irdma4j.hwregs.Field;
import irdma4j.hwregs.Layout;
import irdma4j.hwregs.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * Destroy an address handle. The device needs its number alone.
 *
 * @param macAddress own MAC address as a big-endian integer
 * @param vlanTag VLAN tag
 * @param trafficClass traffic class, or type of service
 * @param pdLow protection domain, bits 15 to 0
 * @param flowLabel IPv6 flow label
 * @param pdHigh protection domain, bits 17 and 16
 * @param hopLimit hop limit
 * @param arpIndex ARP table entry of the next hop
 * @param destination3 destination, word 3 (IPv4: the address)
 * @param destination2 destination, word 2
 * @param destination1 destination, word 1
 * @param destination0 destination, word 0
 * @param source3 source, word 3 (IPv4: the address)
 * @param source2 source, word 2
 * @param source1 source, word 1
 * @param source0 source, word 0
 * @param ahId number of the address handle
 * @param ipv4 the addresses are IPv4
 * @param insertVlan send with a VLAN tag
 * @param loopback loop back inside the device
 */
public record DestroyAddressHandle(
    long macAddress,
    int vlanTag,
    int trafficClass,
    int pdLow,
    int flowLabel,
    int pdHigh,
    int hopLimit,
    int arpIndex,
    int destination3,
    int destination2,
    int destination1,
    int destination0,
    int source3,
    int source2,
    int source1,
    int source0,
    int ahId,
    boolean ipv4,
    boolean insertVlan,
    boolean loopback)
    implements CqpCommand {
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

  /** The WQE of this operation. */
  public static final Layout LAYOUT =
      Layout.of(
          "cqp/destroy-ah",
          CqpWqe.SIZE,
          "Destroy an address handle",
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

  @Override
  public CqpOpcode opcode() {
    return CqpOpcode.DESTROY_ADDR_HANDLE;
  }

  @Override
  public long encode(MemorySegment wqe, long base) {
    long word0 = MACADDR.encode(macAddress);
    long word8 =
        VLANTAG.encode(Integer.toUnsignedLong(vlanTag))
            | TC.encode(Integer.toUnsignedLong(trafficClass))
            | PDINDEXLO.encode(Integer.toUnsignedLong(pdLow));
    long word16 =
        FLOWLABEL.encode(Integer.toUnsignedLong(flowLabel))
            | PDINDEXHI.encode(Integer.toUnsignedLong(pdHigh))
            | HOPLIMIT.encode(Integer.toUnsignedLong(hopLimit))
            | ARPINDEX.encode(Integer.toUnsignedLong(arpIndex));
    long word32 =
        ADDR3.encode(Integer.toUnsignedLong(destination3))
            | ADDR2.encode(Integer.toUnsignedLong(destination2));
    long word40 =
        ADDR1.encode(Integer.toUnsignedLong(destination1))
            | ADDR0.encode(Integer.toUnsignedLong(destination0));
    long word48 =
        SADDR3.encode(Integer.toUnsignedLong(source3))
            | SADDR2.encode(Integer.toUnsignedLong(source2));
    long word56 =
        SADDR1.encode(Integer.toUnsignedLong(source1))
            | SADDR0.encode(Integer.toUnsignedLong(source0));
    long header =
        CqpWqe.OPCODE.encode(opcode().code())
            | AVIDX.encode(Integer.toUnsignedLong(ahId))
            | IPV4VALID.encode(ipv4)
            | INSERTVLANTAG.encode(insertVlan)
            | DOLOOPBACKK.encode(loopback);
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

  static DestroyAddressHandle decode(MemorySegment wqe, long base) {
    return new DestroyAddressHandle(
        MACADDR.get(wqe, base),
        (int) VLANTAG.get(wqe, base),
        (int) TC.get(wqe, base),
        (int) PDINDEXLO.get(wqe, base),
        (int) FLOWLABEL.get(wqe, base),
        (int) PDINDEXHI.get(wqe, base),
        (int) HOPLIMIT.get(wqe, base),
        (int) ARPINDEX.get(wqe, base),
        (int) ADDR3.get(wqe, base),
        (int) ADDR2.get(wqe, base),
        (int) ADDR1.get(wqe, base),
        (int) ADDR0.get(wqe, base),
        (int) SADDR3.get(wqe, base),
        (int) SADDR2.get(wqe, base),
        (int) SADDR1.get(wqe, base),
        (int) SADDR0.get(wqe, base),
        (int) AVIDX.get(wqe, base),
        IPV4VALID.get(wqe, base) != 0,
        INSERTVLANTAG.get(wqe, base) != 0,
        DOLOOPBACKK.get(wqe, base) != 0);
  }
}
