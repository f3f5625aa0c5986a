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
import irdma4j.driver.QueuePairState;
import irdma4j.driver.RcPath;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.FlushCode;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What each verb gives in each state of a connected queue pair, with and without a mistake in it,
 * and what becomes of it where the queue pair goes on to READY_TO_SEND; {@link
 * DatagramStateTableTest} has it for datagrams.
 */
class VerbStateTableTest {
  private static final int SIZE = 4096;
  private static final int WRONG_KEY = 0x00ab_cd00;

  private enum State {
    INIT,
    READY_TO_RECEIVE,
    READY_TO_SEND,
    SEND_QUEUE_DRAINED,
    ERROR
  }

  private enum Mistake {
    NONE,
    LOCAL_KEY,
    LOCAL_BOUNDS,
    LOCAL_RIGHT,
    LOCAL_DOMAIN,
    REMOTE_KEY,
    REMOTE_BOUNDS,
    REMOTE_RIGHT,
    REMOTE_DOMAIN
  }

  private enum Verb {
    SEND(true, false),
    SEND_IMMEDIATE(true, false),
    SEND_INLINE(false, false),
    SEND_INVALIDATE(true, true),
    WRITE(true, true),
    WRITE_INLINE(false, true),
    WRITE_IMMEDIATE(true, true),
    READ(true, true),
    READ_INVALIDATE(true, true),
    BIND_WINDOW(true, false),
    FAST_REGISTER(true, false),
    LOCAL_INVALIDATE(true, false),
    NOP(false, false),
    RECEIVE(true, false);

    final boolean localKey;
    final boolean remoteKey;

    Verb(boolean localKey, boolean remoteKey) {
      this.localKey = localKey;
      this.remoteKey = remoteKey;
    }

    boolean isRead() {
      return this == READ || this == READ_INVALIDATE;
    }

    boolean canHave(Mistake mistake) {
      return switch (mistake) {
        case NONE -> true;
        case LOCAL_KEY -> localKey;
        case LOCAL_BOUNDS, LOCAL_DOMAIN -> localKey && !isLocalOperation();
        case LOCAL_RIGHT -> isRead() || this == RECEIVE;
        case REMOTE_KEY -> remoteKey;
        case REMOTE_BOUNDS, REMOTE_RIGHT, REMOTE_DOMAIN -> remoteKey && this != SEND_INVALIDATE;
      };
    }

    boolean isLocalOperation() {
      return this == BIND_WINDOW || this == FAST_REGISTER || this == LOCAL_INVALIDATE;
    }
  }

  private RdmaPair rdma;
  private MemoryRegion local;
  private MemoryRegion unwritable;
  private MemoryRegion elsewhere;
  private MemoryRegion remote;
  private MemoryRegion readable;
  private MemoryRegion writable;
  private MemoryRegion foreign;
  private DmaMemory spare;
  private DmaMemory farMemory;
  private final List<AutoCloseable> ofCell = new ArrayList<>();

