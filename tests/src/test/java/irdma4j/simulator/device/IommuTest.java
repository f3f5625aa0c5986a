package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

final class IommuTest {
  private static final int PAGE = Iommu.PAGE;

  /**
   * A model (page number to host page) and the IOMMU agree on every access: it succeeds exactly if
   * all its pages are mapped, moves exactly its bytes, and otherwise counts one fault. Fails if a
   * lookup ignores an unmapping, a copy forgets a page border, a refused write goes on behind the
   * hole, or one of several allocations is taken for another, be it that its number was given again
   * too early.
   */
  @Property(tries = 300)
  void reachesMappedPagesOnly(@ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int steps) {
    Random random = new Random(seed);
    DeviceCounters counters = new DeviceCounters();
    Iommu iommu = new Iommu(counters);
    iommu.setBusMaster(true);
    int pages = 12;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment host = arena.allocate((long) pages * PAGE, PAGE);
      int perAllocation = 1 + random.nextInt(3);
      MemorySegment[] allocations = new MemorySegment[pages];
      for (int i = 0; i < pages; i++) {
        int first = i - i % perAllocation;
        allocations[i] =
            i != first
                ? allocations[first]
                : host.asSlice(
                    (long) first * PAGE, (long) Math.min(perAllocation, pages - i) * PAGE);
      }
      MemorySegment buffer = arena.allocate(4L * PAGE);
      byte[] model = new byte[pages * PAGE];
      Map<Integer, Integer> mapped = new HashMap<>();
      int base = 4090; // the pages lie on both sides of a table's end
      for (int step = 0; step < steps; step++) {
        int page = random.nextInt(pages);
        switch (random.nextInt(4)) {
          case 0 -> {
            int hostPage = random.nextInt(pages);
            if (!mapped.containsKey(page) && !mapped.containsValue(hostPage)) {
              mapped.put(page, hostPage);
              iommu.map(
                  base + page, allocations[hostPage], (long) (hostPage % perAllocation) * PAGE);
            }
          }
          case 1 -> {
            if (mapped.remove(page) != null) {
              iommu.unmap(base + page);
            }
          }
          default -> access(random, iommu, counters, mapped, model, buffer, base);
        }
      }
      for (int i = 0; i < model.length; i++) {
        assertEquals(model[i], host.get(ValueLayout.JAVA_BYTE, i), "host byte " + i);
      }
    }
  }

  private static void access(
      Random random,
      Iommu iommu,
      DeviceCounters counters,
      Map<Integer, Integer> mapped,
      byte[] model,
      MemorySegment buffer,
      int base) {
    int offset = random.nextInt(12 * PAGE);
    int bytes = 1 + random.nextInt(3 * PAGE);
    int reachable = 0;
    while (reachable < bytes && mapped.containsKey((offset + reachable) / PAGE)) {
      reachable++;
    }
    long iova = Iommu.BASE + (long) base * PAGE + offset;
    long faults = counters.dmaFaults;
    boolean write = random.nextBoolean();
    for (int i = 0; i < bytes; i++) {
      buffer.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
    }
    boolean done = write ? iommu.write(iova, buffer, 0, bytes) : iommu.read(iova, buffer, 0, bytes);
    assertEquals(reachable == bytes, done);
    assertEquals(faults + (done ? 0 : 1), counters.dmaFaults);
    if (!done) {
      assertEquals(iova + reachable, iommu.faultAddress());
      assertEquals(write, iommu.faultWasWrite());
    }
    for (int i = 0; i < reachable; i++) {
      int at = offset + i;
      int host = mapped.get(at / PAGE) * PAGE + at % PAGE;
      if (write) {
        model[host] = buffer.get(ValueLayout.JAVA_BYTE, i);
      } else if (done) {
        assertEquals(model[host], buffer.get(ValueLayout.JAVA_BYTE, i));
      }
    }
  }

  /** More allocations than a table begins with, taken away and mapped again. */
  @Property(tries = 20)
  void tellsManyAllocationsApart(@ForAll long seed) {
    Random random = new Random(seed);
    Iommu iommu = new Iommu(new DeviceCounters());
    iommu.setBusMaster(true);
    int pages = 100;
    try (Arena arena = Arena.ofConfined()) {
      long[] value = new long[pages];
      for (int step = 0; step < 2000; step++) {
        int page = random.nextInt(pages);
        if (value[page] == 0) {
          MemorySegment memory = arena.allocate(PAGE, PAGE);
          value[page] = 1L + step;
          HostPages.word(memory, 8, value[page]);
          iommu.map(page, memory, 0);
        } else if (random.nextInt(4) == 0) {
          iommu.unmap(page);
          value[page] = 0;
        } else {
          assertEquals(value[page], iommu.readWord(iommu.address(page) + 8));
        }
      }
    }
  }

  /** What is mapped is a page: one that begins elsewhere is refused, and nothing is mapped. */
  @Test
  void refusesWhatIsNoPage() {
    Iommu iommu = new Iommu(new DeviceCounters());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(3 * PAGE, PAGE);
      assertThrows(IllegalArgumentException.class, () -> iommu.map(0, memory, 8));
      assertThrows(IllegalArgumentException.class, () -> iommu.map(0, memory, -PAGE));
      assertFalse(iommu.isMapped(0));
      iommu.map(0, memory, PAGE);
      assertThrows(IllegalStateException.class, () -> iommu.map(0, memory, 0));
      iommu.unmap(0);
      assertThrows(IllegalStateException.class, () -> iommu.unmap(0));
    }
  }

  /** Without bus mastering nothing is reached, mapped or not. */
  @Test
  void refusesEverythingWithoutBusMaster() {
    DeviceCounters counters = new DeviceCounters();
    Iommu iommu = new Iommu(counters);
    try (Arena arena = Arena.ofConfined()) {
      iommu.map(3, arena.allocate(PAGE, PAGE), 0);
      long iova = Iommu.BASE + 3 * PAGE;
      assertFalse(iommu.writeWord(iova, 1));
      assertEquals(1, counters.dmaFaults);
      iommu.setBusMaster(true);
      assertTrue(iommu.writeWord(iova, 1));
      assertEquals(1, iommu.readWord(iova));
    }
  }

  /** Addresses far outside, negative ones and misaligned words are faults, not exceptions. */
  @Property
  void anyAddressIsAnsweredOrRefused(@ForAll long iova) {
    DeviceCounters counters = new DeviceCounters();
    Iommu iommu = new Iommu(counters);
    iommu.setBusMaster(true);
    assertEquals(0, iommu.readWord(iova));
    assertFalse(iommu.writeWord(iova, 7));
    assertEquals(2, counters.dmaFaults);
  }
}
