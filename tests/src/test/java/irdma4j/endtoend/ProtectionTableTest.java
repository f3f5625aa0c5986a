package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.FastRegion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.FlushCode;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Simulation;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What protects memory from a peer: each kind of region and window times each way to miss it, with
 * the sender's completion, the NAK on the wire and the events of both devices.
 */
class ProtectionTableTest {
  private static final int SIZE = 3 * 4096;

  /** Where the region or window lies in the memory: neither end is that of a page. */
  private static final int FROM = 1000;

  private static final int LENGTH = 5000;
  private static final int IN_ONE_PAGE = 2000;
  private static final int REACH = 64;
  private static final int LOCAL_READ = 1;
  private static final int LOCAL_WRITE = 2;
  private static final int REMOTE_READ = 4;
  private static final int REMOTE_WRITE = 8;
  private static final int ACKNOWLEDGE = 17;
  private static final int NAK_REMOTE_ACCESS = 0x62;
  private static final int NAK_REMOTE_OPERATION = 0x63;

  private enum Target {
    REGION,
    REGION_ZERO_BASED,
    FAST_REGION,
    FAST_REGION_ZERO_BASED,
    WINDOW_TYPE_1,
    WINDOW_TYPE_2,
    WINDOW_TYPE_2_ZERO_BASED;

    boolean isZeroBased() {
      return this == REGION_ZERO_BASED
          || this == FAST_REGION_ZERO_BASED
          || this == WINDOW_TYPE_2_ZERO_BASED;
    }
  }

  private enum Mistake {
    NONE,
    KEY_OF_ANOTHER_LIFE(AeCode.AMP_BAD_STAG_KEY),
    INDEX_NEVER_ALLOCATED(AeCode.AMP_UNALLOCATED_STAG),
    INDEX_BEYOND_THE_TABLE(AeCode.AMP_BAD_STAG_INDEX),
    BEFORE_THE_START(AeCode.AMP_BOUNDS_VIOLATION),
    ONE_BYTE_BEYOND(AeCode.AMP_BOUNDS_VIOLATION),
    AROUND_THE_END_OF_ADDRESSES(AeCode.AMP_TO_WRAP),
    WITHOUT_THE_RIGHT(AeCode.AMP_RIGHTS_VIOLATION),
    ANOTHER_DOMAIN(AeCode.AMP_BAD_PD),
    ANOTHER_QUEUE_PAIR(AeCode.AMP_BAD_QP),
    INVALIDATED(AeCode.AMP_INVALID_STAG),
    GIVEN_BACK(AeCode.AMP_UNALLOCATED_STAG);

    final @Nullable AeCode event;

    Mistake() {
      event = null;
    }

    Mistake(AeCode event) {
      this.event = event;
    }

    boolean applies(Target target) {
      return switch (this) {
        case BEFORE_THE_START -> !target.isZeroBased();
        case ANOTHER_QUEUE_PAIR ->
            target == Target.WINDOW_TYPE_2 || target == Target.WINDOW_TYPE_2_ZERO_BASED;
        case INVALIDATED -> target != Target.REGION && target != Target.REGION_ZERO_BASED;
        default -> true;
      };
    }
  }

  /** How the peer names what it may use. */
  private record Named(int key, long address) {}

  private final List<Integer> syndromes = new ArrayList<>();
  private final Deque<AsyncEvent> eventsA = new ArrayDeque<>();
  private final Deque<AsyncEvent> eventsB = new ArrayDeque<>();
  private final List<AutoCloseable> ofCell = new ArrayList<>();

  private RdmaPair pair() {
    RdmaPair rdma =
        new RdmaPair(
            Simulation.builder()
                .seed(3)
                .tap(
                    (time, from, frame, bytes, dropped) -> {
                      // Ethernet, IPv4 without options, UDP: then BTH of 12 bytes and AETH.
                      if ((frame.get(ValueLayout.JAVA_BYTE, 42) & 0xff) == ACKNOWLEDGE) {
                        syndromes.add(frame.get(ValueLayout.JAVA_BYTE, 54) & 0xff);
                      }
                    }),
            3,
            1024);
    rdma.a.device.onAsyncEvent(eventsA::add);
    rdma.b.device.onAsyncEvent(eventsB::add);
    return rdma;
  }

