package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairState;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes wrong on a connection is reported as what it is, and hurts nothing beside it. */
class ErrorTest {
  private static final int SIZE = 64 << 10;

  private RdmaPair rdma;
  private DmaMemory left;
  private DmaMemory right;
  private MemoryRegion local;
  private MemoryRegion remote;
  private final List<AsyncEvent> events = new ArrayList<>();

  @BeforeEach
  void connect() {
    rdma = new RdmaPair(5, 0, 1024);
    left = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    left.segment().fill((byte) 1);
    right.segment().fill((byte) 2);
    local = rdma.a.region(left, PbleLevels.ANY);
    remote = rdma.b.region(right, PbleLevels.ANY);
    rdma.a.device.onAsyncEvent(events::add);
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, rdma.closeAndBalance());
  }

  private void assertUntouched() {
    byte[] expected = new byte[SIZE];
    java.util.Arrays.fill(expected, (byte) 2);
    assertArrayEquals(expected, right.segment().toArray(ValueLayout.JAVA_BYTE));
  }

  private void assertFlushed(FlushCode code, long wrId) {
    Completion completion = rdma.await(rdma.a);
    assertEquals(Completion.Status.FLUSHED, completion.status(), completion::toString);
    assertEquals(code.meaning(), completion.flushCode());
    assertEquals(wrId, completion.wrId());
  }

  private void write(long id, long address, int length, int key) {
    assertTrue(
        rdma.a.pair.postWrite(
            id, local.lkey(), local.address(), length, address, key, QueuePair.SIGNALED));
  }

  @Test
  void aWriteWithTheWrongKeyIsARemoteAccessErrorAndFlushesWhatFollows() {
    write(1, remote.address(), 5000, remote.rkey() ^ 0x55);
    write(2, remote.address(), 100, remote.rkey());
    rdma.a.pair.ring();
    assertFlushed(FlushCode.REM_ACCESS_ERR, 1);
    assertFlushed(FlushCode.GENERAL_ERR, 2);
    assertEquals(QueuePairState.ERROR, rdma.a.pair.state());
    assertEquals(AeCode.IB_REMOTE_ACCESS_ERROR.code(), events.getFirst().code());
    assertUntouched();
  }

  @Test
  void aWriteBeyondTheRegionIsRefusedWhole() {
    write(1, remote.address() + SIZE - 4999, 5000, remote.rkey());
    rdma.a.pair.ring();
    assertFlushed(FlushCode.REM_ACCESS_ERR, 1);
    assertUntouched();
  }

  @Test
  void aReadFromARegionWithoutThatRightIsRefused() {
    DmaMemory secret = rdma.b.memory(4096, DmaPlacement.CONTIGUOUS);
    MemoryRegion region = rdma.b.domain.registerMemory(secret, Access.REMOTE_WRITE);
    assertTrue(
        rdma.a.pair.postRead(
            1, local.lkey(), local.address(), 64, region.address(), region.rkey(), 1));
    rdma.a.pair.ring();
    assertFlushed(FlushCode.REM_ACCESS_ERR, 1);
  }

  @Test
  void aLocalKeyThatIsGoneIsAProtectionError() {
    int key = local.lkey();
    long address = local.address();
    local.close();
    assertTrue(rdma.a.pair.postSend(1, key, address, 100, QueuePair.SIGNALED));
    rdma.a.pair.ring();
    assertFlushed(FlushCode.PROT_ERR, 1);
    assertUntouched();
  }

  @Test
  void aSendWithoutAReceiveIsSentAgainUntilThereIsOne() {
    assertTrue(rdma.a.pair.postSend(1, local.lkey(), local.address(), 3000, 1));
    rdma.a.pair.ring();
    rdma.simulation.advance(3_000_000);
    assertTrue(rdma.simulation.statistics(1).naksSent() > 0);
    assertTrue(rdma.b.pair.postReceive(9, remote.lkey(), remote.address(), 3000));
    assertTrue(rdma.await(rdma.a).isSuccess());
    Completion received = rdma.await(rdma.b);
    assertTrue(received.isSuccess());
    assertEquals(3000, received.bytes());
  }

  @Test
  void aPeerThatIsGoneIsRetriedAndThenGivenUp() {
    rdma.b.pair.close();
    write(1, remote.address(), 5000, remote.rkey());
    rdma.a.pair.ring();
    assertFlushed(FlushCode.RETRY_EXC_ERR, 1);
    assertTrue(rdma.simulation.statistics(0).timeouts() >= 7);
    assertUntouched();
  }

  @Test
  void badRequestsAreRefusedBeforeAnythingChanges() {
    long posted = rdma.a.device.usage().sendRequests();
    assertThrows(
        IllegalArgumentException.class,
        () -> rdma.a.pair.postSendInline(1, left.segment(), 0, 102, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> rdma.a.pair.postSend(1, local.lkey(), local.address(), -1, 0));
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> rdma.a.domain.registerMemory(left, 1, SIZE, PbleLevels.ANY));
    assertEquals(posted, rdma.a.device.usage().sendRequests());
  }
}
