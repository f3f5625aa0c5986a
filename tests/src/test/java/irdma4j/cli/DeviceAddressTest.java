package irdma4j.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/**
 * The addresses of devices, and what commands say where a card can't be opened.
 *
 * <p>Fails if an address is read as another device, a command opens the simulator though a card was
 * asked for, or does not say what is in the way and how to put it right.
 */
class DeviceAddressTest {
  private record Result(int status, String out, String err) {}

  @TempDir Path root;

  private Result run(String... arguments) {
    CommandLine command = Main.commandLine(InputStream.nullInputStream());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Result(command.execute(arguments), out.toString(), err.toString());
  }

  @Test
  void addressesAreRead() {
    assertEquals(new DeviceAddress.Simulated(0), DeviceAddress.parse("sim:"));
    assertEquals(new DeviceAddress.Simulated(1), DeviceAddress.parse("sim:1"));
    assertEquals(new DeviceAddress.Card("0000:3b:00.0"), DeviceAddress.parse("pci:3B:00.0"));
    assertEquals(new DeviceAddress.Card("0001:3b:1f.7"), DeviceAddress.parse("pci:0001:3b:1f.7"));
    assertEquals("pci:0000:3b:00.0", DeviceAddress.parse("pci:0000:3b:00.0").toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "sim",
        "sim:x",
        "sim:-1",
        "sim:9999",
        "pci:",
        "3b:00.0",
        "pci:3b:00",
        "pci:3b:00.8",
        "pci:3b:20.0",
        "usb:1"
      })
  void whatIsNoAddressIsSaid(String text) {
    UserError error = assertThrows(UserError.class, () -> DeviceAddress.parse(text));
    assertTrue(error.getMessage().contains("pci:0000:3b:00.0"), error.getMessage());
  }

  private void assertNotReady(Result result) {
    assertEquals(1, result.status(), result.toString());
    assertTrue(result.err().contains("pci:0000:3b:00.0: there is no PCI function"), result.err());
    assertTrue(result.err().contains("BAD   IOMMU "), result.err());
    assertTrue(result.err().contains("-> modprobe vfio-pci"), result.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"group", "cdev", "auto"})
  void commandsSayWhatIsInTheWayOfACard(String way) {
    String[] card = {"--device", "pci:3b:00.0", "--vfio", way, "--root", root.toString()};
    assertNotReady(run(with(card, "hmc")));
    assertNotReady(run(with(card, "demo", "--device", "pci:3b:00.1")));
    assertNotReady(run(with(card, "rping", "-s", "--address", "10.9.0.1/24")));
    assertNotReady(run(with(card, "cmatose", "--address", "10.9.0.1/24")));
  }

  private static String[] with(String[] card, String command, String... more) {
    String[] all = new String[1 + card.length + more.length];
    all[0] = command;
    System.arraycopy(card, 0, all, 1, card.length);
    System.arraycopy(more, 0, all, 1 + card.length, more.length);
    return all;
  }

  @Test
  void whatStandsInTheWayOfTheFunctionIsSaidToo() throws Exception {
    Path card = root.resolve("sys/bus/pci/devices/0000:3b:00.0");
    Files.createDirectories(card);
    Files.writeString(card.resolve("vendor"), "0x8086\n");
    Files.writeString(card.resolve("device"), "0x1593\n");
    Files.writeString(card.resolve("class"), "0x020000\n");
    Files.createSymbolicLink(card.resolve("driver"), Path.of("../../drivers/ice"));
    Result result = run("hmc", "--device", "pci:3b:00.0", "--root", root.toString());
    assertEquals(1, result.status());
    assertTrue(result.err().contains("has the driver ice; bind it to vfio-pci"), result.err());
    assertTrue(result.err().contains("-> irdma bind 0000:3b:00.0"), result.err());
  }

  @Test
  void anotherDeviceIsNeverOpened() throws Exception {
    Path disk = root.resolve("sys/bus/pci/devices/0000:05:00.0");
    Files.createDirectories(disk);
    Files.writeString(disk.resolve("vendor"), "0x144d\n");
    Files.writeString(disk.resolve("device"), "0xa808\n");
    Files.writeString(disk.resolve("class"), "0x010802\n");
    Files.createSymbolicLink(disk.resolve("driver"), Path.of("../../drivers/vfio-pci"));
    Result result = run("hmc", "--device", "pci:05:00.0", "--root", root.toString());
    assertEquals(1, result.status());
    assertTrue(result.err().contains("not a card that this driver drives"), result.err());
    assertTrue(result.err().contains("144d:a808: not ours"), result.err());
  }

  @Test
  void whatOnlyTheSimulatorCanDoIsRefused() {
    for (String[] arguments :
        new String[][] {
          {"demo", "--device", "pci:3b:00.0"},
          {"demo", "--device", "pci:3b:00.0", "--device", "pci:3b:00.0"},
          {"demo", "--device", "pci:3b:00.0", "--device", "sim:0"},
          {"demo", "--device", "sim:1", "--device", "sim:0"},
          {"demo", "--device", "pci:3b:00.0", "--device", "pci:3b:00.1", "--seed", "1"},
          {"demo", "--device", "pci:3b:00.0", "--device", "pci:3b:00.1", "--loss", "1"},
          {"hmc", "--device", "sim:1"},
          {"hmc", "--device", "pci:3b:00.0", "--segments", "3"},
          {"rping", "-s", "--device", "sim:1", "--address", "10.9.0.1/24"},
          {"rping", "-s", "--address", "10.9.0.1/24"}
        }) {
      Result result = run(arguments);
      assertEquals(2, result.status(), String.join(" ", arguments) + result);
      assertEquals(1, result.err().lines().count(), result.err());
    }
  }

  @Test
  void theSimulatorIsTheDefault() {
    Result result = run("hmc", "--card", "small", "--device", "sim:0", "--address", "0");
    assertEquals(0, result.status(), result.err());
  }
}
