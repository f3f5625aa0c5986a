package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.ExtendedCqe;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqOpcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import org.jspecify.annotations.Nullable;

/** A completion queue of two queue pairs against a device that writes entries when it likes. */
class CompletionRingProperties {
  /** One decision of the schedule. */
  record Step(int action, int pair, boolean ofSend, int number) {}

  @Provide
  Arbitrary<List<Step>> schedules() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 24),
            Arbitraries.integers().between(0, 1),
            Arbitraries.of(true, false),
            Arbitraries.integers().between(0, 99))
        .as(Step::new)
        .list()
        .ofMaxSize(1500)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  /**
   * Every completion that the device writes is polled once, in order and with its work's wr_id; a
   * flush yields each piece of outstanding work once; a resize loses nothing; the device never
   * finds the ring full when the driver has read everything. Fails if the polarity does not flip
   * after either half of an extended entry, if a half-written one is taken, if the head is not
   * published, if the new ring is read before the old one is empty or its head is not published, or
   * if the flush ignores the head.
   */
  @Property(tries = 1000)
  void everyCompletionIsPolledOnce(
      @ForAll("schedules") List<Step> schedule, @ForAll boolean largeEntries) {
    try (Arena arena = Arena.ofConfined()) {
      Run run = new Run(arena, largeEntries);
      schedule.forEach(run::step);
      run.finish();
    }
  }

  /** Work that was posted, by the index of its WQE. */
  private record Work(long wrId, int index, boolean signaled, boolean nop) {}

  private record Expected(
      long wrId, int qpn, boolean send, Completion.Status status, int minor, long immediate) {}

  private static final class Pair {
    final int qpn;
    final SendQueue send;
    final ReceiveQueue receive;
    final QueuePairRings rings;
    final Deque<Work> sent = new ArrayDeque<>();
    final Deque<Work> received = new ArrayDeque<>();
    final Deque<Work> lateSent = new ArrayDeque<>();
    final Deque<Work> lateReceived = new ArrayDeque<>();
    boolean flushed;
    boolean closed;

    Pair(Arena arena, int qpn) {
      this.qpn = qpn;
      send =
          new SendQueue(
              arena.allocate(512 * 32L, 64),
              512,
              arena.allocate(QpShadow.SIZE, 64),
              0,
              new RecordingBar(),
              0,
              qpn,
              3,
              0,
              DoorbellPolicy.ALWAYS);
      receive = new ReceiveQueue(arena.allocate(64 * 64L, 64), 128, 1, 2);
      rings = new QueuePairRings(qpn, send, receive);
    }

    boolean hasLateWork() {
      return !lateReceived.isEmpty() || lateSent.stream().anyMatch(work -> !work.nop());
    }
  }

  private static final class Run {
    private static final long NONE = -1;

    private final Arena arena;
    private final boolean large;
    private final Pair[] pairs;
    private final Completion completion = new Completion();
    private final MemorySegment shadow;
    private final CompletionRing ring;
    private final Deque<Expected> expected = new ArrayDeque<>();
    private final SgeList sges = new SgeList();
    private long number;

    // The device's side.
    private MemorySegment memory;
    private int size = 16;
    private int index;
    private int polarity = 1;
    private int inRing;
    private @Nullable Runnable secondHalf;

    Run(Arena arena, boolean large) {
      this.arena = arena;
      this.large = large;
      pairs = new Pair[] {new Pair(arena, 11), new Pair(arena, 22)};
      memory = arena.allocate((long) size * (large ? 64 : 32), 64);
      shadow = arena.allocate(64, 64);
      ring =
          new CompletionRing(
              memory,
              size,
              large,
              shadow,
              0,
              3,
              new RecordingBar(),
              0,
              context -> {
                for (Pair pair : pairs) {
                  if (pair.qpn == context) {
                    return pair.rings;
                  }
                }
                return null;
              });
    }

    void step(Step step) {
      Pair pair = pairs[step.pair()];
      int action = step.action();
      if (action < 8) {
        post(pair, step);
      } else if (action < 15) {
        complete(pair, step);
      } else if (action < 22) {
        poll();
      } else if (action == 22) {
        if (step.number() < 4) {
          flush(pair, step.ofSend());
        }
      } else if (action == 23) {
        if (step.number() < 8) {
          resize(5 * step.number());
        }
      } else if (step.number() < 2) {
        close(pair);
      }
    }

    private void post(Pair pair, Step step) {
      if (pair.closed) {
        return;
      }
      long wrId = number++;
      sges.clear();
      for (int i = 0; i < step.number() % 3; i++) {
        sges.add(i, 10, 1);
      }
      if (!step.ofSend()) {
        int at = pair.receive.head();
        if (pair.receive.receive(wrId, sges)) {
          (pair.flushed ? pair.lateReceived : pair.received).add(new Work(wrId, at, true, false));
        }
        return;
      }
      boolean signaled = step.number() % 2 == 0;
      boolean nop = step.number() % 5 == 0;
      int flags = signaled ? SendQueue.SIGNALED : 0;
      boolean done = nop ? pair.send.nop(wrId, flags) : pair.send.send(wrId, flags, 0, 0, sges);
      if (done) {
        int quanta = nop ? 1 : 1 + step.number() % 3 / 2;
        int at = (pair.send.head() - quanta + 512) % 512;
        (pair.flushed ? pair.lateSent : pair.sent).add(new Work(wrId, at, signaled, nop));
      }
    }

    /** The device completes the oldest work that is to have a completion, if there is room. */
    private void complete(Pair pair, Step step) {
      if (secondHalf != null) {
        writeSecondHalf();
        return;
      }
      if (pair.closed || pair.flushed) {
        return;
      }
      boolean ofSend = step.ofSend();
      Deque<Work> queue = ofSend ? pair.sent : pair.received;
      boolean extended = !ofSend && step.number() % 2 == 0;
      boolean failed = step.number() % 7 == 0;
      boolean any = queue.stream().anyMatch(work -> work.signaled() || failed);
      if (!any || !hasRoom(extended)) {
        return;
      }
      // Work without a completion of its own is done when later work is.
      Work work = queue.remove();
      while (!work.signaled() && !failed) {
        work = queue.remove();
      }
      long wqe = ofSend ? work.index() : 2L * work.index();
      long word =
          Cqe.SQ.encode(ofSend)
              | Cqe.WQEIDX.encode(wqe)
              | Cqe.OP.encode(SqOpcode.SEND.code())
              | Cqe.ERROR.encode(failed)
              | Cqe.MAJERR.encode(failed ? 0x100 : 0)
              | Cqe.MINERR.encode(failed ? 5 : 0);
      long immediate = extended ? work.wrId() * 7 : NONE;
      expected.add(
          new Expected(
              work.wrId(),
              pair.qpn,
              ofSend,
              failed ? Completion.Status.ERROR : Completion.Status.SUCCESS,
              failed ? 5 : 0,
              immediate));
      write(pair.qpn, word, immediate);
    }

    private void flush(Pair pair, boolean sendFirst) {
      if (pair.closed || pair.flushed || secondHalf != null || !hasRoom(false)) {
        return;
      }
      flushQueue(pair, sendFirst);
      if (hasRoom(false)) {
        flushQueue(pair, !sendFirst);
      } else {
        // Without an entry of the device the queue's work is the driver's to flush.
        Deque<Work> work = sendFirst ? pair.received : pair.sent;
        (sendFirst ? pair.lateReceived : pair.lateSent).addAll(work);
        work.clear();
      }
      pair.flushed = true;
      ring.addFlushed(pair.rings, true);
      ring.addFlushed(pair.rings, false);
    }

    private void flushQueue(Pair pair, boolean ofSend) {
      Deque<Work> queue = ofSend ? pair.sent : pair.received;
      int code = FlushCode.REM_ACCESS_ERR.code();
      for (Work work : queue) {
        if (!work.nop()) {
          expected.add(
              new Expected(work.wrId(), pair.qpn, ofSend, Completion.Status.FLUSHED, code, NONE));
          code = FlushCode.GENERAL_ERR.code();
        }
      }
      queue.clear();
      write(
          pair.qpn,
          Cqe.SQ.encode(ofSend)
              | Cqe.ERROR.encode(1)
              | Cqe.MAJERR.encode(1)
              | Cqe.MINERR.encode(FlushCode.REM_ACCESS_ERR.code()),
          NONE);
    }

    private void close(Pair pair) {
      if (secondHalf != null || pair.closed) {
        return;
      }
      pair.closed = true;
      pair.rings.close();
      ring.forget(pair.qpn);
      ring.removeFlushed(pair.rings);
      expected.removeIf(e -> e.qpn() == pair.qpn);
      pair.lateSent.clear();
      pair.lateReceived.clear();
    }

    private void resize(int number) {
      if (ring.isResizing() || secondHalf != null) {
        return;
      }
      size = 8 + number;
      memory = arena.allocate((long) size * (large ? 64 : 32), 64);
      index = 0;
      polarity = 1;
      inRing = 0;
      ring.resize(memory, size);
      assertTrue(ring.isResizing());
    }

    /** Two entries stay free, so that a head of zero is never in doubt. */
    private boolean hasRoom(boolean extended) {
      if (ring.isResizing()) {
        // The published head is that of the old ring.
        return inRing + (extended && !large ? 2 : 1) < size;
      }
      int head = (int) LittleEndian.getLong(shadow, 0);
      int used = Math.floorMod(index - head, size);
      return used + (extended && !large ? 2 : 1) < size;
    }

    private void write(long context, long word, long immediate) {
      boolean extended = immediate != NONE;
      long base = (long) index * (large ? 64 : 32);
      if (extended && large) {
        // An entry of 64 bytes is one write of the device, so it never comes by halves.
        writeExtension(base + 32, immediate, polarity);
      }
      LittleEndian.setLong(memory, base + 8, context);
      LittleEndian.setLong(memory, base + 16, Cqe.QPID.encode(context));
      LittleEndian.setLong(
          memory, base + 24, word | Cqe.EXTCQE.encode(extended) | Cqe.VALID.encode(polarity));
      advance();
      if (extended && !large) {
        long half = (long) index * 32;
        int valid = polarity;
        secondHalf =
            () -> {
              writeExtension(half, immediate, valid);
              advance();
            };
      }
    }

    private void writeExtension(long at, long immediate, int valid) {
      LittleEndian.setLong(memory, at, immediate);
      LittleEndian.setLong(
          memory, at + 24, ExtendedCqe.IMMVALID.encode(1) | ExtendedCqe.VALID.encode(valid));
    }

    private void advance() {
      inRing++;
      if (++index == size) {
        index = 0;
        polarity ^= 1;
      }
    }

    private void writeSecondHalf() {
      Runnable half = secondHalf;
      if (half != null) {
        secondHalf = null;
        half.run();
      }
    }

    private void poll() {
      // What comes last in the model is not there yet if its second half is missing.
      int there = expected.size() - (secondHalf == null ? 0 : 1);
      boolean late = Arrays.stream(pairs).anyMatch(Pair::hasLateWork);
      boolean polled = ring.poll(completion);
      // A half entry keeps the driver from the end of the ring, unless a flush stands before it.
      if (there > 0 || !late || secondHalf == null) {
        assertEquals(there > 0 || late, polled, "completions there: " + there);
      }
      if (polled && !takeLate()) {
        Expected next = expected.remove();
        assertEquals(
            next,
            new Expected(
                completion.wrId(),
                completion.qpn(),
                completion.isSend(),
                completion.status(),
                completion.minorError(),
                completion.hasImmediate() ? Integer.toUnsignedLong(completion.immediate()) : NONE));
      }
    }

    /** Whether the completion is of work that was posted after its queue was flushed. */
    private boolean takeLate() {
      if (completion.status() != Completion.Status.FLUSHED) {
        return false;
      }
      boolean ofSend = completion.isSend();
      int qpn = completion.qpn();
      Pair pair = qpn == pairs[0].qpn ? pairs[0] : pairs[1];
      if (expected.stream().anyMatch(e -> e.qpn() == qpn && e.send() == ofSend)) {
        return false;
      }
      Deque<Work> work = ofSend ? pair.lateSent : pair.lateReceived;
      while (ofSend && work.element().nop()) {
        work.remove();
      }
      assertEquals(work.remove().wrId(), completion.wrId());
      // A flush that found no work leaves its reason to what comes first.
      assertTrue(
          completion.minorError() == FlushCode.GENERAL_ERR.code()
              || completion.minorError() == FlushCode.REM_ACCESS_ERR.code());
      return true;
    }

    void finish() {
      writeSecondHalf();
      while (!expected.isEmpty() || Arrays.stream(pairs).anyMatch(Pair::hasLateWork)) {
        poll();
      }
      assertFalse(ring.poll(completion));
      if (!ring.isResizing()) {
        assertEquals(index, ring.head());
        assertEquals(polarity, ring.polarity());
        assertEquals(index, (int) LittleEndian.getLong(shadow, 0));
      }
    }
  }
}
