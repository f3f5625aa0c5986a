package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.Statistic;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.LinkFaults;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Queue pairs count in the instance that their context names. */
class StatisticsInstanceTest {
  private static final int ALL = DeviceServices.LOCAL_READ | DeviceServices.LOCAL_WRITE;

  /**
   * Two queue pairs of one function in two instances, a third in none: each instance has counted
   * its own messages alone. Fails if the instance is not taken from the context, or if all count
   * together.
   */
  @Property(tries = 40)
  void eachInstanceCountsItsOwn(
      @ForAll @IntRange(max = 9) int first,
      @ForAll @IntRange(max = 9) int second,
      @ForAll @IntRange(max = 9) int none) {
    Fabric fabric = new Fabric(2, 1 << 21, LinkFaults.NONE, 1, null);
    int[] messages = {first, second, none};
    for (int i = 0; i < 3; i++) {
      Endpoint.Settings settings = new Endpoint.Settings();
      settings.statistics = i == 2 ? -1 : 5 + i;
      settings.workRequests = 16;
      Endpoint near = new Endpoint(fabric.functions[0], 10 + i, 1, 20 + i, settings);
      Endpoint.Settings back = new Endpoint.Settings();
      back.localPsn = settings.remotePsn;
      back.remotePsn = settings.localPsn;
      back.workRequests = 16;
      back.statistics = settings.statistics;
      Endpoint far = new Endpoint(fabric.functions[1], 20 + i, 0, 10 + i, back);
      FakeFunction.Region source =
          near.function.register(near.function.allocate(64), 64, ALL, Endpoint.PD);
      FakeFunction.Region sink =
          far.function.register(far.function.allocate(64), 64, ALL, Endpoint.PD);
      for (int j = 0; j < messages[i]; j++) {
        assertTrue(far.receive.receive(j, new SgeList().set(sink.va(), 64, sink.stag())));
        assertTrue(
            near.send.send(
                j, SendQueue.SIGNALED, 0, 0, new SgeList().set(source.va(), 64, source.stag())));
      }
      near.send.ring();
    }
    fabric.settle(1_000_000_000L);
    for (int i = 0; i < 3; i++) {
      int instance = i == 2 ? -1 : 5 + i;
      assertEquals(messages[i], count(fabric.functions[0], instance, Statistic.RDMA_TX_SENDS));
      assertEquals(messages[i], count(fabric.functions[1], instance, Statistic.RDMA_RX_SENDS));
      assertEquals(0, count(fabric.functions[1], instance, Statistic.RDMA_TX_SENDS));
    }
  }

  private static long count(FakeFunction function, int instance, Statistic statistic) {
    return function.traffic(instance).count(statistic);
  }
}
