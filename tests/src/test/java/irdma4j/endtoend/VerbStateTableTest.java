package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AsyncEvent;
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
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.SqWqe;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What each verb gives in each state of a connected queue pair, with and without an error of its
 * own or of its peer, and what becomes of it where the queue pair goes on to READY_TO_SEND. The
 * table is written to {@code target/verb-states.md}; {@link DatagramStateTableTest} has it for
 * datagrams.
 */
class VerbStateTableTest {
  private static final int SIZE = 4096;
  private static final int BYTES = 64;
  private static final int WRONG_KEY = 0x00ab_cd00;

  /** Makes every opcode of a send queue one that is none. */
  private static final long UNKNOWN_OPCODE = SqWqe.OPCODE.encode(0x10);

  /** Longer than the timeouts of one retry. */
  private static final long SILENT = 50_000_000;

  private enum State {
    INIT,
    READY_TO_RECEIVE,
    READY_TO_SEND,
    SEND_QUEUE_DRAINED,
    SUSPENDED,
    ERROR;

    /** What the driver calls the state. */
    QueuePairState driver() {
      return this == SUSPENDED ? QueuePairState.SEND_QUEUE_DRAINED : QueuePairState.valueOf(name());
    }
  }

  /** What is wrong with the work or with the peer; the codes are those that a key's check gives. */
  private enum Mistake {
    NONE(null),
    LOCAL_KEY(AeCode.AMP_UNALLOCATED_STAG),
    LOCAL_BOUNDS(AeCode.AMP_BOUNDS_VIOLATION),
    LOCAL_RIGHT(AeCode.AMP_RIGHTS_VIOLATION),
    LOCAL_DOMAIN(AeCode.AMP_BAD_PD),
    /** Of a region that was invalidated. */
    LOCAL_INVALID(AeCode.AMP_INVALID_STAG),
    REMOTE_KEY(AeCode.AMP_UNALLOCATED_STAG),
    REMOTE_BOUNDS(AeCode.AMP_BOUNDS_VIOLATION),
    REMOTE_RIGHT(AeCode.AMP_RIGHTS_VIOLATION),
    REMOTE_DOMAIN(AeCode.AMP_BAD_PD),
    REMOTE_INVALID(AeCode.AMP_INVALID_STAG),
    /** The device reads an opcode that is none. */
    UNKNOWN_OPCODE(AeCode.WQE_UNEXPECTED_OPCODE),
    /** The peer has posted no receive. */
    NO_RECEIVE(null),
    /** The peer's receive is a byte too short. */
    SHORT_RECEIVE(AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER),
    /** The peer's receive has a wrong key. */
    WRONG_RECEIVE(AeCode.AMP_UNALLOCATED_STAG),
    /** The peer answers nothing. */
    SILENCE(null),
    /** The peer sends a byte more than a receive takes. */
    LONG_MESSAGE(AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER);

    final @Nullable AeCode code;

    Mistake(@Nullable AeCode code) {
      this.code = code;
    }
  }

