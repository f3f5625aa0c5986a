package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.hwregs.cqp.CreateAeq;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.DeleteArp;
import irdma4j.hwregs.cqp.GatherStats;
import irdma4j.hwregs.cqp.ManageStats;
import irdma4j.hwregs.cqp.Nop;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.RegisterMr;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Simulation;
import irdma4j.simulator.device.ControlStatus;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each way in which the control queue pair refuses an operation, provoked through the driver. The
 * table is written to {@code target/control-refusals.md}.
 *
 * <p>Fails if a refusal has other codes than its status, is not an exception of its own kind, has
 * no row, has changed something, so that the next one is another, or leaves a device that does not
 * work on, queues and events too, or memory that does not come back.
 */
class ControlRefusalTableTest {
  private static final Path REPORT = Path.of("target", "control-refusals.md");
  private static final int HIGH_INDEX = 0xff_fff0;
  private static final int LAST_PBLE = 0x0fff_ff00;
  private static final long NOWHERE = 0x7fff_ffff_f000L;

  /** What provokes a refusal. */
  @FunctionalInterface
  private interface Way {
    void provoke(RdmaDevice device, Simulation simulation);
  }

  private record Row(String how, Way way) {}

  private static final Map<ControlStatus, Row> ROWS = new EnumMap<>(ControlStatus.class);

  static {
    ROWS.put(
        ControlStatus.STAG_INVALID,
        new Row(
            "free a stag that is not allocated",
            (device, simulation) -> device.control().execute(new DeallocateStag(1, 77, true))));
    ROWS.put(
        ControlStatus.UNKNOWN_OPERATION,
        new Row(
            "an opcode that is none, by a corrupt WQE",
            (device, simulation) -> {
              int unknown =
                  IntStream.range(0, 64)
                      .filter(code -> CqpOpcode.of(code) == null)
                      .findFirst()
                      .orElseThrow();
              long bits = CqpWqe.OPCODE.encode(unknown ^ CqpOpcode.NOP.code());
              simulation.inject(0, new Fault.CorruptDescriptor(Moment.next(CqpOpcode.NOP), bits));
              device.control().execute(new Nop());
            }));
    ROWS.put(
        ControlStatus.BAD_PARAMETER,
        new Row(
            "ask for the limits of HMC function 5",
            (device, simulation) -> device.control().execute(new QueryFpm(5, NOWHERE))));
    ROWS.put(
        ControlStatus.OBJECT_EXISTS,
        new Row(
            "create a second AEQ",
            (device, simulation) ->
                device.control().execute(new CreateAeq(16, NOWHERE, 0, 0, false))));
    ROWS.put(
        ControlStatus.NO_SUCH_OBJECT,
        new Row(
            "delete an ARP entry that is not there",
            (device, simulation) -> device.control().execute(new DeleteArp(9))));
    ROWS.put(
        ControlStatus.OBJECT_IN_USE,
        new Row(
            "commit HMC objects while there is a queue pair",
            (device, simulation) -> {
              device
                  .allocateProtectionDomain()
                  .createQueuePair(QueuePairConfig.of(device.createCompletionQueue(8)));
              device.control().execute(new CommitFpm(0, FpmCommitBuffer.SIZE, NOWHERE));
            }));
    ROWS.put(
        ControlStatus.TABLE_FULL,
        new Row(
            "take all statistics instances and one more",
            (device, simulation) -> {
              for (int i = 0; i < 1000; i++) {
                device.control().execute(new ManageStats(0, 0, false, true));
              }
            }));
    ROWS.put(
        ControlStatus.TOO_MANY_SEGMENTS,
        new Row(
            "commit more HMC objects than there is room for",
            (device, simulation) -> {
              try (DmaMemory buffer = device.function().allocateDma(FpmCommitBuffer.SIZE, 512)) {
                buffer.segment().fill((byte) 0x7f);
                device.control().execute(new CommitFpm(0, FpmCommitBuffer.SIZE, buffer.iova()));
              }
            }));
    ROWS.put(
        ControlStatus.DMA_FAULT,
        new Row(
            "gather statistics to where no memory is",
            (device, simulation) ->
                device.control().execute(new GatherStats(NOWHERE, 0, 0, false, true))));
    ROWS.put(
        ControlStatus.OBJECT_NOT_BACKED,
        new Row(
            "allocate a window with a stag beyond those committed",
            (device, simulation) ->
                device.control().execute(new AllocateMw(1, HIGH_INDEX, false, false))));
    ROWS.put(
        ControlStatus.PBLE_NOT_BACKED,
        new Row(
            "register a region whose page list lies beyond the PBLEs",
            (device, simulation) ->
                device
                    .control()
                    .execute(
                        new RegisterMr(
                            0x1000, 8192, 1, 0, 7, 0, 0, LAST_PBLE, true, 1, 0, 1, false, true,
                            false, false))));
  }

