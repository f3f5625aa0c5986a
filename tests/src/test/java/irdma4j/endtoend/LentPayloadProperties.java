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
      @ForAll @IntRange(max = 10) int loss,
      @ForAll @IntRange(max = 20) int reorder,
      @ForAll("mtu") int mtu,
      @ForAll DmaPlacement placement) {
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

  /** Fails if Flight Recorder is told of other accesses and translations when payloads are lent. */
  @Example
  void flightRecorderIsToldTheSame() throws IOException {
    assertEquals(recorded(tapped()), recorded(Simulation.builder()));
  }

  private static List<String> recorded(Simulation.Builder described) throws IOException {
    Path file = Files.createTempFile("irdma4j", ".jfr");
    try (Recording recording = new Recording();
        RdmaPair rdma = new RdmaPair(described, 1, 4096)) {
      recording.enable("irdma4j.HostRead");
      recording.enable("irdma4j.RegionTranslation");
      recording.start();
      write(rdma);
      recording.stop();
      recording.dump(file);
      List<String> events =
          RecordingFile.readAllEvents(file).stream()
              .filter(event -> event.getEventType().getName().startsWith("irdma4j."))
              .map(event -> event.getEventType().getName() + " " + event.getLong("iova"))
              .sorted()
              .toList();
      assertTrue(events.size() > 3 * SIZE / 4096, "each page is translated twice and read once");
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
    int posted = 4;
    for (int i = 0; i < posted; i++) {
      SgeList pieces = pieces(random, source);
      int length = (int) pieces.bytes();
      int to = random.nextInt(SIZE - length);
      if (random.nextBoolean()) {
        rdma.b.pair.postReceive(i, sink.lkey(), sink.address() + to, length);
        rdma.a.pair.postSend(i, pieces, QueuePair.SIGNALED, 0, 0);
      } else {
        rdma.a.pair.postWrite(i, pieces, sink.address() + to, sink.rkey(), QueuePair.SIGNALED);
      }
    }
    rdma.a.pair.ring();
    for (int i = 0; i < posted; i++) {
      Completion completion = rdma.await(rdma.a);
      assertTrue(completion.isSuccess(), completion::toString);
      completions.add(completion + " at " + rdma.simulation.function(0).clock().nanos());
    }
    ByteBuffer bytes = ByteBuffer.wrap(right.segment().toArray(JAVA_BYTE));
    List<String> counters =
        List.of(rdma.simulation.statistics(0).toString(), rdma.simulation.statistics(1).toString());
    assertEquals(0, rdma.closeAndBalance());
    return new Seen(completions, bytes, counters);
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
      try {
        rdma.close();
      } catch (RdmaException e) {
        // A device that was reset, or is gone, no longer knows what to destroy.
        rdma.simulation.close();
      }
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
