package irdma4j.endtoend;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.RdmaException;
import irdma4j.driver.ring.SgeList;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.DeviceEvent;
import irdma4j.simulator.DeviceWatcher;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/**
 * Where nobody looks at the wire, the payload of large packets stays in the sender's memory until
 * they arrive. Nothing but the cost may show it.
 */
class LentPayloadProperties {
  private static final int SIZE = 1 << 18;
  private static final byte LATER = (byte) 0xee;

  /** What a run shows: each completion and its time, the far memory, both devices' counters. */
  private record Seen(List<String> completions, ByteBuffer bytes, List<String> counters) {}

  /**
   * The same work with a tap, for which payloads are copied into their frames, and without one.
   * Fails if a completion comes at another nanosecond, a counter differs, or a byte.
   */
  @Property(tries = 60)
  void nothingShowsWhatIsLent(
      @ForAll long seed,
      @ForAll boolean ideal,
      @ForAll @IntRange(max = 10) int lossPercent,
      @ForAll @IntRange(max = 20) int reorderPercent,
      @ForAll("mtu") int mtu,
      @ForAll DmaPlacement placement) {
    int loss = ideal ? 0 : lossPercent;
    int reorder = ideal ? 0 : reorderPercent;
    Seen copied = run(tapped().seed(seed), seed, loss, reorder, mtu, placement);
    Seen lent = run(Simulation.builder().seed(seed), seed, loss, reorder, mtu, placement);
    assertEquals(copied.completions, lent.completions);
    assertEquals(-1, copied.bytes.mismatch(lent.bytes));
    assertEquals(copied.counters, lent.counters);
  }

  private static Simulation.Builder tapped() {
    return Simulation.builder().tap((time, from, frame, bytes, dropped) -> {});
  }

  /** Fails if a watcher is shown a frame without the bytes that it carries. */
  @Example
  void aWatcherSeesWhatArrives() {
    List<byte[]> payloads = new ArrayList<>();
    DeviceWatcher watcher =
        (time, function, event) -> {
          if (event instanceof DeviceEvent.FrameReceived(MemorySegment bytes)
              && bytes.byteSize() > 1024) {
            payloads.add(bytes.asSlice(bytes.byteSize() - 1024, 1020).toArray(JAVA_BYTE));
          }
        };
    try (RdmaPair rdma = new RdmaPair(Simulation.builder().watch(watcher), 1, 1024)) {
      write(rdma);
      assertEquals(SIZE / 1024, payloads.size());
      for (byte[] payload : payloads) {
        byte[] expected = new byte[1020];
        Arrays.fill(expected, (byte) 1);
        assertArrayEquals(expected, payload);
      }
    }
  }

  /**
   * Fails if Flight Recorder is told of other accesses and translations when payloads are lent, or
   * of fewer packets when they go together.
   */
  @Example
  void flightRecorderIsToldTheSame() throws IOException {
    for (List<String> names :
        List.of(List.of("HostRead", "RegionTranslation"), List.of("FrameSent", "FrameReceived"))) {
      List<String> copied = recorded(tapped(), names);
      assertEquals(copied, recorded(Simulation.builder(), names));
      assertTrue(copied.size() > 2 * SIZE / 4096, "each packet is sent and received");
    }
  }

  private static List<String> recorded(Simulation.Builder described, List<String> names)
      throws IOException {
    Path file = Files.createTempFile("irdma4j", ".jfr");
    try (Recording recording = new Recording();
        RdmaPair rdma = new RdmaPair(described, 1, 4096)) {
      names.forEach(name -> recording.enable("irdma4j." + name));
      recording.start();
      write(rdma);
      recording.stop();
      recording.dump(file);
      List<String> events =
          RecordingFile.readAllEvents(file).stream()
              .filter(event -> event.getEventType().getName().startsWith("irdma4j."))
              .map(
                  event ->
                      event.getEventType().getName()
                          + " "
                          + event.getLong(event.hasField("iova") ? "iova" : "psn"))
              .sorted()
              .toList();
      return events;
    } finally {
      Files.delete(file);
    }
  }

  /** Writes all of a memory of ones, and waits until that is done. */
  private static void write(RdmaPair rdma) {
    DmaMemory left = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    DmaMemory right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    left.segment().fill((byte) 1);
    MemoryRegion source = rdma.a.region(left, PbleLevels.ANY);
    MemoryRegion sink = rdma.b.region(right, PbleLevels.ANY);
    write(rdma, source, sink, QueuePair.SIGNALED);
    assertTrue(rdma.await(rdma.a).isSuccess());
    assertEquals(SIZE, arrived(right));
  }

