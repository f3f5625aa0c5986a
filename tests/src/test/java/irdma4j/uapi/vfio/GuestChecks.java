package irdma4j.uapi.vfio;

import irdma4j.uapi.Bar;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.SystemCallException;
import irdma4j.uapi.linux.Linux;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What the kernel of a virtual machine is asked about {@link VfioFunction}; run by {@code
 * tests/guest/vfio} on qemu's edu device and on an e1000e, both bound to vfio-pci.
 *
 * <p>Source of edu's registers: qemu docs/specs/edu.rst.
 */
public final class GuestChecks {
  private static final int EDU_ID = 0x0100_00ed;
  private static final long LIVENESS = 0x04;
  private static final long RAISE = 0x60;
  private static final long ACKNOWLEDGE = 0x64;
  private static final long DMA_SOURCE = 0x80;
  private static final long DMA_TARGET = 0x88;
  private static final long DMA_COUNT = 0x90;
  private static final long DMA_COMMAND = 0x98;
  private static final long EDU_BUFFER = 0x40000;

  /** One less than a page: qemu 7.2 does not survive a DMA of the whole buffer. */
  private static final int DMA_BYTES = 4092;

  private static final int START = 1;
  private static final int FROM_EDU = 2;
  private static final long SECOND = 1_000_000_000;
  private static final long INTERRUPT_WINDOW = 0xfee0_0000L;
  private static final int COMMAND = 4;
  private static final int BUS_MASTER = 4;
  private static final int ROUNDS = 100;

  private final String edu;
  private final String nic;
  private int passed;
  private int failed;

  private GuestChecks(String edu, String nic) {
    this.edu = edu;
    this.nic = nic;
  }

  @FunctionalInterface
  private interface Check {
    void run() throws Exception;
  }

