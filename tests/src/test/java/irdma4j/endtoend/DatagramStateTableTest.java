package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AddressHandle;
import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.DatagramPath;
import irdma4j.driver.DatagramQueuePair;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.FlushCode;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What each verb gives in each state of a datagram queue pair, with and without a mistake in it.
 * The table is written to {@code target/datagram-states.md}.
 *
 * <p>Which verbs datagrams have: rdma-core's manual page of ibv_post_send, and Linux's soft-RoCE
 * (drivers/infiniband/sw/rxe/rxe_opcode.c).
 */
class DatagramStateTableTest {
  private static final int SIZE = 8192;
  private static final int KEY = 0x1122_3344;
  private static final int MTU = 1024;
  private static final int BYTES = 64;
  private static final int IMMEDIATE_DATA = 0xcafe_0009;
  private static final int WRONG_KEY = 0x00ab_cd00;
  private static final int HEADER = DatagramQueuePair.HEADER_BYTES;

  private enum State {
    INIT,
    READY_TO_RECEIVE,
    READY_TO_SEND,
    SEND_QUEUE_DRAINED,
    SUSPENDED,
    ERROR
  }

  /** What the cells of a row expect: done, or the event and the reason of the flush. */
  private enum Outcome {
    ARRIVES(null, null),
    DROPPED(null, null),
    PROTECTION(AeCode.AMP_UNALLOCATED_STAG, FlushCode.PROT_ERR),
    BOUNDS(AeCode.AMP_BOUNDS_VIOLATION, FlushCode.PROT_ERR),
    RIGHTS(AeCode.AMP_RIGHTS_VIOLATION, FlushCode.PROT_ERR),
    TOO_LONG(AeCode.UDA_XMIT_DGRAM_TOO_LONG, FlushCode.LOC_LEN_ERR),
    TOO_SHORT(AeCode.DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER, FlushCode.LOC_LEN_ERR),
    NO_HANDLE(AeCode.INVALID_AH_ENTRY, FlushCode.GENERAL_ERR),
    FOREIGN_HANDLE(AeCode.UDA_XMIT_BAD_PD, FlushCode.LOC_QP_OP_ERR),
    UNKNOWN_VERB(AeCode.WQE_UNEXPECTED_OPCODE, FlushCode.LOC_QP_OP_ERR);

    final @Nullable AeCode event;
    final @Nullable FlushCode reason;

    Outcome(@Nullable AeCode event, @Nullable FlushCode reason) {
      this.event = event;
      this.reason = reason;
    }

    String text() {
      return reason == null ? "done" : "flushed: " + reason.meaning();
    }
  }

  private record Row(
      String verb, String mistake, Outcome outcome, int bytes, BooleanSupplier post) {}

  private record Receive(String mistake, Outcome outcome, int queueKey, BooleanSupplier post) {
    static final String VERB = "RECEIVE, and a datagram comes";
  }

  private final SgeList sges = new SgeList();
  private final List<AsyncEvent> events = new ArrayList<>();
  private final List<Row> sends = new ArrayList<>();
  private final List<Receive> receives = new ArrayList<>();
  private RdmaPair rdma;
  private DmaMemory there;
  private MemoryRegion local;
  private MemoryRegion unwritable;
  private MemoryRegion remote;
  private DatagramQueuePair near;
  private DatagramQueuePair far;
  private AddressHandle toFar;
  private AddressHandle toNear;
  private AddressHandle toItself;
  private AddressHandle foreign;
  private MemoryWindow window;

