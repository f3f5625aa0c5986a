package irdma4j.functions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.BackedFunction;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.Extent;
import irdma4j.hmc.HmcException;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CqpWqe;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.StaticHmcPages;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.Fault;
import irdma4j.simulator.FpmWalk;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.Simulation;
import irdma4j.tests.WatchedFunction;
import irdma4j.uapi.PciException;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a virtual function is given, what is refused, and that nothing of it stays. */
final class BackedFunctionTest {
  private static final HmcRequest EIGHT = new HmcRequest(8, HmcProfile.EQUAL, false);
  private static final int FIRST_ID = 8;

  /** More than a function needs allocations or operations to come or go. */
  private static final int MOST_TURNS = 10_000;

  private static final int MOST = 4;

  /** A card on which each of five functions has a few segments. */
  private static CardProfile card() {
    return CardProfile.small()
        .withMaxSegments(80)
        .withLimit(HmcObject.MR, 0x40000)
        .withLimit(HmcObject.PBLE, 0x60000);
  }

  private static Simulation simulation() {
    return simulation(event -> {});
  }

  private static Simulation simulation(Consumer<DeviceEvent> watcher) {
    return Simulation.builder()
        .functions(1)
        .seed(1)
        .stepped()
        .profile(card())
        .watch((nanos, function, event) -> watcher.accept(event))
        .build();
  }

  private static DeviceConfig config(SegmentType type) {
    return DeviceConfig.defaults()
        .withSeed(1)
        .withQueuePairs(8)
        .withProfile(HmcProfile.EQUAL)
        .withVirtualFunctions(MOST)
        .withTimeoutNanos(20_000_000)
        .withSegmentType(type);
  }

  private static RdmaDevice open(Simulation simulation) {
    return RdmaDevice.open(
        simulation.function(0), config(SegmentType.DIRECT), StageListener.none());
  }