  /** Runs all checks; the exit status is 0 if all passed. */
  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("die")) {
      die(arguments[1]);
    }
    GuestChecks checks = new GuestChecks(arguments[0], arguments[1]);
    checks.all();
    System.out.printf("%d passed, %d failed%n", checks.passed, checks.failed);
    System.exit(checks.failed == 0 ? 0 : 1);
  }

  private void check(String name, Check check) {
    try {
      check.run();
      passed++;
      System.out.println("ok    " + name);
    } catch (Exception | AssertionError e) {
      failed++;
      System.out.println("FAIL  " + name + ": " + e);
      for (StackTraceElement element : e.getStackTrace()) {
        if (element.getClassName().startsWith("irdma4j")) {
          System.out.println("        at " + element);
        }
      }
    }
  }

  private static void require(boolean holds, Object what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  private static SystemCallException refused(int errno, Runnable action) {
    try {
      action.run();
    } catch (SystemCallException e) {
      require(e.errno() == errno, "another error: " + e.getMessage());
      return e;
    }
    throw new AssertionError("it was not refused");
  }

  private VfioFunction open(String address) {
    return VfioFunction.open(address, VfioOptions.defaults().withAccess(VfioOptions.Access.GROUP));
  }

  private void all() {
    check("configuration space", this::configuration);
    check("BAR: registers, bounds, gone after close", this::registers);
    check("DMA both ways through mapped IOVAs", this::dmaBothWays);
    check("DMA outside the mapping is refused by the IOMMU", this::dmaOutside);
    check("DMA without bus mastering does nothing", this::dmaWithoutBusMaster);
    check("MSI by eventfd", this::messageInterrupt);
    check("INTx by eventfd, masked until taken", this::lineInterrupt);
    check("a device without reset says so", this::resetRefused);
    check("mapping twice, a hole, misaligned, the interrupt window", this::badMappings);
    check("IOVA ranges leave the interrupt window out", this::ranges);
    check("huge pages of 2 MiB, and none left", this::hugePages);
    check("the mappings left go down and up again", this::mappingsLeft);
    check("the group is open already", this::busy);
    check("what is bad is refused before it changes anything", this::badInput);
    check("MSI-X with five vectors and several BARs", this::messageInterrupts);
    check("reset of the function, and of its bus", this::reset);
    check("a killed process leaves the device quiet", this::killed);
    check("opened and closed 100 times, nothing left", this::again);
  }

  private void configuration() {
    try (VfioFunction function = open(edu)) {
      require(function.config().vendorId() == 0x1234, "vendor");
      require(function.config().deviceId() == 0x11e8, "device");
      require(function.config().read32(0) == 0x11e8_1234, "32 bits");
      require(function.config().read8(1) == 0x12, "8 bits");
      require((function.config().read16(COMMAND) & BUS_MASTER) == 0, "bus master is on");
      function.setBusMaster(true);
      require((function.config().read16(COMMAND) & BUS_MASTER) != 0, "bus master is off");
      try {
        function.config().read32(2);
        throw new AssertionError("misaligned");
      } catch (IllegalArgumentException expected) {
        require(function.address().equals("pci:" + edu), function.address());
      }
    }
  }

  private void registers() {
    Bar bar;
    try (VfioFunction function = open(edu)) {
      bar = function.bar(0);
      require(bar.size() == 1 << 20, bar.size());
      require(bar.read32(0) == EDU_ID, Integer.toHexString(bar.read32(0)));
      for (int value : new int[] {0, 1, -1, 0x1234_5678}) {
        bar.write32(LIVENESS, value);
        require(bar.read32(LIVENESS) == ~value, "liveness of " + value);
      }
      require(((VfioBar) bar).isMapped(0, 4), "not mapped");
      for (long offset : new long[] {-4, 1 << 20, Long.MAX_VALUE}) {
        try {
          bar.read32(offset);
          throw new AssertionError("offset " + offset);
        } catch (IndexOutOfBoundsException expected) {
          require(bar.index() == 0, bar.index());
        }
      }
      try {
        function.bar(1);
        throw new AssertionError("BAR 1");
      } catch (IllegalArgumentException expected) {
        require(expected.getMessage().contains("no BAR 1"), expected);
      }
    }
    try {
      bar.read32(0);
      throw new AssertionError("the BAR is there after close");
    } catch (IllegalStateException expected) {
      require(expected.getMessage() != null, expected);
    }
  }

  private static void dma(VfioFunction function, long from, long to, int command) {
    Bar bar = function.bar(0);
    bar.write64(DMA_SOURCE, from);
    bar.write64(DMA_TARGET, to);
    bar.write64(DMA_COUNT, DMA_BYTES);
    bar.write64(DMA_COMMAND, START | command);
    long end = function.clock().nanos() + 5 * SECOND;
    while ((bar.read64(DMA_COMMAND) & START) != 0) {
      require(function.clock().nanos() < end, "the DMA does not end");
      function.clock().pause(1_000_000);
    }
  }

  private static void pattern(DmaMemory memory, int seed) {
    for (long i = 0; i < memory.size(); i++) {
      memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + seed));
    }
  }

  private static boolean same(DmaMemory a, DmaMemory b) {
    return MemorySegment.mismatch(a.segment(), 0, DMA_BYTES, b.segment(), 0, DMA_BYTES) < 0;
  }

  private void dmaBothWays() {
    try (VfioFunction function = open(edu)) {
      function.setBusMaster(true);
      DmaMemory from = function.allocateDma(4096, 4096);
      DmaMemory to = function.allocateDma(3 * 4096, 4096, DmaPlacement.SCATTERED);
      require(to.segment().get(ValueLayout.JAVA_LONG, 0) == 0, "not zeroed");
      require(to.iova(5000) == to.iova() + 5000, "IOVAs");
      pattern(from, 7);
      dma(function, from.iova(), EDU_BUFFER, 0);
      dma(function, EDU_BUFFER, to.iova(), FROM_EDU);
      require(same(from, to), "other bytes came back");
      require(to.segment().get(ValueLayout.JAVA_BYTE, 4096) == 0, "written too far");
      require(function.dmaUsage().currentBytes() == 4 * 4096, function.dmaUsage());
    }
  }

  /** The kernel's log is to show the faults; the script that runs this looks for them. */
  private void dmaOutside() {
    try (VfioFunction function = open(edu)) {
      function.setBusMaster(true);
      DmaMemory from = function.allocateDma(4096, 4096);
      DmaMemory to = function.allocateDma(4096, 4096);
      pattern(from, 9);
      dma(function, from.iova(), EDU_BUFFER, 0);
      long gone = to.iova();
      to.close();
      dma(function, EDU_BUFFER, gone, FROM_EDU);
      DmaMemory again = function.allocateDma(4096, 4096);
      require(again.iova() == gone, "another IOVA");
      require(again.segment().get(ValueLayout.JAVA_LONG, 8) == 0, "the device wrote");
      dma(function, EDU_BUFFER, gone, FROM_EDU);
      require(same(from, again), "the new mapping does not work");
    }
  }

  private void dmaWithoutBusMaster() {
    try (VfioFunction function = open(edu)) {
      DmaMemory to = function.allocateDma(4096, 4096);
      pattern(to, 3);
      byte[] before = to.segment().toArray(ValueLayout.JAVA_BYTE);
      function.setBusMaster(false);
      dma(function, EDU_BUFFER, to.iova(), FROM_EDU);
      byte[] after = to.segment().toArray(ValueLayout.JAVA_BYTE);
      require(java.util.Arrays.equals(before, after), "the device wrote");
    }
  }

  private void messageInterrupt() {
    try (VfioFunction function = open(edu)) {
      function.setBusMaster(true);
      Interrupts interrupts = function.interrupts();
      require(interrupts.count() == 1, interrupts.count());
      interrupts.enable(1);
      raise(function, interrupts);
      require(!interrupts.await(0, 10_000_000), "an interrupt too many");
      interrupts.disable();
      function.bar(0).write32(RAISE, 1);
      interrupts.enable(1);
      require(!interrupts.await(0, 10_000_000), "one from before it was enabled");
    }
  }

  private static void raise(VfioFunction function, Interrupts interrupts) {
    require(!interrupts.poll(0), "fired already");
    for (int i = 1; i <= 3; i++) {
      function.bar(0).write32(RAISE, 1);
      require(interrupts.await(0, 5 * SECOND), "interrupt " + i + " did not come");
      function.bar(0).write32(ACKNOWLEDGE, 1);
      require(interrupts.fired(0) == i, interrupts.fired(0));
    }
  }

  private void lineInterrupt() {
    SystemCalls calls = new LinuxCalls();
    SysfsDevice sysfs = SysfsDevice.of(Path.of("/"), edu);
    try (Connection connection = new GroupConnection(calls, sysfs.group(), edu)) {
      VfioInterrupts line =
          new VfioInterrupts(calls, connection.device(), Linux.VFIO_PCI_INTX_IRQ_INDEX());
      require(line.count() == 1, line.count());
      VfioBar bar = new VfioBar(calls, connection.device(), Region.read(connection.device(), 0));
      line.enable(1);
      for (int i = 1; i <= 3; i++) {
        bar.write32(RAISE, 1);
        require(line.await(0, 5 * SECOND), "interrupt " + i + " did not come");
        bar.write32(ACKNOWLEDGE, 1);
        line.poll(0);
      }
      line.disable();
      bar.close();
    }
  }

  private void resetRefused() {
    try (VfioFunction function = open(edu)) {
      function.reset();
      throw new AssertionError("edu was reset");
    } catch (PciException expected) {
      require(expected.getMessage().contains("RESET"), expected.getMessage());
    }
  }

  private void badMappings() {
    SystemCalls calls = new LinuxCalls();
    SysfsDevice sysfs = SysfsDevice.of(Path.of("/"), edu);
    try (Connection connection = new GroupConnection(calls, sysfs.group(), edu)) {
      MemorySegment memory =
          calls.mmap(
              1 << 16,
              Linux.PROT_READ() | Linux.PROT_WRITE(),
              Linux.MAP_PRIVATE() | Linux.MAP_ANONYMOUS(),
              -1,
              0);
      connection.map(memory, 1 << 20);
      refused(Linux.EEXIST(), () -> connection.map(memory, 1 << 20));
      refused(Linux.EEXIST(), () -> connection.map(memory, (1 << 20) - 4096));
      refused(Linux.EINVAL(), () -> connection.map(memory, (1 << 21) + 1));
      refused(Linux.EINVAL(), () -> connection.map(memory.asSlice(0, 100), 1 << 21));
      refused(Linux.EINVAL(), () -> connection.map(memory, INTERRUPT_WINDOW));
      refused(Linux.EINVAL(), () -> connection.unmap((1 << 20) + 4096, 4096));
      connection.unmap(1 << 20, 1 << 16);
      connection.map(memory, 1 << 20);
      connection.unmap(1 << 20, 1 << 16);
      calls.munmap(memory);
    }
  }

  private void ranges() {
    try (VfioFunction function = open(edu)) {
      List<IovaRange> ranges = function.iovaRanges();
      System.out.println("      " + ranges.stream().map(GuestChecks::hex).toList());
      require(!ranges.isEmpty(), "none");
      for (IovaRange range : ranges) {
        require(range.last() < INTERRUPT_WINDOW || range.first() > INTERRUPT_WINDOW, hex(range));
      }
      DmaMemory memory = function.allocateDma(1, 1 << 16);
      require(memory.iova() % (1 << 16) == 0 && memory.iova() != 0, memory.iova());
    }
  }

  private static String hex(IovaRange range) {
    return "0x%x-0x%x".formatted(range.first(), range.last());
  }

  private void hugePages() throws IOException {
    VfioOptions options =
        VfioOptions.defaults()
            .withAccess(VfioOptions.Access.GROUP)
            .withPageSize(VfioOptions.PageSize.HUGE_2M);
    long before = freeHugePages();
    require(before >= 2, before + " huge pages");
    try (VfioFunction function = VfioFunction.open(edu, options)) {
      function.setBusMaster(true);
      DmaMemory large = function.allocateDma(3 << 20, 4096);
      require(large.size() == 4 << 20 && large.iova() % (2 << 20) == 0, large.size());
      require(freeHugePages() == before - 2, "not of huge pages");
      DmaMemory small = function.allocateDma(4096, 4096);
      require(small.size() == 4096, small.size());
      pattern(small, 5);
      dma(function, small.iova(), EDU_BUFFER, 0);
      dma(function, EDU_BUFFER, large.iova(), FROM_EDU);
      require(same(small, large), "other bytes");
      SystemCallException none =
          refused(Linux.ENOMEM(), () -> function.allocateDma(before << 21, 4096));
      require(none.getMessage().contains("hugepages"), none.getMessage());
      require(function.dmaUsage().currentAllocations() == 2, function.dmaUsage());
    }
    require(freeHugePages() == before, "huge pages are missing");
  }

  private static long freeHugePages() throws IOException {
    return Long.parseLong(
        Files.readString(Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"))
            .strip());
  }

  private void mappingsLeft() {
    try (VfioFunction function = open(edu)) {
      long before = function.mappingsLeft();
      DmaMemory one = function.allocateDma(4096, 4096);
      require(function.mappingsLeft() == before - 1, before + " " + function.mappingsLeft());
      one.close();
      one.close();
      require(function.mappingsLeft() == before, function.mappingsLeft());
    }
  }

  private void busy() {
    try (VfioFunction first = open(edu)) {
      SystemCallException e = refused(Linux.EBUSY(), () -> open(edu));
      require(e.getMessage().contains("another process"), e.getMessage());
      require(first.bar(0).read32(0) == EDU_ID, "the first one does not work any more");
    }
  }

  private void badInput() {
    try {
      open("0000:00:00.0").close();
      throw new AssertionError("the host bridge was opened");
    } catch (PciException expected) {
      require(expected.getMessage().contains("irdma bind"), expected.getMessage());
    }
    try {
      open("0000:77:00.0").close();
      throw new AssertionError("a function that is not there was opened");
    } catch (PciException expected) {
      require(expected.getMessage().contains("there is no"), expected.getMessage());
    }
    try {
      VfioFunction.open(edu, VfioOptions.defaults().withAccess(VfioOptions.Access.CDEV)).close();
      throw new AssertionError("this kernel has a character device after all");
    } catch (PciException expected) {
      require(expected.getMessage().contains("6.6"), expected.getMessage());
    }
    try (VfioFunction function = open(edu)) {
      for (long bytes : new long[] {0, -1, Long.MAX_VALUE}) {
        try {
          function.allocateDma(bytes, 4096);
          throw new AssertionError(bytes + " bytes");
        } catch (IllegalArgumentException | PciException expected) {
          require(function.dmaUsage().currentBytes() == 0, function.dmaUsage());
        }
      }
    }
  }

  private void messageInterrupts() {
    try (VfioFunction function = open(nic)) {
      Interrupts interrupts = function.interrupts();
      require(interrupts.count() == 5, interrupts.count());
      try {
        interrupts.enable(6);
        throw new AssertionError("six vectors");
      } catch (IllegalArgumentException expected) {
        require(expected.getMessage().contains("the device has 5"), expected);
      }
      interrupts.enable(5);
      ((VfioInterrupts) interrupts).trigger(0);
      require(interrupts.await(0, 5 * SECOND), "vector 0 did not fire");
      for (int vector = 1; vector < 5; vector++) {
        require(!interrupts.poll(vector), "vector " + vector + " fired");
      }
      interrupts.disable();
      interrupts.enable(2);
      require(function.bar(0).size() == 128 << 10, function.bar(0).size());
      require(function.bar(1).size() == 128 << 10, function.bar(1).size());
      require(function.bar(3).size() == 16 << 10, function.bar(3).size());
      // Device status: link and speed bits are anything, but not all ones.
      require(function.bar(0).read32(8) != -1, "BAR 0 reads nothing");
      // BAR 2 is of I/O ports, which can't be mapped.
      require(!((VfioBar) function.bar(2)).isMapped(0, 4), "BAR 2 is mapped");
      function.bar(2).write32(0, 8);
      require(function.bar(2).read32(0) == 8, "the I/O address register");
      require(function.bar(2).read32(4) == function.bar(0).read32(8), "not the same register");
    }
  }

  /** The kernel chooses how to reset a function alone; it may not know how to reset this bus. */
  private void reset() {
    try (VfioFunction function = open(nic)) {
      function.setBusMaster(true);
      int id = function.config().read32(0);
      function.reset();
      require(function.config().read32(0) == id, "the device is gone");
      Bar bar = function.bar(0);
      bar.write32(0x5400, 0x1234_5678);
      require(bar.read32(0x5400) == 0x1234_5678, "the address register");
      try {
        function.hotReset();
        require(bar.read32(0x5400) != 0x1234_5678, "the reset of the bus changed nothing");
      } catch (SystemCallException e) {
        require(e.errno() == Linux.ENOTTY() && e.call().contains("HOT_RESET"), e.getMessage());
      }
      require(function.config().read32(0) == id, "the device is gone");
    }
  }

  /** Opens a function, lets it do what it may, and dies. */
  private static void die(String address) {
    VfioFunction function =
        VfioFunction.open(address, VfioOptions.defaults().withAccess(VfioOptions.Access.GROUP));
    function.setBusMaster(true);
    function.interrupts().enable(1);
    function.allocateDma(1 << 20, 4096);
    System.out.println("up");
    System.out.flush();
    while (true) {
      function.clock().pause(SECOND);
    }
  }

  private void killed() throws IOException, InterruptedException {
    Process child =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                GuestChecks.class.getName(),
                "die",
                edu)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    require(child.inputReader().readLine().equals("up"), "the child did not come up");
    refused(Linux.EBUSY(), () -> open(edu));
    child.destroyForcibly();
    require(child.waitFor(60, TimeUnit.SECONDS), "the child lives on");
    try (VfioFunction function = open(edu)) {
      require((function.config().read16(COMMAND) & BUS_MASTER) == 0, "bus master is on");
      require(function.bar(0).read32(0) == EDU_ID, "the device does not answer");
      function.interrupts().enable(1);
      require(!function.interrupts().await(0, 10_000_000), "an interrupt of the dead process");
    }
  }

  private void again() throws IOException {
    for (int i = 0; i < ROUNDS; i++) {
      once();
      if (i == 0) {
        // What the first time loads stays.
        System.gc();
      }
    }
    long descriptors = descriptors();
    long mappings = mappings();
    for (int i = 0; i < ROUNDS; i++) {
      once();
    }
    require(descriptors() == descriptors, descriptors() + " descriptors of " + descriptors);
    require(
        mappings() <= mappings + 4, mappings() + " mappings of " + mappings + ", some are left");
    require(deviceMappings() == 0, "a device is mapped");
    require(status("VmPin:") == 0, status("VmPin:") + " kB are pinned");
    require(status("VmLck:") == 0, status("VmLck:") + " kB are locked");
  }

  private void once() {
    try (VfioFunction function = open(edu)) {
      function.bar(0).write32(LIVENESS, 5);
      function.setBusMaster(true);
      function.interrupts().enable(1);
      function.allocateDma(1 << 16, 4096);
      function.allocateDma(4096, 4096).close();
    }
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    }
  }

  private static long mappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.count();
    }
  }

  private static long deviceMappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("vfio")).count();
    }
  }

  private static long status(String field) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith(field)) {
        return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new AssertionError("no " + field);
  }
}