  @BeforeEach
  void open() {
    rdma = new RdmaPair(5, 0, MTU);
    DmaMemory here = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    there = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    local = rdma.a.domain.registerMemory(here, Access.LOCAL_WRITE, Access.BIND_WINDOW);
    unwritable = rdma.a.domain.registerMemory(here);
    remote = rdma.b.domain.registerMemory(there, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    DatagramPath path = DatagramPath.of(RdmaPair.A, RdmaPair.B, rdma.b.device.macAddress());
    toFar = rdma.a.domain.createAddressHandle(path);
    foreign = rdma.a.device.allocateProtectionDomain().createAddressHandle(path);
    toNear =
        rdma.b.domain.createAddressHandle(
            DatagramPath.of(RdmaPair.B, RdmaPair.A, rdma.a.device.macAddress()));
    toItself =
        rdma.b.domain.createAddressHandle(
            DatagramPath.of(RdmaPair.B, RdmaPair.B, rdma.b.device.macAddress()));
    window = rdma.a.domain.allocateWindow(MemoryWindow.Type.TWO);
    rdma.a.device.onAsyncEvent(events::add);
    for (int i = 0; i < SIZE; i++) {
      here.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 11 + 1));
    }
    List.of(0, SendQueue.IMMEDIATE, QueuePair.SOLICITED, SendQueue.IMMEDIATE | QueuePair.SOLICITED)
        .forEach(this::sendRows);
    inlineRows();
    unknownRows();
    send("NOP", "", Outcome.DROPPED, () -> queue().nop(7, QueuePair.SIGNALED));
    receiveRows();
  }

  @AfterEach
  void close() {
    assertEquals(0, rdma.closeAndBalance());
  }

  private SendQueue queue() {
    return near.sendQueue();
  }

  private void send(String verb, String mistake, Outcome outcome, BooleanSupplier post) {
    sends.add(new Row(verb, mistake, outcome, BYTES, post));
  }

  private static String named(int flags) {
    return "SEND"
        + ((flags & SendQueue.IMMEDIATE) == 0 ? "" : " with immediate")
        + ((flags & QueuePair.SOLICITED) == 0 ? "" : ", solicited");
  }

  private void sendRows(int flags) {
    String verb = named(flags);
    long at = local.address();
    int key = local.lkey();
    send(verb, "", Outcome.ARRIVES, () -> post(flags, toFar.id(), 0, KEY, at, BYTES, key));
    send(
        verb,
        "no receive left",
        Outcome.DROPPED,
        () -> takenAway() && post(flags, toFar.id(), 0, KEY, at, BYTES, key));
    sends.add(
        new Row(verb, "empty", Outcome.ARRIVES, 0, () -> post(flags, toFar.id(), 0, KEY, 0, 0, 0)));
    sends.add(
        new Row(
            verb,
            "of a whole packet",
            Outcome.ARRIVES,
            MTU,
            () -> post(flags, toFar.id(), 0, KEY, at, MTU, key)));
    send(
        verb,
        "longer than a packet",
        Outcome.TOO_LONG,
        () -> post(flags, toFar.id(), 0, KEY, at, MTU + 1, key));
    send(
        verb,
        "wrong lkey",
        Outcome.PROTECTION,
        () -> post(flags, toFar.id(), 0, KEY, at, BYTES, WRONG_KEY));
    send(
        verb,
        "beyond the region",
        Outcome.BOUNDS,
        () -> post(flags, toFar.id(), 0, KEY, at + SIZE - BYTES + 1, BYTES, key));
    send(
        verb,
        "no such handle",
        Outcome.NO_HANDLE,
        () -> post(flags, foreign.id() + 1, 0, KEY, at, BYTES, key));
    send(
        verb,
        "handle of another domain",
        Outcome.FOREIGN_HANDLE,
        () -> post(flags, foreign.id(), 0, KEY, at, BYTES, key));
    send(
        verb,
        "no such queue pair there",
        Outcome.DROPPED,
        () -> post(flags, toFar.id(), 50, KEY, at, BYTES, key));
    send(
        verb,
        "wrong Q_Key",
        Outcome.DROPPED,
        () -> post(flags, toFar.id(), 0, KEY ^ 1, at, BYTES, key));
  }

  /** A datagram of the far queue pair to itself takes its receive. */
  private boolean takenAway() {
    assertTrue(
        far.postSend(1, toItself, far.qpn(), KEY, remote.lkey(), remote.address(), BYTES, 0));
    far.ring();
    rdma.settle(20_000);
    return rdma.b.queue.poll(new Completion());
  }

  private boolean post(
      int flags, int handle, int beside, int queueKey, long at, int bytes, int key) {
    sges.clear();
    if (bytes > 0) {
      sges.add(at, bytes, key);
    }
    return queue()
        .sendDatagram(
            7,
            flags | QueuePair.SIGNALED,
            IMMEDIATE_DATA,
            handle,
            far.qpn() + beside,
            queueKey,
            sges);
  }

  private void inlineRows() {
    String verb = "SEND inline";
    send(verb, "", Outcome.ARRIVES, () -> inline(toFar.id(), KEY));
    send(verb, "no such handle", Outcome.NO_HANDLE, () -> inline(foreign.id() + 1, KEY));
    send(verb, "handle of another domain", Outcome.FOREIGN_HANDLE, () -> inline(foreign.id(), KEY));
    send(verb, "wrong Q_Key", Outcome.DROPPED, () -> inline(toFar.id(), KEY + 1));
  }

  private boolean inline(int handle, int queueKey) {
    return queue()
        .sendDatagramInline(
            7,
            QueuePair.SIGNALED,
            0,
            handle,
            far.qpn(),
            queueKey,
            rdma.a.memories.get(0).segment(),
            0,
            BYTES);
  }

  private SgeList whole() {
    return sges.set(local.address(), BYTES, local.lkey());
  }

  private void unknownRows() {
    int signaled = QueuePair.SIGNALED;
    unknown("SEND with invalidate", () -> queue().send(7, signaled, 0, local.lkey(), whole()));
    unknown("WRITE", () -> queue().write(7, signaled, 0, remote.address(), remote.rkey(), whole()));
    unknown(
        "WRITE with immediate",
        () ->
            queue()
                .write(
                    7,
                    signaled | SendQueue.IMMEDIATE,
                    0,
                    remote.address(),
                    remote.rkey(),
                    whole()));
    unknown(
        "WRITE inline",
        () ->
            queue()
                .writeInline(
                    7,
                    signaled,
                    0,
                    remote.address(),
                    remote.rkey(),
                    rdma.a.memories.get(0).segment(),
                    0,
                    BYTES));
    unknown("READ", () -> queue().read(7, signaled, remote.address(), remote.rkey(), whole()));
    unknown(
        "READ with invalidate",
        () -> queue().readInvalidate(7, signaled, remote.address(), remote.rkey(), whole()));
    unknown(
        "bind window",
        () ->
            queue()
                .bindWindow(
                    7,
                    signaled,
                    window.rkey(),
                    local.lkey(),
                    local.address(),
                    BYTES,
                    true,
                    false,
                    true,
                    false));
    unknown(
        "fast register",
        () ->
            queue()
                .fastRegister(
                    7, signaled, local.lkey() >>> 8, 1, 1, 0, 4096, true, 4096, 0, 0, 4096));
    unknown("local invalidate", () -> queue().invalidate(7, signaled, local.lkey()));
  }

  private void unknown(String verb, BooleanSupplier post) {
    send(verb, "", Outcome.UNKNOWN_VERB, post);
  }

  private void receiveRows() {
    long at = local.address() + 4096;
    int room = HEADER + BYTES;
    receive("", Outcome.ARRIVES, KEY, at, room, local.lkey());
    receive("wrong Q_Key", Outcome.DROPPED, KEY ^ 1, at, room, local.lkey());
    receive("wrong lkey", Outcome.PROTECTION, KEY, at, room, WRONG_KEY);
    receive("beyond the region", Outcome.BOUNDS, KEY, at + 4096 - room + 1, room, local.lkey());
    receive("region not to be written", Outcome.RIGHTS, KEY, at, room, unwritable.lkey());
    receive("one byte too short", Outcome.TOO_SHORT, KEY, at, room - 1, local.lkey());
  }

  private void receive(
      String mistake, Outcome outcome, int queueKey, long at, int bytes, int lkey) {
    receives.add(
        new Receive(
            mistake, outcome, queueKey, () -> near.postReceive(7, sges.set(at, bytes, lkey))));
  }

  private void comes(int queueKey) {
    assertTrue(
        far.postSend(1, toNear, near.qpn(), queueKey, remote.lkey(), remote.address(), BYTES, 0));
    far.ring();
  }

  private void begin(State state) {
    QueuePairConfig config = QueuePairConfig.of(rdma.a.queue).withRequests(8, 8).withInline(101);
    near = rdma.a.domain.createInitialDatagramQueuePair(config, MTU, KEY);
    far =
        rdma.b.domain.createDatagramQueuePair(
            QueuePairConfig.of(rdma.b.queue).withRequests(8, 8), MTU, KEY);
    assertTrue(far.postReceive(3, remote.lkey(), remote.address(), HEADER + MTU));
    events.clear();
    if (state == State.INIT) {
      return;
    }
    near.toReadyToReceive();
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
      events.clear();
    }
  }

  private void makeReady(State state) {
    switch (state) {
      case INIT -> {
        near.toReadyToReceive();
        near.toReadyToSend();
      }
      case READY_TO_RECEIVE -> near.toReadyToSend();
      case SEND_QUEUE_DRAINED, SUSPENDED -> near.resume();
      default -> throw new AssertionError(state);
    }
  }

  private void end() {
    near.close();
    far.close();
    rdma.settle(20_000);
    Completion completion = new Completion();
    while (rdma.a.queue.poll(completion)) {}
    while (rdma.b.queue.poll(completion)) {}
  }

  /** What the work posted gave by now. */
  private String result() {
    rdma.settle(60_000);
    Completion completion = new Completion();
    if (!rdma.a.queue.poll(completion)) {
      return "waits";
    }
    assertEquals(7, completion.wrId());
    String text = completion.isSuccess() ? "done" : "flushed: " + completion.flushCode();
    return rdma.a.queue.poll(completion) ? text + ", and " + completion : text;
  }

  /** Empty if the row's datagram has arrived at the far queue pair; otherwise what did. */
  private String arrived(Row row) {
    Completion completion = new Completion();
    if (!rdma.b.queue.poll(completion)) {
      return "nothing arrived";
    }
    boolean immediate = row.verb.contains("immediate");
    if (!completion.isSuccess()
        || completion.bytes() != HEADER + row.bytes
        || completion.isSolicited() != row.verb.contains("solicited")
        || completion.hasImmediate() != immediate
        || (immediate && completion.immediate() != IMMEDIATE_DATA)) {
      return "arrived as " + completion;
    }
    for (int i = 0; i < row.bytes; i++) {
      if (there.segment().get(ValueLayout.JAVA_BYTE, HEADER + i) != (byte) (i * 11 + 1)) {
        return "byte %d is another".formatted(i);
      }
    }
    return "";
  }

  /** The events of a cell, which must be the one that the outcome has. */
  private String eventsBeside(Outcome outcome, AeSource source) {
    AeCode code = outcome.event;
    boolean as =
        code == null
            ? events.isEmpty()
            : events.size() == 1
                && events.get(0).code() == code.code()
                && events.get(0).source() == source.code()
                && events.get(0).queueId() == near.qpn();
    return as ? "" : "; events " + events;
  }

  private String sendCell(State state, Row row) {
    begin(state);
    try {
      assertTrue(row.post.getAsBoolean());
      near.ring();
      String text = result();
      if (state == State.ERROR) {
        return text;
      }
      if (text.equals("waits")) {
        String early = arrived(row);
        if (!early.equals("nothing arrived")) {
          return "sent too early";
        }
        makeReady(state);
        text += ", then " + result();
      }
      if (row.outcome == Outcome.ARRIVES) {
        text += arrived(row);
      } else if (!arrived(row).equals("nothing arrived")) {
        text += "; something arrived";
      }
      String reached = row.outcome.event == null ? "READY_TO_SEND" : "ERROR";
      text += near.state().name().equals(reached) ? "" : "; then " + near.state();
      return text + eventsBeside(row.outcome, AeSource.SQ);
    } finally {
      end();
    }
  }

  private String receiveCell(State state, Receive row) {
    begin(state);
    try {
      assertTrue(row.post.getAsBoolean());
      if (state == State.ERROR) {
        return result();
      }
      comes(row.queueKey);
      String text = result();
      if (text.equals("waits") && state == State.INIT) {
        makeReady(state);
        comes(row.queueKey);
        text += ", then " + result();
      }
      return text + eventsBeside(row.outcome, AeSource.RQ);
    } finally {
      end();
    }
  }

  private static String expectedOfSend(State state, Row row) {
    return switch (state) {
      case READY_TO_SEND -> row.outcome.text();
      case ERROR ->
          row.verb.equals("NOP") ? "waits" : "flushed: " + FlushCode.GENERAL_ERR.meaning();
      default -> "waits, then " + row.outcome.text();
    };
  }

  private static String expectedOfReceive(State state, Receive row) {
    if (state == State.ERROR) {
      return "flushed: " + FlushCode.GENERAL_ERR.meaning();
    }
    String text = row.outcome == Outcome.DROPPED ? "waits" : row.outcome.text();
    return state == State.INIT ? "waits, then " + text : text;
  }

  /**
   * Work waits until datagrams may be sent, and gives then what it gives at once in READY_TO_SEND;
   * a receive takes what comes in every state between INIT and ERROR. Fails if any cell is
   * otherwise; if something arrives that was not to be sent, or before; or if an event is missing,
   * another, or one too many.
   */
  @Test
  void eachVerbInEachState() throws IOException {
    StringBuilder table = new StringBuilder("| verb | mistake |");
    for (State state : State.values()) {
      table.append(' ').append(state).append(" |");
    }
    table.append("\n|---|---|").append("---|".repeat(State.values().length)).append('\n');
    List<String> wrong = new ArrayList<>();
    for (Row row : sends) {
      String what = row.verb + " | " + row.mistake;
      table.append("| ").append(what).append(" |");
      for (State state : State.values()) {
        note(table, wrong, what, state, sendCell(state, row), expectedOfSend(state, row));
      }
      table.append('\n');
    }
    for (Receive row : receives) {
      String what = Receive.VERB + " | " + row.mistake;
      table.append("| ").append(what).append(" |");
      for (State state : State.values()) {
        note(table, wrong, what, state, receiveCell(state, row), expectedOfReceive(state, row));
      }
      table.append('\n');
    }
    Path report = Path.of("target", "datagram-states.md");
    Files.createDirectories(report.getParent());
    Files.writeString(report, table);
    assertEquals(List.of(), wrong);
  }

  private static void note(
      StringBuilder table,
      List<String> wrong,
      String what,
      State state,
      String is,
      String expected) {
    table.append(' ').append(is).append(" |");
    if (!is.equals(expected)) {
      wrong.add("%s | %s: %s, not %s".formatted(what, state, is, expected));
    }
  }

  /** Fails if a datagram queue pair can leave the order of states, or be used when it is closed. */
  @Test
  void statesFollowEachOtherAndNothingElse() {
    begin(State.INIT);
    assertThrows(IllegalStateException.class, near::toReadyToSend);
    assertThrows(IllegalStateException.class, near::drain);
    near.toReadyToReceive();
    assertThrows(IllegalStateException.class, near::toReadyToReceive);
    assertThrows(IllegalStateException.class, near::suspend);
    near.toReadyToSend();
    assertThrows(IllegalStateException.class, near::toReadyToSend);
    assertThrows(IllegalStateException.class, near::resume);
    near.suspend();
    assertThrows(IllegalStateException.class, near::drain);
    near.toError();
    assertThrows(IllegalStateException.class, near::resume);
    assertThrows(IllegalStateException.class, near::toReadyToReceive);
    DatagramQueuePair gone = near;
    end();
    assertThrows(IllegalStateException.class, gone::toReadyToReceive);
    for (Row row : sends) {
      assertThrows(IllegalStateException.class, row.post::getAsBoolean, row.verb);
    }
    for (Receive row : receives) {
      assertThrows(IllegalStateException.class, row.post::getAsBoolean, row.mistake);
    }
  }
}
