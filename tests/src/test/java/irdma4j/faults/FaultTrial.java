package irdma4j.faults;

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
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A device that comes up, moves data to and from a healthy one, and goes down, while a fault waits
 * for its moment in one of these stages; then the same again without a fault.
 */
final class FaultTrial implements AutoCloseable {
  /** The stage after bring-up in which data moves. */
  static final String TRAFFIC = "traffic";

  /** The stage in which the device is closed. */
  static final String TEAR_DOWN = "tear-down";

  private static final int MESSAGE = 16 << 10;
  private static final int MESSAGES = 8;
  private static final int REGION = MESSAGE * MESSAGES;
  private static final int DEPTH = 32;
  private static final long CONTROL_TIMEOUT = 20_000_000;
  private static final long PATIENCE = 20_000_000_000L;
  private static final long EVENT_WAIT = 10_000_000;
  private static final Gid[] GIDS = {Gid.of("10.0.0.1"), Gid.of("10.0.0.2")};

  private final Simulation simulation = Simulation.builder().functions(2).seed(3).stepped().build();
  private final RdmaDevice peer = open(1, SegmentType.DIRECT, StageListener.none());
  private final long peerBytes = simulation.function(1).dmaUsage().currentBytes();

  /**
   * How a run ended.
   *
   * @param stage where it failed, or null if it did not
   * @param failure why, or null
   * @param struck whether the fault met its moment in the stage
   * @param dmaFaults accesses of the device to memory that it was not given
   * @param events asynchronous events that the application saw
   */
  record Outcome(
      @Nullable String stage,
      @Nullable RuntimeException failure,
      boolean struck,
      long dmaFaults,
      List<AsyncEvent> events) {}

  /** The stages of a bring-up that do something, then traffic and tear-down. */
  List<String> stages() {
    List<String> names = new ArrayList<>();
    StageListener listener =
        (stage, detail, nanos) -> {
          if (!detail.equals("not used")) {
            names.add(stage);
          }
        };
    open(0, SegmentType.DIRECT, listener).close();
    names.add(TRAFFIC);
    names.add(TEAR_DOWN);
    return names;
  }

  /** Runs with a fault that waits from the beginning of a stage to its end. */
  Outcome run(List<String> stages, String stage, Fault fault, SegmentType segments) {
    long before = simulation.statistics(0).dmaFaults();
    Run run = new Run(stages, stage, fault);
    RuntimeException failure = null;
    try {
      run.whole(segments);
    } catch (RuntimeException e) {
      failure = e;
    }
    run.leave();
    simulation.reinsert(0);
    return new Outcome(
        failure == null ? null : run.at,
        failure,
        run.struck,
        simulation.statistics(0).dmaFaults() - before,
        run.events);
  }

  /** Brings the device up, moves data and takes it down without a fault. */
  void runWithoutFault() {
    new Run(List.of(""), "none", null).whole(SegmentType.DIRECT);
  }

  /** DMA memory that is allocated now, but for what the healthy device needs to be up. */
  long balance() {
    return simulation.function(0).dmaUsage().currentBytes()
        + simulation.function(1).dmaUsage().currentBytes()
        - peerBytes;
  }

  private RdmaDevice open(int index, SegmentType segments, StageListener listener) {
    return RdmaDevice.open(
        simulation.function(index),
        DeviceConfig.defaults()
            .withQueuePairs(8)
            .withSeed(index)
            .withPbleChunkPages(1)
            .withSegmentType(segments)
            .withTimeoutNanos(CONTROL_TIMEOUT)
            .withMacAddress(0x0200_0000_000aL + index),
        listener);
  }

  @Override
  public void close() {
    peer.close();
    simulation.close();
  }

  /** One life of the device. */
  private final class Run {
    private final List<String> stages;
    private final String stage;
    private final @Nullable Fault fault;
    private final List<AsyncEvent> events = new ArrayList<>();
    private final List<DmaMemory> memories = new ArrayList<>();
    private String at;
    private boolean waits;
    private boolean struck;

    Run(List<String> stages, String stage, @Nullable Fault fault) {
      this.stages = stages;
      this.stage = stage;
      this.fault = fault;
      this.at = stages.get(0);
    }

    private void enter(String next) {
      leave();
      at = next;
      // Traffic begins before the fault does.
      if (next.equals(stage) && !next.equals(TRAFFIC)) {
        inject();
      }
    }

    private void inject() {
      if (fault != null && at.equals(stage)) {
        waits = true;
        simulation.inject(0, fault);
      }
    }

