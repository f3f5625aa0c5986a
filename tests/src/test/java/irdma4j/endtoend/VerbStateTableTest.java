package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RcPath;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.FlushCode;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaPlacement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What each verb gives in each state of a queue pair, with and without a mistake in it. */
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
    REMOTE_KEY
  }

  private enum Verb {
    SEND(true, false),
    WRITE(true, true),
    WRITE_IMMEDIATE(true, true),
    READ(true, true),
    NOP(false, false),
    RECEIVE(true, false);

    final boolean localKey;
    final boolean remoteKey;

    Verb(boolean localKey, boolean remoteKey) {
      this.localKey = localKey;
      this.remoteKey = remoteKey;
    }

    boolean canHave(Mistake mistake) {
      return switch (mistake) {
        case NONE -> true;
        case LOCAL_KEY -> localKey;
        case REMOTE_KEY -> remoteKey;
      };
    }
  }

  private RdmaPair rdma;
  private MemoryRegion local;
  private MemoryRegion remote;

  @BeforeEach
  void open() {
    rdma = new RdmaPair(5, 0, 1024);
    local = rdma.a.region(rdma.a.memory(SIZE, DmaPlacement.SCATTERED), PbleLevels.ANY);
    remote = rdma.b.region(rdma.b.memory(SIZE, DmaPlacement.SCATTERED), PbleLevels.ANY);
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

  private boolean post(QueuePair qp, Verb verb, Mistake mistake) {
    int lkey = mistake == Mistake.LOCAL_KEY ? WRONG_KEY : local.lkey();
    int rkey = mistake == Mistake.REMOTE_KEY ? WRONG_KEY : remote.rkey();
    int flags = QueuePair.SIGNALED;
    SgeList sges = new SgeList().set(local.address(), 64, lkey);
    return switch (verb) {
      case SEND -> qp.postSend(7, sges, flags, 0, 0);
      case WRITE -> qp.postWrite(7, sges, remote.address(), rkey, flags);
      case WRITE_IMMEDIATE ->
          qp.postWriteImmediate(7, lkey, local.address(), 64, remote.address(), rkey, 5, flags);
      case READ -> qp.postRead(7, sges, remote.address(), rkey, flags);
      case NOP -> qp.sendQueue().nop(7, flags);
      case RECEIVE -> qp.postReceive(7, sges);
    };
  }

  private String cell(State state, Verb verb, Mistake mistake) {
    QueuePair near = create(rdma.a);
    QueuePair far = create(rdma.b);
    try {
      far.connect(path(near, false));
      for (int i = 0; i < 4; i++) {
        assertTrue(far.postReceive(i, remote.lkey(), remote.address(), SIZE));
      }
      bring(near, far, state);
      String result;
      if (post(near, verb, mistake)) {
        near.ring();
        rdma.settle(2_000_000);
        Completion completion = new Completion();
        result = "waits";
        if (rdma.a.queue.poll(completion)) {
          assertEquals(7, completion.wrId());
          result = completion.isSuccess() ? "done" : "flushed: " + completion.flushCode();
        }
        result += near.state().name().equals(state.name()) ? "" : "; then " + near.state();
      } else {
        result = "refused";
      }
      return result;
    } finally {
      near.close();
      far.close();
      rdma.settle(100_000);
      while (rdma.b.queue.poll(new Completion())) {}
      while (rdma.a.queue.poll(new Completion())) {}
    }
  }

  /**
   * Work waits until its queue may send and is done then; a mistake puts the queue pair into the
   * error state with its reason. What is posted in that state waits too, where the specification
   * (10.3.1) has it flushed; the page says so. Fails if any cell is otherwise, or empty.
   */
  @Test
  void eachVerbInEachState() throws IOException {
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
          String expected = expected(verb, mistake, state);
          boolean turned = result.endsWith("; then ERROR");
          if (!result.startsWith(expected) || turned != expected.equals("flushed")) {
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

  private static String expected(Verb verb, Mistake mistake, State state) {
    if (verb == Verb.RECEIVE || state != State.READY_TO_SEND) {
      return "waits";
    }
    return mistake == Mistake.NONE ? "done" : "flushed";
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
      assertTrue(post(near, Verb.WRITE, Mistake.NONE));
      near.ring();
      Completion completion = rdma.await(rdma.a);
      assertEquals(Completion.Status.FLUSHED, completion.status());
      assertEquals(FlushCode.RETRY_EXC_ERR.meaning(), completion.flushCode());
      near.close();
      far.close();
    }
  }
}
