package irdma4j.cli;

import irdma4j.uapi.vfio.DriverBinding;
import irdma4j.uapi.vfio.SysfsDevice;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code irdma bind}: see {@link DriverBinding}. */
@Command(
    name = "bind",
    mixinStandardHelpOptions = true,
    description =
        "Gives a function to vfio-pci, so that a user-space driver can have it. One that is in use, or shares its IOMMU group with one that is, is refused.")
final class BindCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "BDF", description = "The function, such as 0000:3b:00.0.")
  private String address = "";

  @Option(names = "--dry-run", description = "Only say what would be written.")
  private boolean dryRun;

  @Option(names = "--root", hidden = true, description = "The file system's root.")
  private Path root = Path.of("/");

  @Override
  public Integer call() {
    SysfsDevice device = SysfsDevice.of(root, PciAddress.normal(address));
    DriverBinding binding = new DriverBinding(root, device);
    List<DriverBinding.Step> steps = binding.planBind();
    PrintWriter out = spec.commandLine().getOut();
    if (steps.isEmpty()) {
      out.println(device + ": vfio-pci has it already");
    }
    steps.forEach(out::println);
    out.flush();
    if (!dryRun) {
      binding.bind();
    }
    return 0;
  }
}
