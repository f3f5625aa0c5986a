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

  /**
   * Resets.
   *
   * @throws PciException if functions of other groups would be reset, too, or the kernel refuses
   */
  static void run(SystemCalls calls, Connection connection, SysfsDevice sysfs) {
    long header = vfio_pci_hot_reset_info.layout().byteSize();
    long each = vfio_pci_dependent_device.layout().byteSize();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(header + MOST * each, Integer.BYTES);
      vfio_pci_hot_reset_info.argsz(info, (int) info.byteSize());
      calls.ioctl(
          "VFIO_DEVICE_GET_PCI_HOT_RESET_INFO",
          connection.device(),
          Linux.VFIO_DEVICE_GET_PCI_HOT_RESET_INFO(),
          info);
      int count = vfio_pci_hot_reset_info.count(info);
      for (int i = 0; i < count && connection.group() >= 0; i++) {
        MemorySegment other = info.asSlice(header + i * each, vfio_pci_dependent_device.layout());
        int group = vfio_pci_dependent_device.group_id(other);
        if (group != sysfs.group()) {
          throw new PciException(
              "%s can't be reset alone: function %02x:%02x.%d of IOMMU group %d would be reset with it"
                  .formatted(
                      sysfs,
                      vfio_pci_dependent_device.bus(other) & 0xff,
                      (vfio_pci_dependent_device.devfn(other) & 0xff) >> 3,
                      vfio_pci_dependent_device.devfn(other) & 7,
                      group));
        }
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
      calls.ioctl(
          "VFIO_DEVICE_PCI_HOT_RESET",
          connection.device(),
          Linux.VFIO_DEVICE_PCI_HOT_RESET(),
          reset);
    }
  }
}