  @BeforeEach
  void open() {
    rdma = new RdmaPair(5, 0, 1024);
    RdmaPair.Side a = rdma.a;
    RdmaPair.Side b = rdma.b;
    spare = a.memory(SIZE, DmaPlacement.SCATTERED);
    local =
        a.domain.registerMemory(
            a.memory(SIZE, DmaPlacement.SCATTERED), Access.LOCAL_WRITE, Access.BIND_WINDOW);
    unwritable = a.domain.registerMemory(a.memory(SIZE, DmaPlacement.SCATTERED));
    elsewhere =
        a.device
            .allocateProtectionDomain()
            .registerMemory(a.memory(SIZE, DmaPlacement.SCATTERED), Access.LOCAL_WRITE);
    DmaMemory there = b.memory(SIZE, DmaPlacement.SCATTERED);
    farMemory = there;
    remote = b.region(there, PbleLevels.ANY);
    readable = b.domain.registerMemory(there, Access.REMOTE_READ);
    writable = b.domain.registerMemory(there, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    foreign =
        b.device
            .allocateProtectionDomain()
            .registerMemory(there, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
  }

  @AfterEach
  void close() {
    assertEquals(0, rdma.closeAndBalance());
  }

  private QueuePair create(RdmaPair.Side side) {
    return side.domain.createQueuePair(
        QueuePairConfig.of(side.queue).withRequests(8, 8).withSges(4, 4).withInline(101));
  }

  private RcPath path(QueuePair to, boolean fromA) {
    return fromA
        ? RcPath.of(RdmaPair.A, RdmaPair.B, rdma.b.device.macAddress(), to.qpn(), 1, 2)
        : RcPath.of(RdmaPair.B, RdmaPair.A, rdma.a.device.macAddress(), to.qpn(), 2, 1);
  }

  private void bring(QueuePair near, QueuePair far, State state) {
    if (state == State.INIT) {
      return;
    }
    near.toReadyToReceive(path(far, true));
    if (state == State.READY_TO_RECEIVE) {
      return;
    }
    near.toReadyToSend();
    if (state == State.SEND_QUEUE_DRAINED) {
      near.drain();
      rdma.await(near::isDrained, "the drain's end");
    } else if (state == State.ERROR) {
      near.toError();
    }
  }

  private MemoryRegion localRegion(Mistake mistake) {
    return switch (mistake) {
      case LOCAL_RIGHT -> unwritable;
      case LOCAL_DOMAIN -> elsewhere;
      default -> local;
    };
  }

  private MemoryRegion remoteRegion(Verb verb, Mistake mistake) {
    return switch (mistake) {
      case REMOTE_RIGHT -> verb.isRead() ? writable : readable;
      case REMOTE_DOMAIN -> foreign;
      default -> remote;
    };
  }

  /** A key that can be invalidated, which a queue pair's work makes valid first. */
  private int fastKey(RdmaPair.Side side, QueuePair qp, DmaMemory memory) {
    FastRegion region = side.domain.allocateFastRegion(2);
    ofCell.add(region);
    assertTrue(
        qp.postFastRegister(
            1,
            region,
            memory,
            0,
            memory.size(),
            QueuePair.SIGNALED,
            Access.LOCAL_WRITE,
            Access.REMOTE_WRITE));
    qp.ring();
    assertTrue(rdma.await(side).isSuccess());
    return region.key();
  }

  private boolean post(QueuePair qp, QueuePair far, Verb verb, Mistake mistake) {
    MemoryRegion here = localRegion(mistake);
    int lkey = mistake == Mistake.LOCAL_KEY ? WRONG_KEY : here.lkey();
    MemoryRegion there = remoteRegion(verb, mistake);
    int rkey = mistake == Mistake.REMOTE_KEY ? WRONG_KEY : there.rkey();
    long to = there.address() + (mistake == Mistake.REMOTE_BOUNDS ? SIZE - 63 : 0);
    long from = here.address() + (mistake == Mistake.LOCAL_BOUNDS ? SIZE - 63 : 0);
    int flags = QueuePair.SIGNALED;
    SgeList sges = new SgeList().set(from, 64, lkey);
    SendQueue send = qp.sendQueue();
    return switch (verb) {
      case SEND -> qp.postSend(7, sges, flags, 0, 0);
      case SEND_IMMEDIATE -> qp.postSend(7, sges, flags | SendQueue.IMMEDIATE, 9, 0);
      case SEND_INLINE -> qp.postSendInline(7, spare.segment(), 0, 64, flags);
      case SEND_INVALIDATE -> {
        int key = mistake == Mistake.REMOTE_KEY ? WRONG_KEY : fastKey(rdma.b, far, farMemory);
        yield qp.postSendInvalidate(7, lkey, from, 64, key, flags);
      }
      case WRITE -> qp.postWrite(7, sges, to, rkey, flags);
      case WRITE_INLINE -> qp.postWriteInline(7, spare.segment(), 0, 64, to, rkey, flags);
      case WRITE_IMMEDIATE -> qp.postWriteImmediate(7, lkey, from, 64, to, rkey, 5, flags);
      case READ -> qp.postRead(7, sges, to, rkey, flags);
      case READ_INVALIDATE -> {
        boolean fast = here == local && mistake != Mistake.LOCAL_KEY;
        int key = fast ? fastKey(rdma.a, rdma.a.pair, spare) : lkey;
        long sink =
            fast
                ? spare.segment().address() + (mistake == Mistake.LOCAL_BOUNDS ? SIZE - 63 : 0)
                : from;
        yield qp.postReadInvalidate(7, key, sink, 64, to, rkey, flags);
      }
      case BIND_WINDOW -> {
        MemoryWindow window = rdma.a.domain.allocateWindow(MemoryWindow.Type.TWO);
        ofCell.add(window);
        yield send.bindWindow(
            7, flags, window.rkey() + 1, lkey, from, 64, true, false, true, false);
      }
      case FAST_REGISTER -> {
        FastRegion region = rdma.a.domain.allocateFastRegion(2);
        ofCell.add(region);
        yield mistake == Mistake.NONE
            ? qp.postFastRegister(7, region, spare, 0, SIZE, flags, Access.REMOTE_READ)
            : send.fastRegister(
                7, flags, WRONG_KEY >>> 8, 1, 1, from, SIZE, true, SIZE, 0, 0, spare.iova(0));
      }
      case LOCAL_INVALIDATE ->
          qp.postInvalidate(
              7, mistake == Mistake.NONE ? fastKey(rdma.a, rdma.a.pair, spare) : lkey, flags);
      case NOP -> send.nop(7, flags);
      case RECEIVE -> qp.postReceive(7, sges);
    };
  }

  private String cell(State state, Verb verb, Mistake mistake) throws Exception {
    QueuePair near = create(rdma.a);
    QueuePair far = create(rdma.b);
    try {
      far.connect(path(near, false));
      for (int i = 0; i < 4; i++) {
        assertTrue(far.postReceive(i, remote.lkey(), remote.address(), SIZE));
      }
      bring(near, far, state);
      String result;
      if (post(near, far, verb, mistake)) {
        near.ring();
        rdma.settle(2_000_000);
        result = outcome();
        result += near.state().name().equals(state.name()) ? "" : "; then " + near.state();
        if (result.equals("waits") && state != State.ERROR) {
          goOn(near, far, state, verb);
          rdma.settle(2_000_000);
          result += ", " + outcome();
          result += near.state() == QueuePairState.READY_TO_SEND ? "" : "; then " + near.state();
        }
      } else {
        result = "refused";
      }
      return result;
    } finally {
      near.close();
      far.close();
      for (AutoCloseable each : ofCell) {
        each.close();
      }
      ofCell.clear();
      rdma.settle(100_000);
      while (rdma.b.queue.poll(new Completion())) {}
      while (rdma.a.queue.poll(new Completion())) {}
    }
  }

  /** What the next completion says. */
  private String outcome() {
    Completion completion = new Completion();
    if (!rdma.a.queue.poll(completion)) {
      return "waits";
    }
    assertEquals(7, completion.wrId());
    assertFalse(rdma.a.queue.poll(new Completion()), "completed twice");
    if (completion.isSuccess()) {
      return "done";
    }
    assertEquals(Completion.Status.FLUSHED, completion.status());
    return "flushed: " + completion.flushCode();
  }

  /** Goes on to READY_TO_SEND; a message comes for a receive. */
  private void goOn(QueuePair near, QueuePair far, State from, Verb verb) {
    switch (from) {
      case INIT -> {
        near.toReadyToReceive(path(far, true));
        near.toReadyToSend();
      }
      case READY_TO_RECEIVE -> near.toReadyToSend();
      case SEND_QUEUE_DRAINED -> near.resume();
      case READY_TO_SEND, ERROR -> {}
    }
    if (verb == Verb.RECEIVE) {
      assertTrue(far.postSend(8, remote.lkey(), remote.address(), SIZE / 64, QueuePair.SIGNALED));
      far.ring();
    }
  }

  /**
   * Work waits until its queue may send and is done then; a mistake puts the queue pair into the
   * error state with its reason, where what is posted is flushed. Fails if any cell is otherwise,
   * or empty.
   */
  @Test
  void eachVerbInEachState() throws Exception {
    StringBuilder table = new StringBuilder("| verb | mistake |");
    for (State state : State.values()) {
      table.append(' ').append(state).append(" |");
    }
    table.append("\n|---|---|").append("---|".repeat(State.values().length)).append('\n');
    StringBuilder wrong = new StringBuilder();
    for (Verb verb : Verb.values()) {
      for (Mistake mistake : Mistake.values()) {
        if (!verb.canHave(mistake)) {
          continue;
        }
        table.append("| ").append(verb).append(" | ").append(mistake).append(" |");
        for (State state : State.values()) {
          String result = cell(state, verb, mistake);
          table.append(' ').append(result).append(" |");
          String expected =
              (state == State.ERROR || done(verb, state) ? "" : "waits, ")
                  + expected(verb, mistake, state);
          boolean turns = state != State.ERROR && mistake != Mistake.NONE;
          if (!result.equals(expected + (turns ? "; then ERROR" : ""))) {
            wrong.append("\n%s %s %s: %s".formatted(verb, mistake, state, result));
          }
        }
        table.append('\n');
      }
    }
    Path report = Path.of("target", "verb-states.md");
    Files.createDirectories(report.getParent());
    Files.writeString(report, table);
    assertEquals("", wrong.toString());
  }

  /** Whether work is done in the state in which it is posted. */
  private static boolean done(Verb verb, State state) {
    return state == State.READY_TO_SEND && verb != Verb.RECEIVE;
  }

  private static String expected(Verb verb, Mistake mistake, State state) {
    if (state == State.ERROR) {
      return verb == Verb.NOP ? "waits" : flushed(FlushCode.GENERAL_ERR);
    }
    return switch (mistake) {
      case NONE -> "done";
      // Linux has no reason of its own for the event of a window's region that is not there.
      case LOCAL_KEY ->
          flushed(verb == Verb.BIND_WINDOW ? FlushCode.GENERAL_ERR : FlushCode.PROT_ERR);
      case LOCAL_BOUNDS, LOCAL_RIGHT, LOCAL_DOMAIN -> flushed(FlushCode.PROT_ERR);
      case REMOTE_KEY, REMOTE_BOUNDS, REMOTE_RIGHT, REMOTE_DOMAIN ->
          flushed(FlushCode.REM_ACCESS_ERR);
    };
  }

  private static String flushed(FlushCode reason) {
    return "flushed: " + reason.meaning();
  }

  /** Fails if a verb of a queue pair that is closed does anything but say so. */
  @Test
  void noVerbWorksOnAClosedQueuePair() {
    QueuePair near = create(rdma.a);
    try (QueuePair far = create(rdma.b)) {
      far.connect(path(near, false));
      bring(near, far, State.READY_TO_SEND);
      near.close();
      for (Verb verb : Verb.values()) {
        assertThrows(
            IllegalStateException.class, () -> post(near, far, verb, Mistake.NONE), verb.name());
      }
      assertThrows(IllegalStateException.class, near::ring);
    }
    rdma.settle(100_000);
    assertFalse(rdma.a.queue.poll(new Completion()));
  }

  /**
   * A peer that is not ready drops what comes; fails if it answers, or the sender waits forever.
   */
  @Test
  void aPeerThatIsNotReadyIsGivenUp() {
    for (boolean failed : new boolean[] {false, true}) {
      QueuePair near = create(rdma.a);
      QueuePair far = create(rdma.b);
      near.connect(path(far, true));
      if (failed) {
        far.toError();
      }
      assertTrue(post(near, far, Verb.WRITE, Mistake.NONE));
      near.ring();
      Completion completion = rdma.await(rdma.a);
      assertEquals(Completion.Status.FLUSHED, completion.status());
      assertEquals(FlushCode.RETRY_EXC_ERR.meaning(), completion.flushCode());
      near.close();
      far.close();
    }
  }

  /**
   * Work that is posted after the flush raises the event that was asked for; fails if a driver that
   * waits for events waits for ever.
   */
  @Test
  void workPostedInTheErrorStateRaisesAnEvent() {
    QueuePair near = create(rdma.a);
    near.toReadyToReceive(path(create(rdma.b), true));
    near.toError();
    rdma.settle(100_000);
    rdma.a.queue.takeEvent();
    rdma.a.queue.arm();
    rdma.settle(100_000);
    assertFalse(rdma.a.queue.takeEvent());
    assertTrue(near.postReceive(3, local.lkey(), local.address(), 64));
    assertTrue(rdma.a.device.processEvents(0, 0));
    assertTrue(rdma.a.queue.takeEvent());
    assertFalse(rdma.a.device.processEvents(0, 0), "an event for each time of asking");
    Completion completion = new Completion();
    assertTrue(rdma.a.queue.poll(completion));
    assertEquals(3, completion.wrId());
    assertEquals(Completion.Status.FLUSHED, completion.status());
    assertFalse(rdma.a.queue.poll(completion));
    near.close();
  }
}
