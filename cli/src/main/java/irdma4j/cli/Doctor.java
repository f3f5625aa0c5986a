package irdma4j.cli;

import irdma4j.hwregs.PciIds;
import irdma4j.uapi.PciException;
import irdma4j.uapi.vfio.SysfsDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds out whether a machine, and a card in it, can be driven from user space. */
final class Doctor {
  /** What a function with a few queues pins, and no more than that is wanted. */
  private static final long WANTED_LOCKED_BYTES = 256L << 20;

  private static final Pattern LOCKED =
      Pattern.compile("Max locked memory\\s+(\\S+)\\s+\\S+\\s+bytes.*");
  private static final int BRIDGES = 0x06;
  private static final int CLASS_SHIFT = 16;

  private final Path root;

  Doctor(Path root) {
    this.root = root;
  }

  /** What holds for the whole machine. */
  List<Finding> machine() {
    return List.of(iommu(), module(), deviceFile(), lockedMemory(), hugePages(), iommufd());
  }

  private Finding iommu() {
    long groups = count(root.resolve("sys/kernel/iommu_groups"));
    return groups > 0
        ? Finding.ok("IOMMU", groups + " groups")
        : Finding.bad(
            "IOMMU",
            "off, or not there: no device can be given to a user-space driver safely",
            "turn on VT-d or AMD-Vi in the firmware, and boot with intel_iommu=on (Intel)");
  }

  private Finding module() {
    return Files.isDirectory(root.resolve("sys/bus/pci/drivers/vfio-pci"))
        ? Finding.ok("vfio-pci", "loaded")
        : Finding.bad(
            "vfio-pci", "the kernel's driver for this is not loaded", "modprobe vfio-pci");
  }

  /** With iommufd the container is not needed, and a kernel may be built without it. */
  private Finding deviceFile() {
    if (hasIommufd()) {
      return opened("dev/iommu", "run as root, or chown $USER /dev/iommu");
    }
    return Files.exists(root.resolve("dev/vfio/vfio"))
        ? opened("dev/vfio/vfio", "run as root, or chmod 666 /dev/vfio/vfio")
        : Finding.bad("/dev/vfio/vfio", "not there", "modprobe vfio-pci vfio_iommu_type1");
  }

  private boolean hasIommufd() {
    return Files.exists(root.resolve("dev/iommu"))
        && Files.isDirectory(root.resolve("dev/vfio/devices"));
  }

  private Finding opened(String name, String fix) {
    Path file = root.resolve(name);
    return Files.isReadable(file) && Files.isWritable(file)
        ? Finding.ok("/" + name, "can be opened")
        : Finding.bad("/" + name, "this user may not open it", fix);
  }

  private Finding lockedMemory() {
    Matcher limit = LOCKED.matcher("");
    for (String line : text(root.resolve("proc/self/limits")).split("\n", -1)) {
      if (limit.reset(line).matches()) {
        break;
      }
    }
    if (!limit.matches()) {
      return Finding.note("locked memory", "the limit is unknown", "ulimit -l");
    }
    String most = limit.group(1);
    if (most.equals("unlimited")) {
      return Finding.ok("locked memory", "no limit");
    }
    long bytes = Long.parseLong(most);
    String said = "the limit is %d MiB".formatted(bytes >> 20);
    return bytes >= WANTED_LOCKED_BYTES
        ? Finding.ok("locked memory", said)
        : Finding.note(
            "locked memory",
            said + "; memory that a card reaches is pinned and counts, unless you are root",
            "ulimit -l unlimited (or memlock in /etc/security/limits.conf)");
  }

  private Finding hugePages() {
    Path all = root.resolve("sys/kernel/mm/hugepages");
    List<String> found = new ArrayList<>();
    for (Path size : list(all)) {
      String free = text(size.resolve("free_hugepages"));
      if (!free.isEmpty() && !free.equals("0")) {
        found.add(free + " of " + size.getFileName().toString().replaceFirst("hugepages-", ""));
      }
    }
    return found.isEmpty()
        ? Finding.note(
            "huge pages",
            "none is free; they are not needed, but spare the IOMMU work",
            "echo 256 > /proc/sys/vm/nr_hugepages")
        : Finding.ok("huge pages", String.join(", ", found) + " free");
  }

  private Finding iommufd() {
    return hasIommufd()
        ? Finding.ok("iommufd", "there: devices are opened by their own files")
        : Finding.ok("iommufd", "not in this kernel: devices are opened by their groups");
  }

  /** Functions that could be ours. */
  List<SysfsDevice> candidates() {
    return SysfsDevice.all(root).stream()
        .filter(one -> PciIds.family(one.vendor(), one.device()) != PciIds.Family.OTHER)
        .toList();
  }

