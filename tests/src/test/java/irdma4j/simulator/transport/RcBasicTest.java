package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.LinkFaults;
import java.util.List;
import org.junit.jupiter.api.Test;

class RcBasicTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;

  @Test
  void aSendAWriteAndAReadArrive() {
    Fabric fabric = new Fabric(2, 1 << 20, LinkFaults.NONE, 1, null);
    Endpoint[] ends = Endpoint.pair(fabric, new Endpoint.Settings(), swapped());
    FakeFunction a = fabric.functions[0];
    FakeFunction b = fabric.functions[1];
    long from = a.allocate(5000);
    long sink = a.allocate(5000);
    long to = b.allocate(5000);
    for (int i = 0; i < 5000; i++) {
      a.host.set(java.lang.foreign.ValueLayout.JAVA_BYTE, from + i, (byte) i);
    }
    FakeFunction.Region source = a.register(from, 5000, ALL, Endpoint.PD);
    FakeFunction.Region back = a.register(sink, 5000, ALL, Endpoint.PD);
    FakeFunction.Region target = b.register(to, 5000, ALL, Endpoint.PD);
    SgeList sge = new SgeList();
    assertTrue(ends[1].receive.receive(70, sge.set(target.va(), 5000, target.stag())));
    assertTrue(
        ends[0].send.send(1, SendQueue.SIGNALED, 0, 0, sge.set(source.va(), 3000, source.stag())));
    assertTrue(
        ends[0].send.write(
            2,
            SendQueue.SIGNALED,
            0,
            target.va(),
            target.stag(),
            sge.set(source.va(), 5000, source.stag())));
    assertTrue(
        ends[0].send.read(
            3,
            SendQueue.SIGNALED,
            target.va(),
            target.stag(),
            sge.set(back.va(), 5000, back.stag())));
    ends[0].send.ring();
    fabric.settle(SECOND);
    assertEquals(List.of(), a.events);
    assertEquals(List.of(), b.events);
    assertEquals(-1, a.slice(from, 5000).mismatch(b.slice(to, 5000)));
    assertEquals(-1, a.slice(from, 5000).mismatch(a.slice(sink, 5000)));
    assertEquals(List.of(1L, 2L, 3L), ends[0].poll().stream().map(Endpoint.Done::wrId).toList());
    List<Endpoint.Done> received = ends[1].poll();
    assertEquals(1, received.size());
    assertEquals(70, received.get(0).wrId());
    assertEquals(3000, received.get(0).bytes());
    assertEquals(0, a.counters.retransmissions);
  }

  static Endpoint.Settings swapped() {
    Endpoint.Settings settings = new Endpoint.Settings();
    settings.localPsn = 200;
    settings.remotePsn = 100;
    return settings;
  }
}
