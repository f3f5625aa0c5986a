package irdma4j.uapi.vfio;

import irdma4j.uapi.SystemCallException;
import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.iommu_ioas_alloc;
import irdma4j.uapi.linux.iommu_ioas_iova_ranges;
import irdma4j.uapi.linux.iommu_ioas_map;
import irdma4j.uapi.linux.iommu_ioas_unmap;
import irdma4j.uapi.linux.iommu_iova_range;
import irdma4j.uapi.linux.vfio_device_attach_iommufd_pt;
import irdma4j.uapi.linux.vfio_device_bind_iommufd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A device through its own character device, with an address space of iommufd.
 *
 * <p>Source: Linux Documentation/driver-api/vfio.rst, Documentation/userspace-api/iommufd.rst.
 */
final class CdevConnection implements Connection {
  private static final String IOMMUFD = "/dev/iommu";
  private static final int USUAL_RANGES = 16;

  private final SystemCalls calls;
  private final Deque<Runnable> open = new ArrayDeque<>();
  private final int iommu;
  private final DeviceFile device;
  private final List<IovaRange> ranges;
  private long pageBytes = 1;
  private int addressSpace = -1;

  /**
   * Opens a device.
   *
   * @param path of its character device, such as /dev/vfio/devices/vfio0
   * @throws irdma4j.uapi.PciException if the kernel refuses; nothing stays open then
   */
  CdevConnection(SystemCalls calls, String path) {
    this.calls = calls;
    try (Arena arena = Arena.ofConfined()) {
      iommu = keep(calls.open(IOMMUFD));
      device = keep(new DeviceFile(calls, calls.open(path)));
      MemorySegment bind = vfio_device_bind_iommufd.allocate(arena);
      vfio_device_bind_iommufd.argsz(bind, (int) bind.byteSize());
      vfio_device_bind_iommufd.iommufd(bind, iommu);
      device.ioctl(
          "VFIO_DEVICE_BIND_IOMMUFD(" + path + ")", Linux.VFIO_DEVICE_BIND_IOMMUFD(), bind);
      MemorySegment space = iommu_ioas_alloc.allocate(arena);
      iommu_ioas_alloc.size(space, (int) space.byteSize());
      calls.ioctl("IOMMU_IOAS_ALLOC()", iommu, Linux.IOMMU_IOAS_ALLOC(), space);
      addressSpace = iommu_ioas_alloc.out_ioas_id(space);
      MemorySegment attach = vfio_device_attach_iommufd_pt.allocate(arena);
      vfio_device_attach_iommufd_pt.argsz(attach, (int) attach.byteSize());
      vfio_device_attach_iommufd_pt.pt_id(attach, addressSpace);
      device.ioctl(
          "VFIO_DEVICE_ATTACH_IOMMUFD_PT(" + path + ")",
          Linux.VFIO_DEVICE_ATTACH_IOMMUFD_PT(),
          attach);
      // Only with the device in it does the address space know what it may hold.
      ranges = readRanges(arena);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private int keep(int fd) {
    open.push(() -> calls.close(fd));
    return fd;
  }

  private DeviceFile keep(DeviceFile file) {
    open.push(file::close);
    return file;
  }

  private List<IovaRange> readRanges(Arena arena) {
    MemorySegment ask = iommu_ioas_iova_ranges.allocate(arena);
    MemorySegment found;
    try {
      found = askRanges(arena, ask, USUAL_RANGES);
    } catch (SystemCallException e) {
      if (e.errno() != Linux.EMSGSIZE()) {
        throw e;
      }
      // The kernel has said how many there are.
      found = askRanges(arena, ask, iommu_ioas_iova_ranges.num_iovas(ask));
    }
    pageBytes = Math.max(1, iommu_ioas_iova_ranges.out_iova_alignment(ask));
    List<IovaRange> all = new ArrayList<>();
    for (int i = 0; i < iommu_ioas_iova_ranges.num_iovas(ask); i++) {
      MemorySegment range =
          found.asSlice(i * iommu_iova_range.layout().byteSize(), iommu_iova_range.layout());
      all.add(new IovaRange(iommu_iova_range.start(range), iommu_iova_range.last(range)));
    }
    return all;
  }

  private MemorySegment askRanges(Arena arena, MemorySegment ask, int room) {
    MemorySegment found = arena.allocate(iommu_iova_range.layout(), room);
    iommu_ioas_iova_ranges.size(ask, (int) ask.byteSize());
    iommu_ioas_iova_ranges.ioas_id(ask, addressSpace);
    iommu_ioas_iova_ranges.num_iovas(ask, room);
    iommu_ioas_iova_ranges.allowed_iovas(ask, found.address());
    calls.ioctl(
        "IOMMU_IOAS_IOVA_RANGES(room for %d)".formatted(room),
        iommu,
        Linux.IOMMU_IOAS_IOVA_RANGES(),
        ask);
    return found;
  }

  @Override
  public DeviceFile device() {
    return device;
  }

  @Override
  public int group() {
    return -1;
  }

  @Override
  public List<IovaRange> ranges() {
    return ranges;
  }

  @Override
  public long pageBytes() {
    return pageBytes;
  }

  @Override
  public long mappingsLeft() {
    return Long.MAX_VALUE;
  }

  @Override
  public void map(MemorySegment memory, long iova) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment map = iommu_ioas_map.allocate(arena);
      iommu_ioas_map.size(map, (int) map.byteSize());
      iommu_ioas_map.flags(
          map,
          Linux.IOMMU_IOAS_MAP_FIXED_IOVA()
              | Linux.IOMMU_IOAS_MAP_WRITEABLE()
              | Linux.IOMMU_IOAS_MAP_READABLE());
      iommu_ioas_map.ioas_id(map, addressSpace);
      iommu_ioas_map.user_va(map, memory.address());
      iommu_ioas_map.length(map, memory.byteSize());
      iommu_ioas_map.iova(map, iova);
      calls.ioctl(
          "IOMMU_IOAS_MAP(iova 0x%x, %d bytes)".formatted(iova, memory.byteSize()),
          iommu,
          Linux.IOMMU_IOAS_MAP(),
          map);
    }
  }

  @Override
  public void unmap(long iova, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment unmap = iommu_ioas_unmap.allocate(arena);
      iommu_ioas_unmap.size(unmap, (int) unmap.byteSize());
      iommu_ioas_unmap.ioas_id(unmap, addressSpace);
      iommu_ioas_unmap.iova(unmap, iova);
      iommu_ioas_unmap.length(unmap, bytes);
      calls.ioctl(
          "IOMMU_IOAS_UNMAP(iova 0x%x, %d bytes)".formatted(iova, bytes),
          iommu,
          Linux.IOMMU_IOAS_UNMAP(),
          unmap);
    }
  }

  @Override
  public void close() {
    // Closing the device detaches it; the address space goes with iommufd's descriptor.
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
