package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Access;
import irdma4j.driver.Completion;
import irdma4j.driver.FastRegion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.MemoryWindow;
import irdma4j.driver.ProtectionDomain;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.ring.SgeList;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Random work at random regions and windows, with a model of every byte on both sides. */
class ProtectionProperties {
  private static final int PAGES = 6;
  private static final int SIZE = PAGES * 4096;

  /**
   * What is allowed succeeds and moves exactly its bytes; what is not fails, and then no byte
   * outside of the ranges that were allowed changes anywhere. All that lies around the regions, on
   * the same pages, is the canary. Fails if a bound is off by one byte, if a right, domain or queue
   * pair is not looked at, or if a translation takes the wrong page.
   */
  @Property(tries = 300, shrinking = ShrinkingMode.OFF)
  void nothingOutsideIsReadOrWritten(@ForAll long seed) {
    new Run(seed).run();
  }

  /** Memory that a side lets the other use. */
  private record Shared(
      int key, long address, int from, int length, boolean read, boolean write, boolean usable) {}

  private static final class Run {
    private final Random random;
    private final RdmaPair rdma;
    private final DmaMemory here;
    private final DmaMemory there;
    private final byte[] modelHere = new byte[SIZE];
    private final byte[] modelThere = new byte[SIZE];
    private final MemoryRegion whole;
    private final ProtectionDomain other;
    private final List<Shared> shared = new ArrayList<>();
    private final List<AutoCloseable> ofConnection = new ArrayList<>();
    private QueuePair near;
    private QueuePair far;

    Run(long seed) {
      random = new Random(seed);
      rdma = new RdmaPair(seed, 0, 256 << random.nextInt(5));
      here = rdma.a.memory(SIZE, DmaPlacement.SCATTERED);
      there =
          rdma.b.memory(
              SIZE, random.nextBoolean() ? DmaPlacement.SCATTERED : DmaPlacement.CONTIGUOUS);
      random.nextBytes(modelHere);
      random.nextBytes(modelThere);
      MemorySegment.copy(modelHere, 0, here.segment(), ValueLayout.JAVA_BYTE, 0, SIZE);
      MemorySegment.copy(modelThere, 0, there.segment(), ValueLayout.JAVA_BYTE, 0, SIZE);
      whole = rdma.a.domain.registerMemory(here, Access.LOCAL_WRITE);
      other = rdma.b.device.allocateProtectionDomain();
      connect();
    }

    private QueuePair create(RdmaPair.Side side) {
      return side.domain.createQueuePair(
          QueuePairConfig.of(side.queue).withRequests(8, 8).withSges(4, 4).withInline(16));
    }

    private void connect() {
      near = create(rdma.a);
      far = create(rdma.b);
      rdma.connect(near, far, random.nextInt(1 << 24), random.nextInt(1 << 24), 1024);
      share();
    }

    private void share() {
      shared.clear();
      for (int i = 0; i < 4; i++) {
        int from = random.nextInt(SIZE - 1);
        int length = 1 + random.nextInt(Math.min(SIZE - from, 9000));
        boolean read = random.nextInt(4) != 0;
        boolean write = random.nextInt(4) != 0;
        boolean foreign = random.nextInt(6) == 0;
        List<Access> rights = new ArrayList<>();
        if (read) {
          rights.add(Access.REMOTE_READ);
        }
        if (write) {
          rights.add(Access.REMOTE_WRITE);
        }
        shared.add(
            switch (foreign ? 0 : random.nextInt(3)) {
              case 0 -> region(foreign ? other : rdma.b.domain, from, length, rights, !foreign);
              case 1 -> fastRegion(from, length, rights);
              default -> window(from, length, rights);
            });
      }
    }

    private static Access[] with(List<Access> rights, Access... more) {
      List<Access> all = new ArrayList<>(rights);
      all.addAll(List.of(more));
      return all.toArray(Access[]::new);
    }

    private Shared of(
        int key, long address, int from, int length, List<Access> rights, boolean usable) {
      return new Shared(
          key,
          address,
          from,
          length,
          rights.contains(Access.REMOTE_READ),
          rights.contains(Access.REMOTE_WRITE),
          usable);
    }

    private Shared region(
        ProtectionDomain domain, int from, int length, List<Access> rights, boolean usable) {
      Access[] all = with(rights, Access.LOCAL_WRITE);
      MemoryRegion region =
          random.nextInt(3) == 0
              ? domain.registerZeroBased(there, from, length, PbleLevels.ANY, all)
              : domain.registerMemory(there, from, length, PbleLevels.ANY, all);
      ofConnection.addFirst(region);
      return of(region.rkey(), region.address(), from, length, rights, usable);
    }

