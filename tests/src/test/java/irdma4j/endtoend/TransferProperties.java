package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/**
 * Random work over a reliable connection leaves exactly the bytes that a model of two byte arrays
 * says, in both memories, whatever the wire loses, and everything is given back afterwards.
 *
 * <p>It fails if a byte lands beside its place, if a page list is walked wrongly at any level, if a
 * packet is applied twice or not at all, or if a completion comes early, twice or never.
 */
class TransferProperties {
  private static final int SIZE = 5 << 20;

  /** What is done next. */
  enum Kind {
    WRITE,
    WRITE_IMMEDIATE,
    READ,
    SEND,
    SEND_INLINE
  }

  /** One piece of work: {@code length} bytes from one place to another. */
  record Work(Kind kind, int local, int remote, int length) {}

  @Provide
  Arbitrary<List<Work>> work() {
    Arbitrary<Integer> place = Arbitraries.integers().between(0, SIZE - 1);
    Arbitrary<Integer> length =
        Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(3, Arbitraries.integers().between(0, 101)),
            net.jqwik.api.Tuple.of(3, Arbitraries.integers().between(1, 20_000)),
            net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(1, 300_000)));
    return Combinators.combine(Arbitraries.of(Kind.class), place, place, length)
        .as(
            (kind, local, remote, bytes) -> {
              int most = kind == Kind.SEND_INLINE ? 101 : SIZE;
              int fit = Math.min(Math.min(bytes, most), SIZE - Math.max(local, remote));
              return new Work(kind, local, remote, fit);
            })
        .list()
        .ofMinSize(1)
        .ofMaxSize(24);
  }

  @Property(tries = 60)
  void bytesAreWhereTheModelSays(
      @ForAll("work") List<Work> work,
      @ForAll @IntRange(max = 12) int loss,
      @ForAll long seed,
      @ForAll("mtu") int mtu,
      @ForAll("placement") DmaPlacement placement,
      @ForAll("levels") PbleLevels levels) {
    RdmaPair rdma = new RdmaPair(seed, loss, mtu);
    DmaMemory left = rdma.a.memory(SIZE, placement);
    DmaMemory right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    byte[] leftModel = fill(left, seed);
    byte[] rightModel = fill(right, ~seed);
    MemoryRegion local = rdma.a.region(left, PbleLevels.ANY);
    MemoryRegion remote = rdma.b.region(right, levels);
    for (int i = 0; i < work.size(); i++) {
      run(rdma, work.get(i), i, local, remote, left, leftModel, rightModel);
    }
    assertArrayEquals(leftModel, bytes(left));
    assertArrayEquals(rightModel, bytes(right));
    assertEquals(0, rdma.simulation.statistics(0).dmaFaults());
    assertEquals(0, rdma.simulation.statistics(1).dmaFaults());
    assertEquals(0, rdma.closeAndBalance());
  }

  @Provide
  Arbitrary<Integer> mtu() {
    return Arbitraries.of(256, 512, 1024, 2048, 4096);
  }

  @Provide
  Arbitrary<DmaPlacement> placement() {
    return Arbitraries.of(DmaPlacement.class);
  }

  @Provide
  Arbitrary<PbleLevels> levels() {
    return Arbitraries.of(PbleLevels.ANY, PbleLevels.LEVEL_2_ONLY);
  }

  private static void run(
      RdmaPair rdma,
      Work work,
      int id,
      MemoryRegion local,
      MemoryRegion remote,
      DmaMemory left,
      byte[] leftModel,
      byte[] rightModel) {
    long from = local.address() + work.local();
    long to = remote.address() + work.remote();
    QueuePair sender = rdma.a.pair;
    boolean receives = work.kind() != Kind.WRITE && work.kind() != Kind.READ;
    if (receives) {
      assertTrue(rdma.b.pair.postReceive(id, remote.lkey(), to, work.length()));
    }
    int length = work.length();
    int flags = QueuePair.SIGNALED;
    assertTrue(
        switch (work.kind()) {
          case WRITE -> sender.postWrite(id, local.lkey(), from, length, to, remote.rkey(), flags);
          case WRITE_IMMEDIATE ->
              sender.postWriteImmediate(
                  id, local.lkey(), from, length, to, remote.rkey(), ~id, flags);
          case READ -> sender.postRead(id, local.lkey(), from, length, to, remote.rkey(), flags);
          case SEND -> sender.postSend(id, local.lkey(), from, length, flags);
          case SEND_INLINE ->
              sender.postSendInline(id, left.segment(), work.local(), length, flags);
        });
    sender.ring();
    if (work.kind() == Kind.READ) {
      System.arraycopy(rightModel, work.remote(), leftModel, work.local(), length);
    } else {
      System.arraycopy(leftModel, work.local(), rightModel, work.remote(), length);
    }
    Completion sent = rdma.await(rdma.a);
    assertTrue(sent.isSuccess(), sent::toString);
    assertEquals(id, sent.wrId());
    assertEquals(length, sent.bytes());
    if (receives) {
      Completion received = rdma.await(rdma.b);
      assertTrue(received.isSuccess(), received::toString);
      assertEquals(id, received.wrId());
      assertEquals(length, received.bytes());
      assertEquals(work.kind() == Kind.WRITE_IMMEDIATE, received.hasImmediate());
      if (received.hasImmediate()) {
        assertEquals(~id, received.immediate());
      }
    }
  }

  private static byte[] fill(DmaMemory memory, long seed) {
    byte[] bytes = new byte[(int) memory.size()];
    new Random(seed).nextBytes(bytes);
    MemorySegment.copy(bytes, 0, memory.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
    return bytes;
  }

  private static byte[] bytes(DmaMemory memory) {
    return Arrays.copyOf(memory.segment().toArray(ValueLayout.JAVA_BYTE), (int) memory.size());
  }
}