  @Test
  void everyRefusal() throws IOException {
    List<ControlStatus> wanted =
        Stream.of(ControlStatus.values()).filter(status -> status != ControlStatus.OK).toList();
    assertEquals(wanted, List.copyOf(ROWS.keySet()), "refusals without a row");
    StringBuilder table =
        new StringBuilder("| status | major | minor | how it is provoked |\n|---|---|---|---|\n");
    for (Map.Entry<ControlStatus, Row> row : ROWS.entrySet()) {
      ControlStatus status = row.getKey();
      try (Simulation simulation = Simulation.builder().functions(1).seed(1).stepped().build()) {
        RdmaDevice device =
            RdmaDevice.open(
                simulation.function(0),
                DeviceConfig.defaults().withQueuePairs(8).withSeed(1).withPbleChunkPages(1),
                StageListener.none());
        for (int time = 0; time < 2; time++) {
          ControlQueueException refused =
              assertThrows(
                  ControlQueueException.class,
                  () -> row.getValue().way().provoke(device, simulation),
                  status::name);
          assertEquals(status.major(), refused.major(), status::name);
          assertEquals(status.minor(), refused.minor(), status::name);
        }
        worksOn(device, status);
        device.close();
        assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
      }
      table.append(
          "| %s | 0x%04x | 0x%04x | %s |%n"
              .formatted(status, status.major(), status.minor(), row.getValue().how()));
    }
    Files.createDirectories(REPORT.getParent());
    Files.writeString(REPORT, table);
  }

  /** Fails if the device does not move data, or does not tell of what happens on it. */
  private static void worksOn(RdmaDevice device, ControlStatus status) {
    Gid self = Gid.of("10.0.0.1");
    ProtectionDomain domain = device.allocateProtectionDomain();
    CompletionQueue queue = device.createCompletionQueue(8);
    QueuePair pair = domain.createQueuePair(QueuePairConfig.of(queue));
    try (DmaMemory memory = device.allocateMemory(8192, DmaPlacement.SCATTERED);
        MemoryRegion region =
            domain.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE)) {
      memory.segment().asSlice(0, 4096).fill((byte) 0x5a);
      pair.connect(RcPath.of(self, self, device.macAddress(), pair.qpn(), 1, 1));
      pair.postWrite(
          7,
          region.lkey(),
          region.address(),
          4096,
          region.address() + 4096,
          region.rkey(),
          QueuePair.SIGNALED);
      queue.arm();
      pair.ring();
      Completion completion = new Completion();
      assertTrue(device.processEvents(0, 50_000_000), status::name);
      assertTrue(queue.takeEvent(), status::name);
      assertTrue(queue.poll(completion), status::name);
      assertTrue(completion.isSuccess(), completion::toString);
      assertEquals(
          -1,
          memory.segment().asSlice(0, 4096).mismatch(memory.segment().asSlice(4096)),
          status::name);
      List<AsyncEvent> events = new ArrayList<>();
      device.onAsyncEvent(events::add);
      pair.drain();
      assertTrue(device.processEvents(0, 50_000_000), status::name);
      assertEquals(1, events.size(), status::name);
      assertTrue(pair.isDrained(), status::name);
      pair.close();
    }
  }
}
