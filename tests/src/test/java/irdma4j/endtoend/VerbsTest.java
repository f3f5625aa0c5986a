package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.FastRegion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.QueuePairState;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.SqOpcode;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each verb of a reliable connection, through the driver's own objects. */
class VerbsTest {
  private static final int SIZE = 64 << 10;
  private static final int SIGNALED = QueuePair.SIGNALED;

  private RdmaPair rdma;
  private DmaMemory left;
  private DmaMemory right;
  private MemoryRegion local;
  private MemoryRegion remote;
  private QueuePair near;
  private QueuePair far;
  private final List<AsyncEvent> events = new ArrayList<>();

  @BeforeEach
  void connect() {
    rdma = new RdmaPair(11, 0, 1024);
    left = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    for (int i = 0; i < SIZE; i++) {
      left.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + i / 256));
    }
    local = region(rdma.a.domain, left);
    remote = region(rdma.b.domain, right);
    near = rdma.a.domain.createQueuePair(config(rdma.a.queue));
    far = rdma.b.domain.createQueuePair(config(rdma.b.queue));
    rdma.connect(near, far, 0xffff00, 77, 1024);
    rdma.a.device.onAsyncEvent(events::add);
    rdma.b.device.onAsyncEvent(events::add);
  }

  private static QueuePairConfig config(CompletionQueue queue) {
    return QueuePairConfig.of(queue).withSges(13, 13).withInline(101).withRequests(60, 60);
  }

  private static MemoryRegion region(ProtectionDomain domain, DmaMemory memory) {
    return domain.registerMemory(
        memory, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.BIND_WINDOW);
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, rdma.closeAndBalance());
  }

  private Completion succeeded(RdmaPair.Side side, long wrId) {
    Completion completion = rdma.await(side);
    assertTrue(completion.isSuccess(), completion::toString);
    assertEquals(wrId, completion.wrId());
    return completion;
  }

  private void flushed(RdmaPair.Side side, long wrId, FlushCode code) {
    Completion completion = rdma.await(side);
    assertEquals(Completion.Status.FLUSHED, completion.status(), completion::toString);
    assertEquals(wrId, completion.wrId());
    assertEquals(code.meaning(), completion.flushCode());
  }

  private void same(long leftOffset, long rightOffset, long length) {
    assertEquals(
        -1,
        left.segment()
            .asSlice(leftOffset, length)
            .mismatch(right.segment().asSlice(rightOffset, length)));
  }

  private void write(long wrId, long remoteAddress, int rkey, int length) {
    assertTrue(
        near.postWrite(wrId, local.lkey(), local.address(), length, remoteAddress, rkey, SIGNALED));
    near.ring();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 9, 100, 101})
  void inlineDataIsTakenWhenItIsPosted(int length) {
    assertTrue(far.postReceive(5, remote.lkey(), remote.address(), SIZE));
    byte[] message = left.segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    MemorySegment source = MemorySegment.ofArray(message);
    assertTrue(near.postSendInline(6, source, 0, length, SIGNALED));
    assertTrue(
        near.postWriteInline(
            7, source, 0, length, remote.address() + 1000, remote.rkey(), SIGNALED));
    source.fill((byte) 0);
    near.ring();
    succeeded(rdma.a, 6);
    succeeded(rdma.a, 7);
    assertEquals(length, succeeded(rdma.b, 5).bytes());
    same(0, 0, length);
    same(0, 1000, length);
  }

  /** Three times thirteen entries of odd lengths, so that packets begin inside entries. */
  @Test
  void thirteenEntriesGatherAndScatter() {
    SgeList out = new SgeList();
    SgeList in = new SgeList();
    int total = 0;
    for (int i = 0; i < 13; i++) {
      out.add(local.address() + total, 301 + i, local.lkey());
      in.add(remote.address() + total, 301 + i, remote.lkey());
      total += 301 + i;
    }
    assertTrue(far.postReceive(1, in));
    assertTrue(near.postSend(2, out, SIGNALED | SendQueue.IMMEDIATE, 0x1234, 0));
    near.ring();
    succeeded(rdma.a, 2);
    Completion received = succeeded(rdma.b, 1);
    assertEquals(total, received.bytes());
    assertEquals(0x1234, received.immediate());
    same(0, 0, total);
    right.segment().fill((byte) 0);
    assertTrue(near.postWrite(3, out, remote.address() + 7, remote.rkey(), SIGNALED));
    near.ring();
    succeeded(rdma.a, 3);
    same(0, 7, total);
    left.segment().fill((byte) 0);
    assertTrue(near.postRead(4, out, remote.address() + 7, remote.rkey(), SIGNALED));
    near.ring();
    succeeded(rdma.a, 4);
    same(0, 7, total);
  }

  @Test
  void workWithoutBytesIsDone() {
    SgeList none = new SgeList();
    assertTrue(far.postReceive(1, none));
    assertTrue(far.postReceive(2, none));
    assertTrue(near.postSend(3, none, SIGNALED, 0, 0));
    assertTrue(near.postWrite(4, none, 0, 0, SIGNALED));
    assertTrue(near.postRead(5, none, 0, 0, SIGNALED));
    assertTrue(near.postSend(6, none, SIGNALED | SendQueue.IMMEDIATE, 9, 0));
    near.ring();
    for (int i = 3; i <= 6; i++) {
      assertEquals(0, succeeded(rdma.a, i).bytes());
    }
    assertEquals(0, succeeded(rdma.b, 1).bytes());
    assertEquals(9, succeeded(rdma.b, 2).immediate());
  }

  @Test
  void unsignalledWorkLeavesNoCompletionAndMakesRoom() {
    for (int round = 0; round < 300; round++) {
      int flags = round % 50 == 49 ? SIGNALED : 0;
      assertTrue(
          near.postWrite(
              round, local.lkey(), local.address(), 64, remote.address(), remote.rkey(), flags),
          "work " + round);
      near.ring();
      if (flags != 0) {
        succeeded(rdma.a, round);
      }
    }
    assertFalse(rdma.a.queue.poll(new Completion()));
  }

  @Test
  void sendWithInvalidateTakesTheKeyAway() {
    MemoryWindow window = rdma.b.domain.allocateWindow(MemoryWindow.Type.TWO);
    assertTrue(
        far.postBind(1, window, remote, remote.address(), 4096, SIGNALED, Access.REMOTE_WRITE));
    far.ring();
    succeeded(rdma.b, 1);
    write(2, remote.address(), window.rkey(), 4096);
    succeeded(rdma.a, 2);
    same(0, 0, 4096);
    assertTrue(far.postReceive(3, remote.lkey(), remote.address() + 8192, 100));
    assertTrue(
        near.postSendInvalidate(4, local.lkey(), local.address(), 100, window.rkey(), SIGNALED));
    near.ring();
    succeeded(rdma.a, 4);
    Completion received = succeeded(rdma.b, 3);
    assertTrue(received.hasInvalidatedKey());
    assertEquals(window.rkey(), received.invalidatedKey());
    write(5, remote.address(), window.rkey(), 16);
    flushed(rdma.a, 5, FlushCode.REM_ACCESS_ERR);
  }

  @Test
  void aWindowOfTypeOneIsBoundAnewAndUnbound() {
    MemoryWindow window = rdma.b.domain.allocateWindow(MemoryWindow.Type.ONE);
    assertTrue(
        far.postBind(1, window, remote, remote.address(), 100, SIGNALED, Access.REMOTE_WRITE));
    far.ring();
    succeeded(rdma.b, 1);
    int first = window.rkey();
    assertTrue(
        far.postBind(
            2, window, remote, remote.address() + 5000, 100, SIGNALED, Access.REMOTE_WRITE));
    far.ring();
    succeeded(rdma.b, 2);
    assertFalse(first == window.rkey());
    write(3, remote.address() + 5000, window.rkey(), 100);
    succeeded(rdma.a, 3);
    same(0, 5000, 100);
    assertTrue(far.postBind(4, window, remote, remote.address(), 0, SIGNALED));
    far.ring();
    succeeded(rdma.b, 4);
    write(5, remote.address() + 5000, window.rkey(), 100);
    flushed(rdma.a, 5, FlushCode.REM_ACCESS_ERR);
  }

  @Test
  void aWindowCanBeAddressedFromZeroOn() {
    MemoryWindow window = rdma.b.domain.allocateWindow(MemoryWindow.Type.TWO);
    assertTrue(
        far.postBindZeroBased(
            1, window, remote, remote.address() + 3000, 2000, SIGNALED, Access.REMOTE_WRITE));
    far.ring();
    succeeded(rdma.b, 1);
    write(2, 0, window.rkey(), 2000);
    succeeded(rdma.a, 2);
    same(0, 3000, 2000);
    write(3, 1, window.rkey(), 2000);
    flushed(rdma.a, 3, FlushCode.REM_ACCESS_ERR);
  }

  @Test
  void memoryIsRegisteredByWorkRequestsOverAndOver() {
    FastRegion region = rdma.b.domain.allocateFastRegion(16);
    for (int round = 0; round < 5; round++) {
      int offset = round * 4096 + 123;
      assertTrue(
          far.postFastRegister(
              1, region, right, offset, 9000, SIGNALED, Access.LOCAL_WRITE, Access.REMOTE_WRITE));
      far.ring();
      succeeded(rdma.b, 1);
      right.segment().fill((byte) 0);
      write(2, right.segment().address() + offset, region.key(), 9000);
      succeeded(rdma.a, 2);
      same(0, offset, 9000);
      assertTrue(far.postInvalidate(3, region.key(), SIGNALED));
      far.ring();
      succeeded(rdma.b, 3);
    }
    write(4, right.segment().address() + 4 * 4096 + 123, region.key(), 16);
    flushed(rdma.a, 4, FlushCode.REM_ACCESS_ERR);
  }

  @Test
  void aReadTakesItsSinksKeyAwayWhenItIsDone() {
    FastRegion sink = rdma.a.domain.allocateFastRegion(16);
    assertTrue(near.postFastRegister(1, sink, left, 0, 5000, 0, Access.LOCAL_WRITE));
    right.segment().asSlice(100, 5000).copyFrom(left.segment().asSlice(9000, 5000));
    assertTrue(
        near.postReadInvalidate(
            2,
            sink.key(),
            left.segment().address(),
            5000,
            remote.address() + 100,
            remote.rkey(),
            SIGNALED | QueuePair.LOCAL_FENCE));
    near.ring();
    Completion done = succeeded(rdma.a, 2);
    assertEquals(SqOpcode.RDMA_READ_LOC_INV.code(), done.opcode());
    same(0, 100, 5000);
    assertTrue(
        near.postRead(
            3,
            sink.key(),
            left.segment().address(),
            10,
            remote.address(),
            remote.rkey(),
            SIGNALED));
    near.ring();
    flushed(rdma.a, 3, FlushCode.PROT_ERR);
  }

  /** A SEND of what a READ before it brings: only the fence keeps the order. */
  @Test
  void aFencedSendWaitsForTheReadBeforeIt() {
    right.segment().fill((byte) 7);
    assertTrue(far.postReceive(1, remote.lkey(), remote.address() + 32768, SIZE / 2));
    assertTrue(
        near.postRead(
            2, local.lkey(), local.address(), 30000, remote.address(), remote.rkey(), SIGNALED));
    assertTrue(
        near.postSend(3, local.lkey(), local.address(), 30000, SIGNALED | QueuePair.READ_FENCE));
    near.ring();
    succeeded(rdma.a, 2);
    succeeded(rdma.a, 3);
    succeeded(rdma.b, 1);
    for (int i = 0; i < 30000; i++) {
      assertEquals(7, right.segment().get(ValueLayout.JAVA_BYTE, 32768L + i));
    }
  }

  @Test
  void aNopCompletesLikeOtherWork() {
    assertTrue(near.sendQueue().nop(1, SIGNALED));
    near.ring();
    assertEquals(SqOpcode.NOP.code(), succeeded(rdma.a, 1).opcode());
  }

  @Test
  void onlyASolicitedMessageRaisesAnEventThatWasAskedForSo() {
    rdma.b.queue.armSolicited();
    assertTrue(far.postReceive(1, remote.lkey(), remote.address(), 100));
    assertTrue(far.postReceive(2, remote.lkey(), remote.address(), 100));
    assertTrue(near.postSend(3, local.lkey(), local.address(), 10, SIGNALED));
    near.ring();
    succeeded(rdma.a, 3);
    succeeded(rdma.b, 1);
    rdma.settle(100_000);
    assertFalse(rdma.b.queue.takeEvent());
    assertTrue(near.postSend(4, local.lkey(), local.address(), 10, SIGNALED | QueuePair.SOLICITED));
    near.ring();
    succeeded(rdma.a, 4);
    assertTrue(succeeded(rdma.b, 2).isSolicited());
    rdma.await(rdma.b.queue::takeEvent, "an event");
  }

  /** Resized again and again with completions in it: none is lost or out of order. */
  @Test
  void aCompletionQueueIsResizedWhileInUse() {
    long next = 0;
    long expected = 0;
    for (int size : new int[] {300, 40, 1000, 64, 200}) {
      for (int i = 0; i < 20; i++) {
        write(next++, remote.address(), remote.rkey(), 8);
      }
      rdma.settle(200_000);
      rdma.a.queue.resize(size);
      for (int i = 0; i < 10; i++) {
        write(next++, remote.address(), remote.rkey(), 8);
      }
      while (expected < next) {
        succeeded(rdma.a, expected++);
      }
      assertTrue(rdma.a.queue.entries() >= size);
    }
    assertThrows(IllegalArgumentException.class, () -> rdma.a.queue.resize(0));
  }

  @Test
  void aDrainedSendQueueFinishesWhatItBeganAndGoesOnLater() {
    for (boolean suspend : new boolean[] {false, true}) {
      write(1, remote.address(), remote.rkey(), 60000);
      rdma.simulation.advance(5_000);
      if (suspend) {
        near.suspend();
      } else {
        near.drain();
      }
      rdma.await(near::isDrained, "the drain's end");
      assertEquals(QueuePairState.SEND_QUEUE_DRAINED, near.state());
      succeeded(rdma.a, 1);
      write(2, remote.address(), remote.rkey(), 16);
      rdma.settle(1_000_000);
      assertFalse(rdma.a.queue.poll(new Completion()), "work was begun");
      assertTrue(far.postReceive(4, remote.lkey(), remote.address(), 8));
      near.resume();
      succeeded(rdma.a, 2);
      assertTrue(near.postSend(3, local.lkey(), local.address(), 8, SIGNALED));
      near.ring();
      succeeded(rdma.a, 3);
      succeeded(rdma.b, 4);
    }
    assertEquals(2, events.size());
    assertEquals(AeCode.QP_SUSPEND_COMPLETE.code(), events.getFirst().code());
  }

  @Test
  void eachOutstandingRequestIsFlushedOnce() {
    near.drain();
    rdma.await(near::isDrained, "the drain's end");
    for (int i = 0; i < 23; i++) {
      assertTrue(
          near.postWrite(
              i, local.lkey(), local.address(), 64, remote.address(), remote.rkey(), i & 1));
    }
    near.ring();
    for (int i = 0; i < 17; i++) {
      assertTrue(near.postReceive(100 + i, local.lkey(), local.address(), 64));
    }
    near.toError();
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 23 + 17; i++) {
      Completion completion = rdma.await(rdma.a);
      assertEquals(Completion.Status.FLUSHED, completion.status());
      ids.add(completion.wrId());
    }
    assertEquals(40, ids.stream().distinct().count());
    rdma.settle(1_000_000);
    assertFalse(rdma.a.queue.poll(new Completion()), "a request was flushed twice");
    assertTrue(near.postReceive(500, local.lkey(), local.address(), 64));
  }

  @Test
  void statesFollowEachOtherAndNothingElse() {
    QueuePair fresh = rdma.a.domain.createQueuePair(config(rdma.a.queue));
    assertEquals(QueuePairState.INIT, fresh.state());
    assertThrows(IllegalStateException.class, fresh::toReadyToSend);
    assertThrows(IllegalStateException.class, fresh::drain);
    assertThrows(IllegalStateException.class, near::resume);
    assertThrows(IllegalStateException.class, near::toReadyToSend);
    near.drain();
    assertThrows(IllegalStateException.class, near::suspend);
    near.toError();
    assertEquals(QueuePairState.ERROR, near.state());
    assertThrows(IllegalStateException.class, near::resume);
    fresh.toError();
    assertEquals(QueuePairState.ERROR, fresh.state());
  }

  @Test
  void badRequestsAreRefusedBeforeAnythingChanges() {
    ProtectionDomain other = rdma.b.device.allocateProtectionDomain();
    MemoryWindow window = rdma.b.domain.allocateWindow(MemoryWindow.Type.ONE);
    MemoryWindow foreign = other.allocateWindow(MemoryWindow.Type.TWO);
    FastRegion region = rdma.b.domain.allocateFastRegion(2);
    MemoryRegion fromZero =
        rdma.b.domain.registerZeroBased(right, 0, SIZE, PbleLevels.ANY, Access.BIND_WINDOW);
    int key = window.rkey();
    assertThrows(IllegalArgumentException.class, () -> far.postBind(1, window, fromZero, 0, 1, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> far.postBind(1, foreign, remote, remote.address(), 1, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> far.postBindZeroBased(1, window, remote, remote.address(), 1, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> far.postBind(1, window, remote, remote.address() + 1, SIZE, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> far.postBind(1, window, remote, remote.address(), 1, 0, Access.LOCAL_WRITE));
    assertThrows(
        IllegalArgumentException.class, () -> far.postFastRegister(1, region, right, 1, 8192, 0));
    assertThrows(IllegalArgumentException.class, () -> rdma.b.domain.allocateFastRegion(0));
    assertEquals(key, window.rkey());
    assertEquals(0, far.sendQueue().posted());
  }
}
