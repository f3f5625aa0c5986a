package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Virtual time, and the same run for the same seed. */
final class SteppedSimulationTest {
  private static final int CHUNK = 10_000;
  private static final int CHUNKS = 24;
  private static final long ADDRESS = 0x1000_0000L;

  /** Frames with their times, and the statistics at the end. */
  private static List<String> run(long seed, double loss) {
    List<String> trace = new ArrayList<>();
    try (Simulation simulation =
        Simulation.builder()
            .seed(seed)
            .stepped()
            .profile(CardProfile.small().withMaxSegments(64))
            .lossPercent(loss)
            .tap(
                (time, from, frame, bytes, dropped) ->
                    trace.add(
                        time
                            + " "
                            + from
                            + " "
                            + bytes
                            + " "
                            + dropped
                            + " "
                            + frame.get(ValueLayout.JAVA_INT_UNALIGNED, bytes - 4)))
            .build()) {
      RdmaDevice[] devices = new RdmaDevice[2];
      for (int i = 0; i < 2; i++) {
        devices[i] =
            RdmaDevice.open(
                simulation.function(i),
                DeviceConfig.defaults()
                    .withMacAddress(0x02_00_00_00_00_01L + i)
                    .withSeed(seed)
                    .withQueuePairs(16),
                StageListener.none());
      }
      write(simulation, devices);
      for (RdmaDevice device : devices) {
        device.close();
      }
      trace.add("at " + simulation.function(0).clock().nanos());
      trace.add(simulation.statistics(0).toString());
      trace.add(simulation.statistics(1).toString());
    }
    return trace;
  }

  private static void write(Simulation simulation, RdmaDevice[] devices) {
    ProtectionDomain pd0 = devices[0].allocateProtectionDomain();
    ProtectionDomain pd1 = devices[1].allocateProtectionDomain();
    DmaMemory from = devices[0].allocateMemory(CHUNK * CHUNKS, DmaPlacement.SCATTERED);
    DmaMemory to = devices[1].allocateMemory(CHUNK * CHUNKS, DmaPlacement.SCATTERED);
    // Addresses of the process differ from run to run, and they go over the wire.
    MemoryRegion source =
        pd0.registerMemory(from, 0, from.size(), ADDRESS, PbleLevels.ANY, Access.LOCAL_WRITE);
    MemoryRegion sink =
        pd1.registerMemory(
            to, 0, to.size(), ADDRESS, PbleLevels.ANY, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    CompletionQueue cq0 = devices[0].createCompletionQueue(64);
    CompletionQueue cq1 = devices[1].createCompletionQueue(64);
    QueuePair qp0 = pd0.createQueuePair(QueuePairConfig.of(cq0));
    QueuePair qp1 = pd1.createQueuePair(QueuePairConfig.of(cq1));
    Gid gid0 = Gid.of("10.0.0.1");
    Gid gid1 = Gid.of("10.0.0.2");
    qp0.connect(RcPath.of(gid0, gid1, devices[1].macAddress(), qp1.qpn(), 5, 6));
    qp1.connect(RcPath.of(gid1, gid0, devices[0].macAddress(), qp0.qpn(), 6, 5));
    for (int i = 0; i < CHUNKS * CHUNK; i++) {
      from.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
    }
    Completion completion = new Completion();
    for (int i = 0; i < CHUNKS; i++) {
      long at = (long) i * CHUNK;
      assertTrue(
          qp0.postWrite(
              i,
              source.lkey(),
              source.address() + at,
              CHUNK,
              sink.address() + at,
              sink.rkey(),
              QueuePair.SIGNALED));
      qp0.ring();
      while (!cq0.poll(completion)) {
        simulation.function(0).clock().pause(0);
      }
      assertTrue(completion.isSuccess(), completion.toString());
      assertEquals(i, completion.wrId());
    }
    assertEquals(-1, from.segment().mismatch(to.segment()));
    from.close();
    to.close();
  }

  /**
   * Two runs with one seed are the same, frame by frame and nanosecond by nanosecond, with loss
   * too; another seed loses other frames. Fails if anything depends on the machine's time or on
   * hashes of objects.
   */
  @Test
  void theSameSeedGivesTheSameRun() {
    List<String> first = run(42, 5);
    assertEquals(first, run(42, 5));
    assertFalse(first.equals(run(43, 5)));
  }

  /** Time stands still unless someone waits; a read costs a microsecond. */
  @Test
  void timeMovesOnlyWhileSomeoneWaits() {
    try (Simulation simulation = Simulation.builder().functions(1).stepped().build()) {
      PciFunction function = simulation.function(0);
      DeviceClock clock = function.clock();
      long start = clock.nanos();
      function.bar(0).write32(0, 1);
      assertEquals(start, clock.nanos());
      function.bar(0).read32(0);
      assertEquals(start + 1000, clock.nanos());
      clock.pause(77_000);
      assertEquals(start + 78_000, clock.nanos());
      function.interrupts().enable(1);
      assertFalse(function.interrupts().await(0, 5_000));
      assertEquals(start + 83_000, clock.nanos());
      assertFalse(simulation.step());
      simulation.advance(17);
      assertEquals(start + 83_017, clock.nanos());
    }
  }

  /** A threaded simulation is not stepped by hand. */
  @Test
  void aThreadedSimulationRunsAlone() {
    try (Simulation simulation = Simulation.builder().functions(1).threaded().build()) {
      assertThrows(IllegalStateException.class, simulation::step);
      assertThrows(IllegalStateException.class, () -> simulation.advance(1));
    }
  }
}
