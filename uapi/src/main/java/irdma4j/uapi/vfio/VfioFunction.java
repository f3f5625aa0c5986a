package irdma4j.uapi.vfio;

import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.vfio_device_info;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A PCI function in the hands of this process, through the kernel's VFIO.
 *
 * <p>If the process dies, the kernel closes the device as {@link #close()} does: it resets the
 * function, turns bus mastering and interrupts off, and unmaps and unpins all memory.
 *
 * <p>Source: Linux Documentation/driver-api/vfio.rst, drivers/vfio/pci/vfio_pci_core.c.
 */
public final class VfioFunction implements PciFunction {
  private static final int BARS = 6;
  private static final int COMMAND = 0x04;
  private static final int BUS_MASTER = 1 << 2;
  private static final long SPIN_NANOS = 50_000;

  private final SystemCalls calls;
  private final SysfsDevice sysfs;
  private final Connection connection;
  private final boolean hasReset;
  private final VfioConfigSpace config;
  private final VfioInterrupts interrupts;
  private final VfioDma dma;
  private final Map<Integer, VfioBar> bars = new TreeMap<>();
  private final DeviceClock clock = new MachineClock();
  private volatile boolean closed;

  private static final class MachineClock implements DeviceClock {
    @Override
    public long nanos() {
      return System.nanoTime();
    }

    @Override
    public void pause(long nanos) {
      if (nanos < SPIN_NANOS) {
        long end = System.nanoTime() + nanos;
        do {
          Thread.onSpinWait();
        } while (System.nanoTime() < end);
      } else {
        LockSupport.parkNanos(nanos);
      }
    }
  }

  /**
   * Opens a function that is bound to vfio-pci.
   *
   * @param address its PCI address, such as 0000:3b:00.0
   * @throws PciException if there is none, it is not bound, or the kernel refuses; nothing stays
   *     open then
   */
  public static VfioFunction open(String address, VfioOptions options) {
    return open(new LinuxCalls(), address, options);
  }

  static VfioFunction open(SystemCalls calls, String address, VfioOptions options) {
    SysfsDevice sysfs = SysfsDevice.of(options.root(), address);
    Connection connection = connect(calls, sysfs, options);
    try {
      return new VfioFunction(calls, sysfs, connection, options);
    } catch (RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private static Connection connect(SystemCalls calls, SysfsDevice sysfs, VfioOptions options) {
    String driver = sysfs.driver();
    if (driver == null || !driver.startsWith("vfio")) {
      throw new PciException(
          "%s has %s; bind it to vfio-pci: irdma bind %s"
              .formatted(
                  sysfs, driver == null ? "no driver" : "the driver " + driver, sysfs.address()));
    }
    String cdev = cdev(sysfs, options);
    if (cdev != null && options.access() != VfioOptions.Access.GROUP) {
      return new CdevConnection(calls, "/dev/vfio/devices/" + cdev);
    }
    if (options.access() == VfioOptions.Access.CDEV) {
      throw new PciException(
          "this kernel has no VFIO character device for "
              + sysfs
              + ": it takes Linux 6.6 with CONFIG_IOMMUFD and CONFIG_VFIO_DEVICE_CDEV");
    }
    int group = sysfs.group();
    if (group < 0) {
      throw new PciException(
          sysfs
              + " has no IOMMU in front of it: turn it on in the firmware, and boot with"
              + " intel_iommu=on or its like");
    }
    return new GroupConnection(calls, group, sysfs.address());
  }

  private static @Nullable String cdev(SysfsDevice sysfs, VfioOptions options) {
    String name = sysfs.vfioName();
    return name != null
            && Files.exists(options.root().resolve("dev/iommu"))
            && Files.exists(options.root().resolve("dev/vfio/devices").resolve(name))
        ? name
        : null;
  }

  private VfioFunction(
      SystemCalls calls, SysfsDevice sysfs, Connection connection, VfioOptions options) {
    this.calls = calls;
    this.sysfs = sysfs;
    this.connection = connection;
    DeviceFile device = connection.device();
    this.hasReset = (flags() & Linux.VFIO_DEVICE_FLAGS_RESET()) != 0;
    this.config =
        new VfioConfigSpace(device, Region.read(device, Linux.VFIO_PCI_CONFIG_REGION_INDEX()));
    this.interrupts = new VfioInterrupts(calls, device);
    this.dma = new VfioDma(calls, connection, options.pageSize());
  }

  private int flags() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = vfio_device_info.allocate(arena);
      vfio_device_info.argsz(info, (int) info.byteSize());
      connection
          .device()
          .ioctl("VFIO_DEVICE_GET_INFO(" + sysfs + ")", Linux.VFIO_DEVICE_GET_INFO(), info);
      return vfio_device_info.flags(info);
    }
  }

  @Override
  public String address() {
    return "pci:" + sysfs.address();
  }

  @Override
  public ConfigSpace config() {
    return config;
  }

  @Override
  public Bar bar(int index) {
    requireOpen();
    if (index < 0 || index >= BARS) {
      throw new IllegalArgumentException("BAR " + index + ": 0 to 5");
    }
    VfioBar known = bars.get(index);
    if (known != null) {
      return known;
    }
    Region region = Region.read(connection.device(), Linux.VFIO_PCI_BAR0_REGION_INDEX() + index);
    if (region.size() == 0) {
      throw new IllegalArgumentException(sysfs + " has no BAR " + index);
    }
    VfioBar bar = new VfioBar(calls, connection.device(), region);
    bars.put(index, bar);
    return bar;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException(address() + " is closed");
    }
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    requireOpen();
    return dma.allocate(bytes, alignment, placement);
  }

  @Override
  public DmaUsage dmaUsage() {
    return dma.usage();
  }

  /** IOVAs that the device may be given. */
  public java.util.List<IovaRange> iovaRanges() {
    return connection.ranges();
  }

  /** Mappings that the IOMMU has room for; {@link Long#MAX_VALUE} if the kernel does not say. */
  public long mappingsLeft() {
    requireOpen();
    return connection.mappingsLeft();
  }

  @Override
  public Interrupts interrupts() {
    return interrupts;
  }

  @Override
  public DeviceClock clock() {
    return clock;
  }

  @Override
  public void setBusMaster(boolean enabled) {
    requireOpen();
    int command = config.read16(COMMAND);
    config.write16(COMMAND, enabled ? command | BUS_MASTER : command & ~BUS_MASTER);
  }

  /** Resets the function alone if it can do that, otherwise its bus, if nobody else is on it. */
  @Override
  public void reset() {
    requireOpen();
    if (hasReset) {
      connection.device().ioctl("VFIO_DEVICE_RESET", Linux.VFIO_DEVICE_RESET(), 0);
    } else {
      hotReset();
    }
  }

  /** Resets its bus or slot. */
  void hotReset() {
    requireOpen();
    HotReset.run(connection, sysfs);
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    RuntimeException first = null;
    first = attempt(first, interrupts::disable);
    first = attempt(first, () -> setBusMaster(false));
    closed = true;
    for (VfioBar bar : bars.values()) {
      first = attempt(first, bar::close);
    }
    for (VfioMemory memory : dma.memories()) {
      first = attempt(first, memory::close);
    }
    first = attempt(first, connection::close);
    if (first != null) {
      throw first;
    }
  }

  /** Does one step of closing; the first failure is kept, with the others suppressed in it. */
  private static @Nullable RuntimeException attempt(
      @Nullable RuntimeException first, Runnable step) {
    try {
      step.run();
      return first;
    } catch (RuntimeException e) {
      if (first == null) {
        return e;
      }
      first.addSuppressed(e);
      return first;
    }
  }
}
