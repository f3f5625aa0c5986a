package irdma4j.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AsyncEvent;
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
import irdma4j.driver.RdmaException;
import irdma4j.driver.StageListener;
import irdma4j.hmc.SegmentType;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/**
 * Any fault at any moment of a stream of WRITEs, SENDs and READs, while regions come and go.
 *
 * <p>Fails if the stream neither ends nor fails within its patience in virtual time, if bytes that
 * are said to have arrived are wrong, if a close ends with anything but an {@link RdmaException},
 * if DMA memory is left, or if the two devices do not come up again and move the same stream.
 */
final class FaultTrafficProperties {
  private static final int MESSAGE = 6144;
  private static final int ROUNDS = 12;
  private static final int DEPTH = 32;
  private static final long CONTROL_TIMEOUT = 20_000_000;
  private static final long PATIENCE = 30_000_000_000L;
  private static final long EVENT_WAIT = 1_000_000;
  private static final Gid[] GIDS = {Gid.of("10.0.0.1"), Gid.of("10.0.0.2")};

  /** A fault and the function that it befalls. */
  record Planned(int function, Fault fault) {
    /** Whether the card may overlook a request for ever, or take another for it. */
    boolean mayMislead() {
      return fault instanceof Fault.CorruptDescriptor
          || (fault instanceof Fault.LoseDoorbell
              && fault.when().occasion() == Occasion.SEND_DOORBELL);
    }
  }

  private enum End {
    DONE,
    FAILED,
    STUCK
  }

  @Property(tries = 60)
  void everyStreamEnds(@ForAll("plans") Planned planned, @ForAll long seed) {
    try (Simulation simulation = Simulation.builder().functions(2).seed(seed).stepped().build()) {
      End end = stream(simulation, planned);
      if (!planned.mayMislead()) {
        assertTrue(end != End.STUCK, "neither ends nor fails");
      }
      assertEquals(0, balance(simulation));
      for (int i = 0; i < simulation.functions(); i++) {
        simulation.clearFaults(i);
        simulation.reinsert(i);
      }
      assertEquals(End.DONE, stream(simulation, null));
      assertEquals(0, balance(simulation));
    }
  }

  private static long balance(Simulation simulation) {
    return simulation.function(0).dmaUsage().currentBytes()
        + simulation.function(1).dmaUsage().currentBytes();
  }

  @Provide
  Arbitrary<Planned> plans() {
    Arbitrary<Integer> nth = Arbitraries.integers().between(1, 60);
    Arbitrary<Moment> anywhere =
        Combinators.combine(Arbitraries.of(Occasion.class), nth)
            .as((occasion, n) -> Moment.next(occasion).nth(n));
    List<Arbitrary<Fault>> kinds = new ArrayList<>();
    kinds.add(anywhere.map(Fault.SilentFirmware::new));
    kinds.add(anywhere.map(when -> new Fault.HmcError(when, 0x0001_024e)));
    kinds.add(anywhere.map(Fault.PciError::new));
    kinds.add(anywhere.map(Fault.SurpriseRemoval::new));
    kinds.add(anywhere.map(Fault.DeviceReset::new));
    at(kinds, nth, Fault.DropInterrupt::new, Occasion.INTERRUPT);
    at(kinds, nth, Fault.DoubleInterrupt::new, Occasion.INTERRUPT);
    at(kinds, nth, Fault.OverflowCompletionQueue::new, Occasion.COMPLETION);
    at(kinds, nth, Fault.OverflowEventQueue::new, Occasion.COMPLETION_EVENT);
    at(
        kinds,
        nth,
        Fault.LoseDoorbell::new,
        Occasion.SEND_DOORBELL,
        Occasion.CONTROL_DOORBELL,
        Occasion.ARM_DOORBELL);
    at(
        kinds,
        nth,
        when -> new Fault.FailControlOperation(when, 0xffff, 0x8000),
        Occasion.CONTROL_OPERATION);
    at(
        kinds,
        nth,
        when -> new Fault.DelayControlOperation(when, 2 * CONTROL_TIMEOUT),
        Occasion.CONTROL_OPERATION);
    for (int bit : new int[] {0, 12, 32, 40, 45, 63}) {
      at(
          kinds,
          nth,
          when -> new Fault.CorruptDescriptor(when, 1L << bit),
          Occasion.CONTROL_OPERATION,
          Occasion.SEND_WQE,
          Occasion.PBLE);
    }
    Arbitrary<Fault> fault = Arbitraries.of(kinds).flatMap(Function.identity());
    return Combinators.combine(Arbitraries.integers().between(0, 1), fault).as(Planned::new);
  }

