package irdma4j.functions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.driver.Access;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.hmc.HmcProfile;
import irdma4j.hmc.HmcView;
import irdma4j.hmc.SegmentType;
import irdma4j.hmc.SegmentUse;
import irdma4j.hwregs.HmcObject;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.Simulation;
import irdma4j.tests.WatchedFunction;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;

/**
 * A simulated device that was brought up to back virtual functions, for many trials. Between two of
 * them no virtual function has anything, and the physical one has what it had and as many PBLEs as
 * it says.
 */
final class FunctionBench {
  /** How many virtual functions there may be at once. */
  static final int MOST = 4;

  /** The owner of what is the physical function's. */
  static final int PHYSICAL = 1000;

  static final int PAGE = 4096;
  static final long SEGMENT = 2L << 20;

  /** Most pages that can be registered. */
  static final int PAGES = 4000;

  private static final int TRIALS = 500;

  final Simulation simulation;
  final OwnedMemory memory = new OwnedMemory();
  final RdmaDevice device;
  private final RecyclingMemory recycled;
  private final ProtectionDomain domain;
  private final DmaMemory buffer;
  private final long ownBytes;
  private int trials;

  FunctionBench(SegmentType type) {
    simulation = Simulation.builder().functions(1).seed(1).stepped().profile(card()).build();
    recycled = new RecyclingMemory(simulation.function(0));
    memory.belongTo(PHYSICAL);
    device =
        RdmaDevice.open(
            new WatchedFunction(simulation.function(0), recycled, memory),
            DeviceConfig.defaults()
                .withSeed(1)
                .withQueuePairs(8)
                .withPbleChunkPages(3)
                .withProfile(HmcProfile.EQUAL)
                .withVirtualFunctions(MOST)
                .withSegmentType(type),
            StageListener.none());
    domain = device.allocateProtectionDomain();
    buffer = device.allocateMemory((long) PAGES * PAGE, DmaPlacement.SCATTERED);
    ownBytes = memory.bytesOf(PHYSICAL) - bytesOf(device.hmcView());
  }

  /** A card on which each of five functions has three segments, one or two full of objects. */
  private static CardProfile card() {
    return CardProfile.small().withMaxSegments(3 * (MOST + 1)).withLimit(HmcObject.MR, 0xc000);
  }

  /** Registers memory of the physical function, which takes PBLEs. */
  MemoryRegion register(int pages) {
    return domain.registerMemory(
        buffer, 0, (long) pages * PAGE, PbleLevels.ANY, Access.LOCAL_WRITE);
  }

  /** Lets an allocation and an operation fail, counted from now on; 0 is none. */
  void arm(int allocation, int operation) {
    memory.fail(allocation);
    simulation.clearFaults(0);
    if (operation != 0) {
      simulation.inject(
          0,
          new Fault.FailControlOperation(
              new Moment(Occasion.CONTROL_OPERATION, null, operation), 0xffff, 0x0105));
    }
  }

  /** Bytes behind a Host Memory Cache, by what it says of its segments. */
  static long bytesOf(HmcView view) {
    long bytes = 0;
    for (SegmentUse segment : view.segments()) {
      bytes +=
          segment.type() == SegmentType.DIRECT ? SEGMENT : PAGE + (long) segment.pages() * PAGE;
    }
    return bytes;
  }

  /** Whether this is the last trial, which leaves it to the device to close everything. */
  boolean isLast() {
    return trials == TRIALS - 1;
  }

  /** A trial has given everything back; this checks that it has. */
  void ended() {
    trials++;
    assertEquals(memory.bytesOf(PHYSICAL), memory.bytes(), "virtual functions have memory");
    assertEquals(ownBytes, memory.bytesOf(PHYSICAL) - bytesOf(device.hmcView()), "its own memory");
    assertEquals(0, simulation.statistics(0).dmaFaults());
  }

  /** Closes the device with all that is open, and checks that nothing is left. */
  void close() {
    try (simulation) {
      device.close();
      buffer.close();
      assertEquals(0, memory.bytes(), "memory is left");
      recycled.close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes(), "memory is left");
      assertEquals(0, simulation.statistics(0).dmaFaults());
    }
  }

  /** Ends the simulation, whatever state it is in. */
  void abandon() {
    simulation.close();
  }
}