  private static void write(RdmaPair rdma, MemoryRegion source, MemoryRegion sink, int flags) {
    rdma.a.pair.postWrite(
        1, source.lkey(), source.address(), SIZE, sink.address(), sink.rkey(), flags);
    rdma.a.pair.ring();
  }

  @Provide
  Arbitrary<Integer> mtu() {
    return Arbitraries.of(256, 1024, 4096);
  }

  private static Seen run(
      Simulation.Builder described,
      long seed,
      int loss,
      int reorder,
      int mtu,
      DmaPlacement placement) {
    Random random = new Random(seed);
    List<String> completions = new ArrayList<>();
    RdmaPair rdma = new RdmaPair(described.lossPercent(loss).reorderPercent(reorder), seed, mtu);
    DmaMemory left = rdma.a.memory(SIZE, placement);
    DmaMemory right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    byte[] pattern = new byte[SIZE];
    random.nextBytes(pattern);
    MemorySegment.copy(pattern, 0, left.segment(), JAVA_BYTE, 0, SIZE);
    MemoryRegion source = rdma.a.region(left, PbleLevels.ANY);
    MemoryRegion sink = rdma.b.region(right, PbleLevels.ANY);
    List<Runnable> later = new ArrayList<>();
    int posted = 4;
    int signaled = 0;
    for (int i = 0; i < posted; i++) {
      int flags = i == posted - 1 || random.nextBoolean() ? QueuePair.SIGNALED : 0;
      signaled += flags == 0 ? 0 : 1;
      SgeList pieces = pieces(random, source);
      int length = (int) pieces.bytes();
      int to = random.nextInt(SIZE - length);
      if (random.nextBoolean()) {
        long place = sink.address() + to;
        int id = i;
        Runnable receive = () -> rdma.b.pair.postReceive(id, sink.lkey(), place, length);
        if (!later.isEmpty() || random.nextBoolean()) {
          // The sender is told to wait, and sends all packets again.
          later.add(receive);
        } else {
          receive.run();
        }
        rdma.a.pair.postSend(i, pieces, flags, 0, 0);
      } else {
        rdma.a.pair.postWrite(i, pieces, sink.address() + to, sink.rkey(), flags);
      }
    }
    rdma.a.pair.ring();
    rdma.simulation.advance(100_000);
    later.forEach(Runnable::run);
    for (int i = 0; i < signaled; i++) {
      Completion completion = rdma.await(rdma.a);
      assertTrue(completion.isSuccess(), completion::toString);
      completions.add(completion + " at " + rdma.simulation.function(0).clock().nanos());
    }
    ByteBuffer bytes = ByteBuffer.wrap(right.segment().toArray(JAVA_BYTE));
    List<String> counters =
        List.of(
            rdma.simulation.statistics(0).toString(),
            rdma.simulation.statistics(1).toString(),
            rdma.a.device.statistics().toString(),
            rdma.b.device.statistics().toString());
    assertEquals(0, rdma.closeAndBalance());
    return new Seen(completions, bytes, counters);
  }

  /**
   * A fault that strikes at a packet of a count, on either side. Fails if it strikes at another one
   * when packets go together.
   */
  @Property(tries = 40)
  void aFaultStrikesAtTheSamePacket(
      @ForAll boolean atSender, @ForAll @IntRange(min = 1, max = 70) int nth) {
    Occasion occasion = atSender ? Occasion.FRAME_SENT : Occasion.FRAME_RECEIVED;
    Fault fault = new Fault.SurpriseRemoval(Moment.next(occasion).nth(nth));
    List<String> tapped = removed(tapped(), atSender ? 0 : 1, fault);
    assertEquals(tapped, removed(Simulation.builder(), atSender ? 0 : 1, fault));
  }

  private static List<String> removed(Simulation.Builder described, int function, Fault fault) {
    return interrupted(
        described,
        rdma -> {
          rdma.simulation.inject(function, fault);
          MemoryRegion source = ones(rdma);
          write(rdma, source, zeros(rdma), 0);
        });
  }

  /**
   * Memory that goes under its region, so that a WRITE fails at a packet in its middle. Fails if
   * another number of packets goes out before, or if the device says something else of it.
   */
  @Property(tries = 40)
  void aMessageFailsAtTheSamePacket(@ForAll @IntRange(min = 1, max = 100_000) int good) {
    assertEquals(cut(tapped(), good), cut(Simulation.builder(), good));
  }

