package irdma4j.driver.cm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.QueuePairState;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.StageListener;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two devices that know of each other by address alone, in virtual time. */
class ConnectionTest {
  private static final int PORT = 7174;
  private static final long SECOND = 1_000_000_000L;

  private static final class Side {
    final RdmaDevice device;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    final DmaMemory memory;
    final MemoryRegion region;
    final ConnectionManager cm;
    final List<CmEvent> events = new ArrayList<>();

    Side(Simulation simulation, int index, long seed, String vlan) {
      device =
          RdmaDevice.open(
              simulation.function(index),
              DeviceConfig.defaults()
                  .withQueuePairs(32)
                  .withSeed(seed)
                  .withPbleChunkPages(2)
                  .withMacAddress(0x0200_0000_000aL + index),
              StageListener.none());
      domain = device.allocateProtectionDomain();
      queue = device.createCompletionQueue(256);
      memory = device.allocateMemory(4096, DmaPlacement.CONTIGUOUS);
      region = domain.registerMemory(memory, Access.LOCAL_WRITE);
      cm =
          ConnectionManager.open(
              device,
              simulation.ethernet(index),
              CmConfig.of(
                      List.of(
                          LocalAddress.of("10.9.0." + (index + 1) + "/24" + vlan),
                          LocalAddress.of("fd00:9::" + (index + 1) + "/64" + vlan)),
                      seed)
                  .withPatience(14, 15));
    }

    QueuePair pair() {
      return domain.createQueuePair(QueuePairConfig.of(queue).withRequests(4, 4));
    }

    void close() {
      cm.close();
      device.close();
      memory.close();
    }
  }

  private static final class Net implements AutoCloseable {
    final Simulation simulation;
    final Side a;
    final Side b;

    final List<byte[]> frames = new ArrayList<>();

    Net(long seed, double loss) {
      this(seed, loss, "", "");
    }

    Net(long seed, double loss, String vlanOfA, String vlanOfB) {
      simulation =
          Simulation.builder()
              .functions(2)
              .seed(seed)
              .stepped()
              .lossPercent(loss)
              .tap(
                  (nanos, from, frame, bytes, dropped) ->
                      frames.add(frame.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE)))
              .build();
      a = new Side(simulation, 0, seed, vlanOfA);
      b = new Side(simulation, 1, seed + 1, vlanOfB);
    }

    void step() {
      for (Side side : List.of(a, b)) {
        CmEvent event = side.cm.poll();
        if (event != null) {
          side.events.add(event);
        }
        side.device.processEvents(0, 0);
      }
      simulation.advance(50_000);
    }

    <T extends CmEvent> T next(Side side, Class<T> kind) {
      long end = simulation.function(0).clock().nanos() + 60 * SECOND;
      while (side.events.isEmpty()) {
        assertTrue(simulation.function(0).clock().nanos() < end, "no " + kind.getSimpleName());
        step();
      }
      return assertInstanceOf(kind, side.events.removeFirst());
    }

    void settle(long nanos) {
      long end = simulation.function(0).clock().nanos() + nanos;
      while (simulation.function(0).clock().nanos() < end) {
        step();
      }
    }

