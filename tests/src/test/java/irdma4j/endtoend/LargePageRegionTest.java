package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.pble.PbleLevels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Regions over memory that lies in pages of 2 MiB, as pinned huge pages do. */
class LargePageRegionTest {
  private static final long HUGE = 2 << 20;
  private static final long BASE = 0x7000_0000_0000L;
  private static final int PAGES = 4;

  private RdmaPair rdma;

  @BeforeEach
  void connect() {
    rdma = new RdmaPair(11, 0, 4096);
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, rdma.closeAndBalance());
  }

  private static MemoryRegion register(
      RdmaPair.Side side, SplicedMemory memory, long offset, long length, long address) {
    return side.domain.registerMemory(
        memory,
        offset,
        length,
        address,
        PbleLevels.ANY,
        Access.LOCAL_WRITE,
        Access.REMOTE_READ,
        Access.REMOTE_WRITE);
  }

  @Test
  void aWriteOverHugePagesArrivesWithOnePbleForEach() {
    SplicedMemory source = SplicedMemory.of(rdma.a, PAGES, HUGE, HUGE, new Random(3));
    SplicedMemory sink = SplicedMemory.of(rdma.b, PAGES, HUGE, HUGE, new Random(4));
    long offset = 12_345;
    int length = (int) (3 * HUGE);
    for (int i = 0; i < PAGES; i++) {
      MemorySegment part = source.parts().get(i).segment();
      for (long at = 0; at < HUGE; at += 8) {
        part.set(ValueLayout.JAVA_LONG, at, (i * HUGE + at) * 0x9e37_79b9_7f4a_7c15L);
      }
    }
    MemoryRegion local = register(rdma.a, source, offset, length, BASE + offset);
    MemoryRegion remote = register(rdma.b, sink, offset, length, BASE + offset);
    assertEquals(HUGE, local.pageSize());
    assertEquals(PAGES, local.pbleCount());
    assertTrue(
        rdma.a.pair.postWrite(
            1,
            local.lkey(),
            local.address(),
            length,
            remote.address(),
            remote.rkey(),
            QueuePair.SIGNALED));
    rdma.a.pair.ring();
    assertTrue(rdma.await(rdma.a).isSuccess());
    for (long at = 0; at < PAGES * HUGE; at += HUGE) {
      long from = Math.max(at, offset);
      long to = Math.min(at + HUGE, offset + length);
      assertEquals(
          -1, source.at(from).asSlice(0, to - from).mismatch(sink.at(from).asSlice(0, to - from)));
    }
    assertEquals(0, sink.at(offset - 1).get(ValueLayout.JAVA_BYTE, 0));
    assertEquals(0, sink.at(offset + length).get(ValueLayout.JAVA_BYTE, 0));
  }

  /** Counted from 0, the first byte's place in its page is not that of its address. */
  @Test
  void aRegionFromZeroOnHasHugePages() {
    SplicedMemory source = SplicedMemory.of(rdma.a, PAGES, HUGE, HUGE, new Random(3));
    SplicedMemory sink = SplicedMemory.of(rdma.b, PAGES, HUGE, HUGE, new Random(4));
    long offset = HUGE - 5000;
    MemoryRegion local =
        rdma.a.domain.registerZeroBased(source, offset, 9000, PbleLevels.ANY, Access.LOCAL_WRITE);
    MemoryRegion remote =
        rdma.b.domain.registerZeroBased(
            sink, offset, 9000, PbleLevels.ANY, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    assertEquals(HUGE, remote.pageSize());
    assertEquals(2, remote.pbleCount());
    for (int i = 0; i < 9000; i++) {
      source.at(offset + i).set(ValueLayout.JAVA_BYTE, 0, (byte) (i * 7 + 1));
    }
    assertTrue(
        rdma.a.pair.postWrite(1, local.lkey(), 1, 8999, 1, remote.rkey(), QueuePair.SIGNALED));
    rdma.a.pair.ring();
    assertTrue(rdma.await(rdma.a).isSuccess());
    assertEquals(0, sink.at(offset).get(ValueLayout.JAVA_BYTE, 0));
    for (int i = 1; i < 9000; i++) {
      assertEquals((byte) (i * 7 + 1), sink.at(offset + i).get(ValueLayout.JAVA_BYTE, 0));
    }
    assertEquals(0, sink.at(offset + 9000).get(ValueLayout.JAVA_BYTE, 0));
  }

  /** An address that has another place in a 2 MiB page than its byte needs pages of 4 KiB. */
  @Test
  void anAddressThatDoesNotFitTakesSmallPages() {
    SplicedMemory memory = SplicedMemory.of(rdma.a, 2, HUGE, HUGE, new Random(5));
    MemoryRegion region = register(rdma.a, memory, 0, memory.size(), BASE + 4096);
    assertEquals(4096, region.pageSize());
    assertEquals(1024, region.pbleCount());
    region.close();
    assertThrows(
        IllegalArgumentException.class, () -> register(rdma.a, memory, 0, memory.size(), BASE + 1));
  }
}