  private static QueuePair create(RdmaPair.Side side, ProtectionDomain domain) {
    return domain.createQueuePair(
        QueuePairConfig.of(side.queue).withRequests(8, 8).withSges(2, 2).withInline(16));
  }

  private static void work(RdmaPair rdma, QueuePair qp, boolean posted) {
    assertTrue(posted);
    qp.ring();
    assertTrue(rdma.await(rdma.b).isSuccess());
  }

  private Named make(
      RdmaPair rdma,
      QueuePair far,
      Target target,
      Mistake mistake,
      DmaMemory memory,
      boolean write) {
    ProtectionDomain domain =
        mistake == Mistake.ANOTHER_DOMAIN
            ? rdma.b.device.allocateProtectionDomain()
            : rdma.b.domain;
    QueuePair binder = far;
    if (mistake == Mistake.ANOTHER_DOMAIN || mistake == Mistake.ANOTHER_QUEUE_PAIR) {
      binder = create(rdma.b, domain);
      ofCell.addFirst(binder);
      QueuePair peer = create(rdma.a, rdma.a.domain);
      ofCell.addFirst(peer);
      rdma.connect(peer, binder, 5, 6, 1024);
    }
    boolean writable = write != (mistake == Mistake.WITHOUT_THE_RIGHT);
    Access right = writable ? Access.REMOTE_WRITE : Access.REMOTE_READ;
    long address = memory.segment().address() + FROM;
    Named named =
        switch (target) {
          case REGION -> {
            MemoryRegion region =
                writable
                    ? domain.registerMemory(
                        memory, FROM, LENGTH, PbleLevels.ANY, Access.LOCAL_WRITE, right)
                    : domain.registerMemory(memory, FROM, LENGTH, PbleLevels.ANY, right);
            ofCell.addFirst(region);
            yield new Named(region.rkey(), address);
          }
          case REGION_ZERO_BASED -> {
            Access[] rights =
                writable ? new Access[] {Access.LOCAL_WRITE, right} : new Access[] {right};
            MemoryRegion region =
                domain.registerZeroBased(memory, FROM, LENGTH, PbleLevels.ANY, rights);
            ofCell.addFirst(region);
            assertEquals(0, region.address());
            yield new Named(region.rkey(), 0);
          }
          case FAST_REGION_ZERO_BASED -> {
            FastRegion region = domain.allocateFastRegion(1);
            ofCell.addFirst(region);
            // No method registers so: a region of one page, which needs no page list.
            int rights = LOCAL_READ | LOCAL_WRITE | (writable ? REMOTE_WRITE : REMOTE_READ);
            int key = (region.key() & ~0xff) | 0x5a;
            assertEquals(0, FROM / 4096);
            work(
                rdma,
                binder,
                binder
                    .sendQueue()
                    .fastRegister(
                        1,
                        1,
                        key >>> 8,
                        key & 0xff,
                        rights,
                        FROM,
                        IN_ONE_PAGE,
                        false,
                        4096,
                        0,
                        0,
                        memory.iova(0)));
            if (mistake == Mistake.INVALIDATED) {
              work(rdma, binder, binder.postInvalidate(2, key, 1));
            }
            yield new Named(key, 0);
          }
          case FAST_REGION -> {
            FastRegion region = domain.allocateFastRegion(4);
            ofCell.addFirst(region);
            work(
                rdma,
                binder,
                binder.postFastRegister(
                    1, region, memory, FROM, LENGTH, 1, Access.LOCAL_WRITE, right));
            if (mistake == Mistake.INVALIDATED) {
              work(rdma, binder, binder.postInvalidate(2, region.key(), 1));
            }
            yield new Named(region.key(), address);
          }
          case WINDOW_TYPE_1, WINDOW_TYPE_2, WINDOW_TYPE_2_ZERO_BASED -> {
            MemoryRegion region =
                domain.registerMemory(memory, Access.LOCAL_WRITE, Access.BIND_WINDOW);
            ofCell.addFirst(region);
            boolean narrow = target == Target.WINDOW_TYPE_1;
            boolean zeroBased = target == Target.WINDOW_TYPE_2_ZERO_BASED;
            MemoryWindow window =
                domain.allocateWindow(narrow ? MemoryWindow.Type.ONE : MemoryWindow.Type.TWO);
            ofCell.addFirst(window);
            work(
                rdma,
                binder,
                zeroBased
                    ? binder.postBindZeroBased(1, window, region, address, LENGTH, 1, right)
                    : binder.postBind(1, window, region, address, LENGTH, 1, right));
            if (mistake == Mistake.INVALIDATED) {
              work(
                  rdma,
                  binder,
                  narrow
                      ? binder.postBind(2, window, region, address, 0, 1)
                      : binder.postInvalidate(2, window.rkey(), 1));
            }
            yield new Named(window.rkey(), zeroBased ? 0 : address);
          }
        };
    if (mistake == Mistake.GIVEN_BACK) {
      close(ofCell.removeFirst());
    }
    return switch (mistake) {
      case KEY_OF_ANOTHER_LIFE -> new Named(named.key ^ 1, named.address);
      case INDEX_NEVER_ALLOCATED -> new Named(named.key + (1000 << 8), named.address);
      case INDEX_BEYOND_THE_TABLE -> new Named(0xffff_ff00, named.address);
      case BEFORE_THE_START -> new Named(named.key, named.address - 1);
      case ONE_BYTE_BEYOND -> {
        int length = target == Target.FAST_REGION_ZERO_BASED ? IN_ONE_PAGE : LENGTH;
        yield new Named(named.key, named.address + length - REACH + 1);
      }
      case AROUND_THE_END_OF_ADDRESSES -> new Named(named.key, -REACH + 1);
      default -> named;
    };
  }