  /** Fails if what is refused has reached the device, or taken a place. */
  @Test
  void badInputChangesNothing() {
    try (Simulation simulation = simulation()) {
      RdmaDevice device = open(simulation);
      device.backFunction(3, EIGHT);
      long operations = simulation.statistics(0).controlOperations();
      assertThrows(IllegalArgumentException.class, () -> device.backFunction(-1, EIGHT));
      assertThrows(IllegalArgumentException.class, () -> device.backFunction(256, EIGHT));
      assertThrows(IllegalStateException.class, () -> device.backFunction(3, EIGHT));
      assertEquals(operations, simulation.statistics(0).controlOperations());
      BackedFunction last = device.backFunction(255, EIGHT);
      device.backFunction(0, EIGHT);
      device.backFunction(1, EIGHT);
      operations = simulation.statistics(0).controlOperations();
      String said =
          assertThrows(IllegalStateException.class, () -> device.backFunction(2, EIGHT))
              .getMessage();
      assertTrue(said.contains("4 virtual functions"), said);
      assertEquals(operations, simulation.statistics(0).controlOperations());
      last.close();
      assertEquals(FIRST_ID + 1, device.backFunction(2, EIGHT).hmcFunction());
      device.close();
      assertThrows(IllegalStateException.class, () -> device.backFunction(9, EIGHT));
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }

  /** Fails if a device that was not brought up to back functions asks for one. */
  @Test
  void noneUnlessTheDeviceWasToldSo() {
    try (Simulation simulation = simulation();
        RdmaDevice device = RdmaDevice.open(simulation.function(0))) {
      assertThrows(IllegalStateException.class, () -> device.backFunction(0, EIGHT));
    }
  }

  /** Fails if a plan that does not fit leaves its HMC function behind. */
  @Test
  void whatDoesNotFitIsGivenUp() {
    try (Simulation simulation =
        Simulation.builder()
            .functions(1)
            .seed(1)
            .stepped()
            .profile(card().withMaxSegments(40).withLimit(HmcObject.HTE, 0x900))
            .build()) {
      RdmaDevice device =
          RdmaDevice.open(
              simulation.function(0),
              config(SegmentType.DIRECT).withProfile(HmcProfile.DEFAULT),
              StageListener.none());
      long bytes = simulation.function(0).dmaUsage().currentBytes();
      for (int i = 0; i < 2 * MOST; i++) {
        HmcException refused =
            assertThrows(HmcException.class, () -> device.backFunction(5, EIGHT));
        assertTrue(refused.getMessage().contains("not even one queue pair"), refused.getMessage());
      }
      assertEquals(bytes, simulation.function(0).dmaUsage().currentBytes());
      device.close();
    }
  }

  /** Each of its kinds exists wholly, but PBLEs, which come page by page; the rest is refused. */
  @Test
  void itHasWhatItsPlanSays() {
    try (Simulation simulation = simulation()) {
      RdmaDevice device = open(simulation);
      BackedFunction function = device.backFunction(7, EIGHT);
      assertEquals(7, function.virtualFunction());
      assertEquals(FIRST_ID, function.hmcFunction());
      assertEquals(8, function.plan().count(HmcObject.QP));
      function
          .hmcView()
          .objects()
          .forEach(
              use -> {
                assertEquals(function.plan().count(use.kind()), use.count(), use.kind().name());
                assertEquals(
                    use.kind() == HmcObject.PBLE ? 0 : use.count(),
                    use.existing(),
                    use.kind().name());
              });
      HmcLayout.Area pbles = function.hmcView().layout().of(HmcObject.PBLE);
      long address = (pbles.base() + 4095) / 4096 * 4096;
      Extent extent = function.extend(address, 1);
      assertEquals(
          function.hmcView().locate(address).iova(), simulation.translate(0, FIRST_ID, address));
      assertThrows(HmcException.class, () -> function.extend(address, 1));
      assertThrows(HmcException.class, () -> function.extend(address - 4096 * 4096L, 1));
      function.release(extent);
      assertThrows(HmcException.class, () -> function.release(extent));
      function.extend(address, 1);
      function.close();
      function.close();
      assertThrows(IllegalStateException.class, () -> function.extend(address, 1));
      assertEquals(FpmWalk.FAULT, simulation.translate(0, FIRST_ID, 0));
      device.close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }

  /** Fails if a device that backs functions does not go down by itself, without a reset. */
  @ParameterizedTest
  @EnumSource(SegmentType.class)
  void closingTheDeviceClosesThem(SegmentType type) {
    List<DeviceEvent> registers = new ArrayList<>();
    try (Simulation simulation = simulation(registers::add)) {
      for (int round = 0; round < 2; round++) {
        RdmaDevice device =
            RdmaDevice.open(simulation.function(0), config(type), StageListener.none());
        for (int i = 0; i < MOST; i++) {
          assertEquals(FIRST_ID + i, device.backFunction(9 - i, EIGHT).hmcFunction());
        }
        registers.clear();
        device.close();
        assertEquals(
            MOST, commands(registers).filter(ManageHmcFunctionTable.class::isInstance).count());
        assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
      }
    }
  }

  private static Stream<CqpCommand> commands(List<DeviceEvent> events) {
    return events.stream()
        .filter(DeviceEvent.WqeFetched.class::isInstance)
        .map(event -> ((DeviceEvent.WqeFetched) event).bytes())
        .map(bytes -> CqpCommand.decode(bytes, 0));
  }

  /**
   * The operations of a function's life, in order, each with its id, and the bytes of those that
   * take it and give it back, which Linux's own are the judge of.
   */
  @Test
  void theOperationsAreLinuxs() {
    List<DeviceEvent> events = new ArrayList<>();
    try (Simulation simulation = simulation(events::add)) {
      RdmaDevice device = open(simulation);
      device.backFunction(9, EIGHT);
      events.clear();
      BackedFunction function = device.backFunction(0, EIGHT);
      int id = function.hmcFunction();
      function.close();
      List<CqpCommand> commands = commands(events).toList();
      assertEquals(new ManageHmcFunctionTable(0, false), commands.getFirst());
      assertTrue(commands.get(1) instanceof QueryFpm query && query.hmcFunction() == id);
      assertTrue(commands.get(2) instanceof CommitFpm commit && commit.hmcFunction() == id);
      int at = 3;
      for (; commands.get(at) instanceof UpdatePeSds update; at++) {
        assertEquals(id, update.hmcFunction());
      }
      assertTrue(at > 3, "no segment");
      assertEquals(new StaticHmcPages(id), commands.get(at++));
      for (; commands.get(at) instanceof UpdatePeSds update; at++) {
        assertEquals(id, update.hmcFunction());
      }
      assertEquals(new ManageHmcFunctionTable(0, true), commands.get(at));
      assertEquals(at + 1, commands.size());
      List<String> bytes =
          events.stream()
              .filter(DeviceEvent.WqeFetched.class::isInstance)
              .map(event -> hex(((DeviceEvent.WqeFetched) event).bytes()))
              .toList();
      Map<Boolean, String> theirs = new HashMap<>();
      for (Vector vector : VectorSuite.read("cqp_wqe")) {
        if (vector.function().equals("irdma_sc_manage_hmc_pm_func_table")
            && vector.in().number("vf_id") == 0) {
          theirs.put(
              vector.in().flag("free_fcn"), hex(MemorySegment.ofArray(vector.out().bytes("wqe"))));
        }
      }
      assertEquals(theirs.get(false), bytes.getFirst());
      assertEquals(theirs.get(true), bytes.getLast());
      device.close();
    }
  }

  /** The bytes but for the valid bit, which is the ring's. */
  private static String hex(MemorySegment wqe) {
    byte[] bytes = wqe.toArray(ValueLayout.JAVA_BYTE);
    bytes[CqpWqe.HEADER + 7] &= 0x7f;
    return HexFormat.of().formatHex(bytes);
  }

  /** Allocations and operations in turn fail while a function comes; nothing is left. */
  @ParameterizedTest
  @EnumSource(SegmentType.class)
  void whatFailsWhileItComesLeavesNothing(SegmentType type) {
    try (Simulation simulation = simulation()) {
      OwnedMemory memory = new OwnedMemory();
      RdmaDevice device =
          RdmaDevice.open(
              new WatchedFunction(simulation.function(0), memory),
              config(type),
              StageListener.none());
      int allocations = turns(simulation, memory, device, n -> memory.fail(n));
      int operations = turns(simulation, memory, device, n -> refuse(simulation, n));
      assertTrue(allocations > 3 && operations > 5, allocations + " and " + operations);
      device.close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
      assertEquals(0, simulation.statistics(0).dmaFaults());
    }
  }

  private static int turns(
      Simulation simulation, OwnedMemory memory, RdmaDevice device, Consumer<Integer> fail) {
    Map<Long, Integer> before = memory.snapshot();
    int failures = 0;
    // The many pages of a paged kind are alike.
    for (int n = 1; ; n += n < 40 ? 1 : 29) {
      assertTrue(n < MOST_TURNS, "what failed once fails for good");
      fail.accept(n);
      BackedFunction function;
      try {
        function = device.backFunction(2, EIGHT);
      } catch (RdmaException | PciException wanted) {
        failures++;
        assertEquals(0, wanted.getSuppressed().length);
        assertEquals(before, memory.snapshot(), "after failure " + n);
        assertEquals(FpmWalk.FAULT, simulation.translate(0, FIRST_ID, 0));
        continue;
      }
      fail.accept(0);
      simulation.clearFaults(0);
      assertEquals(FIRST_ID, function.hmcFunction());
      function.close();
      assertEquals(before, memory.snapshot());
      return failures;
    }
  }

  private static void refuse(Simulation simulation, int nth) {
    simulation.clearFaults(0);
    if (nth > 0) {
      simulation.inject(
          0,
          new Fault.FailControlOperation(
              new Moment(Occasion.CONTROL_OPERATION, null, nth), 0xffff, 0x0105));
    }
  }

  /** A close that is refused at any operation can be done again, and the device goes down well. */
  @ParameterizedTest
  @EnumSource(SegmentType.class)
  void aRefusedCloseIsDoneAgain(SegmentType type) {
    try (Simulation simulation = simulation()) {
      OwnedMemory memory = new OwnedMemory();
      RdmaDevice device =
          RdmaDevice.open(
              new WatchedFunction(simulation.function(0), memory),
              config(type),
              StageListener.none());
      Map<Long, Integer> before = memory.snapshot();
      boolean refused = true;
      int n = 1;
      for (; refused; n++) {
        assertTrue(n < MOST_TURNS, "what was refused once is refused for good");
        BackedFunction function = device.backFunction(2, EIGHT);
        refuse(simulation, n);
        try {
          function.close();
          refused = false;
        } catch (RdmaException wanted) {
          assertThrows(IllegalStateException.class, () -> device.backFunction(2, EIGHT));
          function.close();
        }
        refuse(simulation, 0);
        assertEquals(before, memory.snapshot());
      }
      assertTrue(n > 3, "only " + n);
      device.close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
    }
  }

  /**
   * If it can't even be undone, it is in the way until the device is closed, which takes it away.
   */
  @Test
  void whatCannotBeUndoneGoesWithTheDevice() {
    try (Simulation simulation = simulation()) {
      RdmaDevice device = open(simulation);
      simulation.inject(
          0, new Fault.FailControlOperation(Moment.next(CqpOpcode.COMMIT_FPM_VAL), 0xffff, 1));
      simulation.inject(
          0,
          new Fault.FailControlOperation(
              Moment.next(CqpOpcode.MANAGE_HMC_PM_FUNC_TABLE).nth(2), 0xffff, 1));
      RdmaException failure =
          assertThrows(RdmaException.class, () -> device.backFunction(2, EIGHT));
      assertTrue(failure.getMessage().contains("COMMIT_FPM_VAL"), failure.getMessage());
      assertEquals(1, failure.getSuppressed().length);
      assertThrows(IllegalStateException.class, () -> device.backFunction(2, EIGHT));
      device.backFunction(3, EIGHT);
      device.close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
      try (RdmaDevice again = open(simulation)) {
        assertEquals(FIRST_ID, again.backFunction(2, EIGHT).hmcFunction());
      }
    }
  }

  /**
   * The device falls silent at any operation; it can be closed, nothing is left, it works again.
   */
  @ParameterizedTest
  @EnumSource(SegmentType.class)
  void aSilentDeviceLeavesNothing(SegmentType type) {
    try (Simulation simulation = simulation()) {
      boolean struck = true;
      int n = 1;
      for (; struck; n++) {
        RdmaDevice device =
            RdmaDevice.open(simulation.function(0), config(type), StageListener.none());
        device.backFunction(1, EIGHT);
        simulation.inject(
            0, new Fault.SilentFirmware(new Moment(Occasion.CONTROL_OPERATION, null, n)));
        try {
          device.backFunction(2, EIGHT).close();
          struck = false;
          simulation.clearFaults(0);
        } catch (RdmaException silent) {
          assertThrows(RdmaException.class, device::close);
        }
        device.close();
        assertEquals(0, simulation.function(0).dmaUsage().currentBytes(), "at operation " + n);
        assertFalse(n > 200);
      }
      assertTrue(n > 8, "only " + n);
    }
  }
}
