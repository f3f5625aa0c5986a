package irdma4j.cli;

import irdma4j.driver.DatagramPath;
import irdma4j.driver.DeviceConfig;
import irdma4j.driver.Gid;
import irdma4j.driver.RcPath;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.driver.cm.CmConfig;
import irdma4j.driver.cm.CmEvent;
import irdma4j.driver.cm.ConnectionManager;
import irdma4j.driver.cm.LocalAddress;
import irdma4j.uapi.EthernetPort;
import irdma4j.uapi.PciFunction;
import java.util.ArrayDeque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A simulated card whose port is cabled to somebody, brought up and with connections managed. */
final class CabledPort implements AutoCloseable {
  private static final long PAUSE_NANOS = 20_000;
  private static final long SLEEP_NANOS = 1_000_000;

  /**
   * What a port is to be.
   *
   * @param addresses its own
   * @param mac its MAC address, 48 bits
   * @param mtu payload bytes of a packet
   * @param seed where chance comes from
   * @param patience nanoseconds after which a wait is given up
   */
  record Settings(List<LocalAddress> addresses, long mac, int mtu, long seed, long patience) {}

  private final PciFunction function;
  private final RdmaDevice device;
  private final ConnectionManager manager;
  private final Settings settings;
  private final Runnable release;
  private final ArrayDeque<CmEvent> events = new ArrayDeque<>();

  private CabledPort(
      PciFunction function,
      RdmaDevice device,
      ConnectionManager manager,
      Settings settings,
      Runnable release) {
    this.function = function;
    this.device = device;
    this.manager = manager;
    this.settings = settings;
    this.release = release;
  }

  /**
   * Brings a function up.
   *
   * @param release what is to be done when the port is closed; not if this fails
   */
  static CabledPort open(
      PciFunction function, EthernetPort lan, Settings settings, Runnable release) {
    DeviceConfig config =
        DeviceConfig.defaults()
            .withMacAddress(settings.mac)
            .withSeed(settings.seed)
            .withQueuePairs(64);
    RdmaDevice device = RdmaDevice.open(function, config, StageListener.none());
    try {
      CmConfig connections =
          CmConfig.of(settings.addresses, settings.seed).withMtu(settings.mtu).withPatience(17, 15);
      return new CabledPort(
          function, device, ConnectionManager.open(device, lan, connections), settings, release);
    } catch (RuntimeException e) {
      device.close();
      throw e;
    }
  }

  RdmaDevice device() {
    return device;
  }

  ConnectionManager manager() {
    return manager;
  }

  Settings settings() {
    return settings;
  }

  long nanos() {
    return function.clock().nanos();
  }

  /** The next event of connections, if one has come. */
  @Nullable CmEvent takeEvent() {
    progress();
    return events.poll();
  }

  private void progress() {
    device.processEvents(0, 0);
    CmEvent event = manager.poll();
    if (event != null) {
      events.add(event);
    }
  }

  /** Waits for an event of connections. */
  CmEvent await(String what) {
    awaitThat(() -> !events.isEmpty(), what);
    return events.remove();
  }

  /** Waits until something holds. */
  void awaitThat(BooleanSupplier holds, String what) {
    await(holds, what, () -> function.clock().pause(PAUSE_NANOS));
  }

  /** Waits until something holds, and sleeps until the device raises an event. */
  void awaitEvents(BooleanSupplier holds, String what) {
    // Who asks for this port's address can wait for so long.
    await(holds, what, () -> device.processEvents(0, SLEEP_NANOS));
  }

  private void await(BooleanSupplier holds, String what, Runnable pause) {
    long end = nanos() + settings.patience;
    while (true) {
      progress();
      if (holds.getAsBoolean()) {
        return;
      }
      if (nanos() > end) {
        throw new RdmaException("no sign of " + what);
      }
      pause.run();
    }
  }

  /** Lets connections come to their end, for a short time. */
  void linger(long nanos) {
    long end = nanos() + nanos;
    while (nanos() < end && manager.connections() > 0) {
      progress();
      function.clock().pause(PAUSE_NANOS);
    }
  }

  /** Goes on answering for its addresses for a time. */
  void rest(long nanos) {
    long end = nanos() + nanos;
    while (nanos() < end) {
      progress();
      function.clock().pause(PAUSE_NANOS);
    }
  }

  @Override
  public void close() {
    try {
      manager.close();
    } finally {
      try {
        device.close();
      } finally {
        release.run();
      }
    }
  }

  /** The way to a neighbour. */
  private DatagramPath pathTo(Gid peer) {
    manager.resolve(peer);
    CmEvent event = await("an answer for the address " + peer);
    return switch (event) {
      case CmEvent.AddressFound found -> found.path();
      case CmEvent.AddressUnknown unknown ->
          throw new RdmaException("nobody answers for the address " + unknown.peer());
      default -> throw new RdmaException("unexpected: " + event);
    };
  }

  /** The way of a reliable connection to a queue pair at a neighbour. */
  RcPath connectedPath(Gid own, Gid peer, int remoteQpn, int localPsn, int remotePsn) {
    DatagramPath path = pathTo(peer);
    return RcPath.of(own, peer, path.remoteMac(), remoteQpn, localPsn, remotePsn)
        .withVlan(path.vlan());
  }

  /**
   * One of the port's own addresses.
   *
   * @param index which, from 0
   * @param option what the user calls the index
   */
  Gid addressAt(int index, String option) {
    List<LocalAddress> addresses = settings.addresses();
    if (index < 0 || index >= addresses.size()) {
      throw new UserError("%s %d: 0 to %d".formatted(option, index, addresses.size() - 1));
    }
    return addresses.get(index).gid();
  }

  /** The packet sequence number that a connection of this port begins with, 24 bits. */
  int startingPsn() {
    return new SplittableRandom(settings.seed()).nextInt(1 << 24);
  }
}