  private static void close(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] bytes(DmaMemory memory) {
    return memory.segment().toArray(ValueLayout.JAVA_BYTE);
  }

  private static String code(AsyncEvent event) {
    AeCode known = AeCode.of(event.code());
    return known == null ? Integer.toHexString(event.code()) : known.name();
  }

  private String cell(RdmaPair rdma, Target target, Mistake mistake, boolean write) {
    DmaMemory here = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
    DmaMemory there = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
    here.segment().fill((byte) 1);
    there.segment().fill((byte) 2);
    MemoryRegion local = rdma.a.domain.registerMemory(here, Access.LOCAL_WRITE);
    QueuePair near = create(rdma.a, rdma.a.domain);
    QueuePair far = create(rdma.b, rdma.b.domain);
    rdma.connect(near, far, 1, 2, 1024);
    Named named = make(rdma, far, target, mistake, there, write);
    rdma.settle(10_000);
    syndromes.clear();
    eventsA.clear();
    eventsB.clear();
    long address = local.address() + 100;
    assertTrue(
        write
            ? near.postWrite(7, local.lkey(), address, REACH, named.address, named.key, 1)
            : near.postRead(7, local.lkey(), address, REACH, named.address, named.key, 1));
    near.ring();
    Completion completion = rdma.await(rdma.a);
    assertEquals(7, completion.wrId());
    rdma.settle(100_000);

    byte[] left = bytes(here);
    byte[] right = bytes(there);
    byte[] expectedLeft = new byte[SIZE];
    byte[] expectedRight = new byte[SIZE];
    Arrays.fill(expectedLeft, (byte) 1);
    Arrays.fill(expectedRight, (byte) 2);
    String what = "%s %s %s".formatted(write ? "WRITE" : "READ", target, mistake);
    String result;
    if (mistake == Mistake.NONE) {
      if (write) {
        Arrays.fill(expectedRight, FROM, FROM + REACH, (byte) 1);
      } else {
        Arrays.fill(expectedLeft, 100, 100 + REACH, (byte) 2);
      }
      assertTrue(completion.isSuccess(), () -> what + ": " + completion);
      assertTrue(eventsA.isEmpty() && eventsB.isEmpty(), what);
      result = "done";
    } else {
      AeCode event = mistake.event;
      assertEquals(Completion.Status.FLUSHED, completion.status(), what);
      assertEquals(FlushCode.REM_ACCESS_ERR.meaning(), completion.flushCode(), what);
      assertEquals(List.of(NAK_REMOTE_ACCESS), syndromes, what);
      assertEquals(List.of(AeCode.IB_REMOTE_ACCESS_ERROR.name()), names(eventsA), what);
      assertEquals(List.of(event == null ? "" : event.name()), names(eventsB), what);
      result =
          "%s; NAK 0x%x; %s; %s"
              .formatted(
                  completion.flushCode(),
                  syndromes.getFirst(),
                  names(eventsA).getFirst(),
                  names(eventsB).getFirst());
    }
    assertArrayEquals(expectedLeft, left, what);
    assertArrayEquals(expectedRight, right, what);
    ofCell.forEach(ProtectionTableTest::close);
    ofCell.clear();
    near.close();
    far.close();
    local.close();
    rdma.a.memories.remove(here);
    rdma.b.memories.remove(there);
    here.close();
    there.close();
    return result;
  }