  private static void at(
      List<Arbitrary<Fault>> kinds,
      Arbitrary<Integer> nth,
      Function<Moment, Fault> fault,
      Occasion... occasions) {
    kinds.add(
        Combinators.combine(Arbitraries.of(occasions), nth)
            .as((occasion, n) -> fault.apply(Moment.next(occasion).nth(n))));
  }

  private static End stream(Simulation simulation, @Nullable Planned planned) {
    List<DmaMemory> memories = new ArrayList<>();
    Side[] sides = new Side[2];
    try {
      for (int i = 0; i < sides.length; i++) {
        sides[i] = new Side(simulation.function(i), i, memories);
      }
      sides[0].connect(sides[1]);
      sides[1].connect(sides[0]);
      if (planned != null) {
        simulation.inject(planned.function(), planned.fault());
      }
      return move(sides, planned != null && planned.mayMislead());
    } catch (RdmaException e) {
      return End.FAILED;
    } finally {
      for (Side side : sides) {
        if (side != null) {
          try {
            side.device.close();
          } catch (RdmaException e) {
            assertTrue(planned != null, e::getMessage);
          }
        }
      }
      memories.forEach(DmaMemory::close);
    }
  }

  private static End move(Side[] sides, boolean misled) {
    Side near = sides[0];
    Side far = sides[1];
    near.memory.segment().fill((byte) 0x5a);
    for (int round = 0; round < ROUNDS; round++) {
      far.memory.segment().fill((byte) round);
      far.pair.postReceive(round, far.region.lkey(), far.region.address() + MESSAGE, MESSAGE);
      near.write(far);
      near.pair.postSend(
          round, near.region.lkey(), near.region.address(), MESSAGE, QueuePair.SIGNALED);
      near.pair.ring();
      End sent = await(sides, near, 2);
      End received = sent == End.DONE ? await(sides, far, 1) : sent;
      if (received != End.DONE) {
        return received;
      }
      if (!misled) {
        assertEquals(
            -1, far.memory.segment().mismatch(near.memory.segment()), "wrong bytes have arrived");
      }
      // Control operations while data moves.
      near.read(far);
      near.domain.registerMemory(near.memory, Access.LOCAL_WRITE).close();
      End read = await(sides, near, 1);
      if (read != End.DONE) {
        return read;
      }
    }
    return End.DONE;
  }

  private static End await(Side[] sides, Side side, int wanted) {
    PciFunction function = side.device.function();
    Completion completion = new Completion();
    long deadline = function.clock().nanos() + PATIENCE;
    for (int done = 0; done < wanted; ) {
      if (side.queue.poll(completion)) {
        if (!completion.isSuccess()) {
          return End.FAILED;
        }
        done++;
        continue;
      }
      side.queue.arm();
      for (Side one : sides) {
        one.device.processEvents(0, EVENT_WAIT);
        if (!one.events.isEmpty()) {
          return End.FAILED;
        }
      }
      if (function.clock().nanos() > deadline) {
        return End.STUCK;
      }
    }
    return End.DONE;
  }

  private static final class Side {
    final RdmaDevice device;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    final QueuePair pair;
    final DmaMemory memory;
    final MemoryRegion region;
    final List<AsyncEvent> events = new ArrayList<>();
    private final int index;

    Side(PciFunction function, int index, List<DmaMemory> memories) {
      this.index = index;
      DeviceConfig config =
          DeviceConfig.defaults()
              .withQueuePairs(8)
              .withSeed(index)
              .withPbleChunkPages(1)
              .withSegmentType(SegmentType.DIRECT)
              .withTimeoutNanos(CONTROL_TIMEOUT)
              .withMacAddress(0x0200_0000_000aL + index);
      memory = function.allocateDma(2 * MESSAGE, 4096, DmaPlacement.SCATTERED);
      memories.add(memory);
      device = RdmaDevice.open(function, config, StageListener.none());
      device.onAsyncEvent(events::add);
      domain = device.allocateProtectionDomain();
      queue = device.createCompletionQueue(DEPTH);
      pair = domain.createQueuePair(QueuePairConfig.of(queue).withRequests(DEPTH, DEPTH));
      region =
          domain.registerMemory(
              memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
    }

    void connect(Side peer) {
      pair.connect(
          RcPath.of(
              GIDS[index],
              GIDS[peer.index],
              peer.device.macAddress(),
              peer.pair.qpn(),
              index + 7,
              peer.index + 7));
    }

    void write(Side to) {
      pair.postWrite(
          0,
          region.lkey(),
          region.address(),
          MESSAGE,
          to.region.address(),
          to.region.rkey(),
          QueuePair.SIGNALED);
    }

    void read(Side from) {
      pair.postRead(
          1,
          region.lkey(),
          region.address(),
          MESSAGE,
          from.region.address(),
          from.region.rkey(),
          QueuePair.SIGNALED);
      pair.ring();
    }
  }
}
