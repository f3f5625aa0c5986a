package irdma4j.uapi.vfio;

import irdma4j.uapi.PciException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A PCI function as the kernel shows it in {@code /sys}. Reads it anew each time; any thread.
 *
 * <p>Source: Linux Documentation/ABI/testing/sysfs-bus-pci and sysfs-devices-vfio-dev.
 */
public final class SysfsDevice {
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]");
  private static final Path DEVICES = Path.of("sys/bus/pci/devices");

  private final Path root;
  private final String address;

  private SysfsDevice(Path root, String address) {
    this.root = root;
    this.address = address;
  }

  /**
   * A function.
   *
   * @param root the file system's root
   * @param address such as 0000:3b:00.0
   * @throws PciException if there is no such function
   * @throws IllegalArgumentException if that is no address
   */
  public static SysfsDevice of(Path root, String address) {
    if (!ADDRESS.matcher(address).matches()) {
      throw new IllegalArgumentException(
          "'%s' is no PCI address; they look like 0000:3b:00.0".formatted(address));
    }
    SysfsDevice device = new SysfsDevice(root, address);
    if (!Files.exists(device.directory())) {
      throw new PciException("there is no PCI function " + address + " (see lspci -D)");
    }
    return device;
  }

  /** All functions, in the order of their addresses; none if the kernel shows none. */
  public static List<SysfsDevice> all(Path root) {
    return names(root.resolve(DEVICES)).stream().map(name -> new SysfsDevice(root, name)).toList();
  }

  private static List<String> names(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      throw new PciException("can't list " + directory + ": " + e, e);
    }
  }

  /** Its address, such as 0000:3b:00.0. */
  public String address() {
    return address;
  }

  /** Where the kernel shows it. */
  public Path directory() {
    return root.resolve(DEVICES).resolve(address);
  }

  /** Vendor id. */
  public int vendor() {
    return hex("vendor");
  }

  /** Device id. */
  public int device() {
    return hex("device");
  }

  /** Class code, 24 bits. */
  public int deviceClass() {
    return hex("class");
  }

  private int hex(String file) {
    return Integer.decode(read(file));
  }

  private String read(String file) {
    try {
      return Files.readString(directory().resolve(file)).strip();
    } catch (IOException e) {
      throw new PciException("can't read " + directory().resolve(file) + ": " + e, e);
    }
  }

  /** What a file of its directory says, or null if there is none. */
  public @Nullable String optional(String file) {
    return Files.isReadable(directory().resolve(file)) ? read(file) : null;
  }

  /** Number of its IOMMU group, or -1 if there is no IOMMU in front of it. */
  public int group() {
    String name = linkName("iommu_group");
    return name == null ? -1 : Integer.parseInt(name);
  }

  /** Name of the driver that has it, or null. */
  public @Nullable String driver() {
    return linkName("driver");
  }

  private @Nullable String linkName(String link) {
    Path path = directory().resolve(link);
    if (!Files.isSymbolicLink(path)) {
      return null;
    }
    try {
      return Files.readSymbolicLink(path).getFileName().toString();
    } catch (IOException e) {
      throw new PciException("can't read the link " + path + ": " + e, e);
    }
  }

  /** All functions of its IOMMU group, itself included. */
  public List<SysfsDevice> groupMembers() {
    return names(directory().resolve("iommu_group/devices")).stream()
        .map(name -> new SysfsDevice(root, name))
        .toList();
  }

  /** Name of its VFIO character device, such as vfio0, or null if the kernel has none. */
  public @Nullable String vfioName() {
    List<String> names = names(directory().resolve("vfio-dev"));
    return names.isEmpty() ? null : names.getFirst();
  }

  /** Bytes of each BAR, 0 where there is none. */
  public long[] barSizes() {
    long[] sizes = new long[6];
    String resource = optional("resource");
    if (resource != null) {
      String[] lines = resource.split("\n", -1);
      for (int bar = 0; bar < Math.min(sizes.length, lines.length); bar++) {
        String[] words = lines[bar].strip().split("\\s+", -1);
        long first = Long.decode(words[0]);
        long last = words.length < 2 ? 0 : Long.decode(words[1]);
        sizes[bar] = last == 0 ? 0 : last - first + 1;
      }
    }
    return sizes;
  }

  @Override
  public String toString() {
    return address;
  }
}
