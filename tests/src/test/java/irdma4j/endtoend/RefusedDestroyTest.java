package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.ControlQueueException;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.QualityOfService;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Simulation;
import irdma4j.tests.FunctionWatcher;
import irdma4j.tests.WatchedFunction;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The device refuses to destroy something: it may still use it, so nothing of it goes back before
 * it was destroyed after all, or the device is off the bus.
 */
class RefusedDestroyTest {
  private static final int KEY = 0x77;

  /** Makes an object on side a; what it was made with stays open. */
  private interface Maker extends Function<RdmaPair, AutoCloseable> {}

  static Stream<Arguments> objects() {
    return Stream.of(
        of("queue pair", CqpOpcode.DESTROY_QP, r -> r.a.domain.createQueuePair(config(r))),
        of("datagram queue pair", CqpOpcode.DESTROY_QP, RefusedDestroyTest::datagrams),
        of(
            "member of a group",
            CqpOpcode.DESTROY_MCAST_GRP,
            r -> {
              DatagramQueuePair pair = datagrams(r);
              pair.attachMulticast(Gid.of("239.1.2.3"));
              pair.attachMulticast(Gid.of("239.1.2.3"));
              return pair;
            }),
        of("completion queue", CqpOpcode.DESTROY_CQ, r -> r.a.device.createCompletionQueue(64)),
        of(
            "region",
            CqpOpcode.DEALLOC_STAG,
            r -> r.a.region(r.a.memory(64 << 10, DmaPlacement.SCATTERED), PbleLevels.ANY)),
        of("fast region", CqpOpcode.DEALLOC_STAG, r -> r.a.domain.allocateFastRegion(8)),
        of("window", CqpOpcode.DEALLOC_STAG, r -> r.a.domain.allocateWindow(MemoryWindow.Type.TWO)),
        of("address handle", CqpOpcode.DESTROY_ADDR_HANDLE, RefusedDestroyTest::handle));
  }

  private static Arguments of(String name, CqpOpcode refused, Maker maker) {
    return Arguments.of(name, refused, maker);
  }

  private static QueuePairConfig config(RdmaPair rdma) {
    return QueuePairConfig.of(rdma.a.queue);
  }

  private static DatagramQueuePair datagrams(RdmaPair rdma) {
    return rdma.a.domain.createDatagramQueuePair(config(rdma), 1024, KEY);
  }

  private static AddressHandle handle(RdmaPair rdma) {
    return rdma.a.domain.createAddressHandle(
        DatagramPath.of(RdmaPair.A, RdmaPair.B, rdma.b.device.macAddress()));
  }

  private static void refuse(Simulation simulation, CqpOpcode operation, int times) {
    for (int i = 1; i <= times; i++) {
      simulation.inject(
          0, new Fault.FailControlOperation(Moment.next(operation).nth(i), 0xffff, 0x8123));
    }
  }

  /**
   * Refused twice, done the third time. Fails if memory goes back with the refusal, if a second
   * close does nothing, or if it leaves something.
   */
  @ParameterizedTest(name = "{0}")
  @MethodSource("objects")
  void aRefusedDestroyChangesNothing(String name, CqpOpcode operation, Maker maker)
      throws Exception {
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    // What it is made with may stay in memory.
    maker.apply(rdma).close();
    long before = rdma.simulation.function(0).dmaUsage().currentBytes() - allocated(rdma);
    long pbles = rdma.a.device.usage().pbles().free();
    AutoCloseable object = maker.apply(rdma);
    long with = rdma.simulation.function(0).dmaUsage().currentBytes();
    refuse(rdma.simulation, operation, 2);
    for (int i = 0; i < 2; i++) {
      ControlQueueException refused = assertThrows(ControlQueueException.class, object::close);
      assertEquals(0x8123, refused.minor());
      assertEquals(with, rdma.simulation.function(0).dmaUsage().currentBytes());
    }
    assertThrows(IllegalStateException.class, () -> keeper(rdma, operation).close());
    object.close();
    object.close();
    assertEquals(before, rdma.simulation.function(0).dmaUsage().currentBytes() - allocated(rdma));
    assertEquals(pbles, rdma.a.device.usage().pbles().free());
    assertEquals(0, rdma.simulation.statistics(0).dmaFaults());
    assertEquals(0, rdma.closeAndBalance());
  }

  private static long allocated(RdmaPair rdma) {
    return rdma.a.memories.stream().mapToLong(DmaMemory::size).sum();
  }

  /** What must not be closed while the object is there. */
  private static AutoCloseable keeper(RdmaPair rdma, CqpOpcode operation) {
    return operation == CqpOpcode.DESTROY_QP ? rdma.a.queue : rdma.a.domain;
  }