  private static List<String> cut(Simulation.Builder described, int good) {
    return interrupted(
        described,
        rdma -> {
          DmaMemory gone = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
          MemoryRegion nowhere = rdma.a.region(gone, PbleLevels.ANY);
          MemoryRegion source = ones(rdma);
          MemoryRegion sink = zeros(rdma);
          gone.close();
          SgeList pieces = new SgeList();
          pieces.add(source.address(), good, source.lkey());
          pieces.add(nowhere.address(), 10_000, nowhere.lkey());
          rdma.a.pair.postWrite(1, pieces, sink.address(), sink.rkey(), 0);
          rdma.a.pair.ring();
        });
  }

  /** Both devices' counters after something that leaves a WRITE in the middle. */
  private static List<String> interrupted(Simulation.Builder described, Consumer<RdmaPair> what) {
    RdmaPair rdma = new RdmaPair(described, 1, 1024);
    try {
      what.accept(rdma);
      rdma.simulation.advance(100_000);
      return List.of(
          rdma.simulation.statistics(0).toString(), rdma.simulation.statistics(1).toString());
    } finally {
      closeAnyhow(rdma);
    }
  }

  private static void closeAnyhow(RdmaPair rdma) {
    try {
      rdma.close();
    } catch (RdmaException e) {
      // A device that was reset, or is gone, no longer knows what to destroy.
      rdma.simulation.close();
    }
  }

  private static MemoryRegion ones(RdmaPair rdma) {
    DmaMemory memory = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    memory.segment().fill((byte) 1);
    return rdma.a.region(memory, PbleLevels.ANY);
  }

  private static MemoryRegion zeros(RdmaPair rdma) {
    return rdma.b.region(rdma.b.memory(SIZE, DmaPlacement.SCATTERED), PbleLevels.ANY);
  }

  private static SgeList pieces(Random random, MemoryRegion source) {
    SgeList pieces = new SgeList();
    for (int left = 1 + random.nextInt(4); left > 0; left--) {
      int length = 1 + random.nextInt(SIZE / 8);
      pieces.add(source.address() + random.nextInt(SIZE - length), length, source.lkey());
    }
    return pieces;
  }

  /** How an application comes to have its memory back, though packets are on their way. */
  enum TakenBack {
    DEREGISTERED,
    FREED,
    IN_ERROR,
    DESTROYED,
    RESET,
    REMOVED,
    STOPPED
  }

  /**
   * An application takes memory back in the middle of a WRITE and uses it for something else. Fails
   * if that can be seen at the far side, or the memory is reached for after it has gone.
   */
  @Property(tries = 70)
  void memoryThatIsTakenBackIsNotRead(
      @ForAll TakenBack how, @ForAll @IntRange(min = 700, max = 12_000) int nanos) {
    RdmaPair rdma = new RdmaPair(1, 0, 4096);
    try {
      DmaMemory left = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
      DmaMemory right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
      left.segment().fill((byte) 1);
      MemoryRegion source = rdma.a.region(left, PbleLevels.ANY);
      MemoryRegion sink = rdma.b.region(right, PbleLevels.ANY);
      write(rdma, source, sink, 0);
      rdma.simulation.advance(nanos);
      long before = arrived(right);
      takeBack(rdma, how, source, left);
      long meanwhile = arrived(right);
      if (how != TakenBack.FREED) {
        left.segment().fill(LATER);
      }
      rdma.simulation.advance(50_000);
      assertEquals(0, wrong(right), "bytes that were never sent");
      assertTrue(before < SIZE && meanwhile < SIZE, "the WRITE was not in the middle");
      assertTrue(arrived(right) > before, "nothing was on its way");
    } finally {
      closeAnyhow(rdma);
    }
  }

  private static void takeBack(RdmaPair rdma, TakenBack how, MemoryRegion source, DmaMemory left) {
    switch (how) {
      case DEREGISTERED -> source.close();
      // Against the rules: its region is still there.
      case FREED -> left.close();
      case IN_ERROR -> rdma.a.pair.toError();
      case DESTROYED -> rdma.a.pair.close();
      case RESET -> rdma.simulation.function(0).reset();
      case REMOVED -> rdma.simulation.inject(0, new Fault.SurpriseRemoval(Moment.now()));
      case STOPPED -> rdma.simulation.inject(0, new Fault.HmcError(Moment.now(), 0x5));
    }
  }

  private static long arrived(DmaMemory memory) {
    return count(memory, (byte) 1);
  }

  private static long wrong(DmaMemory memory) {
    return SIZE - count(memory, (byte) 1) - count(memory, (byte) 0);
  }

  private static long count(DmaMemory memory, byte value) {
    long count = 0;
    for (byte one : memory.segment().toArray(JAVA_BYTE)) {
      count += one == value ? 1 : 0;
    }
    return count;
  }
}