  /** How a cell ends: the reason of the flush, and the events of both sides. */
  private record End(
      @Nullable FlushCode reason, @Nullable AeCode nearEvent, @Nullable AeCode farEvent) {
    static final End DONE = new End(null, null, null);

    String text() {
      if (reason == null) {
        return "done";
      }
      return flushed(reason) + events(names(nearEvent), names(farEvent)) + "; then ERROR";
    }

    private static List<String> names(@Nullable AeCode code) {
      return code == null ? List.of() : List.of(code.name());
    }
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
        case LOCAL_BOUNDS, LOCAL_DOMAIN, LOCAL_INVALID -> localKey && !isLocalOperation();
        case LOCAL_RIGHT -> isRead() || this == RECEIVE;
        case REMOTE_KEY -> remoteKey;
        case REMOTE_BOUNDS, REMOTE_RIGHT, REMOTE_DOMAIN, REMOTE_INVALID ->
            remoteKey && this != SEND_INVALIDATE;
        case UNKNOWN_OPCODE -> this != RECEIVE;
        case NO_RECEIVE -> isSend() || this == WRITE_IMMEDIATE;
        case SHORT_RECEIVE, WRONG_RECEIVE -> isSend();
        case SILENCE -> isSend() || remoteKey;
        case LONG_MESSAGE -> this == RECEIVE;
      };
    }

    boolean isSend() {
      return switch (this) {
        case SEND, SEND_IMMEDIATE, SEND_INLINE, SEND_INVALIDATE -> true;
        default -> false;
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
  private int invalid;
  private int farInvalid;
  private DmaMemory spare;
  private DmaMemory farMemory;
  private final List<String> nearEvents = new ArrayList<>();
  private final List<String> farEvents = new ArrayList<>();
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
    invalid = invalidKey(a, spare);
    farInvalid = invalidKey(b, farMemory);
    a.device.onAsyncEvent(event -> nearEvents.add(name(event)));
    b.device.onAsyncEvent(event -> farEvents.add(name(event)));
  }

  private static String name(AsyncEvent event) {
    AeCode code = AeCode.of(event.code());
    return code == null ? Integer.toHexString(event.code()) : code.name();
  }

  private static String events(List<String> near, List<String> far) {
    return (near.isEmpty() ? "" : "; " + String.join(" ", near))
        + (far.isEmpty() ? "" : "; peer " + String.join(" ", far));
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
            .withRetries(1, 1)
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
    switch (state) {
      case SEND_QUEUE_DRAINED -> near.drain();
      case SUSPENDED -> near.suspend();
      case ERROR -> near.toError();
      default -> {}
    }
    if (state == State.SEND_QUEUE_DRAINED || state == State.SUSPENDED) {
      rdma.await(near::isDrained, "the drain's end");
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

  private int invalidKey(RdmaPair.Side side, DmaMemory memory) {
    int key = fastKey(side, side.pair, memory);
    // It stays for all cells.
    ofCell.clear();
    assertTrue(side.pair.postInvalidate(1, key, QueuePair.SIGNALED));
    side.pair.ring();
    assertTrue(rdma.await(side).isSuccess());
    return key;
  }

  private boolean post(QueuePair qp, QueuePair far, Verb verb, Mistake mistake) {
    MemoryRegion here = localRegion(mistake);
    int lkey =
        switch (mistake) {
          case LOCAL_KEY -> WRONG_KEY;
          case LOCAL_INVALID -> invalid;
          default -> here.lkey();
        };
    MemoryRegion there = remoteRegion(verb, mistake);
    int rkey =
        switch (mistake) {
          case REMOTE_KEY -> WRONG_KEY;
          case REMOTE_INVALID -> farInvalid;
          default -> there.rkey();
        };
    long to = there.address() + (mistake == Mistake.REMOTE_BOUNDS ? SIZE - BYTES + 1 : 0);
    long from = here.address() + (mistake == Mistake.LOCAL_BOUNDS ? SIZE - BYTES + 1 : 0);
    int flags = QueuePair.SIGNALED;
    SgeList sges = new SgeList().set(from, BYTES, lkey);
    SendQueue send = qp.sendQueue();
    return switch (verb) {
      case SEND -> qp.postSend(7, sges, flags, 0, 0);
      case SEND_IMMEDIATE -> qp.postSend(7, sges, flags | SendQueue.IMMEDIATE, 9, 0);
      case SEND_INLINE -> qp.postSendInline(7, spare.segment(), 0, BYTES, flags);
      case SEND_INVALIDATE -> {
        int key = mistake == Mistake.REMOTE_KEY ? WRONG_KEY : fastKey(rdma.b, far, farMemory);
        yield qp.postSendInvalidate(7, lkey, from, BYTES, key, flags);
      }
      case WRITE -> qp.postWrite(7, sges, to, rkey, flags);
      case WRITE_INLINE -> qp.postWriteInline(7, spare.segment(), 0, BYTES, to, rkey, flags);
      case WRITE_IMMEDIATE -> qp.postWriteImmediate(7, lkey, from, BYTES, to, rkey, 5, flags);
      case READ -> qp.postRead(7, sges, to, rkey, flags);
      case READ_INVALIDATE -> {
        boolean fast = lkey == local.lkey();
        int key = fast ? fastKey(rdma.a, rdma.a.pair, spare) : lkey;
        long sink =
            fast
                ? spare.segment().address()
                    + (mistake == Mistake.LOCAL_BOUNDS ? SIZE - BYTES + 1 : 0)
                : from;
        yield qp.postReadInvalidate(7, key, sink, BYTES, to, rkey, flags);
      }
      case BIND_WINDOW -> {
        MemoryWindow window = rdma.a.domain.allocateWindow(MemoryWindow.Type.TWO);
        ofCell.add(window);
        yield send.bindWindow(
            7, flags, window.rkey() + 1, lkey, from, BYTES, true, false, true, false);
      }
      case FAST_REGISTER -> {
        FastRegion region = rdma.a.domain.allocateFastRegion(2);
        ofCell.add(region);
        yield mistake == Mistake.LOCAL_KEY
            ? send.fastRegister(
                7, flags, WRONG_KEY >>> 8, 1, 1, from, SIZE, true, SIZE, 0, 0, spare.iova(0))
            : qp.postFastRegister(7, region, spare, 0, SIZE, flags, Access.REMOTE_READ);
      }
      case LOCAL_INVALIDATE ->
          qp.postInvalidate(
              7, mistake == Mistake.LOCAL_KEY ? lkey : fastKey(rdma.a, rdma.a.pair, spare), flags);
      case NOP -> send.nop(7, flags);
      case RECEIVE -> qp.postReceive(7, sges);
    };
  }

  private String cell(State state, Verb verb, Mistake mistake) throws Exception {
    QueuePair near = create(rdma.a);
    QueuePair far = create(rdma.b);
    try {
      far.connect(path(near, false));
      if (mistake != Mistake.NO_RECEIVE) {
        int key = mistake == Mistake.WRONG_RECEIVE ? WRONG_KEY : remote.lkey();
        int room = mistake == Mistake.SHORT_RECEIVE ? BYTES - 1 : SIZE;
        assertTrue(far.postReceive(2, key, remote.address(), room));
      }
      bring(near, far, state);
      assertTrue(post(near, far, verb, mistake));
      if (mistake == Mistake.SILENCE) {
        far.toError();
      } else if (mistake == Mistake.UNKNOWN_OPCODE) {
        rdma.simulation.inject(
            0, new Fault.CorruptDescriptor(Moment.next(Occasion.SEND_WQE), UNKNOWN_OPCODE));
      }
      nearEvents.clear();
      farEvents.clear();
      near.ring();
      String result = outcome(mistake);
      if (result.equals("waits") && state != State.ERROR) {
        assertEquals("", events(nearEvents, farEvents), "before its turn");
        assertEquals(state.driver(), near.state());
        goOn(near, far, state, verb, mistake);
        result += ", " + outcome(mistake);
      }
      result += events(nearEvents, farEvents);
      boolean stays = near.state() == QueuePairState.READY_TO_SEND || state == State.ERROR;
      return result + (stays ? "" : "; then " + near.state());
    } finally {
      rdma.simulation.clearFaults(0);
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
  private String outcome(Mistake mistake) {
    if (mistake == Mistake.SILENCE) {
      rdma.simulation.advance(SILENT);
    }
    rdma.settle(2_000_000);
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
  private void goOn(QueuePair near, QueuePair far, State from, Verb verb, Mistake mistake) {
    switch (from) {
      case INIT -> {
        near.toReadyToReceive(path(far, true));
        near.toReadyToSend();
      }
      case READY_TO_RECEIVE -> near.toReadyToSend();
      case SEND_QUEUE_DRAINED, SUSPENDED -> near.resume();
      case READY_TO_SEND, ERROR -> {}
    }
    if (verb == Verb.RECEIVE) {
      int bytes = mistake == Mistake.LONG_MESSAGE ? BYTES + 1 : BYTES;
      assertTrue(far.postSend(8, remote.lkey(), remote.address(), bytes, QueuePair.SIGNALED));
      far.ring();
    }
  }

  /**
   * Work waits until its queue may send and is done then; a mistake, its own or the peer's, puts
   * the queue pair into the error state with its reason and the events of both sides, where what is
   * posted is flushed. Fails if any cell is otherwise, or empty.
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
              state == State.ERROR
                  ? verb == Verb.NOP ? "waits" : flushed(FlushCode.GENERAL_ERR)
                  : (done(verb, state) ? "" : "waits, ") + end(verb, mistake).text();
          if (!result.equals(expected)) {
            wrong.append(
                "\n%s %s %s: %s, not %s".formatted(verb, mistake, state, result, expected));
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

  private static End end(Verb verb, Mistake mistake) {
    AeCode code = mistake.code;
    return switch (mistake) {
      case NONE -> End.DONE;
      case LOCAL_KEY, LOCAL_BOUNDS, LOCAL_RIGHT, LOCAL_DOMAIN, LOCAL_INVALID ->
          switch (verb) {
            // Linux has no reason of its own for a window's region that is not there.
            case BIND_WINDOW ->
                new End(FlushCode.GENERAL_ERR, AeCode.AMP_MWBIND_TO_INVALID_PARENT, null);
            case RECEIVE -> new End(FlushCode.PROT_ERR, code, AeCode.IB_REMOTE_OP_ERROR);
            default -> new End(FlushCode.PROT_ERR, code, null);
          };
      case REMOTE_KEY, REMOTE_BOUNDS, REMOTE_RIGHT, REMOTE_DOMAIN, REMOTE_INVALID ->
          new End(FlushCode.REM_ACCESS_ERR, AeCode.IB_REMOTE_ACCESS_ERROR, code);
      case UNKNOWN_OPCODE -> new End(FlushCode.LOC_QP_OP_ERR, code, null);
      // Linux has no reason of its own for this event either.
      case NO_RECEIVE -> new End(FlushCode.GENERAL_ERR, AeCode.LLP_TOO_MANY_RNRS, null);
      case SHORT_RECEIVE -> new End(FlushCode.REM_INV_REQ_ERR, AeCode.IB_INVALID_REQUEST, code);
      case WRONG_RECEIVE -> new End(FlushCode.REM_OP_ERR, AeCode.IB_REMOTE_OP_ERROR, code);
      case SILENCE -> new End(FlushCode.RETRY_EXC_ERR, AeCode.LLP_TOO_MANY_RETRIES, null);
      case LONG_MESSAGE -> new End(FlushCode.LOC_LEN_ERR, code, AeCode.IB_INVALID_REQUEST);
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