  /** Refused until the end: closing the device says so, and everything is back. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("objects")
  void whatIsNeverDestroyedGoesWithTheDevice(String name, CqpOpcode operation, Maker maker)
      throws Exception {
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    AutoCloseable object = maker.apply(rdma);
    refuse(rdma.simulation, operation, 50);
    assertThrows(ControlQueueException.class, object::close);
    ControlQueueException refused = assertThrows(ControlQueueException.class, rdma.a.device::close);
    assertEquals(operation, refused.opcode());
    object.close();
    rdma.a.memories.forEach(DmaMemory::close);
    assertEquals(0, rdma.simulation.function(0).dmaUsage().currentBytes());
    rdma.simulation.clearFaults(0);
    RdmaDevice.open(rdma.simulation.function(0)).close();
    assertEquals(0, rdma.simulation.function(0).dmaUsage().currentBytes());
    rdma.b.close();
    rdma.simulation.close();
  }

  /** A queue pair that was not destroyed works on, and so does what it needs. */
  @Test
  void aQueuePairThatIsLeftWorksOn() {
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    try {
      MemoryRegion from =
          rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      MemoryRegion into =
          rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
      refuse(rdma.simulation, CqpOpcode.DESTROY_QP, 1);
      assertThrows(ControlQueueException.class, rdma.a.pair::close);
      rdma.a.pair.postWrite(
          5, from.lkey(), from.address(), 64, into.address(), into.rkey(), QueuePair.SIGNALED);
      rdma.a.pair.ring();
      Completion done = rdma.await(rdma.a);
      assertTrue(done.isSuccess(), done::toString);
      assertEquals(5, done.wrId());
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /** A region in which a window is bound is refused by the device; it can be closed afterwards. */
  @Test
  void aRegionCanBeClosedAfterItsWindow() {
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    try {
      DmaMemory memory = rdma.a.memory(4096, DmaPlacement.SCATTERED);
      MemoryRegion region =
          rdma.a.domain.registerMemory(
              memory, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.BIND_WINDOW);
      MemoryWindow window = rdma.a.domain.allocateWindow(MemoryWindow.Type.TWO);
      rdma.a.pair.postBind(
          1, window, region, region.address(), 64, QueuePair.SIGNALED, Access.REMOTE_READ);
      rdma.a.pair.ring();
      assertTrue(rdma.await(rdma.a).isSuccess());
      assertThrows(ControlQueueException.class, region::close);
      window.close();
      region.close();
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /** An ARP entry that the device keeps serves the next one who needs it. */
  @Test
  void anArpEntryThatIsLeftIsUsedAgain() {
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    try {
      AddressHandle first =
          rdma.a.domain.createAddressHandle(
              DatagramPath.of(RdmaPair.A, Gid.of("10.0.0.9"), 0x0200_0000_0009L));
      refuse(rdma.simulation, CqpOpcode.MANAGE_ARP, 1);
      assertThrows(ControlQueueException.class, first::close);
      first.close();
      for (long mac : new long[] {0x0200_0000_0009L, 0x0200_0000_0010L}) {
        rdma.a
            .domain
            .createAddressHandle(DatagramPath.of(RdmaPair.A, Gid.of("10.0.0.9"), mac))
            .close();
      }
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /** A node of the scheduler that the device keeps is not in the way of the next one. */
  @ParameterizedTest
  @CsvSource({"1", "2", "3"})
  void aSchedulerNodeThatIsLeftIsNotInTheWay(int nth) {
    DeviceConfig config = DeviceConfig.defaults().withQualityOfService(QualityOfService.single(0));
    RdmaPair rdma = new RdmaPair(Simulation.builder().seed(3).stepped(), config, 3, 1024);
    rdma.a.pair.close();
    QueuePair pair = connected(rdma);
    rdma.simulation.inject(
        0,
        new Fault.FailControlOperation(
            Moment.next(CqpOpcode.WORK_SCHED_NODE).nth(nth), 0xffff, 0x8123));
    assertThrows(ControlQueueException.class, pair::close);
    pair.close();
    rdma.simulation.clearFaults(0);
    connected(rdma).close();
    assertEquals(0, rdma.closeAndBalance());
  }

  private static QueuePair connected(RdmaPair rdma) {
    QueuePair near = rdma.a.domain.createQueuePair(config(rdma));
    QueuePair far = rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue));
    rdma.connect(near, far, 7, 9, 1024);
    far.close();
    return near;
  }

  /**
   * A refusal while the device goes down: what it may still have goes back only after bus mastering
   * was taken from it. Fails if one of these queues or segments is freed while the device can reach
   * it.
   */
  @ParameterizedTest
  @CsvSource({
    "DESTROY_CEQ,1",
    "DESTROY_CEQ,2",
    "DESTROY_AEQ,1",
    "DESTROY_CQ,1",
    "UPDATE_PE_SDS,1",
    "DESTROY_CQ,2"
  })
  void memoryStaysUntilTheDeviceIsOffTheBus(CqpOpcode operation, int nth) {
    try (Simulation simulation = Simulation.builder().seed(3).stepped().build()) {
      long good = lifeOnTheBus(simulation, null);
      long refused =
          lifeOnTheBus(
              simulation,
              new Fault.FailControlOperation(Moment.next(operation).nth(nth), 0xffff, 0x8123));
      assertTrue(refused < good, refused + " bytes were freed on the bus, without refusal " + good);
      assertEquals(good, lifeOnTheBus(simulation, null));
    }
  }

  /** Brings a device up and down; returns the bytes that went back while it had the bus. */
  private static long lifeOnTheBus(Simulation simulation, @Nullable Fault atClose) {
    Witness witness = new Witness();
    RdmaDevice device =
        RdmaDevice.open(
            new WatchedFunction(simulation.function(0), witness),
            DeviceConfig.defaults(),
            StageListener.none());
    CompletionQueue queue = device.createCompletionQueue(8);
    witness.closedOnBus = 0;
    if (atClose == null) {
      device.close();
    } else {
      simulation.inject(0, atClose);
      RdmaException refused = assertThrows(RdmaException.class, device::close);
      Throwable cause = refused instanceof ControlQueueException ? refused : refused.getCause();
      assertSame(ControlQueueException.class, cause.getClass());
    }
    queue.close();
    assertEquals(0, simulation.clearFaults(0));
    assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    return witness.closedOnBus;
  }

  /** Counts the memory that goes back while the device has the bus. */
  private static final class Witness implements FunctionWatcher {
    private boolean master;
    private long closedOnBus;

    @Override
    public void closing(DmaMemory memory) {
      closedOnBus += master ? memory.size() : 0;
    }

    @Override
    public void busMaster(boolean enabled) {
      master = enabled;
    }

    @Override
    public void reset() {
      master = false;
    }
  }
}
