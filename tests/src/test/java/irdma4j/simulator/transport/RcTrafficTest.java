package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.LinkFaults;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

/**
 * Two connected queue pairs, both sending a random mix of operations at once over a wire that
 * loses, doubles, reorders and corrupts.
 */
class RcTrafficTest {
  private static final long LIMIT = 600_000_000_000L;
  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;
  private static final int[] MTUS = {256, 512, 1024, 2048, 4096};
  private static final int SLOT = 5 * 4096 + 64;

  private enum Kind {
    SEND,
    WRITE,
    WRITE_IMMEDIATE,
    READ,
    SEND_INLINE,
    WRITE_INLINE,
    NOP
  }

  /** One message: what it moves, and what its completions must say. */
  private record Message(
      long wrId, Kind kind, boolean signaled, long from, long to, int bytes, int immediate) {}

  /** One side: its messages in order, what is still to be posted, and what has completed. */
  private static final class Side {
    final Endpoint end;
    final FakeFunction function;
    Side other;
    final Deque<Runnable> sends = new ArrayDeque<>();
    final Deque<Runnable> receives = new ArrayDeque<>();
    final List<Message> messages = new ArrayList<>();
    final List<Message> expectedReceives = new ArrayList<>();
    final List<Endpoint.Done> sent = new ArrayList<>();
    final List<Endpoint.Done> received = new ArrayList<>();

    Side(Endpoint end) {
      this.end = end;
      this.function = end.function;
    }

    /** Takes completions; what they announce must be in place by then. */
    void poll() {
      for (Endpoint.Done done : end.poll()) {
        if (done.send()) {
          sent.add(done);
          arrived(messages.get((int) done.wrId() - 1000), this);
        } else {
          arrived(expectedReceives.get(received.size()), other);
          received.add(done);
        }
      }
    }
  }

  private static int size(SplittableRandom random, int mtu, int most) {
    int size =
        switch (random.nextInt(6)) {
          case 0 -> random.nextInt(4);
          case 1 -> mtu - 1 + random.nextInt(3);
          case 2 -> mtu * (1 + random.nextInt(4)) - 1 + random.nextInt(3);
          case 3 -> mtu * (1 + random.nextInt(4));
          default -> random.nextInt(5 * mtu);
        };
    return Math.min(size, most);
  }

  private static void cut(
      SplittableRandom random, SgeList sges, FakeFunction.Region region, long at, int bytes) {
    sges.clear();
    int left = bytes;
    long va = region.va() + at - region.at();
    int pieces = 1 + random.nextInt(12);
    for (int i = 0; i < pieces - 1 && left > 0; i++) {
      int part = random.nextInt(left + 1);
      sges.add(va, part, region.stag());
      va += part;
      left -= part;
    }
    sges.add(va, left, region.stag());
  }

  private static void prepare(SplittableRandom random, Side side, Side other, int mtu, int count) {
    FakeFunction a = side.function;
    FakeFunction b = other.function;
    side.other = other;
    for (int i = 0; i < count; i++) {
      Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
      boolean inline = kind == Kind.SEND_INLINE || kind == Kind.WRITE_INLINE;
      int bytes = kind == Kind.NOP ? 0 : inline ? random.nextInt(102) : size(random, mtu, SLOT);
      long local = a.allocate(bytes);
      long remote = b.allocate(bytes);
      FakeFunction source = kind == Kind.READ ? b : a;
      long from = kind == Kind.READ ? remote : local;
      for (int n = 0; n < bytes; n++) {
        source.host.set(ValueLayout.JAVA_BYTE, from + n, (byte) random.nextInt());
      }
      int localRights = kind == Kind.READ ? ALL : DeviceServices.LOCAL_READ;
      FakeFunction.Region near = a.register(local, bytes, localRights, Endpoint.PD);
      FakeFunction.Region far =
          b.register(remote, bytes, kind == Kind.READ ? ALL ^ 10 : ALL, Endpoint.PD);
      int flags = random.nextInt(3) != 0 || i == count - 1 ? SendQueue.SIGNALED : 0;
      flags |= random.nextInt(6) == 0 ? SendQueue.READ_FENCE : 0;
      flags |= random.nextInt(10) == 0 ? SendQueue.LOCAL_FENCE : 0;
      int immediate = random.nextInt();
      boolean withImmediate =
          kind == Kind.WRITE_IMMEDIATE || (kind == Kind.SEND && random.nextBoolean());
      if (withImmediate) {
        flags |= SendQueue.IMMEDIATE;
      }
      boolean takes = kind == Kind.SEND || kind == Kind.SEND_INLINE || kind == Kind.WRITE_IMMEDIATE;
      if (takes && random.nextBoolean()) {
        flags |= SendQueue.SOLICITED;
      }
      long wrId = 1000L + i;
      Message message =
          new Message(
              wrId,
              kind,
              (flags & SendQueue.SIGNALED) != 0,
              local,
              remote,
              bytes,
              withImmediate ? immediate : 0);
      side.messages.add(message);
      SgeList sges = new SgeList();
      cut(random, sges, near, local, bytes);
      int fixedFlags = flags;
      SendQueue queue = side.end.send;
      side.sends.add(
          () ->
              assertTrue(
                  switch (kind) {
                    case SEND -> queue.send(wrId, fixedFlags, immediate, 0, sges);
                    case WRITE, WRITE_IMMEDIATE ->
                        queue.write(wrId, fixedFlags, immediate, far.va(), far.stag(), sges);
                    case READ -> queue.read(wrId, fixedFlags, far.va(), far.stag(), sges);
                    case SEND_INLINE ->
                        queue.sendInline(wrId, fixedFlags, 0, 0, a.host, local, bytes);
                    case WRITE_INLINE ->
                        queue.writeInline(
                            wrId, fixedFlags, 0, far.va(), far.stag(), a.host, local, bytes);
                    case NOP -> queue.nop(wrId, fixedFlags);
                  }));
      if (takes) {
        other.expectedReceives.add(message);
        SgeList room = new SgeList();
        if (kind != Kind.WRITE_IMMEDIATE) {
          cut(random, room, far, remote, bytes);
        }
        other.receives.add(() -> assertTrue(other.end.receive.receive(wrId, room)));
      }
    }
  }

