package irdma4j.driver.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqOpcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;

/** A send queue against a device that scans valid bits, whatever the order of their steps. */
class SendQueueProperties {
  /** One decision of the schedule: what happens next, and with which numbers. */
  record Step(int action, int kind, int count, boolean signaled) {}

  @Provide
  Arbitrary<List<Step>> schedules() {
    Arbitrary<Step> step =
        Combinators.combine(
                Arbitraries.integers().between(0, 9),
                Arbitraries.integers().between(0, 5),
                Arbitraries.integers().between(0, 101),
                Arbitraries.of(true, false))
            .as(Step::new);
    return step.list()
        .ofMinSize(1)
        .ofMaxSize(3000)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  /**
   * Every posted WQE is fetched once, in order and as posted, and the device never sleeps for ever
   * over posted work. Fails if the polarity does not flip at index 0, if padding is missing, or if
   * the doorbell is skipped when the tail lies in the new range.
   *
   * <p>It does not notice whether the block ahead is cleared: on this generation every quantum of a
   * WQE has a valid bit, so the last round's all look old. The vectors' rings show the clearing.
   */
  @Property(tries = 60)
  void everyWqeIsFetchedOnce(
      @ForAll("schedules") List<Step> schedule, @ForAll DoorbellPolicy policy) {
    try (Arena arena = Arena.ofConfined()) {
      Run run = new Run(arena, policy);
      schedule.forEach(run::step);
      run.finish();
    }
  }

  /**
   * The same with posts only while the device is slow, so that the ring is full most of the time.
   * Fails if the number of free quanta is wrong by one either way.
   */
  @Property(tries = 30)
  void fullRing(@ForAll("schedules") List<Step> schedule, @ForAll DoorbellPolicy policy) {
    try (Arena arena = Arena.ofConfined()) {
      Run run = new Run(arena, policy);
      for (Step step : schedule) {
        run.step(new Step(step.action() < 8 ? 0 : step.action(), step.kind(), step.count(), true));
      }
      run.finish();
    }
  }

  private static final class Run {
    private static final int SIZE = 512;
    private static final int QP_ID = 7;

    private final MemorySegment payload;
    private final RecordingBar bar = new RecordingBar();
    private final SendQueue queue;
    private final SendDevice device;
    private final List<String> posted = new ArrayList<>();
    private final Deque<Integer> modelQuanta = new ArrayDeque<>();
    private int modelHead;
    private int modelUsed;
    private int number;
    private int retired;

    Run(Arena arena, DoorbellPolicy policy) {
      MemorySegment memory = arena.allocate(SIZE * 32L, 64);
      MemorySegment shadow = arena.allocate(QpShadow.SIZE, 64);
      payload = arena.allocate(256);
      queue =
          new SendQueue(
              memory,
              SIZE,
              shadow,
              0,
              bar,
              0x504400,
              QP_ID,
              RingSizes.MAX_FRAGMENTS,
              RingSizes.MAX_INLINE,
              policy);
      device = new SendDevice(memory, SIZE, shadow);
      bar.onWrite(
          access -> {
            assertEquals(QP_ID, access.value());
            device.doorbell();
          });
    }

    void step(Step step) {
      switch (step.action()) {
        case 0, 1, 2, 3 -> post(step);
        case 4 -> queue.ring();
        case 5, 6, 7 -> device.step();
        case 8 -> {
          for (int i = 0; i < step.count(); i++) {
            device.step();
          }
        }
        default -> retire(step.count());
      }
    }

    private void post(Step step) {
      int kind = step.kind();
      int flags = step.signaled() ? SendQueue.SIGNALED : 0;
      int fragments = step.count() % 14;
      SgeList sges = new SgeList();
      StringBuilder list = new StringBuilder();
      for (int i = 0; i < fragments; i++) {
        sges.add(0x10000L * number + i, 100 + i, number);
        list.append(" %x+%d key %d".formatted(0x10000L * number + i, 100 + i, number));
      }
      long remote = 0x7000_0000L + number;
      int key = number + 5;
      int immediate = ~number;
      boolean done;
      int quanta;
      String content;
      switch (kind) {
        case 0 -> {
          done = queue.send(number, flags, 0, 0, sges);
          quanta = 1 + fragments / 2;
          content = SqOpcode.SEND.code() + " 0/0" + list;
        }
        case 1 -> {
          done = queue.write(number, flags | SendQueue.IMMEDIATE, immediate, remote, key, sges);
          quanta = 1 + (fragments + 1) / 2;
          content =
              "%d %x/%d%s immediate %d"
                  .formatted(
                      SqOpcode.RDMA_WRITE.code(),
                      remote,
                      key,
                      list,
                      Integer.toUnsignedLong(immediate));
        }
        case 2 -> {
          done = queue.read(number, flags, remote, key, sges);
          quanta = 1 + fragments / 2;
          content = "%d %x/%d%s".formatted(SqOpcode.RDMA_READ.code(), remote, key, list);
        }
        case 3 -> {
          byte[] data = new byte[step.count()];
          for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (number * 31 + i * 89);
          }
          MemorySegment.copy(data, 0, payload, ValueLayout.JAVA_BYTE, 3, data.length);
          done = queue.writeInline(number, flags, 0, remote, key, payload, 3, data.length);
          quanta = data.length <= 8 ? 1 : 1 + (data.length - 8 + 30) / 31;
          content =
              "%d %x/%d inline %s"
                  .formatted(
                      SqOpcode.RDMA_WRITE.code(), remote, key, HexFormat.of().formatHex(data));
        }
        case 4 -> {
          done = queue.invalidate(number, flags, number);
          quanta = 1;
          content = SqOpcode.LOCAL_INVALIDATE.code() + " 0/0 stag " + number;
        }
        default -> {
          done = queue.nop(number, flags);
          quanta = 1;
          content = SqOpcode.NOP.code() + " 0/0 stag 0";
        }
      }
      int rest = 8 - modelHead % 8;
      int padding = quanta <= rest ? 0 : rest;
      // Two blocks of 128 and one quantum stay free.
      boolean fits = modelUsed + padding + quanta <= SIZE - 257;
      assertEquals(fits, done, "used " + modelUsed + ", wanted " + padding + "+" + quanta);
      if (done) {
        for (int i = 0; i < padding; i++) {
          posted.add(SqOpcode.NOP.code() + " 0/0 stag 0 false");
          modelQuanta.add(1);
        }
        posted.add(content + " " + step.signaled());
        modelQuanta.add(quanta);
        modelHead = (modelHead + padding + quanta) % SIZE;
        modelUsed += padding + quanta;
        number++;
      }
      assertEquals(modelUsed, queue.used());
      assertEquals(SIZE - 257 - modelUsed, queue.free());
    }

    /** Completes some of what was fetched. */
    private void retire(int count) {
      int until = Math.min(device.fetched().size(), retired + count);
      if (until > retired) {
        queue.complete(device.fetched().get(until - 1).index());
        for (; retired < until; retired++) {
          modelUsed -= modelQuanta.remove();
        }
      }
    }

    void finish() {
      queue.ring();
      for (int i = 0; i < 2 * SIZE && !device.isAsleep(); i++) {
        device.step();
      }
      assertTrue(device.isAsleep());
      List<String> fetched =
          device.fetched().stream()
              .map(f -> f.opcode() + " " + f.content() + " " + f.signaled())
              .toList();
      assertEquals(posted, fetched);
      assertEquals(number, queue.posted());
      assertEquals(bar.take().size(), queue.doorbellsRung());
    }
  }
}