  private static List<String> names(Deque<AsyncEvent> events) {
    return events.stream().map(ProtectionTableTest::code).toList();
  }

  private void table(StringBuilder report, Set<Target> targets) {
    report.append("| miss |");
    targets.forEach(target -> report.append(" WRITE to ").append(target).append(" | READ |"));
    report.append("\n|---|").append("---|---|".repeat(targets.size())).append('\n');
    for (Mistake mistake : Mistake.values()) {
      report.append("| ").append(mistake).append(" |");
      for (Target target : targets) {
        for (boolean write : new boolean[] {true, false}) {
          // Each cell starts on devices of its own: identifiers and keys are the same every time.
          String result = "cannot be";
          if (mistake.applies(target)) {
            RdmaPair rdma = pair();
            result = cell(rdma, target, mistake, write);
            assertEquals(0, rdma.closeAndBalance());
          }
          report.append(' ').append(result).append(" |");
        }
      }
      report.append('\n');
    }
  }

  /**
   * Each miss is refused with the completion, NAK and events that belong to it, and neither side's
   * memory changes. Fails if a check is left out of {@code StagTable.check}, is made in another
   * order, or lets one byte more pass.
   */
  @Test
  void regionsAndWindowsKeepAPeerOut() throws Exception {
    StringBuilder report = new StringBuilder("## Memory regions\n\n");
    table(report, EnumSet.range(Target.REGION, Target.FAST_REGION_ZERO_BASED));
    report.append("\n## Memory windows\n\n");
    table(report, EnumSet.range(Target.WINDOW_TYPE_1, Target.WINDOW_TYPE_2_ZERO_BASED));
    Path file = Path.of("target", "protection.md");
    Files.createDirectories(file.getParent());
    Files.writeString(file, report);
  }

  /**
   * A receive into memory that is not there fails at the receiver and tells the sender so. Fails if
   * the sender is told of an error of its own, or the receiver's completion has another reason.
   */
  @Test
  void aReceiveIntoWhatIsNotItsOwnFailsOnBothSides() {
    try (RdmaPair rdma = pair()) {
      DmaMemory here = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
      DmaMemory there = rdma.b.memory(SIZE, DmaPlacement.SCATTERED);
      MemoryRegion local = rdma.a.domain.registerMemory(here);
      MemoryRegion readOnly = rdma.b.domain.registerMemory(there);
      assertTrue(rdma.b.pair.postReceive(5, readOnly.lkey(), readOnly.address(), 100));
      assertTrue(rdma.a.pair.postSend(6, local.lkey(), local.address(), 64, 1));
      rdma.a.pair.ring();
      assertEquals(FlushCode.REM_OP_ERR.meaning(), rdma.await(rdma.a).flushCode());
      Completion received = rdma.await(rdma.b);
      assertEquals(5, received.wrId());
      assertEquals(FlushCode.PROT_ERR.meaning(), received.flushCode());
      assertEquals(NAK_REMOTE_OPERATION, syndromes.getLast());
      assertEquals(List.of(AeCode.IB_REMOTE_OP_ERROR.name()), names(eventsA));
      assertEquals(List.of(AeCode.AMP_RIGHTS_VIOLATION.name()), names(eventsB));
      assertArrayEquals(new byte[SIZE], bytes(there));
    }
  }
}
