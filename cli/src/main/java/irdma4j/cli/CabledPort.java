package irdma4j.cli;

import irdma4j.driver.DeviceConfig;
import irdma4j.driver.RdmaDevice;
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.driver.cm.CmConfig;
import irdma4j.driver.cm.CmEvent;
import irdma4j.driver.cm.ConnectionManager;
import irdma4j.driver.cm.LocalAddress;
import irdma4j.simulator.PcapngWriter;
import irdma4j.simulator.Simulation;
import irdma4j.simulator.Wire;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A simulated card whose port is cabled to somebody, brought up and with connections managed. */
final class CabledPort implements AutoCloseable {
  private static final int PORTS = 2;
  private static final long PAUSE_NANOS = 20_000;

  private final Simulation simulation;
  private final RdmaDevice device;
  private final ConnectionManager manager;
  private final @Nullable PcapngWriter capture;
  private final long patience;
  private final ArrayDeque<CmEvent> events = new ArrayDeque<>();

  private CabledPort(
      Simulation simulation,
      RdmaDevice device,
      ConnectionManager manager,
      @Nullable PcapngWriter capture,
      long patience) {
    this.simulation = simulation;
    this.device = device;
    this.manager = manager;
    this.capture = capture;
    this.patience = patience;
  }

  static CabledPort open(
      Wire wire,
      List<LocalAddress> addresses,
      long mac,
      int mtu,
      double loss,
      long seed,
      @Nullable Path pcap,
      long patience)
      throws IOException {
    Simulation.Builder builder =
        Simulation.builder().functions(1).seed(seed).lossPercent(loss).wire(wire);
    PcapngWriter capture = pcap == null ? null : PcapngWriter.create(pcap, PORTS);
    if (capture != null) {
      builder.tap(capture);
    }
    Simulation simulation = builder.build();
    try {
      DeviceConfig config =
          DeviceConfig.defaults().withMacAddress(mac).withSeed(seed).withQueuePairs(64);
      RdmaDevice device = RdmaDevice.open(simulation.function(0), config, StageListener.none());
      CmConfig connections = CmConfig.of(addresses, seed).withMtu(mtu).withPatience(17, 15);
      return new CabledPort(
          simulation,
          device,
          ConnectionManager.open(device, simulation.ethernet(0), connections),
          capture,
          patience);
    } catch (RuntimeException e) {
      simulation.close();
      throw e;
    }
  }

  RdmaDevice device() {
    return device;
  }

  ConnectionManager manager() {
    return manager;
  }

  long nanos() {
    return simulation.function(0).clock().nanos();
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
    long end = nanos() + patience;
    while (true) {
      progress();
      if (holds.getAsBoolean()) {
        return;
      }
      if (nanos() > end) {
        throw new RdmaException("no sign of " + what);
      }
      simulation.function(0).clock().pause(PAUSE_NANOS);
    }
  }

  /** Lets what is under way come to its end, for a short time. */
  void linger(long nanos) {
    long end = nanos() + nanos;
    while (nanos() < end && manager.connections() > 0) {
      progress();
      simulation.function(0).clock().pause(PAUSE_NANOS);
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
        simulation.close();
        closeCapture();
      }
    }
  }

  private void closeCapture() {
    if (capture != null) {
      try {
        capture.close();
      } catch (IOException e) {
        throw new RdmaException("the capture was not written: " + e.getMessage(), e);
      }
    }
  }
}
