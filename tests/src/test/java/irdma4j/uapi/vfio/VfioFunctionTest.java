package irdma4j.uapi.vfio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.SystemCallException;
import irdma4j.uapi.linux.Linux;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A function through groups and through character devices, against a stand-in of the kernel that
 * takes no mistake.
 */
class VfioFunctionTest {
  private static final Region.Area LOW = new Region.Area(0, 0x8000);
  private static final Region.Area HIGH = new Region.Area(0x9000, 0xf7000);
  private static final long MINUTE = 60_000_000_000L;

  @TempDir Path root;

  private final CardStandIn card =
      new CardStandIn().withBar(0, 1 << 20, LOW, HIGH).withBar(3, 1 << 16);
  private final KernelStandIn kernel = new KernelStandIn(card);

  @BeforeEach
  void machine() throws IOException {
    MadeUpMachine.in(root, true);
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(List.of(), kernel.mistakes());
    assertEquals(KernelStandIn.Balance.ZERO, kernel.balance());
  }

  /** The two ways to a device. */
  enum Way {
    GROUP(VfioOptions.Access.GROUP),
    CDEV(VfioOptions.Access.CDEV);

    final VfioOptions.Access access;

    Way(VfioOptions.Access access) {
      this.access = access;
    }
  }

  private VfioFunction open(VfioOptions.Access access) {
    return VfioFunction.open(
        kernel, CardStandIn.BDF, new VfioOptions(access, VfioOptions.PageSize.SMALL, root));
  }

  private VfioFunction open(Way way) {
    return open(way.access);
  }

  /**
   * The order of calls that Linux's Documentation/driver-api/vfio.rst gives for each way. Fails if
   * a step is missing or stands elsewhere.
   */
  @Test
  void theOrderIsThatOfTheKernelsDocumentation() {
    open(Way.CDEV).close();
    assertEquals(
        List.of(
            "open",
            "open",
            "VFIO_DEVICE_BIND_IOMMUFD",
            "IOMMU_IOAS_ALLOC",
            "VFIO_DEVICE_ATTACH_IOMMUFD_PT",
            "IOMMU_IOAS_IOVA_RANGES",
            "VFIO_DEVICE_GET_INFO"),
        kernel.log().subList(0, 7));
    int before = kernel.log().size();
    open(Way.GROUP).close();
    assertEquals(
        List.of(
            "open",
            "VFIO_GET_API_VERSION",
            "VFIO_CHECK_EXTENSION",
            "open",
            "VFIO_GROUP_GET_STATUS",
            "VFIO_GROUP_SET_CONTAINER",
            "VFIO_SET_IOMMU",
            "VFIO_GROUP_GET_DEVICE_FD",
            "VFIO_IOMMU_GET_INFO",
            "VFIO_IOMMU_GET_INFO",
            "VFIO_DEVICE_GET_INFO"),
        kernel.log().subList(before, before + 11));
  }

  /** Fails if the way is chosen by anything but what the kernel has and the caller wants. */
  @Test
  void theWayIsChosenByLooking() throws IOException {
    open(VfioOptions.Access.AUTO).close();
    assertTrue(kernel.log().contains("VFIO_DEVICE_BIND_IOMMUFD"));
    int before = kernel.log().size();
    open(VfioOptions.Access.GROUP).close();
    assertFalse(
        kernel.log().subList(before, kernel.log().size()).contains("VFIO_DEVICE_BIND_IOMMUFD"));
    // The character device, but no iommufd that it could be bound to.
    Files.delete(root.resolve("dev/iommu"));
    before = kernel.log().size();
    open(VfioOptions.Access.AUTO).close();
    assertTrue(kernel.log().subList(before, kernel.log().size()).contains("VFIO_SET_IOMMU"));
    PciException none = assertThrows(PciException.class, () -> open(VfioOptions.Access.CDEV));
    assertTrue(none.getMessage().contains("CONFIG_VFIO_DEVICE_CDEV"), none.getMessage());
  }

