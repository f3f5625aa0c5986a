package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.FastRegion;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.hwregs.Statistic;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The counters that a driver reads against what a tap saw on the wire. */
class StatisticsProperties {
  private static final int SIZE = 64 << 10;
  private static final int KEY = 0x55;
  private static final Gid GROUP = Gid.of("239.9.9.9");
  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /** Counts frames as they stand on the wire; knows nothing of the codec under test. */
  private static final class Tap {
    final List<Map<Statistic, Long>> counts =
        List.of(new EnumMap<>(Statistic.class), new EnumMap<>(Statistic.class));

    /** The sender has a member of its own in the group, so that it gets a copy. */
    boolean senderIsMember;

    void frame(int from, MemorySegment frame, boolean dropped) {
      boolean group = (frame.get(ValueLayout.JAVA_BYTE, 0) & 1) != 0;
      sent(counts.get(from), frame, group, true);
      if (!dropped) {
        sent(counts.get(1 - from), frame, group, false);
      }
      if (group && senderIsMember) {
        sent(counts.get(from), frame, true, false);
      }
    }

    private static void sent(
        Map<Statistic, Long> to, MemorySegment frame, boolean group, boolean tx) {
      int ip = frame.get(U16, 12) == (short) 0x8100 ? 18 : 14;
      boolean four = frame.get(U16, ip - 2) == 0x0800;
      long octets =
          four
              ? Short.toUnsignedLong(frame.get(U16, ip + 2L))
              : 40 + Short.toUnsignedLong(frame.get(U16, ip + 4L));
      String name = (four ? "IP4_" : "IP6_") + (tx ? "TX_" : "RX_");
      add(to, name + "PACKETS", 1);
      add(to, name + "OCTETS", octets);
      if (group) {
        add(to, name + "MULTICAST_PACKETS", 1);
        add(to, name + "MULTICAST_OCTETS", octets);
      }
      add(to, tx ? "UDP_TX_PACKETS" : "UDP_RX_PACKETS", 1);
      int opcode = frame.get(ValueLayout.JAVA_BYTE, ip + (four ? 20L : 40L) + 8) & 0xff;
      // Opcodes: InfiniBand Architecture Specification, volume 1, table 38.
      String message =
          switch (opcode) {
            case 0x02, 0x03, 0x04, 0x05, 0x16, 0x17, 0x64, 0x65 -> "SENDS";
            case 0x08, 0x09, 0x0a, 0x0b -> "WRITES";
            case 0x0c -> "READS";
            default -> null;
          };
      if (message != null) {
        add(to, (tx ? "RDMA_TX_" : "RDMA_RX_") + message, 1);
      }
    }

    private static void add(Map<Statistic, Long> to, String name, long more) {
      to.merge(Statistic.valueOf(name), more, Long::sum);
    }

    void local(int side, Statistic statistic) {
      counts.get(side).merge(statistic, 1L, Long::sum);
    }

    /** All counters, those that never counted with 0. */
    Map<Statistic, Long> all(int side) {
      EnumMap<Statistic, Long> all = new EnumMap<>(Statistic.class);
      for (Statistic statistic : Statistic.values()) {
        all.put(statistic, counts.get(side).getOrDefault(statistic, 0L));
      }
      return all;
    }
  }