  /**
   * Each message arrives exactly once and in order, or its queue pair reports that its retries are
   * used up; no byte outside a message's target changes; nothing hangs. Fails if, say, a duplicate
   * is done twice, a lost READ response is passed over, a PSN comparison forgets the wrap, or a
   * receive is consumed by a message that is then refused.
   */
  @Property(tries = 150)
  void everyMessageArrivesOnceAndInOrder(
      @ForAll long seed,
      @ForAll @IntRange(max = 4) int mtuIndex,
      @ForAll @DoubleRange(max = 30) double loss,
      @ForAll @DoubleRange(max = 30) double duplicate,
      @ForAll @DoubleRange(max = 30) double reorder,
      @ForAll @DoubleRange(max = 30) double delay,
      @ForAll @IntRange(max = 2) int calm) {
    LinkFaults faults =
        switch (calm) {
          case 0 -> LinkFaults.NONE;
          case 1 -> LinkFaults.loss(loss / 10);
          default -> new LinkFaults(loss, duplicate, reorder, delay, duplicate / 3, reorder);
        };
    run(seed, MTUS[mtuIndex], faults, 30);
  }

  /**
   * The same where the ICRC is left out, as on a wire that nobody looks at. Fails if a packet is
   * then refused, or memory is read beyond it.
   */
  @Property(tries = 40)
  void aPrivateWireIsNoDifferent(@ForAll long seed, @ForAll @IntRange(max = 4) int mtuIndex) {
    run(seed, MTUS[mtuIndex], new LinkFaults(5, 5, 5, 5, 0, 0), 30);
  }

  private static void run(long seed, int mtu, LinkFaults faults, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    Fabric fabric = new Fabric(2, 4 << 20, faults, random.nextLong(), null);
    Endpoint.Settings first = new Endpoint.Settings();
    first.mtu = mtu;
    first.ipv4 = random.nextBoolean();
    first.vlan = random.nextBoolean() ? -1 : 0x2007;
    first.localPsn = random.nextBoolean() ? 0xffffff - random.nextInt(40) : random.nextInt(1 << 24);
    first.remotePsn = random.nextInt(1 << 24);
    first.readsOut = 1 + random.nextInt(4);
    first.readsIn = 0;
    first.credits = random.nextInt(32);
    Endpoint.Settings second = new Endpoint.Settings();
    second.mtu = mtu;
    second.ipv4 = first.ipv4;
    second.vlan = first.vlan;
    second.localPsn = first.remotePsn;
    second.remotePsn = first.localPsn;
    second.readsOut = first.readsOut;
    second.readsIn = 0;
    first.retries = random.nextInt(3) == 0 ? 1 : 7;
    second.retries = first.retries;
    Endpoint[] ends = Endpoint.pair(fabric, first, second);
    Side left = new Side(ends[0]);
    Side right = new Side(ends[1]);
    prepare(random, left, right, mtu, count);
    prepare(random, right, left, mtu, count);
    byte[][] before = {
      left.function.host.toArray(ValueLayout.JAVA_BYTE),
      right.function.host.toArray(ValueLayout.JAVA_BYTE)
    };
    long end = fabric.now + LIMIT;
    Side[] sides = {left, right};
    boolean moving = true;
    while (moving) {
      moving = false;
      for (Side side : sides) {
        for (int i = random.nextInt(4); i > 0 && !side.receives.isEmpty(); i--) {
          side.receives.poll().run();
        }
        int posts = random.nextInt(4);
        for (int i = posts; i > 0 && !side.sends.isEmpty(); i--) {
          side.sends.poll().run();
        }
        side.end.send.ring();
        moving |= !side.sends.isEmpty() || !side.receives.isEmpty();
      }
      for (int i = random.nextInt(20); i > 0; i--) {
        moving |= fabric.step();
      }
      moving |= fabric.step();
      left.poll();
      right.poll();
      assertTrue(fabric.now < end, "hangs");
    }
    boolean calm = faults.loss() <= 5 && faults.duplicate() <= 5 && faults.reorder() <= 5;
    if (calm && first.retries == 7) {
      // Eight losses in a row are next to impossible here: to give up would be to not try.
      assertFalse(failed(left) || failed(right), "gave up");
    }
    check(left, right);
    check(right, left);
    checkMemory(left, before[0], before[1], right);
    checkMemory(right, before[1], before[0], left);
  }

