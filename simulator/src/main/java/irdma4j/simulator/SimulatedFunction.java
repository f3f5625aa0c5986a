package irdma4j.simulator;

import irdma4j.simulator.device.Device;
import irdma4j.simulator.device.DeviceCounters;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.Iommu;
import irdma4j.simulator.device.Presence;
import irdma4j.simulator.device.QueueEngine;
import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A simulated function as a driver sees it: {@link PciFunction} in front of a {@link Device}. */
final class SimulatedFunction implements PciFunction {
  private static final int PAGE = Iommu.PAGE;

  private final int index;
  private final SimulatedConfigSpace config;
  private final DeviceCounters counters = new DeviceCounters();
  private final Iommu iommu;
  private final IovaSpace iovas;
  private final Device device;
  private final Set<SimulatedMemory> memories = new LinkedHashSet<>();
  private @Nullable Engine engine;
  private @Nullable SimulatedInterrupts interrupts;
  private @Nullable SimulatedBar bar;
  private @Nullable DeviceClock clock;
  private long currentBytes;
  private long peakBytes;
  private volatile boolean closed;

  SimulatedFunction(
      int index,
      CardProfile profile,
      long mac,
      long seed,
      long iovaBase,
      Device.Environment environment,
      Function<DeviceServices, QueueEngine> queueEngine) {
    this.index = index;
    this.iommu = new Iommu(counters, iovaBase);
    this.iovas = new IovaSpace(iommu, seed, Iommu.PAGES);
    this.device =
        new Device(profile, mac, iommu, counters, this::message, environment, queueEngine);
    this.config =
        new SimulatedConfigSpace(profile.vectors(), () -> device.presence() == Presence.REMOVED);
  }

  /** Joins the function to its engine, before anyone uses it. */
  void join(Engine runner, int vectors) {
    engine = runner;
    interrupts = new SimulatedInterrupts(runner, vectors);
    bar = new SimulatedBar(runner, this, device);
    clock =
        new DeviceClock() {
          @Override
          public long nanos() {
            return runner.clockNanos();
          }

          @Override
          public void pause(long nanos) {
            runner.pause(nanos);
          }
        };
  }

  private void message(int vector) {
    SimulatedInterrupts target = interrupts;
    if (target != null) {
      target.fire(vector);
    }
  }

  Device device() {
    return device;
  }

