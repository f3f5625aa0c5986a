package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.simulator.device.DeviceCounters;
import irdma4j.simulator.device.Iommu;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DMA memory: where its IOVAs lie, what the device reaches, and the balance. */
final class DmaMemoryTest {
  private static final int PAGE = 4096;

  private static final int COMMAND = 4;
  private static final int BUS_MASTER = 1 << 2;

  private static Simulation simulation(long seed) {
    return Simulation.builder().functions(1).seed(seed).stepped().build();
  }

  @Test
  void noSizeIsTooLargeToBeRefused() {
    try (Simulation simulation = simulation(1)) {
      PciFunction function = simulation.function(0);
      for (DmaPlacement placement : DmaPlacement.values()) {
        for (long bytes : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - PAGE, 1L << 62}) {
          PciException e =
              assertThrows(PciException.class, () -> function.allocateDma(bytes, PAGE, placement));
          assertTrue(e.getMessage().contains(bytes + " bytes do not fit"), e.getMessage());
        }
      }
      assertEquals(0, function.dmaUsage().currentBytes());
    }
  }

  /**
   * A reset leaves bus mastering as it was, in the command register and for the device's accesses:
   * Linux's VFIO saves and restores the configuration space around it (pci_try_reset_function).
   * Fails if a reset turns it on or off, or does so in one of the two alone.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aResetLeavesBusMasteringAsItWas(boolean master) {
    try (Simulation simulation = simulation(1);
        Arena arena = Arena.ofConfined()) {
      PciFunction function = simulation.function(0);
      Iommu iommu = ((SimulatedFunction) function).iommu();
      MemorySegment word = arena.allocate(8);
      DmaMemory memory = function.allocateDma(PAGE, PAGE);
      for (int i = 0; i < 2; i++) {
        function.setBusMaster(master);
        assertEquals(master, (function.config().read16(COMMAND) & BUS_MASTER) != 0);
        assertEquals(master, iommu.read(memory.iova(0), word, 0, 8));
        function.reset();
        assertEquals(master, (function.config().read16(COMMAND) & BUS_MASTER) != 0);
        assertEquals(master, iommu.read(memory.iova(0), word, 0, 8));
      }
    }
  }

  /**
   * No IOVA belongs to two allocations; a run is a run and is aligned; in a scattered allocation no
   * page follows its neighbour; the device reads at each IOVA what the process wrote there, and
   * nothing once it is closed; the counts are right. Fails if the allocator hands out a page twice,
   * or closing forgets to unmap.
   */
  @Property(tries = 60)
  void keepsItsPromises(@ForAll long seed) {
    Random random = new Random(seed);
    try (Simulation simulation = simulation(seed);
        Arena arena = Arena.ofConfined()) {
      PciFunction function = simulation.function(0);
      function.setBusMaster(true);
      Iommu iommu = ((SimulatedFunction) function).iommu();
      MemorySegment word = arena.allocate(8);
      List<DmaMemory> open = new ArrayList<>();
      Set<Long> pages = new HashSet<>();
      long bytes = 0;
      long peak = 0;
      for (int step = 0; step < 60; step++) {
        if (open.isEmpty() || random.nextInt(3) > 0) {
          long size = 1L + random.nextInt(random.nextBoolean() ? 3 * PAGE : 100 * PAGE);
          long alignment = 1L << random.nextInt(22);
          DmaPlacement placement =
              random.nextBoolean() ? DmaPlacement.CONTIGUOUS : DmaPlacement.SCATTERED;
          DmaMemory memory = function.allocateDma(size, alignment, placement);
          assertEquals((size + PAGE - 1) / PAGE * PAGE, memory.size());
          check(memory, pages, alignment, placement);
          open.add(memory);
          bytes += memory.size();
          peak = Math.max(peak, bytes);
          long offset = random.nextLong(memory.size() / 8) * 8;
          long value = random.nextLong();
          memory.segment().set(ValueLayout.JAVA_LONG, offset, value);
          assertTrue(iommu.read(memory.iova(offset), word, 0, 8));
          assertEquals(value, word.get(ValueLayout.JAVA_LONG, 0));
        } else {
          DmaMemory memory = open.remove(random.nextInt(open.size()));
          long iova = memory.iova(memory.size() - 1);
          bytes -= memory.size();
          for (long at = 0; at < memory.size(); at += PAGE) {
            pages.remove(memory.iova(at));
          }
          memory.close();
          memory.close();
          assertFalse(iommu.read(iova, word, 0, 1));
        }
        assertEquals(bytes, function.dmaUsage().currentBytes());
        assertEquals(peak, function.dmaUsage().peakBytes());
        assertEquals(open.size(), function.dmaUsage().currentAllocations());
      }
      function.close();
      assertEquals(0, function.dmaUsage().currentBytes());
      assertEquals(0, function.dmaUsage().currentAllocations());
    }
  }

  private static void check(
      DmaMemory memory, Set<Long> pages, long alignment, DmaPlacement placement) {
    assertEquals(0, memory.segment().address() % PAGE);
    for (long at = 0; at < memory.size(); at += PAGE) {
      assertTrue(pages.add(memory.iova(at)), "an IOVA twice");
      assertEquals(memory.iova(at) + PAGE - 1, memory.iova(at + PAGE - 1));
      if (placement == DmaPlacement.CONTIGUOUS) {
        assertEquals(memory.iova() + at, memory.iova(at));
      } else if (at > 0) {
        assertNotEquals(memory.iova(at - PAGE) + PAGE, memory.iova(at));
      }
    }
    if (placement == DmaPlacement.CONTIGUOUS) {
      assertEquals(0, memory.iova() % Math.max(PAGE, alignment));
    }
    assertThrows(IndexOutOfBoundsException.class, () -> memory.iova(memory.size()));
  }

  /**
   * In a space so small that it is walked through again and again: a run is free, aligned and
   * inside, and none is found only if none is there. Fails if a mapped page counts as free.
   */
  @Property(tries = 200)
  void runsAreFree(@ForAll long seed) {
    Random random = new Random(seed);
    int pages = 64;
    Iommu iommu = new Iommu(new DeviceCounters());
    IovaSpace space = new IovaSpace(iommu, seed, pages);
    List<int[]> runs = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(PAGE, PAGE);
      for (int step = 0; step < 200; step++) {
        if (!runs.isEmpty() && random.nextBoolean()) {
          int[] run = runs.remove(random.nextInt(runs.size()));
          for (int i = 0; i < run[1]; i++) {
            iommu.unmap(run[0] + i);
          }
          continue;
        }
        int length = 1 + random.nextInt(9);
        int alignment = 1 << random.nextInt(4);
        boolean possible = false;
        for (int at = 0; at + length <= pages; at += alignment) {
          possible |= isFree(iommu, at, length);
        }
        int first = space.run(length, alignment);
        assertEquals(possible, first >= 0);
        if (possible) {
          assertEquals(0, first % alignment);
          assertTrue(first + length <= pages && isFree(iommu, first, length));
          for (int i = 0; i < length; i++) {
            iommu.map(first + i, memory, 0);
          }
          runs.add(new int[] {first, length});
        }
      }
    }
  }

  private static boolean isFree(Iommu iommu, int first, int length) {
    boolean free = true;
    for (int i = 0; i < length; i++) {
      free &= !iommu.isMapped(first + i);
    }
    return free;
  }

  /** The same seed scatters in the same way. */
  @Test
  void scattersBySeed() {
    List<Long> first = scattered(11);
    assertEquals(first, scattered(11));
    assertNotEquals(first, scattered(12));
  }

  private static List<Long> scattered(long seed) {
    List<Long> iovas = new ArrayList<>();
    try (Simulation simulation = simulation(seed)) {
      DmaMemory memory =
          simulation.function(0).allocateDma(64 * PAGE, PAGE, DmaPlacement.SCATTERED);
      for (long at = 0; at < memory.size(); at += PAGE) {
        iovas.add(memory.iova(at));
      }
    }
    return iovas;
  }

  /** What does not fit is refused in words, and changes nothing. */
  @Test
  void refusesWhatDoesNotFit() {
    try (Simulation simulation = simulation(1)) {
      PciFunction function = simulation.function(0);
      assertThrows(PciException.class, () -> function.allocateDma(1L << 41, PAGE));
      assertThrows(IllegalArgumentException.class, () -> function.allocateDma(0, PAGE));
      assertThrows(IllegalArgumentException.class, () -> function.allocateDma(1, 3));
      assertEquals(0, function.dmaUsage().currentBytes());
    }
  }
}
