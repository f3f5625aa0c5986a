package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.Statistic;
import irdma4j.simulator.FrameTap;
import irdma4j.simulator.PcapngWriter;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Icrc;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import irdma4j.simulator.wire.Tshark;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Marks of congestion and the notifications that answer them. */
class CongestionTest {
  private static final int ALL =
      DeviceServices.LOCAL_READ | DeviceServices.LOCAL_WRITE | DeviceServices.REMOTE_WRITE;
  private static final int SIZE = 60_000;

  private final List<Long> notified = new ArrayList<>();
  private FrameTap beside = (time, from, memory, bytes, dropped) -> {};

  private Endpoint[] write(boolean ipv4, int vlan, int trafficClass, boolean control, double mark) {
    notified.clear();
    RoceFrame frame = new RoceFrame();
    Fabric fabric =
        new Fabric(
            2,
            1 << 20,
            LinkFaults.NONE.withMark(mark),
            1,
            (time, from, memory, bytes, dropped) -> {
              beside.frame(time, from, memory, bytes, dropped);
              assertTrue(frame.parse(memory, bytes));
              assertTrue(frame.icrcMatches(memory, new Icrc()));
              if (frame.opcode == BthOpcode.CONGESTION_NOTIFICATION) {
                assertEquals(1, from);
                assertEquals(0x40, frame.congestion);
                assertEquals(0, frame.psn);
                assertEquals(5, frame.destinationQp);
                assertEquals(16, frame.payloadLength);
                notified.add(time);
              } else {
                assertEquals(0, frame.congestion);
              }
            });
    Endpoint.Settings first = new Endpoint.Settings();
    first.ipv4 = ipv4;
    first.vlan = vlan;
    first.trafficClass = trafficClass;
    first.congestionControl = control;
    Endpoint.Settings second = new Endpoint.Settings();
    second.ipv4 = ipv4;
    second.vlan = vlan;
    second.congestionControl = control;
    second.localPsn = first.remotePsn;
    second.remotePsn = first.localPsn;
    Endpoint[] ends = Endpoint.pair(fabric, first, second);
    FakeFunction a = fabric.functions[0];
    FakeFunction b = fabric.functions[1];
    FakeFunction.Region source = a.register(a.allocate(SIZE), SIZE, ALL, Endpoint.PD);
    FakeFunction.Region target = b.register(b.allocate(SIZE), SIZE, ALL, Endpoint.PD);
    for (int i = 0; i < 5; i++) {
      assertTrue(
          ends[0].send.write(
              i,
              SendQueue.SIGNALED,
              0,
              target.va(),
              target.stag(),
              new SgeList().set(source.va(), SIZE, source.stag())));
    }
    ends[0].send.ring();
    fabric.settle(1_000_000_000L);
    assertEquals(5, ends[0].poll().size());
    assertEquals(-1, a.slice(source.at(), SIZE).mismatch(b.slice(target.at(), SIZE)));
    return ends;
  }

  private static long count(Endpoint end, Statistic statistic) {
    return end.function.traffic(-1).count(statistic);
  }

  /**
   * Marked packets are counted and answered, not more often than the interval allows, and the data
   * arrives all the same. Fails if a mark breaks a checksum or the ICRC, if a notification has
   * another form than A17.9.3 gives it, or if it is not counted on both sides.
   */
  @Property(tries = 30)
  void marksAreAnswered(
      @ForAll boolean ipv4,
      @ForAll boolean vlan,
      @ForAll @IntRange(min = 1, max = 3) int ecn,
      @ForAll @DoubleRange(min = 1, max = 100) double mark) {
    Endpoint[] ends = write(ipv4, vlan ? 0x2003 : -1, 0x40 | ecn, true, mark);
    long marked = count(ends[1], Statistic.RX_ECN_MARKED_PACKETS);
    assertEquals(marked > 0, !notified.isEmpty());
    for (int i = 1; i < notified.size(); i++) {
      assertTrue(notified.get(i) - notified.get(i - 1) >= 49_000, notified.toString());
    }
    assertEquals(notified.size(), count(ends[1], Statistic.TX_CNP_SENT));
    assertEquals(notified.size(), count(ends[0], Statistic.RX_CNP_HANDLED));
    assertEquals(0, count(ends[0], Statistic.RX_CNP_IGNORED));
    assertEquals(0, ends[0].function.counters.retransmissions);
  }

  /**
   * No mark without a sender that knows ECN, no answer from a queue pair without congestion
   * control. Fails if either goes unasked.
   */
  @Property(tries = 10)
  void nobodyIsToldWhoDidNotAsk(@ForAll boolean ipv4, @ForAll boolean knowsEcn) {
    Endpoint[] ends = write(ipv4, -1, knowsEcn ? 2 : 0, !knowsEcn, 100);
    assertEquals(List.of(), notified);
    assertEquals(knowsEcn, count(ends[1], Statistic.RX_ECN_MARKED_PACKETS) > 0);
  }

  /**
   * tshark finds in each notification what A17.9.3 has there: no event asked for, not migrated, the
   * partition, the bit of backward notification, the sender's queue pair, PSN 0, 16 bytes of
   * nothing, the ICRC. Source of the example: Mellanox, RoCEv2 CNP Packet Format Example, where
   * these bytes are 81 00 ff ff 40 00 00 d2, 20 times 00, and the ICRC. Fails if a bit differs.
   */
  @ParameterizedTest
  @CsvSource({"true, -1", "true, 8195", "false, -1", "false, 8195"})
  void tsharkSeesNotifications(boolean ipv4, int vlan, @TempDir Path folder)
      throws IOException, InterruptedException {
    Tshark.require();
    Path file = folder.resolve("congestion.pcapng");
    try (PcapngWriter writer = PcapngWriter.create(file, 2)) {
      beside = writer;
      write(ipv4, vlan, 0x42, true, 40);
    }
    int notifications = 0;
    for (List<String> frame :
        Tshark.fields(
            file,
            "infiniband.bth.opcode",
            "udp.payload",
            "infiniband.bth.destqp",
            "infiniband.bth.m",
            "ip.checksum.status",
            "_ws.malformed")) {
      assertEquals(ipv4 ? "1" : "", frame.get(4));
      assertEquals("", frame.get(5));
      String bytes = frame.get(1);
      if (frame.get(0).equals("129")) {
        notifications++;
        assertEquals(64, bytes.length());
        assertEquals("8100ffff40000005" + "0".repeat(40), bytes.substring(0, 56));
        assertEquals("0x000005", frame.get(2));
        assertEquals("0", frame.get(3));
      } else {
        assertEquals("00", bytes.substring(8, 10), "congestion bits of another packet");
        assertEquals("1", frame.get(3));
      }
    }
    assertEquals(notified.size(), notifications);
    assertTrue(notifications > 0);
  }
}