  /**
   * After any mix of connected and datagram traffic, with and without loss, every counter that the
   * driver reads on either side is what the tap counted. Fails if a packet is counted at the wrong
   * side or family, a VLAN tag is taken for a family, octets are counted from elsewhere than the IP
   * header, a lost packet counts as received, or one sent again is left out.
   */
  @Property(tries = 60)
  void countersAreWhatWentOverTheWire(@ForAll long seed) {
    Random random = new Random(seed);
    Tap tap = new Tap();
    double loss = random.nextBoolean() ? 0 : 10;
    Simulation.Builder described =
        Simulation.builder()
            .seed(seed)
            .lossPercent(loss)
            .tap((time, from, frame, bytes, dropped) -> tap.frame(from, frame, dropped));
    RdmaPair rdma = new RdmaPair(described, seed, 1024);
    try {
      RdmaPair.Side a = rdma.a;
      RdmaPair.Side b = rdma.b;
      MemoryRegion local = a.region(a.memory(SIZE, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion remote = b.region(b.memory(SIZE, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion bindable =
          a.domain.registerMemory(
              a.memory(SIZE, DmaPlacement.SCATTERED),
              0,
              SIZE,
              PbleLevels.ANY,
              Access.LOCAL_WRITE,
              Access.BIND_WINDOW);
      MemoryWindow window = a.domain.allocateWindow(MemoryWindow.Type.ONE);
      FastRegion own = a.domain.allocateFastRegion(SIZE / 4096);
      FastRegion theirs = b.domain.allocateFastRegion(SIZE / 4096);
      CompletionQueue queue = a.device.createCompletionQueue(64);
      CompletionQueue farQueue = b.device.createCompletionQueue(256);
      QueuePairConfig config = QueuePairConfig.of(queue).withRequests(32, 32);
      DatagramQueuePair near = a.domain.createDatagramQueuePair(config, 1024, KEY);
      DatagramQueuePair far =
          b.domain.createDatagramQueuePair(
              QueuePairConfig.of(farQueue).withRequests(64, 64), 1024, KEY);
      far.attachMulticast(GROUP);
      // A packet with two members at one side is one packet.
      DatagramQueuePair other =
          b.domain.createDatagramQueuePair(
              QueuePairConfig.of(farQueue).withRequests(64, 64), 1024, KEY);
      other.attachMulticast(GROUP);
      tap.senderIsMember = random.nextBoolean();
      if (tap.senderIsMember) {
        near.attachMulticast(GROUP);
      }
      List<AddressHandle> handles = new ArrayList<>();
      long mac = b.device.macAddress();
      handles.add(a.domain.createAddressHandle(DatagramPath.of(RdmaPair.A, RdmaPair.B, mac)));
      handles.add(
          a.domain.createAddressHandle(
              DatagramPath.of(Gid.of("fd00::1"), Gid.of("fd00::2"), mac).withVlan(9)));
      handles.add(a.domain.createAddressHandle(DatagramPath.toGroup(RdmaPair.A, GROUP)));
      for (int i = 0; i < 32; i++) {
        assertTrue(near.postReceive(0, local.lkey(), local.address(), 2048));
        assertTrue(other.postReceive(0, remote.lkey(), remote.address(), 2048));
        assertTrue(far.postReceive(0, remote.lkey(), remote.address(), 2048));
        assertTrue(b.pair.postReceive(0, remote.lkey(), remote.address(), SIZE));
      }
      int work = 1 + random.nextInt(20);
      for (int i = 0; i < work; i++) {
        int length = random.nextInt(5000);
        int flags = QueuePair.SIGNALED;
        switch (random.nextInt(8)) {
          case 0 ->
              assertTrue(
                  a.pair.postWrite(
                      i,
                      local.lkey(),
                      local.address(),
                      length,
                      remote.address(),
                      remote.rkey(),
                      flags));
          case 1 ->
              assertTrue(
                  a.pair.postRead(
                      i,
                      local.lkey(),
                      local.address(),
                      length,
                      remote.address(),
                      remote.rkey(),
                      flags));
          case 2 -> assertTrue(a.pair.postSend(i, local.lkey(), local.address(), length, flags));
          case 3 -> {
            assertTrue(
                a.pair.postBind(
                    i, window, bindable, bindable.address(), 100, flags, Access.REMOTE_READ));
            tap.local(0, Statistic.RDMA_BINDS);
          }
          case 4 -> {
            assertTrue(
                a.pair.postFastRegister(
                    i, own, a.memories.getFirst(), 0, SIZE, 0, Access.LOCAL_WRITE));
            assertTrue(a.pair.postInvalidate(i, own.key(), flags));
            tap.local(0, Statistic.RDMA_INVALIDATIONS);
          }
          case 5 -> {
            // One that the peer asks for counts there.
            assertTrue(
                b.pair.postFastRegister(
                    i, theirs, b.memories.getFirst(), 0, SIZE, flags, Access.REMOTE_WRITE));
            b.pair.ring();
            Completion done = rdma.await(b);
            while (!done.isSend()) {
              done = rdma.await(b);
            }
            assertTrue(done.isSuccess(), done::toString);
            assertTrue(
                a.pair.postSendInvalidate(
                    i, local.lkey(), local.address(), length, theirs.key(), flags));
            tap.local(1, Statistic.RDMA_INVALIDATIONS);
          }
          default -> {
            AddressHandle to = handles.get(random.nextInt(3));
            int qpn = to == handles.get(2) ? DatagramQueuePair.MULTICAST_QPN : far.qpn();
            assertTrue(
                near.postSend(
                    i, to, qpn, KEY, local.lkey(), local.address(), length % 1025, flags));
            near.ring();
            Completion done = rdma.await(queue);
            while (!done.isSend()) {
              done = rdma.await(queue);
            }
            assertTrue(done.isSuccess(), done::toString);
            continue;
          }
        }
        a.pair.ring();
        Completion done = rdma.await(a);
        assertTrue(done.isSuccess(), done::toString);
      }
      rdma.settle(20_000_000);
      assertEquals(tap.all(0), a.device.statistics());
      assertEquals(tap.all(1), b.device.statistics());
    } finally {
      rdma.close();
    }
  }
}