  private static boolean failed(Side side) {
    return !side.function.events.isEmpty();
  }

  private static void check(Side side, Side other) {
    for (FakeFunction.Event event : side.function.events) {
      assertTrue(event.code() == AeCode.LLP_TOO_MANY_RETRIES.code(), "unexpected event " + event);
    }
    List<Long> expected =
        side.messages.stream().filter(Message::signaled).map(Message::wrId).toList();
    List<Long> sent = side.sent.stream().map(Endpoint.Done::wrId).toList();
    if (failed(side) || failed(other)) {
      assertEquals(expected.subList(0, sent.size()), sent);
    } else {
      assertEquals(expected, sent);
      assertEquals(side.expectedReceives.size(), side.received.size());
    }
    for (Endpoint.Done done : side.sent) {
      assertEquals(Completion.Status.SUCCESS, done.status());
    }
    for (int i = 0; i < side.received.size(); i++) {
      Endpoint.Done done = side.received.get(i);
      Message message = side.expectedReceives.get(i);
      assertEquals(message.wrId(), done.wrId());
      assertEquals(message.bytes(), done.bytes());
      assertEquals(message.immediate(), done.hasImmediate() ? done.immediate() : 0);
      boolean writeOpcode =
          done.opcode() == BthOpcode.WRITE_ONLY_IMMEDIATE
              || done.opcode() == BthOpcode.WRITE_LAST_IMMEDIATE;
      assertEquals(message.kind() == Kind.WRITE_IMMEDIATE, writeOpcode);
    }
  }

  /** The peer's memory: targets hold what was sent, everything else what it held before. */
  private static void checkMemory(Side side, byte[] mine, byte[] peers, Side other) {
    MemorySegment expected = MemorySegment.ofArray(peers.clone());
    FakeFunction peer = other.function;
    MemorySegment actual = peer.host;
    boolean broken = failed(side) || failed(other);
    for (Message message : side.messages) {
      if (message.bytes() == 0) {
        continue;
      }
      if (message.kind() != Kind.READ) {
        compare(message, mine, message.from(), actual, message.to(), broken);
        MemorySegment.copy(actual, message.to(), expected, message.to(), message.bytes());
      }
    }
    for (Message message : other.messages) {
      if (message.kind() == Kind.READ && message.bytes() > 0) {
        compare(message, mine, message.to(), actual, message.from(), broken);
        MemorySegment.copy(actual, message.from(), expected, message.from(), message.bytes());
      }
    }
    // The rings at the start of memory are written by driver and device.
    long rings = peers.length;
    for (Message message : other.messages) {
      rings = Math.min(rings, message.from());
    }
    for (Message message : side.messages) {
      rings = Math.min(rings, message.to());
    }
    long at = MemorySegment.mismatch(expected, rings, peers.length, actual, rings, peers.length);
    assertEquals(-1, at, "a byte outside every target changed");
  }

  private static void arrived(Message message, Side sender) {
    FakeFunction near = sender.function;
    FakeFunction far = sender.other.function;
    MemorySegment source = near.slice(message.from(), message.bytes());
    MemorySegment target = far.slice(message.to(), message.bytes());
    assertEquals(-1, source.mismatch(target), () -> message + " is not whole");
  }

  private static void compare(
      Message message, byte[] from, long at, MemorySegment to, long target, boolean broken) {
    for (int i = 0; i < message.bytes(); i++) {
      byte sent = from[(int) at + i];
      byte got = to.get(ValueLayout.JAVA_BYTE, target + i);
      boolean untouched = broken && got == FakeFunction.CANARY;
      if (sent != got && !untouched) {
        assertFalse(true, message + ": byte " + i + " is wrong");
      }
    }
  }
}
