package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.FastRegion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.FlushCode;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules of verbs that need more than one queue pair, message or attempt to be seen. */
class VerbRulesTest {
  private static final int SIZE = 64 << 10;
  private static final int SIGNALED = QueuePair.SIGNALED;

  private static final class Stage implements AutoCloseable {
    final RdmaPair rdma;
    final DmaMemory left;
    final DmaMemory right;
    final MemoryRegion local;
    final MemoryRegion remote;

    Stage(long seed, double loss) {
      rdma = new RdmaPair(seed, loss, 1024);
      left = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
      right = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
      for (int i = 0; i < SIZE; i++) {
        left.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + i / 256 + 1));
      }
      Access[] all = {
        Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.BIND_WINDOW
      };
      local = rdma.a.domain.registerMemory(left, all);
      remote = rdma.b.domain.registerMemory(right, all);
    }

    QueuePair create(RdmaPair.Side side) {
      return side.domain.createQueuePair(
          QueuePairConfig.of(side.queue).withRequests(16, 16).withSges(4, 4).withInline(101));
    }

    void same(long leftOffset, long rightOffset, long length) {
      assertEquals(
          -1,
          left.segment()
              .asSlice(leftOffset, length)
              .mismatch(right.segment().asSlice(rightOffset, length)));
    }

    /** One completion of each of these requests, in this order, and no other. */
    void done(RdmaPair.Side side, long... wrIds) {
      for (long wrId : wrIds) {
        Completion completion = rdma.await(side);
        assertTrue(completion.isSuccess(), completion::toString);
        assertEquals(wrId, completion.wrId());
      }
      assertFalse(side.queue.poll(new Completion()));
    }

    void refused(QueuePair by, int rkey) {
      assertTrue(
          by.postWrite(9, local.lkey(), local.address(), 8, remote.address(), rkey, SIGNALED));
      by.ring();
      Completion completion = rdma.await(rdma.a);
      assertEquals(9, completion.wrId());
      assertEquals(FlushCode.REM_ACCESS_ERR.meaning(), completion.flushCode());
    }

    void allowed(QueuePair by, int rkey) {
      assertTrue(
          by.postWrite(9, local.lkey(), local.address(), 8, remote.address(), rkey, SIGNALED));
      by.ring();
      done(rdma.a, 9);
    }

    @Override
    public void close() {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  private enum Form {
    SEND,
    SEND_IMMEDIATE,
    SEND_INLINE,
    SEND_INVALIDATE,
    WRITE_IMMEDIATE
  }

  /**
   * Each form of a message that takes a receive wakes who asked for solicited ones exactly if it is
   * marked; one of several packets with its last. Fails if a form loses the mark, or has it
   * unasked.
   */
  @ParameterizedTest
  @EnumSource(Form.class)
  void eachFormOfMessageCanBeSolicited(Form form) {
    try (Stage stage = new Stage(3, 0)) {
      QueuePair near = stage.rdma.a.pair;
      QueuePair far = stage.rdma.b.pair;
      FastRegion victim = stage.rdma.b.domain.allocateFastRegion(16);
      for (int round = 0; round < 4; round++) {
        boolean marked = round % 2 == 1;
        int length = round < 2 ? 50 : 3000;
        int flags = SIGNALED | (marked ? QueuePair.SOLICITED : 0);
        long from = stage.local.address();
        int lkey = stage.local.lkey();
        if (form == Form.SEND_INVALIDATE) {
          assertTrue(
              far.postFastRegister(1, victim, stage.right, 0, SIZE, SIGNALED, Access.REMOTE_WRITE));
          far.ring();
          stage.done(stage.rdma.b, 1);
        }
        assertTrue(far.postReceive(2, stage.remote.lkey(), stage.remote.address(), SIZE));
        stage.rdma.b.queue.armSolicited();
        SgeList sges = new SgeList().set(from, length, lkey);
        assertTrue(
            switch (form) {
              case SEND -> near.postSend(3, sges, flags, 0, 0);
              case SEND_IMMEDIATE -> near.postSend(3, sges, flags | SendQueue.IMMEDIATE, 7, 0);
              case SEND_INLINE -> near.postSendInline(3, stage.left.segment(), 0, 50, flags);
              case SEND_INVALIDATE -> near.postSend(3, sges, flags, 0, victim.key());
              case WRITE_IMMEDIATE ->
                  near.postWriteImmediate(
                      3, lkey, from, length, stage.remote.address(), stage.remote.rkey(), 7, flags);
            });
        near.ring();
        stage.done(stage.rdma.a, 3);
        stage.rdma.settle(100_000);
        assertEquals(marked, stage.rdma.b.queue.takeEvent(), "round " + round);
        Completion received = stage.rdma.await(stage.rdma.b);
        assertEquals(2, received.wrId());
        assertEquals(marked, received.isSolicited());
      }
      assertEquals(0, stage.rdma.b.device.usage().overdueEvents());
    }
  }

  /**
   * The source of a WRITE, or the sink of a READ, is taken away by the request behind it, which a
   * fence holds back. Fails if the fence does, since packets that are lost are sent again, and
   * answers come later than they are asked for.
   */
  @Property(tries = 30)
  void aFenceKeepsMemoryUntilWorkBeforeItIsDone(@ForAll long seed) {
    Random random = new Random(seed);
    try (Stage stage = new Stage(seed, random.nextInt(3) * 10)) {
      QueuePair near = stage.rdma.a.pair;
      FastRegion region = stage.rdma.a.domain.allocateFastRegion(16);
      for (int round = 0; round < 3; round++) {
        boolean read = random.nextBoolean();
        int length = 1 + random.nextInt(30_000);
        int fence = read && random.nextBoolean() ? QueuePair.READ_FENCE : QueuePair.LOCAL_FENCE;
        assertTrue(near.postFastRegister(1, region, stage.left, 0, SIZE, 0, Access.LOCAL_WRITE));
        long there = stage.remote.address() + 100;
        long here = stage.left.segment().address();
        int rkey = stage.remote.rkey();
        assertTrue(
            read
                ? near.postRead(2, region.key(), here, length, there, rkey, SIGNALED)
                : near.postWrite(2, region.key(), here, length, there, rkey, SIGNALED));
        assertTrue(near.postInvalidate(3, region.key(), SIGNALED | fence));
        near.ring();
        stage.done(stage.rdma.a, 2, 3);
        stage.same(0, 100, length);
      }
    }
  }

  /**
   * A window of type 1 serves every queue pair of its domain under its last key alone. Fails if a
   * key before it still does, or it belongs to the queue pair that bound it.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWindowOfTypeOneServesItsDomainUnderItsLastKey(boolean old) {
    try (Stage stage = new Stage(3, 0)) {
      QueuePair far = stage.rdma.b.pair;
      QueuePair near = stage.create(stage.rdma.a);
      stage.rdma.connect(near, stage.create(stage.rdma.b), 5, 6, 1024);
      MemoryWindow window = stage.rdma.b.domain.allocateWindow(MemoryWindow.Type.ONE);
      int[] keys = new int[2];
      for (int i = 0; i < 2; i++) {
        assertTrue(
            far.postBind(
                i, window, stage.remote, stage.remote.address(), 8, SIGNALED, Access.REMOTE_WRITE));
        far.ring();
        stage.done(stage.rdma.b, i);
        keys[i] = window.rkey();
      }
      stage.allowed(stage.rdma.a.pair, keys[1]);
      if (old) {
        stage.refused(near, keys[0]);
      } else {
        stage.allowed(near, keys[1]);
      }
    }
  }

  /**
   * A window of type 2 that was invalidated goes to the queue pair that binds it next. Fails if the
   * one before keeps it, or the next one does not get it.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWindowOfTypeTwoGoesToItsNextBinder(boolean first) {
    try (Stage stage = new Stage(3, 0)) {
      QueuePair near = stage.create(stage.rdma.a);
      QueuePair next = stage.create(stage.rdma.b);
      stage.rdma.connect(near, next, 5, 6, 1024);
      MemoryWindow window = stage.rdma.b.domain.allocateWindow(MemoryWindow.Type.TWO);
      for (QueuePair binder : new QueuePair[] {stage.rdma.b.pair, next}) {
        assertTrue(
            binder.postBind(
                1, window, stage.remote, stage.remote.address(), 8, SIGNALED, Access.REMOTE_WRITE));
        binder.ring();
        stage.done(stage.rdma.b, 1);
        stage.allowed(binder == next ? near : stage.rdma.a.pair, window.rkey());
        if (binder != next) {
          assertTrue(binder.postInvalidate(2, window.rkey(), SIGNALED));
          binder.ring();
          stage.done(stage.rdma.b, 2);
        }
      }
      if (first) {
        stage.refused(stage.rdma.a.pair, window.rkey());
      } else {
        stage.allowed(near, window.rkey());
      }
    }
  }

  private enum Silent {
    READY_TO_RECEIVE,
    DRAINED,
    SUSPENDED
  }

  /**
   * A queue pair that sends nothing yet, or no more, takes its peer's SENDs and WRITEs and answers
   * its READs; what is posted to it waits. Fails if a peer's message is dropped in such a state, or
   * work begins in it.
   */
  @ParameterizedTest
  @EnumSource(Silent.class)
  void whoDoesNotSendStillAnswers(Silent state) {
    try (Stage stage = new Stage(3, 0)) {
      QueuePair near = stage.create(stage.rdma.a);
      QueuePair far = stage.create(stage.rdma.b);
      near.connect(
          RcPath.of(RdmaPair.A, RdmaPair.B, stage.rdma.b.device.macAddress(), far.qpn(), 1, 2)
              .withMtu(1024));
      far.toReadyToReceive(
          RcPath.of(RdmaPair.B, RdmaPair.A, stage.rdma.a.device.macAddress(), near.qpn(), 2, 1)
              .withMtu(1024));
      if (state != Silent.READY_TO_RECEIVE) {
        far.toReadyToSend();
        if (state == Silent.DRAINED) {
          far.drain();
        } else {
          far.suspend();
        }
        stage.rdma.await(far::isDrained, "the drain's end");
      }
      assertTrue(
          far.postWrite(
              1,
              stage.remote.lkey(),
              stage.remote.address() + 8192,
              8,
              stage.local.address() + 60_000,
              stage.local.rkey(),
              SIGNALED));
      far.ring();
      assertTrue(far.postReceive(2, stage.remote.lkey(), stage.remote.address(), 4000));
      int lkey = stage.local.lkey();
      long from = stage.local.address();
      long to = stage.remote.address();
      int rkey = stage.remote.rkey();
      assertTrue(near.postSend(3, lkey, from, 3000, SIGNALED));
      assertTrue(near.postWrite(4, lkey, from + 4000, 3000, to + 4000, rkey, SIGNALED));
      assertTrue(near.postRead(5, lkey, from + 8000, 3000, to + 4000, rkey, SIGNALED));
      near.ring();
      stage.done(stage.rdma.a, 3, 4, 5);
      stage.done(stage.rdma.b, 2);
      stage.same(0, 0, 3000);
      stage.same(4000, 4000, 3000);
      stage.same(8000, 4000, 3000);
      stage.rdma.settle(1_000_000);
      assertFalse(stage.rdma.b.queue.poll(new Completion()), "work was begun");
      if (state == Silent.READY_TO_RECEIVE) {
        far.toReadyToSend();
      } else {
        far.resume();
      }
      stage.done(stage.rdma.b, 1);
      stage.same(60_000, 8192, 8);
    }
  }

  /** Fails if more entries than a queue pair was made for are taken, or 13 are not. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 12, 13})
  void asManyEntriesAsAQueuePairWasMadeFor(int most) {
    try (Stage stage = new Stage(3, 0)) {
      QueuePair near =
          stage.rdma.a.domain.createQueuePair(
              QueuePairConfig.of(stage.rdma.a.queue).withSges(most, most).withInline(0));
      SgeList sges = new SgeList();
      for (int i = 0; i < most; i++) {
        sges.add(stage.local.address(), 1, stage.local.lkey());
      }
      assertTrue(near.postSend(1, sges, SIGNALED, 0, 0));
      assertTrue(near.postWrite(2, sges, 0, 0, SIGNALED));
      assertTrue(near.postRead(3, sges, 0, 0, SIGNALED));
      assertTrue(near.postReceive(4, sges));
      long posted = near.sendQueue().posted();
      if (most == 13) {
        assertThrows(IllegalArgumentException.class, () -> sges.add(0, 1, 0));
        assertEquals(13, sges.count());
      } else {
        sges.add(stage.local.address(), 1, stage.local.lkey());
        assertThrows(IllegalArgumentException.class, () -> near.postSend(1, sges, SIGNALED, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> near.postWrite(2, sges, 0, 0, SIGNALED));
        assertThrows(IllegalArgumentException.class, () -> near.postRead(3, sges, 0, 0, SIGNALED));
        assertThrows(IllegalArgumentException.class, () -> near.postReceive(4, sges));
      }
      assertThrows(
          IllegalArgumentException.class,
          () -> near.postSendInline(5, stage.left.segment(), 0, 1, SIGNALED));
      assertEquals(posted, near.sendQueue().posted());
      assertEquals(1, near.receiveQueue().used());
    }
  }
}