    void leave() {
      if (waits) {
        waits = false;
        struck = simulation.clearFaults(0) == 0;
      }
    }

    void whole(SegmentType segments) {
      enter(at);
      StageListener listener =
          (name, detail, nanos) -> {
            int index = stages.indexOf(name);
            if (index >= 0) {
              enter(stages.get(index + 1));
            }
          };
      RuntimeException first = null;
      RdmaDevice device = null;
      try {
        device = open(0, segments, listener);
        device.onAsyncEvent(events::add);
        at = TRAFFIC;
        move(device);
      } catch (RuntimeException e) {
        first = e;
      }
      if (device != null) {
        if (first == null) {
          enter(TEAR_DOWN);
        }
        try {
          device.close();
        } catch (RuntimeException e) {
          if (first == null) {
            first = e;
          } else {
            first.addSuppressed(e);
          }
        }
      }
      // The device must be through with the memory before it is given back.
      memories.forEach(DmaMemory::close);
      if (first != null) {
        throw first;
      }
    }

    private DmaMemory memory(RdmaDevice device) {
      DmaMemory memory = device.allocateMemory(REGION, DmaPlacement.SCATTERED);
      memories.add(memory);
      return memory;
    }

    /**
     * A stream of writes and reads, with events, then a drain; the fault comes when half of it is
     * posted.
     */
    private void move(RdmaDevice device) {
      DmaMemory sink = memory(peer);
      try (ProtectionDomain there = peer.allocateProtectionDomain();
          MemoryRegion to =
              there.registerMemory(
                  sink, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
          CompletionQueue peerQueue = peer.createCompletionQueue(DEPTH);
          QueuePair peerPair =
              there.createQueuePair(QueuePairConfig.of(peerQueue).withRequests(DEPTH, DEPTH))) {
        ProtectionDomain here = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(DEPTH);
        QueuePair pair = here.createQueuePair(QueuePairConfig.of(queue).withRequests(DEPTH, DEPTH));
        pair.connect(RcPath.of(GIDS[0], GIDS[1], peer.macAddress(), peerPair.qpn(), 7, 9));
        peerPair.connect(RcPath.of(GIDS[1], GIDS[0], device.macAddress(), pair.qpn(), 9, 7));
        DmaMemory source = memory(device);
        DmaMemory back = memory(device);
        source.segment().fill((byte) 0x5a);
        MemoryRegion from = here.registerMemory(source, Access.LOCAL_WRITE);
        for (int i = 0; i < MESSAGES; i++) {
          if (i == MESSAGES / 2) {
            inject();
          }
          pair.postWrite(
              i,
              from.lkey(),
              from.address() + (long) i * MESSAGE,
              MESSAGE,
              to.address() + (long) i * MESSAGE,
              to.rkey(),
              QueuePair.SIGNALED);
          pair.ring();
        }
        await(device, queue, MESSAGES);
        MemoryRegion into = here.registerMemory(back, Access.LOCAL_WRITE);
        pair.postRead(
            MESSAGES,
            into.lkey(),
            into.address(),
            REGION,
            to.address(),
            to.rkey(),
            QueuePair.SIGNALED);
        pair.ring();
        await(device, queue, 1);
        if (back.segment().mismatch(source.segment()) != -1) {
          throw new RdmaException("wrong bytes");
        }
        drain(device, pair);
        into.close();
        from.close();
      }
    }

    /** Of all that moves here only the end of a drain is told by an asynchronous event. */
    private void drain(RdmaDevice device, QueuePair pair) {
      pair.drain();
      long deadline = device.function().clock().nanos() + PATIENCE;
      while (!pair.isDrained()) {
        if (device.function().clock().nanos() > deadline) {
          throw new RdmaException("the application gave up: no sign of the drain's end");
        }
        device.processEvents(0, EVENT_WAIT);
      }
      pair.resume();
    }

    private void await(RdmaDevice device, CompletionQueue queue, int wanted) {
      Completion completion = new Completion();
      long deadline = device.function().clock().nanos() + PATIENCE;
      for (int done = 0; done < wanted; ) {
        queue.arm();
        if (!queue.poll(completion)) {
          if (device.function().clock().nanos() > deadline) {
            throw new RdmaException(
                "the application gave up: no completion"
                    + (events.isEmpty() ? "" : " after " + events));
          }
          device.processEvents(0, EVENT_WAIT);
        } else if (completion.isSuccess()) {
          done++;
        } else {
          device.processEvents(0, EVENT_WAIT);
          throw new RdmaException("completion " + completion + " after " + events);
        }
      }
    }
  }
}
