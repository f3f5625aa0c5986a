package irdma4j.uapi.vfio;

import irdma4j.uapi.SystemCallException;
import irdma4j.uapi.linux.Linux;
import java.util.Map;

/** Names of errors, and what to do about those that a user can do something about. */
final class Errno {
  private static final String KERNEL_LOG = "the kernel's log (dmesg) may say why";
  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(Linux.EPERM(), "EPERM"),
          Map.entry(Linux.ENOENT(), "ENOENT"),
          Map.entry(Linux.EINTR(), "EINTR"),
          Map.entry(Linux.EIO(), "EIO"),
          Map.entry(Linux.ENXIO(), "ENXIO"),
          Map.entry(Linux.EBADF(), "EBADF"),
          Map.entry(Linux.EAGAIN(), "EAGAIN"),
          Map.entry(Linux.ENOMEM(), "ENOMEM"),
          Map.entry(Linux.EACCES(), "EACCES"),
          Map.entry(Linux.EFAULT(), "EFAULT"),
          Map.entry(Linux.EBUSY(), "EBUSY"),
          Map.entry(Linux.EEXIST(), "EEXIST"),
          Map.entry(Linux.ENODEV(), "ENODEV"),
          Map.entry(Linux.EINVAL(), "EINVAL"),
          Map.entry(Linux.ENFILE(), "ENFILE"),
          Map.entry(Linux.EMFILE(), "EMFILE"),
          Map.entry(Linux.ENOTTY(), "ENOTTY"),
          Map.entry(Linux.ENOSPC(), "ENOSPC"),
          Map.entry(Linux.ENOSYS(), "ENOSYS"),
          Map.entry(Linux.EOVERFLOW(), "EOVERFLOW"),
          Map.entry(Linux.EMSGSIZE(), "EMSGSIZE"),
          Map.entry(Linux.EOPNOTSUPP(), "EOPNOTSUPP"));

  private Errno() {}

  /** An error's name, or "errno" if it is none of those that the calls here give. */
  static String name(int errno) {
    return NAMES.getOrDefault(errno, "errno");
  }

  /** The exception for a refused call. */
  static SystemCallException refused(String call, int errno) {
    return new SystemCallException(call, errno, name(errno), advice(call, errno));
  }

  private static String advice(String call, int errno) {
    if (errno == Linux.EACCES() || errno == Linux.EPERM()) {
      return call.startsWith("open")
          ? "run as root, or give your user the device file (irdma doctor says how)"
          : "the kernel does not allow it to this user";
    }
    if (call.contains("MAP_DMA") || call.contains("IOAS_MAP")) {
      return mapping(errno);
    }
    if (call.startsWith("mmap") && errno == Linux.ENOMEM()) {
      return "no memory, or no huge page of that size: see /sys/kernel/mm/hugepages";
    }
    if (errno == Linux.ENOENT() && call.contains("/dev/vfio")) {
      return "load the module vfio-pci and bind the device to it (irdma bind does it)";
    }
    if (errno == Linux.ENOENT() && call.contains("/dev/iommu")) {
      return "this kernel has no iommufd: open the device by its group (access GROUP)";
    }
    if (errno == Linux.EBUSY() && isOpening(call)) {
      return "another process has the device open";
    }
    if (errno == Linux.EMFILE()) {
      return "too many open files: see ulimit -n";
    }
    if (errno == Linux.ENOTTY()) {
      return "this kernel, or this device, does not have it";
    }
    return KERNEL_LOG;
  }

  private static boolean isOpening(String call) {
    return call.contains("/dev/") || call.contains("SET_CONTAINER") || call.contains("DEVICE_FD");
  }

  private static String mapping(int errno) {
    if (errno == Linux.ENOMEM()) {
      return "pinned memory counts against the limit of locked memory: see ulimit -l";
    }
    return errno == Linux.ENOSPC()
        ? "the IOMMU has no room for another mapping: use fewer and larger ones"
        : KERNEL_LOG;
  }
}
