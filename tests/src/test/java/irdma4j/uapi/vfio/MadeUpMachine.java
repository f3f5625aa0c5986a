package irdma4j.uapi.vfio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The files by which a function is found: {@code /sys} and {@code /dev}, in a folder. */
final class MadeUpMachine {
  static final String CDEV = "vfio3";

  private MadeUpMachine() {}

  /** A machine with one function that vfio-pci has; with a character device if wanted. */
  static Path in(Path root, boolean cdev) throws IOException {
    Path device = root.resolve("sys/bus/pci/devices").resolve(CardStandIn.BDF);
    Files.createDirectories(device);
    link(device.resolve("driver"), "../../drivers/vfio-pci");
    link(device.resolve("iommu_group"), "../../../../kernel/iommu_groups/" + CardStandIn.GROUP);
    if (cdev) {
      Files.createDirectories(device.resolve("vfio-dev").resolve(CDEV));
      Files.createDirectories(root.resolve("dev/vfio/devices").resolve(CDEV));
      Files.createDirectories(root.resolve("dev/iommu"));
    }
    return root;
  }

  /** Takes it away. */
  static void remove(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private static void link(Path at, String target) throws IOException {
    Files.deleteIfExists(at);
    Files.createSymbolicLink(at, Path.of(target));
  }
}
