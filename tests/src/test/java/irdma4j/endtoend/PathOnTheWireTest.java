package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.PcapngWriter;
import irdma4j.simulator.Simulation;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Tshark;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a connection's path says of its frames, as tshark sees them. */
class PathOnTheWireTest {
  private static final int FIRST_PSN = 0xfffffe;
  private static final int VLAN = 0x6005;
  private static final int BASE_BYTES = 8 + 12 + 4;
  private static final int RETH_BYTES = 16;
  private static final int AETH_BYTES = 4;

  /**
   * A WRITE and a READ of three packets and a byte, for each MTU, over IPv4 and IPv6, with a VLAN
   * tag and without. Fails if a packet is larger or smaller than the MTU, if a PSN does not go on
   * at 0 behind 2^24 - 1, or if an address, a VLAN, a hop limit or a DSCP is not the path's.
   */
  @Test
  void framesAreAsTheirPathSays(@TempDir Path folder) throws IOException, InterruptedException {
    Tshark.require();
    Path file = folder.resolve("paths.pcapng");
    List<List<String>> expected = new ArrayList<>();
    try (PcapngWriter writer = PcapngWriter.create(file, 2);
        RdmaPair rdma = new RdmaPair(Simulation.builder().seed(3).tap(writer), 3, 1024)) {
      DmaMemory source = rdma.a.memory(1 << 16, DmaPlacement.SCATTERED);
      DmaMemory sink = rdma.b.memory(1 << 16, DmaPlacement.SCATTERED);
      // tshark takes no such bytes for a protocol.
      for (int i = 0; i < source.size(); i++) {
        source.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (0xc0 | (i + i / 64)));
      }
      MemoryRegion from = rdma.a.region(source, PbleLevels.ANY);
      MemoryRegion to = rdma.b.region(sink, PbleLevels.ANY);
      int round = 0;
      for (int mtu : new int[] {256, 512, 1024, 2048, 4096}) {
        for (boolean ipv4 : new boolean[] {true, false}) {
          for (int vlan : new int[] {DatagramPath.NO_VLAN, VLAN}) {
            sink.segment().fill((byte) 0);
            move(rdma, from, to, mtu, ipv4, vlan, ++round);
            assertEquals(
                -1,
                source
                    .segment()
                    .asSlice(0, 3L * mtu + 1)
                    .mismatch(sink.segment().asSlice(0, 3L * mtu + 1)));
            expect(expected, mtu, ipv4, vlan, round);
          }
        }
      }
    }
    List<List<String>> seen =
        Tshark.fields(
                file,
                "frame.interface_name",
                "infiniband.bth.opcode",
                "infiniband.bth.psn",
                "udp.length",
                "vlan.id",
                "vlan.priority",
                "ip.src",
                "ip.dst",
                "ipv6.src",
                "ipv6.dst",
                "ip.ttl",
                "ipv6.hlim",
                "ip.dsfield.dscp",
                "ipv6.tclass.dscp",
                "_ws.malformed")
            .stream()
            .filter(frame -> !frame.get(1).equals("17"))
            .toList();
    assertEquals(expected.size(), seen.size());
    for (int i = 0; i < seen.size(); i++) {
      assertEquals(expected.get(i), seen.get(i));
    }
  }

  private static void move(
      RdmaPair rdma,
      MemoryRegion from,
      MemoryRegion to,
      int mtu,
      boolean ipv4,
      int vlan,
      int round) {
    Gid a = Gid.of(ipv4 ? "10.1.0.1" : "fd00::1");
    Gid b = Gid.of(ipv4 ? "10.1.0.2" : "fd00::2");
    try (QueuePair left = rdma.a.domain.createQueuePair(QueuePairConfig.of(rdma.a.queue));
        QueuePair right = rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue))) {
      left.connect(
          path(
              RcPath.of(a, b, rdma.b.device.macAddress(), right.qpn(), FIRST_PSN, 7),
              mtu,
              vlan,
              round));
      right.connect(
          path(
              RcPath.of(b, a, rdma.a.device.macAddress(), left.qpn(), 7, FIRST_PSN),
              mtu,
              vlan,
              round));
      int bytes = 3 * mtu + 1;
      left.postWrite(
          1, from.lkey(), from.address(), bytes, to.address(), to.rkey(), QueuePair.SIGNALED);
      left.ring();
      await(rdma);
      left.postRead(
          2, from.lkey(), from.address(), bytes, to.address(), to.rkey(), QueuePair.SIGNALED);
      left.ring();
      await(rdma);
    }
  }

  private static RcPath path(RcPath path, int mtu, int vlan, int round) {
    return new RcPath(
        path.localGid(),
        path.remoteGid(),
        path.remoteMac(),
        path.remoteQpn(),
        path.localPsn(),
        path.remotePsn(),
        mtu,
        7,
        7,
        16,
        16,
        100 + round,
        round << 2,
        vlan);
  }

  private static void await(RdmaPair rdma) {
    Completion done = rdma.await(rdma.a);
    assertTrue(done.isSuccess(), done::toString);
  }

  private static void expect(
      List<List<String>> expected, int mtu, boolean ipv4, int vlan, int round) {
    int[] write = {
      BthOpcode.WRITE_FIRST, BthOpcode.WRITE_MIDDLE, BthOpcode.WRITE_MIDDLE, BthOpcode.WRITE_LAST
    };
    int[] answer = {
      BthOpcode.READ_RESPONSE_FIRST,
      BthOpcode.READ_RESPONSE_MIDDLE,
      BthOpcode.READ_RESPONSE_MIDDLE,
      BthOpcode.READ_RESPONSE_LAST
    };
    for (int i = 0; i < 4; i++) {
      int bytes = (i < 3 ? mtu : 4) + (i == 0 ? RETH_BYTES : 0);
      expected.add(frame(0, write[i], FIRST_PSN + i, bytes, ipv4, vlan, round));
    }
    expected.add(frame(0, BthOpcode.READ_REQUEST, FIRST_PSN + 4, RETH_BYTES, ipv4, vlan, round));
    for (int i = 0; i < 4; i++) {
      int bytes = (i < 3 ? mtu : 4) + (i == 0 || i == 3 ? AETH_BYTES : 0);
      expected.add(frame(1, answer[i], FIRST_PSN + 4 + i, bytes, ipv4, vlan, round));
    }
  }

  private static List<String> frame(
      int sender, int opcode, int psn, int bytes, boolean ipv4, int vlan, int round) {
    boolean tagged = vlan != DatagramPath.NO_VLAN;
    String hops = Integer.toString(100 + round);
    String dscp = Integer.toString(round);
    return List.of(
        "irdma" + sender,
        Integer.toString(opcode),
        Integer.toString(psn & 0xffffff),
        Integer.toString(BASE_BYTES + bytes),
        tagged ? Integer.toString(vlan & 0xfff) : "",
        tagged ? Integer.toString(vlan >>> 13) : "",
        ipv4 ? "10.1.0." + (1 + sender) : "",
        ipv4 ? "10.1.0." + (2 - sender) : "",
        ipv4 ? "" : "fd00::" + (1 + sender),
        ipv4 ? "" : "fd00::" + (2 - sender),
        ipv4 ? hops : "",
        ipv4 ? "" : hops,
        ipv4 ? dscp : "",
        ipv4 ? "" : dscp,
        "");
  }
}
