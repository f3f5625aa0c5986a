package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.FastRegion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.hwregs.FlushCode;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions that work requests register over memory in pages of 4 KiB, 2 MiB and 1 GiB. */
class LargePageFastRegionTest {
  private static final long SMALL = 4096;
  private static final long HUGE = 2 << 20;
  private static final long GIANT = 1 << 30;
  private static final int PAGES = 3;
  private static final int PIECE = 3000;
  private static final int SKEW = 700;
  private static final long BASE = 0x7000_0000_0000L;

  private RdmaPair rdma;
  private DmaMemory plain;
  private MemoryRegion near;

  @BeforeEach
  void connect() {
    rdma = new RdmaPair(13, 0, 4096);
    plain = rdma.a.memory(8192, DmaPlacement.SCATTERED);
    near = rdma.a.region(plain, PbleLevels.ANY);
    byte[] bytes = new byte[8192];
    new Random(5).nextBytes(bytes);
    MemorySegment.copy(bytes, 0, plain.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, rdma.closeAndBalance());
  }

  /** Pages of which the first bytes exist: all of a small or huge one. */
  private SplicedMemory far(long page) {
    return SplicedMemory.of(rdma.b, PAGES, page, Math.min(page, HUGE), new Random(page));
  }

  /** Registers from a place in the first page to one in the last. */
  private FastRegion register(SplicedMemory memory, long page) {
    FastRegion region = rdma.b.domain.allocateFastRegion(PAGES, page);
    assertEquals(page, region.pageSize());
    assertTrue(
        rdma.b.pair.postFastRegister(
            1,
            region,
            memory,
            SKEW,
            length(page),
            BASE + SKEW,
            QueuePair.SIGNALED,
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE));
    rdma.b.pair.ring();
    assertTrue(rdma.await(rdma.b).isSuccess());
    return region;
  }

  /** The region's last byte is in the last page, so that memory follows it. */
  private static long length(long page) {
    return (PAGES - 1) * page + PIECE;
  }

  private Completion write(FastRegion region, long offset, int bytes) {
    assertTrue(
        rdma.a.pair.postWrite(
            2,
            near.lkey(),
            near.address(),
            bytes,
            BASE + offset,
            region.key(),
            QueuePair.SIGNALED));
    rdma.a.pair.ring();
    return rdma.await(rdma.a);
  }

  /**
   * What is written at the start, over each border of pages whose bytes exist and at the end
   * arrives there and nowhere else, and can be read back. Fails if driver and device have different
   * page sizes, or a page's place in the list or in memory is wrong.
   */
  @ParameterizedTest
  @ValueSource(longs = {SMALL, HUGE, GIANT})
  void bytesGoThroughEveryPage(long page) {
    SplicedMemory memory = far(page);
    FastRegion region = register(memory, page);
    long end = SKEW + length(page);
    long border = page == GIANT ? GIANT : page - PIECE / 3;
    for (long at : new long[] {SKEW, border, page + border, end - PIECE}) {
      assertTrue(write(region, at, PIECE).isSuccess());
      for (long i = 0; i < PIECE; i++) {
        byte wanted = plain.segment().get(ValueLayout.JAVA_BYTE, i);
        assertEquals(wanted, memory.at(at + i).get(ValueLayout.JAVA_BYTE, 0), "byte " + (at + i));
      }
      plain.segment().asSlice(4096).fill((byte) 0);
      assertTrue(
          rdma.a.pair.postRead(
              3,
              near.lkey(),
              near.address() + 4096,
              PIECE,
              BASE + at,
              region.key(),
              QueuePair.SIGNALED));
      rdma.a.pair.ring();
      assertTrue(rdma.await(rdma.a).isSuccess());
      MemorySegment sent = plain.segment().asSlice(0, PIECE);
      assertEquals(-1, sent.mismatch(plain.segment().asSlice(4096, PIECE)));
    }
    assertEquals(0, memory.at(SKEW - 1).get(ValueLayout.JAVA_BYTE, 0));
    assertEquals(0, memory.at(end).get(ValueLayout.JAVA_BYTE, 0));
  }

  /** One byte beyond either end is refused, though its page is the region's, and stays. */
  @ParameterizedTest
  @CsvSource({
    SMALL + ",false",
    SMALL + ",true",
    HUGE + ",false",
    HUGE + ",true",
    GIANT + ",false",
    GIANT + ",true"
  })
  void oneByteBeyondIsRefused(long page, boolean before) {
    SplicedMemory memory = far(page);
    FastRegion region = register(memory, page);
    long end = SKEW + length(page);
    long at = before ? SKEW - 1 : end - 1;
    Completion refused = write(region, at, 2);
    assertEquals(FlushCode.REM_ACCESS_ERR.meaning(), refused.flushCode());
    for (long i = at; i < at + 2; i++) {
      assertEquals(0, memory.at(i).get(ValueLayout.JAVA_BYTE, 0), "byte " + i);
    }
  }

  /**
   * Memory that does not lie in such pages is refused before anything changes: the registration
   * before stays good, with its key and its page list, and nothing is posted.
   */
  @ParameterizedTest
  @ValueSource(longs = {HUGE, GIANT})
  void memoryThatDoesNotFitIsRefused(long page) {
    SplicedMemory memory = far(page);
    SplicedMemory other = SplicedMemory.of(rdma.b, PAGES, page, SMALL, new Random(9));
    SplicedMemory scattered = SplicedMemory.of(rdma.b, PAGES, SMALL, SMALL, new Random(9));
    FastRegion region = register(memory, page);
    int key = region.key();
    long posted = rdma.b.pair.sendQueue().posted();
    // The byte has another place in its page than the address says.
    refused(region, other, 0, page, BASE + 4096);
    refused(region, other, 4096, page, BASE);
    refused(region, other, 0, page, BASE + 1);
    // A page that jumps inside.
    refused(region, scattered, 0, 2 * SMALL, BASE + scattered.iova(0) % page);
    // Beyond the list, the memory, or nothing at all.
    refused(
        region,
        SplicedMemory.of(rdma.b, PAGES + 1, page, SMALL, new Random(9)),
        0,
        PAGES * page + 1,
        BASE);
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> rdma.b.pair.postFastRegister(1, region, other, 1, other.size(), BASE + 1, 0));
    refused(region, other, 0, 0, BASE);
    assertThrows(
        IllegalArgumentException.class,
        () -> rdma.b.pair.postFastRegister(1, region, other, 0, page, BASE, QueuePair.SOLICITED));
    assertEquals(key, region.key());
    assertEquals(posted, rdma.b.pair.sendQueue().posted());
    assertTrue(write(region, page, PIECE).isSuccess());
    assertEquals(
        plain.segment().get(ValueLayout.JAVA_BYTE, 0),
        memory.at(page).get(ValueLayout.JAVA_BYTE, 0));
  }

  private void refused(
      FastRegion region, DmaMemory memory, long offset, long length, long address) {
    assertThrows(
        IllegalArgumentException.class,
        () -> rdma.b.pair.postFastRegister(1, region, memory, offset, length, address, 0));
  }

  @Test
  void sizesThatTheDeviceDoesNotHaveAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> rdma.b.domain.allocateFastRegion(1, 8192));
    assertThrows(
        IllegalArgumentException.class, () -> rdma.b.domain.allocateFastRegion(1 << 11, GIANT));
    rdma.b.domain.allocateFastRegion((1 << 11) - 1, GIANT).close();
  }
}
