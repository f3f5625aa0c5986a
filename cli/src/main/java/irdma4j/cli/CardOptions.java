package irdma4j.cli;

import irdma4j.hwregs.PciIds;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import irdma4j.uapi.vfio.SysfsDevice;
import irdma4j.uapi.vfio.VfioFunction;
import irdma4j.uapi.vfio.VfioOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** How a command opens cards. */
final class CardOptions {
  @Option(
      names = "--vfio",
      paramLabel = "WAY",
      defaultValue = "AUTO",
      description =
          "How a card is opened: group (IOMMU group and container), cdev (character device and"
              + " iommufd) or auto, which looks at what the kernel has. Default: auto.")
  private VfioOptions.Access access = VfioOptions.Access.AUTO;

  @Option(
      names = "--pages",
      paramLabel = "SIZE",
      defaultValue = "SMALL",
      description = "Pages of a card's DMA memory: small, huge_2m or huge_1g. Default: small.")
  private VfioOptions.PageSize pages = VfioOptions.PageSize.SMALL;

  @Option(names = "--root", hidden = true, description = "The file system's root.")
  private Path root = Path.of("/");

  /**
   * Opens a card.
   *
   * @throws NotReady if it is of a kind that this driver does not drive, and otherwise with what
   *     the doctor finds in the way
   */
  PciFunction open(DeviceAddress.Card card) {
    try {
      requireOurs(card);
      return VfioFunction.open(card.bdf(), new VfioOptions(access, pages, root));
    } catch (PciException e) {
      throw new NotReady(card + ": " + e.getMessage() + inTheWay(card), e);
    }
  }

  /** Another device would take what the driver writes for something else. */
  private void requireOurs(DeviceAddress.Card card) {
    SysfsDevice device = SysfsDevice.of(root, card.bdf());
    if (PciIds.family(device.vendor(), device.device()) != PciIds.Family.E810) {
      throw new PciException("not a card that this driver drives");
    }
  }

  private String inTheWay(DeviceAddress.Card card) {
    Doctor doctor = new Doctor(root);
    List<Finding> findings = new ArrayList<>(doctor.machine());
    if (Files.exists(root.resolve("sys/bus/pci/devices").resolve(card.bdf()))) {
      findings.addAll(doctor.function(SysfsDevice.of(root, card.bdf())));
    }
    StringBuilder text = new StringBuilder();
    for (Finding finding : findings) {
      if (finding.state() == Finding.State.BAD) {
        finding.lines().forEach(line -> text.append(System.lineSeparator()).append(line));
      }
    }
    return text.toString();
  }
}
