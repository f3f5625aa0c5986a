package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.AddressHandle;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What stands in the headers of a packet is what its path or address handle says. */
class HeadersOnTheWireTest {
  private static final long NEXT_HOP = 0x0255_6677_8899L;
  private static final int KEY = 5;

  /** The fields of a header, read at their places; knows nothing of the codec under test. */
  private record Header(
      long destinationMac,
      long sourceMac,
      int vlan,
      int trafficClass,
      int flowLabel,
      int hopLimit,
      String source,
      String destination) {
    static Header of(MemorySegment frame) {
      boolean tagged = u16(frame, 12) == 0x8100;
      int ip = tagged ? 18 : 14;
      boolean four = u16(frame, ip - 2) == 0x0800;
      int first = u16(frame, ip) << 16 | u16(frame, ip + 2);
      return new Header(
          mac(frame, 0),
          mac(frame, 6),
          tagged ? u16(frame, 14) : DatagramPath.NO_VLAN,
          four ? u8(frame, ip + 1) : first >>> 20 & 0xff,
          four ? 0 : first & 0xfffff,
          u8(frame, ip + (four ? 8 : 7)),
          hex(frame, ip + (four ? 12 : 8), four ? 4 : 16),
          hex(frame, ip + (four ? 16 : 24), four ? 4 : 16));
    }

    private static int u8(MemorySegment frame, long at) {
      return frame.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    private static int u16(MemorySegment frame, long at) {
      return u8(frame, at) << 8 | u8(frame, at + 1);
    }

    private static long mac(MemorySegment frame, long at) {
      return frame.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), at) >>> 16;
    }

    private static String hex(MemorySegment frame, int at, int bytes) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < bytes; i++) {
        text.append("%02x".formatted(u8(frame, at + i)));
      }
      return text.toString();
    }
  }

  /** Fails if a header has another value than the path, for connections or for datagrams. */
  @ParameterizedTest
  @CsvSource({
    "10.0.0.1, 10.9.8.7, 0a000001, 0a090807, -1, 0",
    "10.0.0.1, 10.9.8.7, 0a000001, 0a090807, 28679, 185",
    "fd00::1, fd00::abc, fd000000000000000000000000000001,"
        + " fd000000000000000000000000000abc, -1, 0",
    "fd00::1, fd00::abc, fd000000000000000000000000000001,"
        + " fd000000000000000000000000000abc, 40961, 255"
  })
  void headersAreThoseOfThePath(
      String from, String to, String fromHex, String toHex, int vlan, int trafficClass) {
    List<Header> seen = new ArrayList<>();
    Simulation.Builder described =
        Simulation.builder()
            .seed(3)
            .tap((time, sender, frame, bytes, dropped) -> seen.add(Header.of(frame)));
    RdmaPair rdma = new RdmaPair(described, 3, 1024);
    try {
      RdmaPair.Side a = rdma.a;
      MemoryRegion local = a.region(a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      QueuePair connected = a.domain.createQueuePair(QueuePairConfig.of(a.queue));
      connected.connect(
          RcPath.of(Gid.of(from), Gid.of(to), NEXT_HOP, 77, 1, 2)
              .withVlan(vlan)
              .withTrafficClass(trafficClass));
      assertTrue(connected.postSend(1, local.lkey(), local.address(), 10, 0));
      connected.ring();
      rdma.settle(20_000);
      long mac = a.device.macAddress();
      assertEquals(
          new Header(NEXT_HOP, mac, vlan, trafficClass, 0, 64, fromHex, toHex), seen.getFirst());
      connected.close();
      seen.clear();

      int flowLabel = from.contains(":") ? 0xabcde : 0;
      DatagramQueuePair datagrams =
          a.domain.createDatagramQueuePair(QueuePairConfig.of(a.queue), 1024, KEY);
      AddressHandle handle =
          a.domain.createAddressHandle(
              new DatagramPath(
                  Gid.of(from), Gid.of(to), NEXT_HOP, 33, trafficClass, flowLabel, vlan));
      assertTrue(datagrams.postSend(1, handle, 77, KEY, local.lkey(), local.address(), 10, 0));
      datagrams.ring();
      rdma.settle(20_000);
      assertEquals(
          List.of(new Header(NEXT_HOP, mac, vlan, trafficClass, flowLabel, 33, fromHex, toHex)),
          seen);
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }
}
