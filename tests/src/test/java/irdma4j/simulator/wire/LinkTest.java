package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LinkTest {
  private static void setMac(MemorySegment frame, long offset, long mac) {
    BigEndian.set16(frame, offset, (int) (mac >>> 32));
    BigEndian.set32(frame, offset + 2, (int) mac);
  }

  private static MemorySegment frame(long destination, int tag) {
    MemorySegment frame = MemorySegment.ofArray(new byte[100]);
    setMac(frame, 0, destination);
    BigEndian.set32(frame, 20, tag);
    return frame;
  }

  private record Arrival(long time, int port, int tag) {}

  private static List<Arrival> drain(Link link) {
    List<Arrival> arrivals = new ArrayList<>();
    while (link.nextArrival() != Long.MAX_VALUE) {
      long now = link.nextArrival();
      assertFalse(link.deliver(now - 1, (port, frame, bytes, lent) -> {}));
      assertTrue(
          link.deliver(
              now,
              (port, frame, bytes, lent) -> {
                assertEquals(100, bytes);
                arrivals.add(new Arrival(now, port, BigEndian.get32(frame, 20)));
              }));
    }
    return arrivals;
  }

  /** Fails if a frame costs no wire time, or the fraction of a nanosecond is lost. */
  @Test
  void framesTakeTheirTimeOnTheWire() {
    Link link = new Link(2, 100, 500, LinkFaults.NONE, 1, null);
    for (int i = 0; i < 100; i++) {
      link.send(0, frame(7, i), 100, 1000);
    }
    List<Arrival> arrivals = drain(link);
    for (int i = 0; i < 100; i++) {
      // 124 bytes with preamble, FCS and gap: 9.92 ns each at 100 Gb/s
      assertEquals(new Arrival(1500 + (i + 1) * 992 / 100, 1, i), arrivals.get(i));
    }
  }

  /**
   * Fails if a frame goes to a port that it does not name, or an unknown address is not flooded.
   */
  @Test
  void framesGoToThePortThatTheyName() {
    Link link = new Link(3, 100, 0, LinkFaults.NONE, 1, null);
    for (int i = 0; i < 3; i++) {
      link.attach(i, 0x10 + i);
    }
    link.send(0, frame(0x12, 1), 100, 0);
    link.send(0, frame(0x10, 2), 100, 1000);
    link.send(1, frame(0xffff_ffff_ffffL, 3), 100, 2000);
    List<Arrival> arrivals = drain(link);
    assertEquals(
        List.of(
            new Arrival(9, 2, 1),
            new Arrival(1009, 0, 2),
            new Arrival(2009, 0, 3),
            new Arrival(2009, 2, 3)),
        arrivals);
  }

  /**
   * Every frame arrives once, none, or twice as the faults allow; without reordering in order; the
   * same seed gives the same arrivals; the tap sees each frame with the truth about its loss. Fails
   * if a buffer is used while its frame is in flight.
   */
  @Property(tries = 40)
  void faultsAreWhatWasAskedFor(
      @ForAll long seed,
      @ForAll @DoubleRange(max = 50) double loss,
      @ForAll @DoubleRange(max = 50) double duplicate,
      @ForAll @DoubleRange(max = 50) double delay,
      @ForAll boolean reorder) {
    List<Integer> lost = new ArrayList<>();
    List<List<Arrival>> runs = new ArrayList<>();
    for (int run = 0; run < 2; run++) {
      lost.clear();
      LinkFaults faults = new LinkFaults(loss, duplicate, reorder ? 20 : 0, delay, 0, 0);
      Link link =
          new Link(
              2,
              100,
              500,
              faults,
              seed,
              (time, from, frame, bytes, dropped) -> {
                if (dropped) {
                  lost.add(BigEndian.get32(frame, 20));
                }
              });
      for (int i = 0; i < 300; i++) {
        link.send(0, frame(7, i), 100, i * 20L);
      }
      runs.add(drain(link));
    }
    assertEquals(runs.get(0), runs.get(1));
    int[] count = new int[300];
    int previous = -1;
    for (Arrival arrival : runs.get(0)) {
      boolean first = count[arrival.tag()]++ == 0;
      if (first && !reorder) {
        assertTrue(arrival.tag() > previous);
        previous = arrival.tag();
      }
    }
    for (int i = 0; i < 300; i++) {
      assertEquals(lost.contains(i), count[i] == 0);
      assertTrue(count[i] <= (duplicate > 0 ? 2 : 1));
    }
    if (loss == 0) {
      assertTrue(lost.isEmpty());
    }
  }

  /** Fails if a pause lets a later frame overtake, or frames are late without one. */
  @Property(tries = 30)
  void aPauseDelaysAllThatFollows(@ForAll long seed, @ForAll boolean pauses) {
    Link link = new Link(2, 100, 500, LinkFaults.NONE.withDelay(pauses ? 100 : 0), seed, null);
    for (int i = 0; i < 20; i++) {
      link.send(0, frame(7, i), 100, 0);
    }
    List<Arrival> arrivals = drain(link);
    assertEquals(20, arrivals.size());
    for (int i = 0; i < 20; i++) {
      assertEquals(i, arrivals.get(i).tag());
    }
    // 124 bytes at 100 Gb/s take 9.92 ns.
    assertEquals(pauses, arrivals.get(19).time() > 500 + 20 * 10);
  }

  /**
   * Frames built in the link's buffer arrive as they were sent, at every port that they are for and
   * where they come back, while others are built behind them; a corrupted copy has one wrong byte.
   * Fails if a buffer is given out while its frame is on its way, or if what the link changes in
   * one copy shows in another or in what its sender goes on to use.
   */
  @Property(tries = 200)
  void framesBuiltInPlaceArriveWhole(
      @ForAll long seed,
      @ForAll boolean corrupts,
      @ForAll @Size(max = 120) List<@IntRange(max = 3) Integer> doings) {
    LinkFaults faults =
        LinkFaults.NONE.withDuplicate(30).withLoss(10).withCorrupt(corrupts ? 40 : 0);
    Link link = new Link(3, 100, 500, faults, seed, null);
    link.attach(0, 0x10);
    int most = corrupts ? 1 : 0;
    Link.Receiver receiver =
        (port, frame, bytes, lent) ->
            assertTrue(wrongBytes(frame, bytes) <= most, "at port " + port);
    for (int i = 0; i < doings.size(); i++) {
      int doing = doings.get(i);
      if (doing == 3) {
        link.deliver(Long.MAX_VALUE, receiver);
        continue;
      }
      MemorySegment frame = link.buffer();
      int bytes = 60 + i;
      setMac(frame, 0, doing == 0 ? 0x10 : 0x99);
      for (int at = 6; at < bytes; at++) {
        frame.set(ValueLayout.JAVA_BYTE, at, (byte) (bytes + at));
      }
      link.send(1, frame, bytes, 0);
      assertEquals(0, wrongBytes(frame, bytes), "what its sender sees");
      if (doing == 2) {
        link.loopBack(1, frame, bytes, 0);
        assertEquals(0, wrongBytes(frame, bytes), "what its sender sees");
      }
    }
    while (link.deliver(Long.MAX_VALUE, receiver)) {
      // until the wire is empty
    }
  }

  /** Bytes that do not follow from the frame's length, apart from the destination. */
  private static int wrongBytes(MemorySegment frame, int bytes) {
    int wrong = 0;
    for (int at = 6; at < bytes; at++) {
      wrong += frame.get(ValueLayout.JAVA_BYTE, at) == (byte) (bytes + at) ? 0 : 1;
    }
    return wrong;
  }

  /** Fails if corruption touches no byte, or more than one. */
  @Property(tries = 50)
  void corruptionChangesOneByte(@ForAll long seed, @ForAll @IntRange(min = 15, max = 1500) int n) {
    Link link = new Link(2, 100, 0, LinkFaults.NONE.withCorrupt(100), seed, null);
    byte[] sent = new byte[n];
    link.send(0, MemorySegment.ofArray(sent), n, 0);
    byte[] got = new byte[n];
    link.deliver(
        Long.MAX_VALUE,
        (port, frame, bytes, lent) ->
            MemorySegment.copy(frame, ValueLayout.JAVA_BYTE, 0, got, 0, bytes));
    int changed = 0;
    for (byte b : got) {
      changed += b == 0 ? 0 : 1;
    }
    assertEquals(1, changed);
    assertArrayEquals(new byte[n], sent);
  }

  /** Fails if discarding loses or keeps a frame of the wrong port. */
  @Test
  void discardEmptiesOnePort() {
    Link link = new Link(3, 100, 0, LinkFaults.NONE, 1, null);
    for (int i = 0; i < 50; i++) {
      link.send(0, frame(7, i), 100, 0);
    }
    link.discard(1);
    List<Arrival> arrivals = drain(link);
    assertEquals(50, arrivals.size());
    for (int i = 0; i < 50; i++) {
      assertEquals(2, arrivals.get(i).port());
      assertEquals(i, arrivals.get(i).tag());
    }
  }

  private static MemorySegment frame(long destination, long source, int tag) {
    MemorySegment frame = frame(destination, tag);
    setMac(frame, 6, source);
    return frame;
  }

  /**
   * Fails if an address behind a wire is not learned from what comes from there, if a port with an
   * address of its own is learned from, or if a group's address is ever learned.
   */
  @Test
  void theLinkLearnsWhoIsBehindItsWires() {
    Link link = new Link(4, 100, 0, LinkFaults.NONE, 1, null);
    link.attach(0, 0x10);
    link.learn();
    link.send(0, frame(0x22, 0x10, 1), 100, 0);
    link.send(2, frame(0x10, 0x22, 2), 100, 1000);
    link.send(0, frame(0x22, 0x10, 3), 100, 2000);
    link.send(1, frame(0x22, 0x21, 4), 100, 3000);
    link.send(2, frame(0x22, 0x23, 5), 100, 4000);
    link.send(3, frame(0x22, 0x22, 6), 100, 5000);
    link.send(0, frame(0x22, 0x10, 7), 100, 6000);
    link.send(1, frame(0x10, 0x0100_5e00_0001L, 8), 100, 7000);
    link.send(2, frame(0x0100_5e00_0001L, 0x23, 9), 100, 8000);
    link.send(0, frame(0x33, 0x34, 10), 100, 9000);
    link.send(3, frame(0x34, 0x35, 11), 100, 10000);
    assertEquals(
        List.of(
            "1@1", "1@2", "1@3", "2@0", "3@2", "4@2", "7@3", "8@0", "9@0", "9@1", "9@3", "10@1",
            "10@2", "10@3", "11@0", "11@1", "11@2"),
        drain(link).stream().map(a -> a.tag() + "@" + a.port()).toList());
  }

  private enum WireFault {
    LOSS(LinkFaults.loss(30)),
    DUPLICATE(LinkFaults.NONE.withDuplicate(30)),
    REORDER(LinkFaults.NONE.withReorder(30)),
    DELAY(LinkFaults.NONE.withDelay(30)),
    CORRUPT(LinkFaults.NONE.withCorrupt(30)),
    MARK(LinkFaults.NONE.withMark(30));

    private final LinkFaults faults;

    WireFault(LinkFaults faults) {
      this.faults = faults;
    }
  }

  /** A frame that knows ECN, with a number in its payload. */
  private static MemorySegment numbered(int number) {
    RoceFrame frame = new RoceFrame();
    frame.destinationMac = 7;
    frame.ipv4 = true;
    frame.trafficClass = Ecn.CONGESTION_EXPERIENCED - 1;
    frame.opcode = BthOpcode.SEND_ONLY;
    frame.payloadLength = 4;
    MemorySegment memory = MemorySegment.ofArray(new byte[RoceFrame.MAX_BYTES]);
    frame.writeHeaders(memory);
    BigEndian.set32(memory, frame.payloadOffset, number);
    return memory.asSlice(0, frame.seal(memory, new Icrc()));
  }

  /** When each copy arrives, and the frame's bytes. */
  private record Copy(long time, List<Byte> bytes) {}

  private static List<Copy> copies(LinkFaults faults, long seed, int frames) {
    Link link = new Link(2, 100, 500, faults, seed, null);
    List<Copy> copies = new ArrayList<>();
    for (int i = 0; i < frames; i++) {
      MemorySegment frame = numbered(i);
      // Far apart, so that what befalls one leaves the others alone.
      link.send(0, frame, (int) frame.byteSize(), i * 1_000_000L);
      while (link.nextArrival() != Long.MAX_VALUE) {
        long now = link.nextArrival();
        link.deliver(
            now,
            (port, got, bytes, lent) -> {
              List<Byte> held = new ArrayList<>();
              for (byte one : got.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE)) {
                held.add(one);
              }
              copies.add(new Copy(now, held));
            });
      }
    }
    return copies;
  }

  /**
   * Each fault strikes the share of frames that was asked for, and no other fault comes with it;
   * the same seed does the same, another seed something else. Fails if a share is ignored, halved,
   * or taken for another's, or anything of it is not drawn from the seed.
   */
  @ParameterizedTest
  @EnumSource(WireFault.class)
  void eachFaultStrikesItsShare(WireFault fault) {
    int frames = 4000;
    List<Copy> plain = copies(LinkFaults.NONE, 1, frames);
    List<Copy> struck = copies(fault.faults, 1, frames);
    assertEquals(frames, plain.size());
    assertEquals(struck, copies(fault.faults, 1, frames));
    assertFalse(struck.equals(copies(fault.faults, 2, frames)));
    int more = struck.size() - frames;
    int late = 0;
    int changed = 0;
    int marked = 0;
    for (int i = 0; i < frames && more == 0; i++) {
      late += struck.get(i).time() > plain.get(i).time() ? 1 : 0;
      if (!struck.get(i).bytes().equals(plain.get(i).bytes())) {
        boolean tos =
            struck.get(i).bytes().get(15) == (plain.get(i).bytes().get(15) | 3)
                && struck
                    .get(i)
                    .bytes()
                    .subList(26, 30)
                    .equals(plain.get(i).bytes().subList(26, 30));
        marked += tos ? 1 : 0;
        changed += tos ? 0 : 1;
      }
    }
    Map<WireFault, Integer> counts =
        Map.of(
            WireFault.LOSS,
            -more,
            WireFault.DUPLICATE,
            more,
            WireFault.REORDER,
            late,
            WireFault.DELAY,
            late,
            WireFault.CORRUPT,
            changed,
            WireFault.MARK,
            marked);
    Set<WireFault> both = Set.of(WireFault.REORDER, WireFault.DELAY);
    counts.forEach(
        (each, count) -> {
          if (each == fault || both.containsAll(List.of(each, fault))) {
            // Four standard deviations on either side.
            double off = Math.abs(count - 0.3 * frames);
            assertTrue(off < 4 * Math.sqrt(0.21 * frames), counts.toString());
          } else {
            assertTrue(count <= 0, counts.toString());
          }
        });
  }
}
