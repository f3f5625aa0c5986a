package irdma4j.uapi.vfio;

import irdma4j.uapi.PciException;
import irdma4j.uapi.linux.Linux;
import irdma4j.uapi.linux.vfio_pci_dependent_device;
import irdma4j.uapi.linux.vfio_pci_hot_reset;
import irdma4j.uapi.linux.vfio_pci_hot_reset_info;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A reset of a function's bus or slot, and so of each function on it. */
final class HotReset {
  /** Devices that share a reset are few; a slot has eight functions, a bus 256. */
  private static final int MOST = 256;

  private HotReset() {}

  /** Source: VFIO_PCI_HOT_RESET_FLAG_DEV_ID and VFIO_PCI_DEVID_NOT_OWNED, Linux 6.6 vfio.h. */
  private static final int BY_DEVICE = 1;

  private static final int NOT_OWNED = -1;

  /**
   * Resets.
   *
   * @throws PciException if functions that are not ours would be reset, too, or the kernel refuses
   */
  static void run(Connection connection, SysfsDevice sysfs) {
    long header = vfio_pci_hot_reset_info.layout().byteSize();
    long each = vfio_pci_dependent_device.layout().byteSize();
    DeviceFile device = connection.device();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(header + MOST * each, Integer.BYTES);
      vfio_pci_hot_reset_info.argsz(info, (int) info.byteSize());
      device.ioctl(
          "VFIO_DEVICE_GET_PCI_HOT_RESET_INFO(" + sysfs + ")",
          Linux.VFIO_DEVICE_GET_PCI_HOT_RESET_INFO(),
          info);
      boolean byDevice = (vfio_pci_hot_reset_info.flags(info) & BY_DEVICE) != 0;
      for (int i = 0; i < vfio_pci_hot_reset_info.count(info); i++) {
        requireOurs(
            info.asSlice(header + i * each, vfio_pci_dependent_device.layout()), byDevice, sysfs);
      }
      // With iommufd the kernel knows which devices are ours, so no groups are named.
      int groups = connection.group() < 0 ? 0 : 1;
      long size = vfio_pci_hot_reset.layout().byteSize();
      MemorySegment reset = arena.allocate(size + (long) groups * Integer.BYTES, Integer.BYTES);
      vfio_pci_hot_reset.argsz(reset, (int) reset.byteSize());
      vfio_pci_hot_reset.count(reset, groups);
      if (groups != 0) {
        reset.set(Linux.C_INT, size, connection.group());
      }
      device.ioctl(
          "VFIO_DEVICE_PCI_HOT_RESET(" + sysfs + ")", Linux.VFIO_DEVICE_PCI_HOT_RESET(), reset);
    }
  }

  /** What says whose a function is: its group, or with iommufd the number that it has there. */
  private static void requireOurs(MemorySegment other, boolean byDevice, SysfsDevice sysfs) {
    int owner = vfio_pci_dependent_device.group_id(other);
    if (byDevice ? owner != NOT_OWNED : owner == sysfs.group()) {
      return;
    }
    int place = vfio_pci_dependent_device.devfn(other) & 0xff;
    throw new PciException(
        "%s can't be reset alone: function %04x:%02x:%02x.%d%s would be reset with it"
            .formatted(
                sysfs,
                vfio_pci_dependent_device.segment(other) & 0xffff,
                vfio_pci_dependent_device.bus(other) & 0xff,
                place >> 3,
                place & 7,
                byDevice ? ", which is not ours," : " of IOMMU group " + owner));
  }
}