    @Override
    public void close() {
      a.close();
      b.close();
      long left =
          simulation.function(0).dmaUsage().currentBytes()
              + simulation.function(1).dmaUsage().currentBytes();
      simulation.close();
      assertEquals(0, left);
    }
  }

  private static PrivateData text(String words) {
    return PrivateData.of(words.getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }

  private static String text(PrivateData data) {
    return new String(data.bytes(), java.nio.charset.StandardCharsets.UTF_8).replace("\0", "");
  }

  /**
   * Fails if an address is not resolved, a queue pair is left in a state that the specification
   * does not have there, private data gets lost or a message cannot cross the connection.
   */
  @ParameterizedTest
  @ValueSource(strings = {"10.9.0.2", "fd00:9::2"})
  void aConnectionIsSetUpUsedAndTakenDown(String address) {
    try (Net net = new Net(5, 0)) {
      Listener listener = net.b.cm.listen(PortSpace.TCP, PORT);
      QueuePair mine = net.a.pair();
      QueuePair theirs = net.b.pair();
      Connection active =
          net.a.cm.connect(
              mine,
              Gid.of(address),
              PORT,
              ConnectionParameters.defaults().withPrivateData(text("hello")));
      ConnectRequest request = net.next(net.b, ConnectRequest.class);
      assertEquals("hello", text(request.privateData()));
      assertEquals(listener, request.listener());
      assertEquals(1024, request.mtu());
      theirs.postReceive(9, net.b.region.lkey(), net.b.region.address(), 100);
      Connection passive =
          request.accept(theirs, ConnectionParameters.defaults().withPrivateData(text("well")));
      assertEquals(QueuePairState.READY_TO_RECEIVE, theirs.state());
      assertEquals("well", text(net.next(net.a, CmEvent.Established.class).privateData()));
      assertEquals(QueuePairState.READY_TO_SEND, mine.state());
      net.next(net.b, CmEvent.Established.class);
      assertEquals(QueuePairState.READY_TO_SEND, theirs.state());
      mine.postSend(1, net.a.region.lkey(), net.a.region.address(), 10, QueuePair.SIGNALED);
      mine.ring();
      net.settle(SECOND / 1000);
      Completion completion = new Completion();
      assertTrue(net.b.queue.poll(completion) && completion.isSuccess());
      assertTrue(net.a.queue.poll(completion) && completion.isSuccess());
      assertThrows(
          IllegalStateException.class,
          () -> request.accept(theirs, ConnectionParameters.defaults()));
      passive.disconnect();
      assertEquals(QueuePairState.ERROR, theirs.state());
      net.next(net.a, CmEvent.Disconnected.class);
      net.next(net.b, CmEvent.Disconnected.class);
      assertEquals(QueuePairState.ERROR, mine.state());
      active.disconnect();
      net.settle(SECOND);
      assertEquals(List.of(), net.a.events);
      assertEquals(0, net.a.cm.connections() + net.b.cm.connections());
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 20})
  void refusalsAreTold(double loss) {
    try (Net net = new Net(6, loss)) {
      QueuePair pair = net.a.pair();
      net.a.cm.connect(pair, Gid.of("10.9.0.2"), PORT, ConnectionParameters.defaults());
      assertEquals(
          RejectReason.INVALID_SERVICE_ID.code(), net.next(net.a, CmEvent.Rejected.class).reason());
      assertEquals(QueuePairState.INIT, pair.state());
      if (loss == 0) {
        net.b.cm.listen(PortSpace.TCP, PORT);
        net.a.cm.connect(pair, Gid.of("10.9.0.2"), PORT, ConnectionParameters.defaults());
        net.next(net.b, ConnectRequest.class).reject(text("no"));
        CmEvent.Rejected rejected = net.next(net.a, CmEvent.Rejected.class);
        assertEquals(RejectReason.CONSUMER_DEFINED.code(), rejected.reason());
        assertEquals("no", text(rejected.privateData()));
      }
      net.a.cm.connect(pair, Gid.of("10.9.0.77"), PORT, ConnectionParameters.defaults());
      net.next(net.a, CmEvent.Unreachable.class);
      assertThrows(
          IllegalArgumentException.class,
          () -> net.a.cm.connect(pair, Gid.of("10.8.0.2"), PORT, ConnectionParameters.defaults()));
    }
  }

  /** A slow application costs the peer no patience: it is told to wait. */
  @org.junit.jupiter.api.Test
  void aSlowAnswerIsWaitedFor() {
    try (Net net = new Net(7, 0)) {
      net.b.cm.listen(PortSpace.TCP, PORT);
      net.a.cm.connect(net.a.pair(), Gid.of("10.9.0.2"), PORT, ConnectionParameters.defaults());
      ConnectRequest request = net.next(net.b, ConnectRequest.class);
      net.settle(20 * SECOND / 10);
      assertEquals(List.of(), net.a.events);
      request.accept(net.b.pair(), ConnectionParameters.defaults());
      net.next(net.a, CmEvent.Established.class);
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 30})
  void aDatagramServiceIsLookedUp(double loss) {
    try (Net net = new Net(8, loss)) {
      net.b.cm.listen(PortSpace.UDP, PORT);
      DatagramQueuePair pair =
          net.b.domain.createDatagramQueuePair(QueuePairConfig.of(net.b.queue), 1024, 0x0123_4567);
      net.a.cm.lookUp(Gid.of("fd00:9::2"), PORT, text("who"));
      DatagramRequest request = net.next(net.b, DatagramRequest.class);
      assertEquals("who", text(request.privateData()));
      request.accept(pair, text("me"));
      CmEvent.PeerFound found = net.next(net.a, CmEvent.PeerFound.class);
      assertEquals(pair.qpn(), found.qpn());
      assertEquals(0x0123_4567, found.queueKey());
      assertEquals("me", text(found.privateData()));
      assertEquals(net.b.device.macAddress(), found.path().remoteMac());
      net.a.cm.lookUp(Gid.of("10.9.0.2"), PORT + 1, PrivateData.NONE);
      assertEquals(1, net.next(net.a, CmEvent.PeerRefused.class).status());
    }
  }

  /**
   * Random connects, accepts, rejects and disconnects of both sides under loss. Fails if a
   * connection's wait ends more than once or never, an end is told twice, something is told after
   * the end, or anything is left when both sides have closed.
   */
  @Property(tries = 60)
  void whateverHappensIsToldOnceAndInOrder(
      @ForAll long seed, @ForAll @IntRange(min = 0, max = 30) int loss) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Connection, String> told = new HashMap<>();
    try (Net net = new Net(seed & 0xffff, loss)) {
      net.a.cm.listen(PortSpace.TCP, PORT);
      net.b.cm.listen(PortSpace.TCP, PORT);
      List<Connection> asked = new ArrayList<>();
      List<Connection> open = new ArrayList<>();
      for (int action = 0; action < 12; action++) {
        Side side = random.nextBoolean() ? net.a : net.b;
        String peer = side == net.a ? "10.9.0.2" : "10.9.0.1";
        if (random.nextInt(3) > 0) {
          asked.add(
              side.cm.connect(
                  side.pair(),
                  Gid.of(peer),
                  random.nextInt(4) == 0 ? PORT + 1 : PORT,
                  ConnectionParameters.defaults()));
        } else if (!open.isEmpty()) {
          open.get(random.nextInt(open.size())).disconnect();
        }
        for (int i = random.nextInt(40); i > 0; i--) {
          net.step();
          handle(net.a, random, told, open);
          handle(net.b, random, told, open);
        }
      }
      long end = net.simulation.function(0).clock().nanos() + 60 * SECOND;
      while (net.a.cm.connections() + net.b.cm.connections() > 0
          && net.simulation.function(0).clock().nanos() < end) {
        net.step();
        handle(net.a, random, told, open);
        handle(net.b, random, told, open);
        if (random.nextInt(200) == 0) {
          open.forEach(Connection::disconnect);
        }
      }
      assertEquals(0, net.a.cm.connections() + net.b.cm.connections());
      for (Connection c : asked) {
        assertTrue(told.getOrDefault(c, "").matches("R|U|ED"), () -> c + ": " + told.get(c));
      }
      for (String one : told.values()) {
        assertTrue(one.matches("R|U|E?D"), one);
      }
    }
  }

  private static void handle(
      Side side, SplittableRandom random, Map<Connection, String> told, List<Connection> open) {
    for (CmEvent event : side.events) {
      switch (event) {
        case ConnectRequest request -> {
          try {
            if (random.nextInt(4) == 0) {
              request.reject(PrivateData.NONE);
            } else {
              open.add(request.accept(side.pair(), ConnectionParameters.defaults()));
            }
          } catch (IllegalStateException givenUp) {
            // The peer gave its request up before it was answered.
          }
        }
        case CmEvent.Established e -> {
          told.merge(e.connection(), "E", String::concat);
          open.add(e.connection());
        }
        case CmEvent.Rejected e -> told.merge(e.connection(), "R", String::concat);
        case CmEvent.Unreachable e -> told.merge(e.connection(), "U", String::concat);
        case CmEvent.Disconnected e -> told.merge(e.connection(), "D", String::concat);
        default -> throw new AssertionError(event);
      }
    }
    side.events.clear();
  }

  /** Fails if an address is answered for that is not there, or the way to one that is is wrong. */
  @org.junit.jupiter.api.Test
  void theWayToANeighbourIsTold() {
    try (Net net = new Net(9, 0)) {
      for (String address : List.of("10.9.0.2", "fd00:9::2")) {
        net.a.cm.resolve(Gid.of(address));
        CmEvent.AddressFound found = net.next(net.a, CmEvent.AddressFound.class);
        assertEquals(Gid.of(address), found.peer());
        assertEquals(net.b.device.macAddress(), found.path().remoteMac());
      }
      net.a.cm.resolve(Gid.of("10.9.0.77"));
      assertEquals(Gid.of("10.9.0.77"), net.next(net.a, CmEvent.AddressUnknown.class).peer());
      assertThrows(IllegalArgumentException.class, () -> net.a.cm.resolve(Gid.of("10.8.0.2")));
    }
  }

  /**
   * Fails if a frame of a VLAN goes without its tag, by whichever protocol, or is taken by somebody
   * who is not in it.
   */
  @ParameterizedTest
  @ValueSource(strings = {"10.9.0.2", "fd00:9::2"})
  void whoIsInAVlanIsReachedInItAlone(String address) {
    try (Net net = new Net(10, 0, "@5", "@5")) {
      net.b.cm.listen(PortSpace.TCP, PORT);
      QueuePair mine = net.a.pair();
      net.a.cm.connect(mine, Gid.of(address), PORT, ConnectionParameters.defaults());
      QueuePair theirs = net.b.pair();
      theirs.postReceive(9, net.b.region.lkey(), net.b.region.address(), 100);
      net.next(net.b, ConnectRequest.class).accept(theirs, ConnectionParameters.defaults());
      net.next(net.a, CmEvent.Established.class);
      mine.postSend(1, net.a.region.lkey(), net.a.region.address(), 10, QueuePair.SIGNALED);
      mine.ring();
      net.settle(SECOND / 1000);
      Completion completion = new Completion();
      assertTrue(net.a.queue.poll(completion) && completion.isSuccess());
      for (byte[] frame : net.frames) {
        assertEquals(0x8100_0005, ByteBuffer.wrap(frame).getInt(12));
      }
    }
    for (String other : List.of("", "@6")) {
      try (Net net = new Net(11, 0, "@5", other)) {
        net.a.cm.resolve(Gid.of(address));
        net.next(net.a, CmEvent.AddressUnknown.class);
      }
    }
  }

  /** Fails if a request too many is kept, or an answered one still takes a place. */
  @org.junit.jupiter.api.Test
  void aListenerKeepsNoMoreRequestsThanItWasToldTo() {
    try (Net net = new Net(12, 0)) {
      net.b.cm.listen(PortSpace.TCP, PORT, 2);
      Gid peer = Gid.of("10.9.0.2");
      for (int i = 0; i < 3; i++) {
        net.a.cm.connect(net.a.pair(), peer, PORT, ConnectionParameters.defaults());
      }
      ConnectRequest first = net.next(net.b, ConnectRequest.class);
      net.next(net.b, ConnectRequest.class);
      assertEquals(
          RejectReason.NO_RESOURCES.code(), net.next(net.a, CmEvent.Rejected.class).reason());
      first.accept(net.b.pair(), ConnectionParameters.defaults());
      net.next(net.a, CmEvent.Established.class);
      net.next(net.b, CmEvent.Established.class);
      net.a.cm.connect(net.a.pair(), peer, PORT, ConnectionParameters.defaults());
      net.next(net.b, ConnectRequest.class);
      net.b.cm.listen(PortSpace.UDP, PORT, 1);
      net.a.cm.lookUp(peer, PORT, PrivateData.NONE);
      DatagramRequest request = net.next(net.b, DatagramRequest.class);
      net.a.cm.lookUp(peer, PORT, PrivateData.NONE);
      assertEquals(3, net.next(net.a, CmEvent.PeerRefused.class).status());
      request.reject();
      assertEquals(2, net.next(net.a, CmEvent.PeerRefused.class).status());
      net.a.cm.lookUp(peer, PORT, PrivateData.NONE);
      net.next(net.b, DatagramRequest.class);
      assertThrows(
          IllegalArgumentException.class, () -> net.b.cm.listen(PortSpace.TCP, PORT + 1, 0));
    }
  }

  /**
   * Fails if a side begins with another number than its peer's message says. Offsets: Linux
   * ibta_vol1_c12.h.
   */
  @org.junit.jupiter.api.Test
  void eachSideBeginsWithTheNumberThatItsPeerAsksFor() {
    int afterEthernet = 14 + 20 + 8;
    int mad = afterEthernet + 12 + 8;
    try (Net net = new Net(13, 0)) {
      net.b.cm.listen(PortSpace.TCP, PORT);
      QueuePair mine = net.a.pair();
      QueuePair theirs = net.b.pair();
      mine.postReceive(9, net.a.region.lkey(), net.a.region.address(), 100);
      theirs.postReceive(9, net.b.region.lkey(), net.b.region.address(), 100);
      net.a.cm.connect(mine, Gid.of("10.9.0.2"), PORT, ConnectionParameters.defaults());
      net.next(net.b, ConnectRequest.class).accept(theirs, ConnectionParameters.defaults());
      net.next(net.a, CmEvent.Established.class);
      net.next(net.b, CmEvent.Established.class);
      mine.postSend(1, net.a.region.lkey(), net.a.region.address(), 10, QueuePair.SIGNALED);
      mine.ring();
      net.settle(SECOND / 1000);
      theirs.postSend(1, net.b.region.lkey(), net.b.region.address(), 10, QueuePair.SIGNALED);
      theirs.ring();
      net.settle(SECOND / 1000);
      int askedByReq = -1;
      int askedByRep = -1;
      List<Integer> sent = new ArrayList<>();
      for (byte[] bytes : net.frames) {
        ByteBuffer frame = ByteBuffer.wrap(bytes);
        if (frame.getShort(12) != 0x0800) {
          continue;
        }
        int opcode = bytes[afterEthernet];
        if (opcode == 100 && frame.getShort(mad + 16) == 0x0010) {
          askedByReq = frame.getInt(mad + 24 + 44) >>> 8;
        } else if (opcode == 100 && frame.getShort(mad + 16) == 0x0013) {
          askedByRep = frame.getInt(mad + 24 + 20) >>> 8;
        } else if (opcode == 4) {
          sent.add(frame.getInt(afterEthernet + 8) & 0xff_ffff);
        }
      }
      assertEquals(List.of(askedByRep, askedByReq), sent);
    }
  }
}
