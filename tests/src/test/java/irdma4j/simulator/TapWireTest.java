package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The kernel's network stack judges what comes out of a TAP device. */
class TapWireTest {
  private record Run(int status, String output) {}

  private static Run namespace(String... command) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("unshare", "--map-root-user", "--net"));
    all.addAll(Arrays.asList(command));
    Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Run(process.waitFor(), output);
  }

  private static boolean canMakeDevices() throws InterruptedException {
    try {
      return namespace("ip", "tuntap", "add", "irdma0", "mode", "tap").status() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Fails if frames are cut or shifted on their way, ARP or neighbour discovery is not answered
   * either way, or the kernel finds a header or checksum wrong.
   */
  @Test
  void theKernelIsAtTheOtherEnd() throws IOException, InterruptedException {
    assumeTrue(Files.isWritable(Path.of("/dev/net/tun")), "no /dev/net/tun here");
    assumeTrue(canMakeDevices(), "no network namespace of one's own here: unshare or ip refuses");
    Run run =
        namespace(
            // Java asks once, when it starts, whether there is an IPv6 address.
            "sh",
            "-c",
            "ip link set lo up && exec \"$@\"",
            "sh",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            "irdma4j.simulator.TapProbe");
    assertEquals(0, run.status(), run.output());
    assertTrue(run.output().contains("all seen"), run.output());
  }
}
