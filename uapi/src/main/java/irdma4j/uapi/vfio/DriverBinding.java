package irdma4j.uapi.vfio;

import irdma4j.uapi.PciException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Gives a function to vfio-pci, and back to the driver that had it. What was there before is kept
 * in {@code /run/irdma4j}, which a reboot empties as it undoes the binding. One thread at a time.
 *
 * <p>Source: Linux Documentation/ABI/testing/sysfs-bus-pci: driver_override, drivers_probe.
 */
public final class DriverBinding {
  /** The driver that gives functions to user space. */
  public static final String VFIO = "vfio-pci";

  private static final String NONE = "(null)";
  private static final int BRIDGES = 0x06;
  private static final int CLASS_SHIFT = 16;
  private static final int INTERFACE_UP = 1;

  private final Path root;
  private final SysfsDevice device;

  /**
   * For a function.
   *
   * @param root the file system's root, which is another one only in tests
   */
  public DriverBinding(Path root, SysfsDevice device) {
    this.root = root;
    this.device = device;
  }

  /** A write to a file of the kernel's. */
  public record Step(Path file, String text) {
    @Override
    public String toString() {
      return "echo " + text + " > " + file;
    }
  }

  /**
   * What {@link #bind()} would write; nothing if vfio-pci has the function.
   *
   * @throws PciException if the function, or another of its group, is in use
   */
  public List<Step> planBind() {
    if (VFIO.equals(device.driver())) {
      return List.of();
    }
    requireUnused();
    List<Step> steps = new ArrayList<>();
    steps.add(new Step(device.directory().resolve("driver_override"), VFIO));
    if (device.driver() != null) {
      steps.add(new Step(device.directory().resolve("driver/unbind"), device.address()));
    }
    steps.add(new Step(root.resolve("sys/bus/pci/drivers_probe"), device.address()));
    return steps;
  }

  /**
   * Gives the function to vfio-pci.
   *
   * @throws PciException if it is in use, or vfio-pci does not take it; it is then as before
   */
  public void bind() {
    List<Step> steps = planBind();
    if (steps.isEmpty()) {
      return;
    }
    if (!Files.isDirectory(root.resolve("sys/bus/pci/drivers").resolve(VFIO))) {
      throw new PciException("the kernel has no driver vfio-pci yet: modprobe vfio-pci");
    }
    String before = device.driver();
    String override = device.optional("driver_override");
    try {
      remember(before, override);
      steps.forEach(DriverBinding::write);
      if (!VFIO.equals(device.driver())) {
        throw new PciException("vfio-pci did not take " + device + ": see dmesg");
      }
    } catch (RuntimeException e) {
      try {
        restore(before, override);
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
  }

  /** What {@link #unbind()} would write; nothing if vfio-pci does not have the function. */
  public List<Step> planUnbind() {
    return VFIO.equals(device.driver())
        ? restoration(previousDriver(), previousOverride())
        : List.of();
  }

  /** Takes the function from vfio-pci and restores what {@link #bind()} found. */
  public void unbind() {
    if (VFIO.equals(device.driver())) {
      restore(previousDriver(), previousOverride());
    }
  }

  private List<Step> restoration(@Nullable String driver, @Nullable String override) {
    List<Step> steps = new ArrayList<>();
    String text = override == null || override.equals(NONE) || override.isEmpty() ? "" : override;
    steps.add(new Step(device.directory().resolve("driver_override"), text));
    if (VFIO.equals(device.driver())) {
      steps.add(new Step(device.directory().resolve("driver/unbind"), device.address()));
    }
    if (driver != null) {
      steps.add(
          new Step(
              root.resolve("sys/bus/pci/drivers").resolve(driver).resolve("bind"),
              device.address()));
    }
    return steps;
  }

  private void restore(@Nullable String driver, @Nullable String override) {
    for (Step step : restoration(driver, override)) {
      boolean done =
          step.file().endsWith("bind") && driver != null && driver.equals(device.driver());
      if (!done) {
        write(step);
      }
    }
    try {
      Files.deleteIfExists(state());
    } catch (IOException e) {
      throw new PciException("can't delete " + state() + ": " + e, e);
    }
  }

  private Path state() {
    return root.resolve("run/irdma4j").resolve(device.address());
  }

  private void remember(@Nullable String driver, @Nullable String override) {
    try {
      Files.createDirectories(state().getParent());
      Files.write(state(), List.of(driver == null ? "" : driver, override == null ? "" : override));
    } catch (IOException e) {
      throw new PciException("can't write " + state() + ": " + e, e);
    }
  }

  private @Nullable String previousDriver() {
    String line = remembered(0);
    return line.isEmpty() ? null : line;
  }

  private String previousOverride() {
    return remembered(1);
  }

  /** A line of what was there before; empty if it was not this project that bound the function. */
  private String remembered(int line) {
    if (!Files.isReadable(state())) {
      return "";
    }
    try {
      List<String> lines = Files.readAllLines(state());
      return line < lines.size() ? lines.get(line) : "";
    } catch (IOException e) {
      throw new PciException("can't read " + state() + ": " + e, e);
    }
  }

  private static void write(Step step) {
    try {
      Files.writeString(step.file(), step.text() + "\n");
    } catch (IOException e) {
      throw new PciException(
          "can't write '%s' to %s: %s (run as root)".formatted(step.text(), step.file(), e), e);
    }
  }

  private void requireUnused() {
    for (SysfsDevice member : device.group() < 0 ? List.of(device) : device.groupMembers()) {
      String use = member.deviceClass() >> CLASS_SHIFT == BRIDGES ? null : use(member);
      if (use != null) {
        throw new PciException(
            member.address().equals(device.address())
                ? "%s is in use: %s".formatted(device, use)
                : "%s shares IOMMU group %d with %s, which is in use: %s"
                    .formatted(device, device.group(), member, use));
      }
    }
  }

  /** What a function is in use for, or null. */
  private @Nullable String use(SysfsDevice member) {
    for (Path net : entries(member.directory().resolve("net"))) {
      String flags = text(net.resolve("flags"));
      if (!flags.isEmpty() && (Integer.decode(flags) & INTERFACE_UP) != 0) {
        return "network interface %s is up (ip link set %s down)"
            .formatted(net.getFileName(), net.getFileName());
      }
    }
    if ("1".equals(text(member.directory().resolve("boot_vga")))) {
      return "it drives the console";
    }
    String mounts = text(root.resolve("proc/mounts"));
    try (Stream<Path> below = Files.find(member.directory(), 6, (p, a) -> a.isDirectory())) {
      for (Path block :
          below
              .filter(p -> Files.exists(p.resolve("partition")) || p.getParent().endsWith("block"))
              .toList()) {
        String name = block.getFileName().toString();
        if (mounts.contains("/dev/" + name + " ") || !entries(block.resolve("holders")).isEmpty()) {
          return "block device " + name + " is mounted or held";
        }
      }
    } catch (IOException e) {
      throw new PciException("can't look through " + member.directory() + ": " + e, e);
    }
    return null;
  }

  private static List<Path> entries(Path directory) {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(directory)) {
      return all.sorted().toList();
    } catch (IOException e) {
      throw new PciException("can't list " + directory + ": " + e, e);
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