    private Shared fastRegion(int from, int length, List<Access> rights) {
      FastRegion region = rdma.b.domain.allocateFastRegion(PAGES);
      ofConnection.addFirst(region);
      assertTrue(
          far.postFastRegister(
              1,
              region,
              there,
              from,
              length,
              QueuePair.SIGNALED,
              with(rights, Access.LOCAL_WRITE)));
      far.ring();
      assertTrue(rdma.await(rdma.b).isSuccess());
      boolean usable = random.nextInt(4) != 0;
      if (!usable) {
        assertTrue(far.postInvalidate(2, region.key(), QueuePair.SIGNALED));
        far.ring();
        assertTrue(rdma.await(rdma.b).isSuccess());
      }
      return of(region.key(), there.segment().address() + from, from, length, rights, usable);
    }

    private Shared window(int from, int length, List<Access> rights) {
      boolean narrow = random.nextBoolean();
      boolean zeroBased = !narrow && random.nextBoolean();
      // The region of the window reaches beyond it on both sides where there is room.
      int before = Math.min(from, random.nextInt(5000));
      int after = Math.min(SIZE - from - length, random.nextInt(5000));
      MemoryRegion region =
          rdma.b.domain.registerMemory(
              there,
              from - before,
              before + length + after,
              PbleLevels.ANY,
              Access.LOCAL_WRITE,
              Access.BIND_WINDOW);
      ofConnection.addFirst(region);
      MemoryWindow window =
          rdma.b.domain.allocateWindow(narrow ? MemoryWindow.Type.ONE : MemoryWindow.Type.TWO);
      ofConnection.addFirst(window);
      // A window of type 2 belongs to the queue pair that bound it.
      boolean usable = narrow || random.nextInt(5) != 0;
      QueuePair binder = usable ? far : rdma.b.pair;
      long address = region.address() + before;
      Access[] granted = with(rights);
      assertTrue(
          zeroBased
              ? binder.postBindZeroBased(
                  1, window, region, address, length, QueuePair.SIGNALED, granted)
              : binder.postBind(1, window, region, address, length, QueuePair.SIGNALED, granted));
      binder.ring();
      assertTrue(rdma.await(rdma.b).isSuccess());
      return of(window.rkey(), zeroBased ? 0 : address, from, length, rights, usable);
    }

    private void operate() {
      Shared target = shared.get(random.nextInt(shared.size()));
      boolean write = random.nextBoolean();
      int length = random.nextInt(4) == 0 ? random.nextInt(9000) : random.nextInt(100);
      // Near the ends more often than in the middle: that is where checks go wrong.
      int offset =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(9) - 4;
            case 1 -> target.length - length + random.nextInt(5) - 2;
            default -> random.nextInt(Math.max(1, target.length - length));
          };
      int key = random.nextInt(8) == 0 ? target.key ^ 1 << random.nextInt(24) : target.key;
      boolean inside = offset >= 0 && offset + length <= target.length;
      // The key of a request without bytes is not looked at (specification, C9-88).
      boolean allowed =
          length == 0
              || (key == target.key
                  && target.usable
                  && (write ? target.write : target.read)
                  && inside);
      // Other regions must not be hit by a key that was changed into theirs.
      if (key != target.key && shared.stream().anyMatch(each -> each.key == key)) {
        return;
      }
      int sges = 1 + random.nextInt(3);
      int[] at = new int[sges];
      int[] size = new int[sges];
      SgeList list = new SgeList();
      int left = length;
      for (int i = 0; i < sges; i++) {
        size[i] = i == sges - 1 ? left : random.nextInt(left + 1);
        left -= size[i];
        // Sinks of one READ are apart, so that their order does not matter.
        int part = SIZE / sges;
        if (size[i] > part) {
          return;
        }
        at[i] = i * part + random.nextInt(part - size[i] + 1);
        list.add(whole.address() + at[i], size[i], whole.lkey());
      }
      long remote = target.address + offset;
      assertTrue(
          write
              ? near.postWrite(9, list, remote, key, QueuePair.SIGNALED)
              : near.postRead(9, list, remote, key, QueuePair.SIGNALED));
      near.ring();
      Completion completion = rdma.await(rdma.a);
      assertEquals(
          allowed,
          completion.isSuccess(),
          () ->
              "%s of %d at %d of %s, key %x: %s"
                  .formatted(write ? "WRITE" : "READ", length, offset, target, key, completion));
      if (allowed) {
        int from = target.from + offset;
        for (int i = 0; i < sges; i++) {
          if (write) {
            System.arraycopy(modelHere, at[i], modelThere, from, size[i]);
          } else {
            System.arraycopy(modelThere, from, modelHere, at[i], size[i]);
          }
          from += size[i];
        }
      }
      assertArrayEquals(modelThere, there.segment().toArray(ValueLayout.JAVA_BYTE));
      assertArrayEquals(modelHere, here.segment().toArray(ValueLayout.JAVA_BYTE));
      if (!allowed) {
        disconnect();
        connect();
      }
    }

    private void disconnect() {
      rdma.settle(10_000);
      near.close();
      far.close();
      for (AutoCloseable each : ofConnection) {
        try {
          each.close();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
      ofConnection.clear();
    }

    void run() {
      for (int i = 0; i < 12; i++) {
        operate();
      }
      disconnect();
      assertEquals(0, rdma.closeAndBalance());
    }
  }
}
