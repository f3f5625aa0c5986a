package irdma4j.simulator;

import irdma4j.simulator.device.Device;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.Iommu;
import irdma4j.simulator.device.QueueEngine;
import irdma4j.simulator.transport.RoceEngine;
import irdma4j.simulator.watch.Watch;
import irdma4j.simulator.wire.Link;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.Payload;
import irdma4j.uapi.EthernetPort;
import irdma4j.uapi.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Simulated E810 functions, joined by a wire.
 *
 * <p>A threaded simulation runs on a thread of its own, as cards do, and keeps the machine's time.
 * A stepped one has no thread: it runs inside its callers' register reads, {@code
 * DeviceClock.pause} and {@code Interrupts.await}, in virtual time, and the same seed and the same
 * calls give the same run. A stepped simulation is for one thread at a time.
 *
 * <p>{@link #close()} closes the functions and gives all their memory back.
 */
public final class Simulation implements AutoCloseable {
  private static final long FIRST_MAC = 0x02_e8_10_00_00_01L;
  private static final long WIRE_DELAY_NANOS = 500;

  private final SimulatedFunction[] functions;
  private final SimulatedEthernet[] ethernet;
  private final Engine engine;

  private Simulation(Builder builder) {
    Link link =
        new Link(
            builder.functions + builder.wires.size(),
            builder.gigabits,
            WIRE_DELAY_NANOS,
            builder.faults,
            builder.seed,
            builder.tap);
    functions = new SimulatedFunction[builder.functions];
    ethernet = new SimulatedEthernet[builder.functions];
    Device[] devices = new Device[builder.functions];
    EngineTime time = new EngineTime();
    for (int i = 0; i < functions.length; i++) {
      long mac = FIRST_MAC + i;
      link.attach(i, mac);
      functions[i] =
          new SimulatedFunction(
              i,
              builder.profile,
              mac,
              builder.seed * 31 + i,
              builder.iovaBase,
              new Port(link, i, time, new Watch(i, builder.watcher, time::now, time)),
              builder.queueEngine);
      devices[i] = functions[i].device();
    }
    if (!builder.wires.isEmpty()) {
      link.learn();
    }
    engine = new Engine(builder.stepped, devices, link, builder.wires);
    time.engine = engine;
    for (int i = 0; i < functions.length; i++) {
      ethernet[i] = new SimulatedEthernet(engine, link, i);
    }
    time.ethernet = ethernet;
    for (SimulatedFunction function : functions) {
      function.join(engine, builder.profile.vectors());
    }
    engine.start();
  }

  /** Starts a description: two functions, threaded, 100 Gb/s, no loss. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * The names of the events that the functions report to Java Flight Recorder, such as {@code
   * irdma4j.RegisterWrite}. All are off until a recording enables them; a {@link Builder#watch
   * watcher} is told independently of that.
   */
  public static List<String> flightEvents() {
    return Watch.flightEvents();
  }

  /** How many functions there are. */
  public int functions() {
    return functions.length;
  }

  /** A function, whose address is {@code sim:INDEX}. */
  public PciFunction function(int index) {
    return functions[Objects.checkIndex(index, functions.length)];
  }

  SimulatedFunction simulated(int index) {
    return functions[index];
  }

  /** The frames of a function's port that are not the RDMA function's. */
  public EthernetPort ethernet(int index) {
    return ethernet[Objects.checkIndex(index, functions.length)];
  }

  /** The counts of a function. */
  public FunctionStatistics statistics(int index) {
    return functions[Objects.checkIndex(index, functions.length)].statistics();
  }

  /** The offsets in BAR 0 that were touched though no register is known there, in rising order. */
  public int[] unknownRegisters(int index) {
    return functions[Objects.checkIndex(index, functions.length)]
        .device()
        .registers()
        .unknownOffsets();
  }

  /**
   * What a function's device would find at an FPM address, once the register writes on their way
   * have arrived. As for an access of its own, a page descriptor that it reads for this is believed
   * until it is invalidated.
   *
   * @param index the function
   * @param hmcFunction whose FPM space: 0 the function's own, or what the control queue pair was
   *     given for a virtual function
   * @return the IOVA, or {@link FpmWalk#FAULT} if nothing is there or there is no such HMC function
   * @throws IllegalStateException if the simulation is threaded
   */
  public long translate(int index, int hmcFunction, long fpmAddress) {
    requireStepped();
    Device device = functions[Objects.checkIndex(index, functions.length)].device();
    engine.drain(device.mailbox());
    return device.translate(hmcFunction, fpmAddress);
  }

  /**
   * Lets something go wrong in a function, once. Not to be called from a {@link FrameTap}.
   *
   * @param index the function
   */
  public void inject(int index, Fault fault) {
    functions[Objects.checkIndex(index, functions.length)].inject(fault);
  }

  /**
   * Forgets the faults of a function that have not struck.
   *
   * @return how many there were
   */
  public int clearFaults(int index) {
    return functions[Objects.checkIndex(index, functions.length)].clearFaults();
  }

  /**
   * Puts a card that was removed back into its slot, just after power-on. Nothing happens to one
   * that is there. Its function stays the same object, and what memory it had stays allocated.
   */
  public void reinsert(int index) {
    functions[Objects.checkIndex(index, functions.length)].reinsert();
  }

  /**
   * Lets a stepped simulation do one thing: what is due now, or what comes next in its time.
   *
   * @return whether there was anything to do
   * @throws IllegalStateException if the simulation is threaded
   */
  public boolean step() {
    requireStepped();
    return engine.step();
  }

  /**
   * Lets a stepped simulation run for a time.
   *
   * @throws IllegalStateException if the simulation is threaded
   */
  public void advance(long nanos) {
    requireStepped();
    engine.advance(nanos);
  }

  private void requireStepped() {
    if (!engine.isStepped()) {
      throw new IllegalStateException("the simulation runs on its own thread");
    }
  }

  @Override
  public void close() {
    for (SimulatedFunction function : functions) {
      function.close();
    }
    engine.close();
  }

  private static final class EngineTime {
    @Nullable Engine engine;
    SimulatedEthernet[] ethernet = new SimulatedEthernet[0];

    long now() {
      Engine running = engine;
      return running == null ? 0 : running.now();
    }
  }

  private record Port(Link link, int number, EngineTime time, Watch watch)
      implements Device.Environment {
    @Override
    public long now() {
      return time.now();
    }

    @Override
    public MemorySegment frameBuffer() {
      return link.buffer();
    }

    @Override
    public @Nullable Payload lend() {
      return link.lend();
    }

    @Override
    public int trainRoom(int bytes) {
      return link.trainRoom(number, bytes);
    }

    @Override
    public void carryAll() {
      link.carryAll();
    }

    @Override
    public void transmit(MemorySegment frame, int bytes) {
      link.send(number, frame, bytes, now());
    }

    @Override
    public boolean hasRoom() {
      return link.hasRoom(number);
    }

    @Override
    public void other(long mac, MemorySegment frame, int bytes) {
      time.ethernet[number].arrived(mac, frame, bytes);
    }

    @Override
    public boolean isPrivate() {
      return link.isPrivate();
    }

    @Override
    public void attach(long mac) {
      link.attach(number, mac);
    }

    @Override
    public void loopBack(MemorySegment frame, int bytes) {
      link.loopBack(number, frame, bytes, now());
    }
  }

  /** Describes a simulation. Not thread-safe. */
  public static final class Builder {
    private int functions = 2;
    private long seed = 1;
    private boolean stepped;
    private LinkFaults faults = LinkFaults.NONE;
    private int gigabits = 100;
    private @Nullable FrameTap tap;
    private @Nullable DeviceWatcher watcher;
    private long iovaBase = Iommu.BASE;
    private final List<Wire> wires = new ArrayList<>();
    private CardProfile profile = CardProfile.e810();
    private Function<DeviceServices, QueueEngine> queueEngine = RoceEngine::new;

    private Builder() {}

    /** How many functions, 1 to 256. */
    public Builder functions(int count) {
      if (count < 1 || count > 256) {
        throw new IllegalArgumentException(count + " functions: 1 to 256");
      }
      functions = count;
      return this;
    }

    /** The seed of everything that is left to chance. */
    public Builder seed(long value) {
      seed = value;
      return this;
    }

    /** Runs inside its callers, in virtual time. */
    public Builder stepped() {
      stepped = true;
      return this;
    }

    /** Runs on its own thread, in the machine's time. */
    public Builder threaded() {
      stepped = false;
      return this;
    }

    /** The share of frames that the wire loses, 0 to 100. */
    public Builder lossPercent(double percent) {
      faults = faults.withLoss(percent);
      return this;
    }

    /** The share of frames that the wire delivers a second time, 0 to 100. */
    public Builder duplicatePercent(double percent) {
      faults = faults.withDuplicate(percent);
      return this;
    }

    /** The share of frames that later ones overtake, 0 to 100. */
    public Builder reorderPercent(double percent) {
      faults = faults.withReorder(percent);
      return this;
    }

    /** The share of frames before which the wire pauses for up to 0.2 ms, 0 to 100. */
    public Builder delayPercent(double percent) {
      faults = faults.withDelay(percent);
      return this;
    }

    /** The share of frames of which the wire changes one byte, 0 to 100. */
    public Builder corruptPercent(double percent) {
      faults = faults.withCorrupt(percent);
      return this;
    }

    /**
     * The share of frames that a switch on the way marks as having met congestion, 0 to 100. Only
     * those whose traffic class says that their sender knows ECN can be marked.
     */
    public Builder markPercent(double percent) {
      faults = faults.withMark(percent);
      return this;
    }

    /**
     * Joins the functions' switch to a wire outside, whose frames come and go in the machine's
     * time. The simulation closes it, and so does a {@link #build} that fails.
     */
    public Builder wire(Wire cable) {
      wires.add(Objects.requireNonNull(cable));
      return this;
    }

    /** Sees every frame. */
    public Builder tap(FrameTap frameTap) {
      tap = Objects.requireNonNull(frameTap);
      return this;
    }

    /** Is told of everything that the functions see and do. */
    public Builder watch(DeviceWatcher deviceWatcher) {
      watcher = watcher == null ? deviceWatcher : watcher.and(deviceWatcher);
      return this;
    }

    /** The rate of each function's wire in Gb/s, 1 to 800. */
    public Builder gigabits(int rate) {
      if (rate < 1 || rate > 800) {
        throw new IllegalArgumentException(rate + " Gb/s: 1 to 800");
      }
      gigabits = rate;
      return this;
    }

    /** What the cards say of themselves. */
    public Builder profile(CardProfile card) {
      profile = Objects.requireNonNull(card);
      return this;
    }

    /** Sets what all the wire does to frames. */
    Builder faults(LinkFaults wireFaults) {
      faults = wireFaults;
      return this;
    }

    /** The lowest IOVA that can be mapped, a multiple of 4096. */
    Builder iovaBase(long lowest) {
      iovaBase = lowest;
      return this;
    }

    /**
     * What this simulation is made of, as a trace of it says in its {@code device} line. What is
     * done to it on purpose while it runs is not in there.
     */
    public String describe() {
      return new SimulationDescription(
              stepped, SimulationDescription.nameOf(profile), seed, gigabits, faults)
          .toString();
    }

    /** Makes the functions' queue engines; for tests of the device without a transport. */
    Builder queueEngine(Function<DeviceServices, QueueEngine> factory) {
      queueEngine = factory;
      return this;
    }

    /** Makes the functions and starts the simulation. */
    public Simulation build() {
      try {
        if (stepped && !wires.isEmpty()) {
          throw new IllegalArgumentException(
              "a wire outside goes by the machine's time, and a stepped simulation does not");
        }
        return new Simulation(this);
      } catch (RuntimeException e) {
        wires.forEach(Wire::close);
        throw e;
      }
    }
  }
}