  /** What holds for one function. */
  List<Finding> function(SysfsDevice device) {
    List<Finding> findings = new ArrayList<>();
    findings.add(identity(device));
    findings.add(group(device));
    findings.add(driver(device));
    Finding file = ownFile(device);
    if (file != null) {
      findings.add(file);
    }
    findings.add(bars(device));
    findings.add(link(device));
    return findings;
  }

  private static Finding identity(SysfsDevice device) {
    String id = "%04x:%04x".formatted(device.vendor(), device.device());
    String name = PciIds.name(device.vendor(), device.device());
    return switch (PciIds.family(device.vendor(), device.device())) {
      case E810 -> Finding.ok("device", id + ", " + name);
      case X722 ->
          Finding.bad(
              "device",
              id + ", " + name + ": first generation, which this driver does not drive",
              "");
      case OTHER -> Finding.bad("device", id + ": not ours", "irdma doctor (lists those that are)");
    };
  }

  private static Finding group(SysfsDevice device) {
    if (device.group() < 0) {
      return Finding.bad("IOMMU group", "none", "see IOMMU above");
    }
    List<String> others =
        device.groupMembers().stream()
            .filter(member -> !member.address().equals(device.address()))
            .filter(member -> member.deviceClass() >> CLASS_SHIFT != BRIDGES)
            .filter(member -> member.driver() != null && !"vfio-pci".equals(member.driver()))
            .map(member -> member.address() + " (" + member.driver() + ")")
            .toList();
    String number = String.valueOf(device.group());
    return others.isEmpty()
        ? Finding.ok("IOMMU group", number + ", nobody else in it stands in the way")
        : Finding.bad(
            "IOMMU group",
            number + " has others in the hands of kernel drivers: " + String.join(", ", others),
            others.stream()
                .map(other -> "irdma bind " + other.substring(0, other.indexOf(' ')))
                .collect(Collectors.joining("; ")));
  }

  private static Finding driver(SysfsDevice device) {
    String driver = device.driver();
    return "vfio-pci".equals(driver)
        ? Finding.ok("driver", "vfio-pci")
        : Finding.bad(
            "driver",
            driver == null ? "none" : driver + ", a kernel driver",
            "irdma bind " + device.address());
  }

  /** The file by which the function is opened: its own with iommufd, otherwise its group's. */
  private @Nullable Finding ownFile(SysfsDevice device) {
    if (!"vfio-pci".equals(device.driver()) || device.group() < 0) {
      return null;
    }
    String own = device.vfioName();
    String name = hasIommufd() && own != null ? "devices/" + own : String.valueOf(device.group());
    Path file = root.resolve("dev/vfio").resolve(name);
    return Files.isReadable(file) && Files.isWritable(file)
        ? Finding.ok("permission", "/dev/vfio/" + name + " can be opened")
        : Finding.bad(
            "permission",
            "this user may not open /dev/vfio/" + name,
            "chown $USER /dev/vfio/" + name);
  }

  private static Finding bars(SysfsDevice device) {
    StringBuilder all = new StringBuilder();
    long[] sizes = device.barSizes();
    for (int bar = 0; bar < sizes.length; bar++) {
      if (sizes[bar] != 0) {
        all.append(all.isEmpty() ? "" : ", ").append(bar).append(": ").append(size(sizes[bar]));
      }
    }
    return all.isEmpty()
        ? Finding.bad("BARs", "none: the firmware gave the function no addresses", "")
        : Finding.ok("BARs", all.toString());
  }

  private static String size(long bytes) {
    if (bytes >= 1 << 20) {
      return (bytes >> 20) + " MiB";
    }
    return bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " bytes";
  }

  private static Finding link(SysfsDevice device) {
    String now = device.optional("current_link_width");
    String most = device.optional("max_link_width");
    if (now == null || most == null || most.equals("0") || most.equals("255")) {
      return Finding.ok("link", "not PCI Express, or it does not say");
    }
    String speed = device.optional("current_link_speed");
    String text = "x%s of x%s%s".formatted(now, most, speed == null ? "" : ", " + speed);
    return now.equals(most)
        ? Finding.ok("link", text)
        : Finding.note("link", text + ": the slot is narrower than the card", "another slot");
  }

  private static long count(Path directory) {
    return list(directory).size();
  }

  private static List<Path> list(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(directory)) {
      return all.sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(Path file) {
    try {
      return Files.isReadable(file) ? Files.readString(file).strip() : "";
    } catch (IOException e) {
      throw new PciException("can't read " + file + ": " + e, e);
    }
  }
}
