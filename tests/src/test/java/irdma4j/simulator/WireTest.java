package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two simulations that know of each other by a wire alone. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WireTest {
  private static final int SIZE = 1 << 20;

  /** One end: a simulation of one function, brought up, with a queue pair. */
  private static final class End implements AutoCloseable {
    final Simulation simulation;
    final RdmaDevice device;
    final CompletionQueue queue;
    final QueuePair pair;
    final DmaMemory memory;
    final MemoryRegion region;
    final Gid gid;

    End(Wire wire, int number) {
      simulation = Simulation.builder().functions(1).seed(number).wire(wire).build();
      gid = Gid.of("10.9.0." + number);
      device =
          RdmaDevice.open(
              simulation.function(0),
              DeviceConfig.defaults()
                  .withQueuePairs(8)
                  .withPbleChunkPages(2)
                  .withMacAddress(0x0200_0000_0000L + number),
              StageListener.none());
      ProtectionDomain domain = device.allocateProtectionDomain();
      queue = device.createCompletionQueue(64);
      pair = domain.createQueuePair(QueuePairConfig.of(queue));
      memory = device.allocateMemory(SIZE, DmaPlacement.SCATTERED);
      region = domain.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    }

    void connect(End peer) {
      pair.connect(
          RcPath.of(gid, peer.gid, peer.device.macAddress(), peer.pair.qpn(), 100, 100)
              .withMtu(4096));
    }

    Completion await() {
      Completion completion = new Completion();
      while (!queue.poll(completion)) {
        device.processEvents(0, 0);
        simulation.function(0).clock().pause(1000);
      }
      return completion;
    }

    @Override
    public void close() {
      device.close();
      memory.close();
      assertEquals(0, simulation.function(0).dmaUsage().currentBytes());
      simulation.close();
    }
  }

  private static void writeAndCompare(Wire left, Wire right) {
    try (End a = new End(left, 1);
        End b = new End(right, 2)) {
      a.connect(b);
      b.connect(a);
      for (int i = 0; i < SIZE; i += 4) {
        a.memory.segment().set(ValueLayout.JAVA_INT, i, i * 0x9e3779b9);
      }
      assertTrue(
          a.pair.postWrite(
              1,
              a.region.lkey(),
              a.region.address(),
              SIZE,
              b.region.address(),
              b.region.rkey(),
              QueuePair.SIGNALED));
      a.pair.ring();
      assertTrue(a.await().isSuccess());
      assertEquals(-1, a.memory.segment().mismatch(b.memory.segment()));
      assertTrue(b.simulation.statistics(0).framesReceived() >= SIZE / 4096);
    }
  }

  private static int freePort() throws IOException {
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Fails if a frame is changed, cut or put into another form on its way to the other process. */
  @Test
  void aWriteCrossesSocketsInTheFileSystem(@TempDir Path folder) throws IOException {
    Path a = folder.resolve("a");
    Path b = folder.resolve("b");
    writeAndCompare(Wire.unix(a, b), Wire.unix(b, a));
    assertFalse(Files.exists(a));
  }

  @Test
  void aWriteCrossesUdp() throws IOException {
    InetSocketAddress a = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
    InetSocketAddress b = new InetSocketAddress(InetAddress.getLoopbackAddress(), freePort());
    writeAndCompare(Wire.udp(a, b), Wire.udp(b, a));
  }

  /** What is not RoCE reaches the LAN side of the port that it names, or of all for a group. */
  @Test
  void otherFramesReachTheLanSide(@TempDir Path folder) throws IOException {
    Path a = folder.resolve("a");
    Path b = folder.resolve("b");
    try (Arena arena = Arena.ofConfined();
        Wire wire = Wire.unix(b, a);
        Simulation simulation = Simulation.builder().functions(2).wire(Wire.unix(a, b)).build()) {
      MemorySegment frame = arena.allocate(Wire.MAX_FRAME);
      MemorySegment got = arena.allocate(Wire.MAX_FRAME);
      frame.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 0x5452_ffff_ffff_ffffL);
      frame.set(ValueLayout.JAVA_INT_UNALIGNED, 8, 0x0100_0000);
      frame.set(ValueLayout.JAVA_SHORT_UNALIGNED, 12, (short) 0x0608);
      wire.send(frame, 60);
      for (int port = 0; port < 2; port++) {
        int bytes = 0;
        while (bytes == 0) {
          simulation.function(port).clock().pause(100_000);
          bytes = simulation.ethernet(port).receive(got);
        }
        assertEquals(60, bytes);
        assertEquals(-1, MemorySegment.mismatch(frame, 0, 60, got, 0, 60));
        assertEquals(0, simulation.ethernet(port).receive(got));
      }
      frame.set(ValueLayout.JAVA_BYTE, 13, (byte) 0x55);
      simulation.ethernet(1).send(frame, 77);
      int bytes = 0;
      while (bytes == 0) {
        bytes = wire.receive(got);
      }
      assertEquals(77, bytes);
      assertEquals(-1, MemorySegment.mismatch(frame, 0, 77, got, 0, 77));
    }
  }

  @Test
  void badWiresAreRefused(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "x");
    assertThrows(IOException.class, () -> Wire.unix(file, file));
    assertEquals("x", Files.readString(file));
    assertThrows(
        IOException.class, () -> Wire.unix(folder.resolve("x".repeat(108)), folder.resolve("b")));
    assertThrows(IOException.class, () -> Wire.unix(folder.resolve("no/folder"), file));
    assertThrows(IOException.class, () -> Wire.tap("a-name-of-16-byt"));
    assertThrows(IOException.class, () -> Wire.tap(""));
    Wire wire = Wire.unix(folder.resolve("a"), folder.resolve("b"));
    assertThrows(
        IllegalArgumentException.class, () -> Simulation.builder().wire(wire).stepped().build());
    assertEquals(-1, wire.receive(Arena.ofAuto().allocate(Wire.MAX_FRAME)));
  }
}