  Iommu iommu() {
    return iommu;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException(address() + " is closed");
    }
  }

  private <T> T joined(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException(address() + " has no engine");
    }
    return part;
  }

  @Override
  public String address() {
    return "sim:" + index;
  }

  @Override
  public ConfigSpace config() {
    return config;
  }

  @Override
  public Bar bar(int number) {
    checkOpen();
    if (number != 0) {
      throw new IllegalArgumentException(address() + " has no memory BAR " + number);
    }
    return joined(bar);
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    checkOpen();
    if (bytes < 1) {
      throw new IllegalArgumentException(bytes + " bytes");
    }
    if (alignment < 1 || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException("alignment " + alignment + " is not a power of two");
    }
    long pages = (bytes - 1) / PAGE + 1;
    if (pages > Iommu.PAGES / 2 || alignment > (long) Iommu.PAGES / 2 * PAGE) {
      throw new PciException(address() + ": " + bytes + " bytes do not fit the IOVA space");
    }
    return mapped((int) pages, (arena, segment) -> place(arena, segment, alignment, placement));
  }

  /**
   * Maps zeroed memory at given pages.
   *
   * @param pages the IOVA of each
   * @throws IllegalArgumentException if one lies outside the IOVA space
   */
  DmaMemory place(List<Long> pages, DmaPlacement placement) {
    int[] numbers = pages.stream().mapToInt(iommu::page).toArray();
    return mapped(
        numbers.length,
        (arena, segment) -> new SimulatedMemory(this, arena, segment, placement, 0, numbers));
  }

  private DmaMemory mapped(
      int pages, BiFunction<Arena, MemorySegment, SimulatedMemory> allocation) {
    long bytes = (long) pages * PAGE;
    Arena arena = Arena.ofShared();
    try {
      MemorySegment segment = arena.allocate(bytes, PAGE);
      SimulatedMemory memory = allocation.apply(arena, segment);
      for (int i = 0; i < memory.pageCount(); i++) {
        iommu.map(memory.page(i), segment, (long) i * PAGE);
      }
      synchronized (memories) {
        memories.add(memory);
        currentBytes += memory.size();
        peakBytes = Math.max(peakBytes, currentBytes);
      }
      return memory;
    } catch (OutOfMemoryError | PciException e) {
      arena.close();
      throw e instanceof PciException refused
          ? refused
          : new PciException(address() + ": no memory for " + bytes + " bytes", e);
    }
  }

  private SimulatedMemory place(
      Arena arena, MemorySegment segment, long alignment, DmaPlacement placement) {
    int pages = (int) (segment.byteSize() / PAGE);
    if (placement == DmaPlacement.SCATTERED) {
      int[] numbers = iovas.scatter(pages);
      if (numbers != null) {
        return new SimulatedMemory(this, arena, segment, placement, 0, numbers);
      }
    } else {
      int first = iovas.run(pages, (int) Math.max(1, alignment / PAGE));
      if (first >= 0) {
        return new SimulatedMemory(this, arena, segment, placement, first, null);
      }
    }
    throw new PciException(address() + ": no IOVAs for " + pages + " pages");
  }

  void release(SimulatedMemory memory) {
    if (!memory.markClosed()) {
      return;
    }
    joined(engine).call(() -> unmap(memory));
    memory.free();
    synchronized (memories) {
      memories.remove(memory);
      currentBytes -= memory.size();
    }
  }

  private void unmap(SimulatedMemory memory) {
    device.carryAll();
    for (int i = 0; i < memory.pageCount(); i++) {
      iommu.unmap(memory.page(i));
    }
  }

  @Override
  public DmaUsage dmaUsage() {
    synchronized (memories) {
      return new DmaUsage(currentBytes, peakBytes, memories.size());
    }
  }

  @Override
  public Interrupts interrupts() {
    checkOpen();
    return joined(interrupts);
  }

  @Override
  public DeviceClock clock() {
    return joined(clock);
  }

  @Override
  public void setBusMaster(boolean enabled) {
    checkOpen();
    if (device.presence() == Presence.REMOVED) {
      return;
    }
    config.setBusMaster(enabled);
    joined(engine).call(() -> iommu.setBusMaster(enabled && device.presence() == Presence.PRESENT));
  }

  @Override
  public void reset() {
    checkOpen();
    if (device.presence() == Presence.REMOVED) {
      throw new PciException(address() + " cannot be reset: the card was removed");
    }
    joined(engine)
        .call(
            () -> {
              device.reset();
              device.reconnect();
              iommu.setBusMaster(config.busMaster());
            });
  }

  /** As {@link Simulation#inject}. */
  void inject(Fault fault) {
    joined(engine).call(() -> device.inject(fault));
  }

  /** As {@link Simulation#clearFaults}. */
  int clearFaults() {
    int[] waiting = new int[1];
    joined(engine)
        .call(
            () -> {
              waiting[0] = device.waitingFaults();
              device.clearFaults();
            });
    return waiting[0];
  }

  /** As {@link Simulation#reinsert}. */
  void reinsert() {
    if (device.presence() == Presence.REMOVED) {
      joined(engine)
          .call(
              () -> {
                device.reset();
                device.reconnect();
              });
      config.setBusMaster(false);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    joined(interrupts).disable();
    config.setBusMaster(false);
    List<SimulatedMemory> open;
    synchronized (memories) {
      open = new ArrayList<>(memories);
    }
    joined(engine)
        .call(
            () -> {
              iommu.setBusMaster(false);
              device.reset();
            });
    open.forEach(SimulatedMemory::close);
    closed = true;
  }

  FunctionStatistics statistics() {
    DeviceCounters c = counters;
    return new FunctionStatistics(
        c.framesSent,
        c.framesReceived,
        c.bytesSent,
        c.bytesReceived,
        c.retransmissions,
        c.acksSent,
        c.naksSent,
        c.timeouts,
        c.framesDiscarded,
        c.sendWqes,
        c.pushedWqes,
        c.receiveWqes,
        c.doorbells,
        c.completions,
        c.completionEvents,
        c.asyncEvents,
        c.interrupts,
        c.controlOperations,
        c.dmaFaults,
        device.pageDescriptorHits(),
        device.pageDescriptorMisses(),
        device.hmcFaults(),
        device.pblesRead(),
        device.translationHits());
  }
}
