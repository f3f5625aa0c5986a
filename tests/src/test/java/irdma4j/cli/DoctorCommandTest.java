package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code irdma doctor}, {@code bind} and {@code unbind} on a made-up machine. */
class DoctorCommandTest {
  private static final String CARD = "0000:3b:00.0";
  private static final String NEIGHBOUR = "0000:3b:00.1";

  private record Result(int status, String out, String err) {}

  @TempDir Path root;

  private Result run(String... arguments) {
    CommandLine command = Main.commandLine(InputStream.nullInputStream());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    String[] all = new String[arguments.length + 2];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    all[arguments.length] = "--root";
    all[arguments.length + 1] = root.toString();
    return new Result(command.execute(all), out.toString(), err.toString());
  }

  /** An E810 with the driver ice, in a group with its second port, which has no driver. */
  @BeforeEach
  void machine() throws IOException {
    for (String folder :
        new String[] {
          "sys/kernel/iommu_groups/7/devices",
          "sys/bus/pci/drivers/vfio-pci",
          "sys/bus/pci/drivers/ice",
          "dev/vfio",
          "proc/self"
        }) {
      Files.createDirectories(root.resolve(folder));
    }
    write("dev/vfio/vfio", "");
    write("dev/vfio/7", "");
    write("proc/self/limits", "Max locked memory         unlimited            unlimited  bytes\n");
    device(CARD, "0x1593");
    device(NEIGHBOUR, "0x1593");
    link(CARD, "driver", "../../drivers/ice");
  }

  private void write(String file, String text) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.writeString(root.resolve(file), text);
  }

  private Path directory(String address) {
    return root.resolve("sys/bus/pci/devices").resolve(address);
  }

  private void device(String address, String id) throws IOException {
    String folder = "sys/bus/pci/devices/" + address;
    write(folder + "/vendor", "0x8086\n");
    write(folder + "/device", id + "\n");
    write(folder + "/class", "0x020000\n");
    write(folder + "/driver_override", "(null)\n");
    write(
        folder + "/resource",
        """
        0x00000000c0000000 0x00000000c1ffffff 0x000000000014220c
        0x0000000000000000 0x0000000000000000 0x0000000000000000
        """);
    link(address, "iommu_group", "../../../../kernel/iommu_groups/7");
    Files.createSymbolicLink(
        root.resolve("sys/kernel/iommu_groups/7/devices").resolve(address), directory(address));
  }

  private void link(String address, String name, String target) throws IOException {
    Path link = directory(address).resolve(name);
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, Path.of(target));
  }

  @Test
  void saysWhatIsInTheWayAndHowToPutItRight() {
    Result result = run("doctor", "3b:00.0");
    assertEquals(1, result.status(), result.err());
    assertTrue(result.out().contains("8086:1593, E810-C, SFP"), result.out());
    assertTrue(result.out().contains("-> irdma bind 0000:3b:00.0"), result.out());
    assertTrue(result.out().contains("0: 32 MiB"), result.out());
    assertTrue(result.out().endsWith("not ready: the simulator (sim:) works all the same\n"));
  }

  @Test
  void readyIsStatusZero() throws IOException {
    link(CARD, "driver", "../../drivers/vfio-pci");
    Result result = run("doctor");
    assertEquals(0, result.status(), result.out());
    assertTrue(result.out().endsWith("ready\n"), result.out());
    Result json = run("doctor", "--json");
    assertTrue(json.out().startsWith("{\"ready\":true,"), json.out());
    assertEquals(1, json.out().lines().count());
  }

  /** A kernel with iommufd may have no container and no groups. */
  @Test
  void characterDevicesAreEnough() throws IOException {
    link(CARD, "driver", "../../drivers/vfio-pci");
    Files.delete(root.resolve("dev/vfio/vfio"));
    Files.delete(root.resolve("dev/vfio/7"));
    Result result = run("doctor", CARD);
    assertEquals(1, result.status(), result.out());
    assertTrue(result.out().contains("modprobe vfio-pci vfio_iommu_type1"), result.out());
    write("dev/iommu", "");
    write("sys/bus/pci/devices/" + CARD + "/vfio-dev/vfio3/dev", "511:3\n");
    write("dev/vfio/devices/vfio2", "");
    result = run("doctor", CARD);
    assertEquals(1, result.status(), result.out());
    assertTrue(result.out().contains("-> chown $USER /dev/vfio/devices/vfio3"), result.out());
    write("dev/vfio/devices/vfio3", "");
    result = run("doctor", CARD);
    assertEquals(0, result.status(), result.out());
    assertTrue(result.out().contains("/dev/vfio/devices/vfio3 can be opened"), result.out());
  }

  @Test
  void neighboursInTheWayAreNamed() throws IOException {
    link(CARD, "driver", "../../drivers/vfio-pci");
    link(NEIGHBOUR, "driver", "../../drivers/ice");
    Result result = run("doctor", CARD);
    assertEquals(1, result.status());
    assertTrue(result.out().contains("0000:3b:00.1 (ice)"), result.out());
    assertTrue(result.out().contains("-> irdma bind 0000:3b:00.1"), result.out());
  }

  @Test
  void dryRunWritesNothing() throws IOException {
    Result result = run("bind", "--dry-run", CARD);
    assertEquals(0, result.status(), result.err());
    assertEquals(3, result.out().lines().count(), result.out());
    assertEquals("(null)\n", Files.readString(directory(CARD).resolve("driver_override")));
    assertFalse(Files.exists(root.resolve("run/irdma4j")));
  }

  @Test
  void whatIsInUseIsRefused() throws IOException {
    write("sys/bus/pci/devices/" + CARD + "/net/ens1f0/flags", "0x1003\n");
    Result card = run("bind", CARD);
    assertEquals(2, card.status());
    assertTrue(card.err().contains("network interface ens1f0 is up"), card.err());
    Result neighbour = run("bind", NEIGHBOUR);
    assertTrue(neighbour.err().contains("shares IOMMU group 7 with 0000:3b:00.0"), neighbour.err());
    write("sys/bus/pci/devices/" + CARD + "/net/ens1f0/flags", "0x1002\n");
    assertEquals(0, run("bind", "--dry-run", CARD).status());
  }

  /** No kernel moves the driver here, so the function is put back as it was, with an error. */
  @Test
  void aBindThatDoesNotTakeIsUndone() throws IOException {
    write("sys/bus/pci/drivers/ice/bind", "");
    Result result = run("bind", CARD);
    assertEquals(2, result.status());
    assertTrue(result.err().contains("vfio-pci did not take"), result.err());
    assertEquals("\n", Files.readString(directory(CARD).resolve("driver_override")));
    assertFalse(Files.exists(root.resolve("run/irdma4j").resolve(CARD)));
  }

  @Test
  void mistakesAreOneLine() {
    assertTrue(run("doctor", "nonsense").err().contains("no PCI address"));
    Result gone = run("bind", "77:00.0");
    assertEquals(2, gone.status());
    assertEquals(1, gone.err().lines().count(), gone.err());
    assertTrue(run("unbind", CARD).out().contains("vfio-pci does not have it"));
  }
}
