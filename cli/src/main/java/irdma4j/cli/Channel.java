package irdma4j.cli;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.CompletionQueue;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.RdmaException;
import irdma4j.driver.cm.CmEvent;
import irdma4j.driver.cm.Connection;
import irdma4j.driver.cm.RejectReason;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;

/** A queue pair with a completion queue and memory, for one connection of a command. */
final class Channel implements AutoCloseable {
  private static final int SPINS = 200;

  private final CabledPort port;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final QueuePair pair;
  private final DmaMemory memory;
  private final MemoryRegion region;
  private final Completion completion = new Completion();
  private boolean events;
  private int sends;
  private int receives;

  Channel(CabledPort port, long bytes, int depth) {
    this.port = port;
    domain = port.device().allocateProtectionDomain();
    queue = port.device().createCompletionQueue(2 * depth);
    pair = domain.createQueuePair(QueuePairConfig.of(queue).withRequests(depth, depth));
    memory = port.device().allocateMemory(bytes, DmaPlacement.SCATTERED);
    region =
        domain.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
  }

  QueuePair pair() {
    return pair;
  }

  MemorySegment bytes() {
    return memory.segment();
  }

  int key() {
    return region.lkey();
  }

  long address(long offset) {
    return region.address() + offset;
  }

  void receive(long offset, int bytes) {
    check(pair.postReceive(0, key(), address(offset), bytes));
  }

  void send(long offset, int bytes) {
    check(pair.postSend(0, key(), address(offset), bytes, QueuePair.SIGNALED));
    pair.ring();
  }

  void read(long offset, int bytes, long remote, int remoteKey) {
    check(pair.postRead(0, key(), address(offset), bytes, remote, remoteKey, QueuePair.SIGNALED));
    pair.ring();
  }

  void write(long offset, int bytes, long remote, int remoteKey) {
    check(pair.postWrite(0, key(), address(offset), bytes, remote, remoteKey, QueuePair.SIGNALED));
    pair.ring();
  }

  static void check(boolean posted) {
    if (!posted) {
      throw new RdmaException("the queue is full");
    }
  }

  /** Takes a completion, if there is one; fails if it is a failure. */
  boolean poll(Completion into) {
    boolean found = queue.poll(into);
    if (found && !into.isSuccess()) {
      throw new RdmaException(into.toString());
    }
    return found;
  }

  /** Waits for a completion; fails if it is a failure. */
  void await(Completion into, String what) {
    for (int i = 0; i < SPINS; i++) {
      if (poll(into)) {
        return;
      }
      Thread.onSpinWait();
    }
    await(() -> poll(into), what);
  }

  /** Takes in completions; fails if one of them is a failure. */
  private void poll() {
    while (poll(completion)) {
      if (completion.isSend()) {
        sends++;
      } else {
        receives++;
      }
    }
  }

  /** From now on, sleeps until the device raises an event. */
  void useEvents() {
    events = true;
  }

  private void await(BooleanSupplier holds, String what) {
    if (!events) {
      port.awaitThat(holds, what);
      return;
    }
    port.awaitEvents(
        () -> {
          if (holds.getAsBoolean()) {
            return true;
          }
          queue.arm();
          // What has come since the last look raises no event.
          return holds.getAsBoolean();
        },
        what);
  }

  /** Waits for work of the send queue to be done. */
  void awaitSends(int count) {
    await(
        () -> {
          poll();
          return sends >= count;
        },
        "completions of the send queue");
    sends -= count;
  }

  /**
   * Waits for work of the send queue to be done, unless the peer ends the connection first, whose
   * last acknowledgement may then be missing.
   */
  boolean awaitSendsOrEnd(Connection connection, int count) {
    port.awaitThat(
        () -> {
          if (connection.isEstablished()) {
            poll();
          }
          return sends >= count || !connection.isEstablished();
        },
        "completions of the send queue");
    boolean done = sends >= count;
    sends = 0;
    return done;
  }

  /** Waits for messages. */
  void awaitReceives(int count) {
    await(
        () -> {
          poll();
          return receives >= count;
        },
        "messages");
    receives -= count;
  }

  /** Waits for a message, unless the peer ends the connection first. */
  boolean awaitReceiveOrEnd(Connection connection) {
    port.awaitThat(
        () -> {
          if (connection.isEstablished()) {
            poll();
          }
          return receives > 0 || !connection.isEstablished();
        },
        "a message");
    if (receives == 0) {
      return false;
    }
    receives--;
    return true;
  }

  /** Ends a connection and waits for the peer's answer. */
  static void disconnect(CabledPort port, Connection connection) {
    connection.disconnect();
    port.awaitThat(
        () -> port.takeEvent() instanceof CmEvent.Disconnected, "the end of the connection");
  }

  /** Waits for a connection that was asked for. */
  static Connection established(CabledPort port) {
    CmEvent event = port.await("an answer");
    return switch (event) {
      case CmEvent.Established made -> made.connection();
      case CmEvent.Rejected no ->
          throw new RdmaException("rejected: " + RejectReason.describe(no.reason()));
      case CmEvent.Unreachable no -> throw new RdmaException("unreachable: " + no.why());
      default -> throw new RdmaException("unexpected: " + event);
    };
  }

  @Override
  public void close() {
    pair.close();
    region.close();
    memory.close();
    queue.close();
    domain.close();
  }
}
