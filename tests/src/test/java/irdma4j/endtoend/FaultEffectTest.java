package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.RdmaException;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the faults do that the driver gets over without a word, seen at the device's counters. */
class FaultEffectTest {
  private static final int COMMAND = 4;
  private static final int BUS_MASTER = 4;

  /**
   * Interrupts and completion events of three WRITEs, each asked for an event. Fails if a fault
   * does nothing or strikes twice.
   */
  @Test
  void faultsStrikeOnce() {
    assertEquals(List.of(3L, 3L), counts(null));
    assertEquals(List.of(2L, 3L), counts(new Fault.DropInterrupt(second(Occasion.INTERRUPT))));
    assertEquals(List.of(4L, 3L), counts(new Fault.DoubleInterrupt(second(Occasion.INTERRUPT))));
    assertEquals(List.of(2L, 2L), counts(new Fault.LoseDoorbell(second(Occasion.ARM_DOORBELL))));
  }

  /** Its memory is given back soon. Fails if the device is left the master of the bus. */
  @Test
  void aDeviceThatDoesNotAnswerReachesNoMemory() {
    RdmaPair rdma = new RdmaPair(5, 0, 1024);
    PciFunction function = rdma.simulation.function(0);
    assertEquals(BUS_MASTER, function.config().read16(COMMAND) & BUS_MASTER);
    rdma.simulation.inject(0, new Fault.SilentFirmware(Moment.now()));
    assertThrows(RdmaException.class, () -> rdma.a.device.createCompletionQueue(16));
    assertEquals(0, function.config().read16(COMMAND) & BUS_MASTER);
    assertThrows(RdmaException.class, rdma.a.device::close);
    rdma.a.memories.forEach(DmaMemory::close);
    assertEquals(0, function.dmaUsage().currentBytes());
    rdma.b.close();
    rdma.simulation.close();
  }

  /**
   * The third of five operations of a kind fails, with other operations between them. Fails if
   * another one does, the codes are others, or what failed was done.
   */
  @Test
  void theOperationThatIsNamedFails() {
    RdmaPair rdma = new RdmaPair(5, 0, 1024);
    rdma.simulation.inject(
        0, new Fault.FailControlOperation(Moment.next(CqpOpcode.CREATE_CQ).nth(3), 0xffff, 0x8765));
    DmaMemory memory = rdma.a.memory(4096, DmaPlacement.SCATTERED);
    for (int i = 1; i <= 5; i++) {
      rdma.a.region(memory, PbleLevels.ANY);
      if (i == 3) {
        String message =
            assertThrows(RdmaException.class, () -> rdma.a.device.createCompletionQueue(16))
                .getMessage();
        assertEquals("CREATE_CQ failed: major 0xffff (error), minor 0x8765 (unknown)", message);
      } else {
        rdma.a.device.createCompletionQueue(16);
      }
    }
    assertEquals(0, rdma.simulation.clearFaults(0));
    assertEquals(0, rdma.closeAndBalance());
  }

  /** The second of three takes as much longer. Fails if another one does, or the time differs. */
  @Test
  void theOperationThatIsNamedIsLate() {
    long delay = 7_000_000;
    List<Long> plain = times(null);
    List<Long> late =
        times(new Fault.DelayControlOperation(Moment.next(CqpOpcode.CREATE_CQ).nth(2), delay));
    for (int i = 0; i < 3; i++) {
      long more = late.get(i) - plain.get(i);
      assertTrue(Math.abs(more - (i == 1 ? delay : 0)) < delay / 10, plain + " and " + late);
    }
  }

  /** How long each of three operations takes, with others between them. */
  private static List<Long> times(@Nullable Fault fault) {
    RdmaPair rdma = new RdmaPair(5, 0, 1024);
    if (fault != null) {
      rdma.simulation.inject(0, fault);
    }
    DmaMemory memory = rdma.a.memory(4096, DmaPlacement.SCATTERED);
    List<Long> times = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      rdma.a.region(memory, PbleLevels.ANY);
      long start = rdma.simulation.function(0).clock().nanos();
      rdma.a.device.createCompletionQueue(16);
      times.add(rdma.simulation.function(0).clock().nanos() - start);
    }
    assertEquals(0, rdma.closeAndBalance());
    return times;
  }

  private static Moment second(Occasion occasion) {
    return Moment.next(occasion).nth(2);
  }

  private static List<Long> counts(@Nullable Fault fault) {
    RdmaPair rdma = new RdmaPair(5, 0, 1024);
    MemoryRegion local = rdma.a.region(rdma.a.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
    MemoryRegion remote =
        rdma.b.region(rdma.b.memory(4096, DmaPlacement.SCATTERED), PbleLevels.ANY);
    rdma.settle(100_000);
    long interrupts = rdma.simulation.statistics(0).interrupts();
    long events = rdma.simulation.statistics(0).completionEvents();
    if (fault != null) {
      rdma.simulation.inject(0, fault);
    }
    for (int i = 0; i < 3; i++) {
      rdma.a.queue.arm();
      assertTrue(
          rdma.a.pair.postWrite(
              i,
              local.lkey(),
              local.address(),
              64,
              remote.address(),
              remote.rkey(),
              QueuePair.SIGNALED));
      rdma.a.pair.ring();
      rdma.await(rdma.a);
      rdma.settle(100_000);
      rdma.a.queue.takeEvent();
    }
    List<Long> counts =
        List.of(
            rdma.simulation.statistics(0).interrupts() - interrupts,
            rdma.simulation.statistics(0).completionEvents() - events);
    assertEquals(0, rdma.simulation.clearFaults(0));
    assertEquals(0, rdma.closeAndBalance());
    return counts;
  }
}
