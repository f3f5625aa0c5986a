package irdma4j.uapi.vfio;

import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.vfio_region_info;
import irdma4j.uapi.linux.vfio_region_info_cap_sparse_mmap;
import irdma4j.uapi.linux.vfio_region_sparse_mmap_area;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A region of a VFIO device: a BAR or its configuration space.
 *
 * @param index number of the region
 * @param size in bytes; 0 if the device has no such region
 * @param offset where it starts in the device's file
 * @param areas what of it can be mapped, offsets in the region
 */
record Region(int index, long size, long offset, List<Area> areas) {
  /** A part of a region. */
  record Area(long offset, long size) {}

  /** Asks the kernel. */
  static Region read(DeviceFile device, int index) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = ask(device, index, arena.allocate(vfio_region_info.layout()));
      int bytes = vfio_region_info.argsz(info);
      if (bytes > info.byteSize()) {
        info = ask(device, index, arena.allocate(bytes, Long.BYTES));
      }
      long size = vfio_region_info.size(info);
      return new Region(index, size, vfio_region_info.offset(info), areas(info, size));
    }
  }

  private static MemorySegment ask(DeviceFile device, int index, MemorySegment info) {
    vfio_region_info.argsz(info, (int) info.byteSize());
    vfio_region_info.index(info, index);
    device.ioctl(
        "VFIO_DEVICE_GET_REGION_INFO(%d)".formatted(index),
        Linux.VFIO_DEVICE_GET_REGION_INFO(),
        info);
    return info;
  }

  private static List<Area> areas(MemorySegment info, long size) {
    int flags = vfio_region_info.flags(info);
    if ((flags & Linux.VFIO_REGION_INFO_FLAG_MMAP()) == 0 || size == 0) {
      return List.of();
    }
    MemorySegment sparse = MemorySegment.NULL;
    if ((flags & Linux.VFIO_REGION_INFO_FLAG_CAPS()) != 0) {
      sparse =
          Capabilities.find(
              info, vfio_region_info.cap_offset(info), Linux.VFIO_REGION_INFO_CAP_SPARSE_MMAP());
    }
    if (sparse.byteSize() == 0) {
      return List.of(new Area(0, size));
    }
    List<Area> areas = new ArrayList<>();
    long at = vfio_region_info_cap_sparse_mmap.layout().byteSize();
    for (int i = 0; i < vfio_region_info_cap_sparse_mmap.nr_areas(sparse); i++) {
      MemorySegment area = sparse.asSlice(at, vfio_region_sparse_mmap_area.layout());
      if (vfio_region_sparse_mmap_area.size(area) != 0) {
        areas.add(
            new Area(
                vfio_region_sparse_mmap_area.offset(area),
                vfio_region_sparse_mmap_area.size(area)));
      }
      at += vfio_region_sparse_mmap_area.layout().byteSize();
    }
    return areas;
  }
}