  @Test
  void aGroupThatIsNotAllOursIsRefused() {
    kernel.viable = false;
    PciException e = assertThrows(PciException.class, () -> open(Way.GROUP));
    assertTrue(e.getMessage().contains("group 7"), e.getMessage());
    kernel.viable = true;
    kernel.isContainerOpenElsewhere = true;
    e = assertThrows(SystemCallException.class, () -> open(Way.GROUP));
    assertTrue(e.getMessage().contains("another process"), e.getMessage());
  }

  /**
   * Fails if an access to a hole goes to the mapping, or one outside to a system call; at every
   * edge.
   */
  @ParameterizedTest
  @EnumSource
  void holesAreReachedByCallsAndTheRestByMappings(Way way) {
    try (VfioFunction function = open(way)) {
      Bar bar = function.bar(0);
      assertEquals(1 << 20, bar.size());
      for (int offset : new int[] {0, 0x7ffc, 0x7ff8, 0x8000, 0x8ff8, 0x8ffc, 0x9000, 0xffffc}) {
        int calls = kernel.calls();
        bar.write32(offset, 0x1234_5678 + offset);
        assertEquals(0x1234_5678 + offset, bar.read32(offset));
        boolean hole = offset >= 0x8000 && offset < 0x9000;
        assertEquals(hole ? 2 : 0, kernel.calls() - calls, "calls at " + offset);
        int mapped = card.bar(0).memory().get(ValueLayout.JAVA_INT, offset);
        assertEquals(hole ? 0xeeee_eeee : 0x1234_5678 + offset, mapped);
        assertEquals(hole ? 0x1234_5678 + offset : 0, card.read32(0, offset));
      }
      bar.write64(0x8008, -2);
      assertEquals(-2, bar.read64(0x8008));
      bar.write64(0x9008, -3);
      assertEquals(-3, bar.read64(0x9008));
      assertEquals(-3, card.bar(0).memory().get(ValueLayout.JAVA_LONG, 0x9008));
      int calls = kernel.calls();
      for (long offset : new long[] {-4, 1 << 20, Long.MAX_VALUE - 3}) {
        assertThrows(IndexOutOfBoundsException.class, () -> bar.read32(offset));
        assertThrows(IndexOutOfBoundsException.class, () -> bar.write64(offset & -8, 0));
      }
      assertThrows(IllegalArgumentException.class, () -> bar.read32(0x8002));
      assertThrows(IllegalArgumentException.class, () -> bar.write64(0x8004, 0));
      assertEquals(calls, kernel.calls());
      assertThrows(IllegalArgumentException.class, () -> function.bar(1));
      assertThrows(IllegalArgumentException.class, () -> function.bar(6));
    }
  }

  @ParameterizedTest
  @EnumSource
  void memoryIsMappedWhileItIsOpen(Way way) {
    try (VfioFunction function = open(way)) {
      assertEquals(IommuStandIn.X86, function.iovaRanges());
      DmaMemory one = function.allocateDma(1, 1 << 16);
      DmaMemory two = function.allocateDma(3 << 20, 4096);
      assertEquals(0, one.iova() % (1 << 16));
      assertEquals(0, two.iova() % (2 << 20));
      assertEquals(2, kernel.balance().dmaMappings());
      assertEquals(4096 + (3 << 20), kernel.balance().lockedBytes());
      assertEquals(way == Way.GROUP ? 65_533 : Long.MAX_VALUE, function.mappingsLeft());
      one.close();
      one.close();
      assertEquals(1, kernel.balance().dmaMappings());
      assertThrows(IllegalStateException.class, () -> one.segment().get(ValueLayout.JAVA_BYTE, 0));
    }
  }

  /** Fails if an IOVA outside the ranges is used, or one of a page that the IOMMU can't map. */
  @ParameterizedTest
  @EnumSource
  void theIommusBoundsAreObeyed(Way way) {
    kernel.iommu.ranges =
        List.of(
            new IovaRange(0, 0x1_ffffL),
            new IovaRange(0x10_0000L, 0x10_ffffL),
            new IovaRange(0x40_0000L, 0x41_ffffL));
    kernel.iommu.pageBytes = 1 << 16;
    try (VfioFunction function = open(way)) {
      List<DmaMemory> all = new ArrayList<>();
      PciException full =
          assertThrows(
              PciException.class,
              () -> {
                while (true) {
                  all.add(function.allocateDma(1, 4096));
                }
              });
      assertTrue(full.getMessage().contains("no 65536 IOVAs"), full.getMessage());
      // IOVA 0 is never used.
      assertEquals(4, all.size());
      all.getFirst().close();
      assertEquals(0x1_0000, function.allocateDma(1, 4096).iova());
    }
  }

