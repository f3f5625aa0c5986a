package irdma4j.uapi.vfio;

import irdma4j.uapi.PciException;
import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.vfio_group_status;
import irdma4j.uapi.linux.vfio_iommu_type1_dma_map;
import irdma4j.uapi.linux.vfio_iommu_type1_dma_unmap;
import irdma4j.uapi.linux.vfio_iommu_type1_info;
import irdma4j.uapi.linux.vfio_iommu_type1_info_cap_iova_range;
import irdma4j.uapi.linux.vfio_iommu_type1_info_dma_avail;
import irdma4j.uapi.linux.vfio_iova_range;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A device through its IOMMU group and a container of its own, with the type 1 v2 IOMMU.
 *
 * <p>Source: Linux Documentation/driver-api/vfio.rst and include/uapi/linux/vfio.h.
 */
final class GroupConnection implements Connection {
  private static final String CONTAINER = "/dev/vfio/vfio";

  private final SystemCalls calls;
  private final Deque<Runnable> open = new ArrayDeque<>();
  private final int container;
  private final int groupFd;
  private final DeviceFile device;
  private final List<IovaRange> ranges;
  private final long pageBytes;

  /**
   * Opens a device.
   *
   * @param group number of its IOMMU group
   * @param bdf its address, such as 0000:3b:00.0
   * @throws PciException if the kernel refuses; nothing stays open then
   */
  GroupConnection(SystemCalls calls, int group, String bdf) {
    this.calls = calls;
    try (Arena arena = Arena.ofConfined()) {
      container = keep(calls.open(CONTAINER));
      int version = calls.ioctl("VFIO_GET_API_VERSION", container, Linux.VFIO_GET_API_VERSION(), 0);
      if (version != Linux.VFIO_API_VERSION()) {
        throw new PciException("VFIO has version " + version + ", not " + Linux.VFIO_API_VERSION());
      }
      int type = Linux.VFIO_TYPE1v2_IOMMU();
      if (calls.ioctl("VFIO_CHECK_EXTENSION", container, Linux.VFIO_CHECK_EXTENSION(), type) == 0) {
        throw new PciException(
            "VFIO has no type 1 IOMMU; load the module vfio_iommu_type1, and see that the IOMMU is on");
      }
      groupFd = keep(calls.open("/dev/vfio/" + group));
      requireViable(arena, groupFd, group);
      MemorySegment containerFd = arena.allocateFrom(Linux.C_INT, container);
      calls.ioctl(
          "VFIO_GROUP_SET_CONTAINER(group " + group + ")",
          groupFd,
          Linux.VFIO_GROUP_SET_CONTAINER(),
          containerFd);
      // Before this, the container has no IOMMU that could be asked anything.
      calls.ioctl("VFIO_SET_IOMMU", container, Linux.VFIO_SET_IOMMU(), type);
      device =
          keep(
              new DeviceFile(
                  calls,
                  calls.ioctl(
                      "VFIO_GROUP_GET_DEVICE_FD(" + bdf + ")",
                      groupFd,
                      Linux.VFIO_GROUP_GET_DEVICE_FD(),
                      arena.allocateFrom(bdf))));
      MemorySegment info = info(arena);
      ranges = readRanges(info);
      pageBytes = smallestPage(info);
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

  private static long smallestPage(MemorySegment info) {
    boolean said = (vfio_iommu_type1_info.flags(info) & Linux.VFIO_IOMMU_INFO_PGSIZES()) != 0;
    long sizes = said ? vfio_iommu_type1_info.iova_pgsizes(info) : 0;
    return sizes == 0 ? 1 : Long.lowestOneBit(sizes);
  }

  private void requireViable(Arena arena, int descriptor, int group) {
    MemorySegment status = vfio_group_status.allocate(arena);
    vfio_group_status.argsz(status, (int) status.byteSize());
    calls.ioctl(
        "VFIO_GROUP_GET_STATUS(group " + group + ")",
        descriptor,
        Linux.VFIO_GROUP_GET_STATUS(),
        status);
    if ((vfio_group_status.flags(status) & Linux.VFIO_GROUP_FLAGS_VIABLE()) == 0) {
      throw new PciException(
          "IOMMU group %d has a device that is still in the hands of a kernel driver: bind all of it"
                  .formatted(group)
              + " to vfio-pci (irdma doctor lists them)");
    }
  }

  /** VFIO_IOMMU_GET_INFO with all its capabilities. */
  private MemorySegment info(Arena arena) {
    MemorySegment small = vfio_iommu_type1_info.allocate(arena);
    vfio_iommu_type1_info.argsz(small, (int) small.byteSize());
    calls.ioctl("VFIO_IOMMU_GET_INFO()", container, Linux.VFIO_IOMMU_GET_INFO(), small);
    int bytes = vfio_iommu_type1_info.argsz(small);
    if (bytes <= small.byteSize()) {
      return small;
    }
    MemorySegment whole = arena.allocate(bytes, Long.BYTES);
    vfio_iommu_type1_info.argsz(whole, bytes);
    calls.ioctl("VFIO_IOMMU_GET_INFO()", container, Linux.VFIO_IOMMU_GET_INFO(), whole);
    return whole;
  }

  private static List<IovaRange> readRanges(MemorySegment info) {
    MemorySegment found = capability(info, Linux.VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE());
    if (found.byteSize() == 0) {
      // Kernels before 5.4 do not say; the interrupt window of x86 is out in any case.
      return List.of(new IovaRange(0, 0xfedf_ffffL), new IovaRange(0xfef0_0000L, (1L << 39) - 1));
    }
    int count = vfio_iommu_type1_info_cap_iova_range.nr_iovas(found);
    List<IovaRange> ranges = new ArrayList<>();
    long at = vfio_iommu_type1_info_cap_iova_range.layout().byteSize();
    for (int i = 0; i < count; i++) {
      MemorySegment range = found.asSlice(at, vfio_iova_range.layout());
      ranges.add(new IovaRange(vfio_iova_range.start(range), vfio_iova_range.end(range)));
      at += vfio_iova_range.layout().byteSize();
    }
    return ranges;
  }

  /** A capability of the chain, with what follows it, or an empty segment. */
  private static MemorySegment capability(MemorySegment info, int id) {
    if ((vfio_iommu_type1_info.flags(info) & Linux.VFIO_IOMMU_INFO_CAPS()) == 0) {
      return MemorySegment.NULL;
    }
    return Capabilities.find(info, vfio_iommu_type1_info.cap_offset(info), id);
  }

  @Override
  public DeviceFile device() {
    return device;
  }

  @Override
  public int group() {
    return groupFd;
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
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment found = capability(info(arena), Linux.VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL());
      return found.byteSize() == 0
          ? Long.MAX_VALUE
          : Integer.toUnsignedLong(vfio_iommu_type1_info_dma_avail.avail(found));
    }
  }

  @Override
  public void map(MemorySegment memory, long iova) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment map = vfio_iommu_type1_dma_map.allocate(arena);
      vfio_iommu_type1_dma_map.argsz(map, (int) map.byteSize());
      vfio_iommu_type1_dma_map.flags(
          map, Linux.VFIO_DMA_MAP_FLAG_READ() | Linux.VFIO_DMA_MAP_FLAG_WRITE());
      vfio_iommu_type1_dma_map.vaddr(map, memory.address());
      vfio_iommu_type1_dma_map.iova(map, iova);
      vfio_iommu_type1_dma_map.size(map, memory.byteSize());
      calls.ioctl(
          "VFIO_IOMMU_MAP_DMA(iova 0x%x, %d bytes)".formatted(iova, memory.byteSize()),
          container,
          Linux.VFIO_IOMMU_MAP_DMA(),
          map);
    }
  }

  @Override
  public void unmap(long iova, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment unmap = vfio_iommu_type1_dma_unmap.allocate(arena);
      vfio_iommu_type1_dma_unmap.argsz(unmap, (int) unmap.byteSize());
      vfio_iommu_type1_dma_unmap.iova(unmap, iova);
      vfio_iommu_type1_dma_unmap.size(unmap, bytes);
      calls.ioctl(
          "VFIO_IOMMU_UNMAP_DMA(iova 0x%x, %d bytes)".formatted(iova, bytes),
          container,
          Linux.VFIO_IOMMU_UNMAP_DMA(),
          unmap);
    }
  }

  @Override
  public void close() {
    // The device first, then its group, then the container with the mappings.
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
