package irdma4j.simulator;

import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.driver.cm.CmConfig;
import irdma4j.driver.cm.CmEvent;
import irdma4j.driver.cm.ConnectionManager;
import irdma4j.driver.cm.ConnectionParameters;
import irdma4j.driver.cm.LocalAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A simulated card at a TAP device, with the kernel's network stack at the other end. Runs in a
 * network namespace of its own; {@link TapWireTest} starts it.
 */
final class TapProbe {
  private static final String NAME = "irdma0";
  private static final long MAC = 0x5254_0000_000bL;
  private static final String MAC_TEXT = "52:54:00:00:00:0b";
  private static final long PATIENCE = 30_000_000_000L;

  /** BTH, DETH, a MAD and the ICRC. */
  private static final int CONNECT_REQUEST = 12 + 8 + 256 + 4;

  private TapProbe() {}

  public static void main(String[] arguments) throws Exception {
    try (Simulation simulation =
            Simulation.builder().functions(1).seed(3).wire(Wire.tap(NAME)).build();
        RdmaDevice device =
            RdmaDevice.open(
                simulation.function(0),
                DeviceConfig.defaults().withMacAddress(MAC).withQueuePairs(16),
                StageListener.none());
        ConnectionManager manager =
            ConnectionManager.open(
                device,
                simulation.ethernet(0),
                CmConfig.of(
                    List.of(LocalAddress.of("10.9.7.2/24"), LocalAddress.of("fd00:7::2/64")), 3));
        CompletionQueue queue = device.createCompletionQueue(16);
        ProtectionDomain domain = device.allocateProtectionDomain();
        QueuePair pair = domain.createQueuePair(QueuePairConfig.of(queue))) {
      ip("addr", "add", "10.9.7.1/24", "dev", NAME);
      ip("-6", "addr", "add", "fd00:7::1/64", "dev", NAME, "nodad");
      ip("link", "set", NAME, "up");
      long theirs = hardwareAddress();
      for (String address : List.of("10.9.7.1", "fd00:7::1")) {
        manager.resolve(Gid.of(address));
        CmEvent event = manager.await(PATIENCE);
        require(
            event instanceof CmEvent.AddressFound found && found.path().remoteMac() == theirs,
            "the kernel tells its address: " + event);
      }
      try (DatagramChannel socket = DatagramChannel.open()) {
        socket.bind(new InetSocketAddress("10.9.7.1", 4791)).configureBlocking(false);
        manager.connect(pair, Gid.of("10.9.7.1"), 7174, ConnectionParameters.defaults());
        ByteBuffer received = ByteBuffer.allocate(2048);
        until(
            manager,
            () -> receive(socket, received),
            "the kernel takes a request for a connection");
        require(received.position() == CONNECT_REQUEST, "it has " + received.position() + " bytes");
      }
      for (String address : List.of("10.9.7.2", "fd00:7::2")) {
        try (DatagramChannel socket = DatagramChannel.open()) {
          socket.send(ByteBuffer.allocate(1), new InetSocketAddress(address, 9));
        }
        until(
            manager,
            () -> ip("neigh", "show", address).contains(MAC_TEXT),
            "the kernel learns our address " + address);
      }
    }
    System.out.println("all seen");
  }

  private static void until(ConnectionManager manager, BooleanSupplier holds, String what) {
    long end = System.nanoTime() + PATIENCE;
    while (!holds.getAsBoolean()) {
      require(System.nanoTime() < end, what);
      manager.await(1_000_000);
    }
  }

  private static boolean receive(DatagramChannel socket, ByteBuffer into) {
    try {
      return socket.receive(into) instanceof InetSocketAddress from
          && from.getAddress().getHostAddress().equals("10.9.7.2");
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long hardwareAddress() throws IOException {
    long mac = 0;
    for (byte b : NetworkInterface.getByName(NAME).getHardwareAddress()) {
      mac = mac << 8 | (b & 0xff);
    }
    return mac;
  }

  private static String ip(String... arguments) {
    try {
      List<String> command = new java.util.ArrayList<>(List.of("ip"));
      command.addAll(Arrays.asList(arguments));
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output =
          new String(
              process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
      require(process.waitFor() == 0, command + ": " + output);
      return output;
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("not so: " + what);
    }
  }
}