  /** Fails if more than the room that was asked for first is not asked for again. */
  @Test
  void manyRangesAreAllTaken() {
    List<IovaRange> many = new ArrayList<>();
    for (long i = 0; i < 100; i++) {
      many.add(new IovaRange(i << 20, (i << 20) + 0xffff));
    }
    kernel.iommu.ranges = many;
    for (Way way : Way.values()) {
      try (VfioFunction function = open(way)) {
        assertEquals(many, function.iovaRanges());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void limitsAreExplainedAndNothingIsKept(Way way) {
    kernel.iommu.lockedAtMost = 10 * 4096;
    kernel.iommu.mappingsAtMost = 3;
    try (VfioFunction function = open(way)) {
      KernelStandIn.Balance before = kernel.balance();
      SystemCallException e =
          assertThrows(SystemCallException.class, () -> function.allocateDma(11 * 4096, 4096));
      assertEquals(Linux.ENOMEM(), e.errno());
      assertTrue(e.getMessage().contains("ulimit -l"), e.getMessage());
      assertEquals(before, kernel.balance());
      for (int i = 0; i < 3; i++) {
        function.allocateDma(4096, 4096);
      }
      if (way == Way.GROUP) {
        assertEquals(0, function.mappingsLeft());
        e = assertThrows(SystemCallException.class, () -> function.allocateDma(1, 4096));
        assertEquals(Linux.ENOSPC(), e.errno());
        assertTrue(e.getMessage().contains("fewer and larger"), e.getMessage());
      }
      assertEquals(3, function.dmaUsage().currentAllocations());
    }
  }

  /** Fails if it is not noticed that the kernel has enabled nothing because it has too few. */
  @ParameterizedTest
  @EnumSource
  void fewerVectorsThanAskedForIsAnError(Way way) {
    card.vectorsLeft = 5;
    try (VfioFunction function = open(way)) {
      Interrupts interrupts = function.interrupts();
      assertEquals(16, interrupts.count());
      KernelStandIn.Balance before = kernel.balance();
      PciException e = assertThrows(PciException.class, () -> interrupts.enable(6));
      assertTrue(e.getMessage().contains("only 5 of 6"), e.getMessage());
      assertEquals(before, kernel.balance());
      assertThrows(IllegalArgumentException.class, () -> interrupts.poll(0));
      interrupts.enable(5);
      kernel.raise(4);
      kernel.raise(4);
      assertFalse(interrupts.poll(0));
      assertTrue(interrupts.poll(4));
      assertEquals(2, interrupts.fired(4));
      assertThrows(IllegalArgumentException.class, () -> interrupts.poll(5));
      assertThrows(IllegalStateException.class, () -> interrupts.enable(1));
      assertThrows(IllegalArgumentException.class, () -> interrupts.enable(17));
    }
  }

  /** Fails if a line stays masked after its interrupt is taken. */
  @ParameterizedTest
  @EnumSource
  void aLineIsUnmaskedWhenItsInterruptIsTaken(Way way) {
    card.vectors = new int[] {1, 0, 0};
    try (VfioFunction function = open(way)) {
      function.interrupts().enable(1);
      int before = kernel.log().size();
      kernel.raise(0);
      assertTrue(function.interrupts().await(0, MINUTE));
      assertEquals(
          List.of("read", "VFIO_DEVICE_SET_IRQS"),
          kernel.log().subList(before, kernel.log().size()));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFunctionIsResetAloneIfItCan(Way way) {
    try (VfioFunction function = open(way)) {
      function.reset();
      assertEquals(1, card.resets);
      assertEquals(0, card.busResets);
    }
    card.hasReset = false;
    try (VfioFunction function = open(way)) {
      function.reset();
      assertEquals(1, card.busResets);
    }
  }

  /** Fails if functions of somebody else would be reset, or it is not said which. */
  @ParameterizedTest
  @EnumSource
  void aBusIsResetOnlyIfAllOnItIsOurs(Way way) {
    // One of our group that nobody has: ours by its group.
    card.neighbours.add(new CardStandIn.Neighbour(CardStandIn.GROUP, 0, 0x3b, 1));
    try (VfioFunction function = open(way)) {
      function.hotReset();
      assertEquals(1, card.busResets);
      card.neighbours.add(new CardStandIn.Neighbour(9, -1, 0x3b, 10));
      PciException e = assertThrows(PciException.class, function::hotReset);
      assertTrue(e.getMessage().contains("0000:3b:01.2"), e.getMessage());
      assertEquals(1, card.busResets);
      card.hasBusReset = false;
      e = assertThrows(SystemCallException.class, function::hotReset);
      assertTrue(e.getMessage().contains("HOT_RESET"), e.getMessage());
    }
  }

  /** Fails if a descriptor that is closed, and may be somebody else's by now, is used. */
  @ParameterizedTest
  @EnumSource
  void whatWasObtainedIsUnusableAfterClose(Way way) {
    VfioFunction function = open(way);
    Bar bar = function.bar(0);
    ConfigSpace config = function.config();
    DmaMemory memory = function.allocateDma(4096, 4096);
    Interrupts interrupts = function.interrupts();
    interrupts.enable(2);
    function.setBusMaster(true);
    function.close();
    int calls = kernel.calls();
    assertThrows(IllegalStateException.class, () -> bar.read32(0));
    assertThrows(IllegalStateException.class, () -> bar.write32(0x8000, 1));
    assertThrows(IllegalStateException.class, config::vendorId);
    assertThrows(IllegalStateException.class, () -> config.write16(4, 4));
    assertThrows(IllegalArgumentException.class, () -> interrupts.poll(0));
    assertThrows(IllegalStateException.class, () -> interrupts.enable(1));
    assertThrows(IllegalStateException.class, () -> function.allocateDma(1, 4096));
    assertThrows(IllegalStateException.class, () -> function.bar(3));
    assertThrows(IllegalStateException.class, function::reset);
    assertThrows(IllegalStateException.class, function::mappingsLeft);
    memory.close();
    function.close();
    assertEquals(0, function.dmaUsage().currentBytes());
    assertTrue(kernel.calls() - calls <= 1, "more than an eventfd, which was closed again");
  }

  /**
   * Threads that wait for interrupts, and two that close. Fails if a thread is left waiting, or an
   * eventfd is closed or used while another thread has it.
   */
  @RepeatedTest(20)
  void threadsThatWaitAreWokenByClose() throws Exception {
    for (Way way : Way.values()) {
      VfioFunction function = open(way);
      function.interrupts().enable(4);
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Boolean>> waits = new ArrayList<>();
        for (int vector = 0; vector < 4; vector++) {
          int mine = vector;
          waits.add(threads.submit(() -> function.interrupts().await(mine, MINUTE)));
        }
        while (kernel.waiting() < 4) {
          Thread.onSpinWait();
        }
        Future<?> other = threads.submit(function::close);
        function.close();
        other.get();
        for (Future<Boolean> wait : waits) {
          assertFalse(wait.get());
        }
      }
      nothingIsLeft();
    }
  }

  /** As above, but with threads that come and go, and interrupts that come with the end. */
  @RepeatedTest(20)
  void threadsThatPollMeetTheEndAnywhere() throws Exception {
    card.vectors = new int[] {1, 0, 0};
    VfioFunction function = open(Way.CDEV);
    function.interrupts().enable(1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Throwable> poller =
          threads.submit(
              () -> {
                try {
                  while (true) {
                    kernel.raise(0);
                    function.interrupts().await(0, 1000);
                  }
                } catch (RuntimeException e) {
                  return e;
                }
              });
      function.close();
      assertInstanceOf(IllegalArgumentException.class, poller.get());
    }
  }
}
