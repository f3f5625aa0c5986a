package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Payloads that stay in their sender's memory while their frames are on the wire. */
class LentPayloadTest {
  private static final int HEADERS = 20;
  private static final int BYTES = 30;
  private static final long FAR = 0x20;
  private static final long NOBODY = 0x99;

  private final MemorySegment memory = MemorySegment.ofArray(new byte[100]);
  private final List<String> arrivals = new ArrayList<>();

  private static Link link(int ports, LinkFaults faults) {
    Link link = new Link(ports, 100, 500, faults, 1, null);
    link.attach(1, FAR);
    return link;
  }

  /** Sends a frame of which all ten bytes of payload are a value, in the sender's memory. */
  private void send(Link link, long mac, int value) {
    MemorySegment frame = link.buffer();
    frame.fill((byte) 0);
    BigEndian.set64(frame, 0, mac << 16);
    Payload lent = link.lend();
    assertNotNull(lent);
    assertTrue(lent.isEmpty());
    memory.asSlice(10, 10).fill((byte) value);
    lent.add(memory, 10, 4);
    lent.add(memory, 14, 6);
    link.send(0, frame, BYTES, 0);
  }

  /** Sends a frame that stands in no buffer of the link's. */
  private static void sendFromElsewhere(Link link, int value) {
    MemorySegment frame = MemorySegment.ofArray(new byte[BYTES]).fill((byte) value);
    BigEndian.set64(frame, 0, FAR << 16);
    link.send(0, frame, BYTES, 0);
  }

  private void deliver(Link link) {
    Link.Receiver receiver =
        (port, frame, bytes, lent) -> {
          byte[] payload = payload(frame, lent);
          boolean same = true;
          for (byte one : payload) {
            same &= one == payload[0];
          }
          assertTrue(same);
          arrivals.add("%d at %d%s".formatted(payload[0], port, lent == null ? "" : ", lent"));
        };
    while (link.deliver(Long.MAX_VALUE, receiver)) {
      // until the wire is empty
    }
  }

  private static byte[] payload(MemorySegment frame, @Nullable Payload lent) {
    byte[] payload = new byte[BYTES - HEADERS];
    if (lent == null) {
      return frame.asSlice(HEADERS, payload.length).toArray(ValueLayout.JAVA_BYTE);
    }
    assertEquals(payload.length, lent.bytes());
    lent.copyTo(0, MemorySegment.ofArray(payload), 0, payload.length);
    return payload;
  }

  /** Fails if a payload is copied though it need not be: memory that changes shows it. */
  @Test
  void aPayloadIsWhereItsMemoryIs() {
    Link link = link(2, LinkFaults.NONE);
    send(link, FAR, 7);
    memory.fill((byte) 8);
    deliver(link);
    assertEquals(List.of("8 at 1, lent"), arrivals);
  }

  /** Fails if a frame on its way still needs its sender's memory, or loses its payload. */
  @Test
  void whatIsCarriedNeedsTheMemoryNoMore() {
    Link link = link(2, LinkFaults.NONE);
    send(link, FAR, 7);
    link.carryAll();
    send(link, FAR, 9);
    link.carryAll();
    memory.fill((byte) 8);
    deliver(link);
    assertEquals(List.of("7 at 1, lent", "9 at 1, lent"), arrivals);
  }

  /** Fails if only the first of several copies has the payload. */
  @Test
  void everyPortGetsThePayload() {
    Link link = link(4, LinkFaults.NONE);
    send(link, NOBODY, 7);
    memory.fill((byte) 8);
    deliver(link);
    assertEquals(List.of("7 at 1, lent", "7 at 2, lent", "7 at 3, lent"), arrivals);
  }

  /** Fails if a frame carries what was lent for one that was not sent, was lost or has arrived. */
  @Test
  void theNextFrameHasItsOwnPayload() {
    Link link = link(2, LinkFaults.NONE);
    send(link, FAR, 7);
    link.deliver(Long.MAX_VALUE, (port, frame, bytes, lent) -> {});
    MemorySegment frame = link.buffer();
    Payload unused = link.lend();
    assertNotNull(unused);
    unused.add(memory, 0, BYTES - HEADERS);
    assertEquals(frame, link.buffer());
    frame.fill((byte) 5);
    BigEndian.set64(frame, 0, FAR << 16);
    link.send(0, frame, BYTES, 0);

    Payload again = link.lend();
    assertNotNull(again);
    again.add(memory, 0, BYTES - HEADERS);
    sendFromElsewhere(link, 6);
    deliver(link);
    assertEquals(List.of("5 at 1", "6 at 1"), arrivals);
  }

  /** Fails if a frame that is thrown away leaves its payload to the next one. */
  @Test
  void discardedFramesTakeTheirPayloadAlong() {
    Link link = link(2, LinkFaults.NONE);
    send(link, FAR, 7);
    link.discard(1);
    sendFromElsewhere(link, 6);
    deliver(link);
    assertEquals(List.of("6 at 1"), arrivals);
  }

  /**
   * Packets in one frame, beside the same on a wire of their own, one frame each, and packets of
   * other ports among them. Fails if one arrives at another nanosecond or in another order, if the
   * wire takes more or fewer, or if they are not handed over together where nobody looks between.
   */
  @Property(tries = 300)
  void packetsInOneFrameArriveAsAlone(
      @ForAll @Size(max = 12) List<@IntRange(max = 12) Integer> doings,
      @ForAll @IntRange(min = 1, max = 9000) int bytes,
      @ForAll @IntRange(min = 1, max = 800) int gigabits) {
    Link together = new Link(3, gigabits, 500, LinkFaults.NONE, 1, null);
    Link apart = new Link(3, gigabits, 500, LinkFaults.NONE, 1, null);
    together.attach(1, FAR);
    apart.attach(1, FAR);
    int length = Link.LEAST_FRAME + bytes % 4096;
    long now = 0;
    int number = 0;
    for (int doing : doings) {
      int port = doing % 2 * 2;
      long mac = doing % 3 == 0 ? NOBODY : FAR;
      int room = Math.max(0, together.trainRoom(port, length));
      assertEquals(room > 0, apart.hasRoom(port));
      // A frame for nobody goes to both other ports, and takes room for each.
      int packets = Math.min(mac == FAR ? room : room / 2, 1 + doing);
      if (packets > 0) {
        train(together, port, mac, length, packets, number, now);
      }
      for (int i = 0; i < packets; i++) {
        assertTrue(apart.hasRoom(port));
        train(apart, port, mac, length, 1, number + i, now);
      }
      number += packets;
      now += doing / 4 * 100L;
      assertEquals(arrivals(apart, now), arrivals(together, now));
      if (doing % 4 == 1) {
        together.carryAll();
      }
    }
    while (apart.nextArrival() != Long.MAX_VALUE) {
      now = apart.nextArrival();
      assertEquals(now, together.nextArrival());
      assertEquals(arrivals(apart, now), arrivals(together, now));
    }
    assertEquals(Long.MAX_VALUE, together.nextArrival());
    assertEquals(apart.trainRoom(0, length), together.trainRoom(0, length));
  }

  /** Sends packets that carry two bytes each, in which their numbers stand. */
  private static void train(
      Link link, int port, long mac, int length, int packets, int number, long now) {
    MemorySegment frame = link.buffer();
    BigEndian.set64(frame, 0, mac << 16);
    Payload lent = link.lend();
    assertNotNull(lent);
    for (int i = 0; i < packets; i++) {
      byte[] payload = {(byte) (number + i), (byte) port};
      lent.add(MemorySegment.ofArray(payload), 0, 2);
    }
    lent.carries(packets);
    link.send(port, frame, length, now);
  }

  /** What arrives, port by port: at different ones there is no order within a nanosecond. */
  private static List<String> arrivals(Link link, long now) {
    List<String> arrivals = new ArrayList<>();
    Link.Receiver receiver =
        (port, frame, bytes, lent) -> {
          assertNotNull(lent);
          for (int i = lent.first(); i < lent.first() + lent.packets(); i++) {
            byte[] payload = new byte[2];
            lent.startAt(2L * i);
            lent.copyTo(0, MemorySegment.ofArray(payload), 0, 2);
            arrivals.add("at %d %d of %d: %d".formatted(port, payload[0], payload[1], bytes));
          }
        };
    while (link.deliver(now, receiver)) {
      // as far as time has come
    }
    arrivals.sort(Comparator.comparing(text -> text.substring(0, 4)));
    return arrivals;
  }

  /** Fails if packets that have all arrived are handed over one by one. */
  @Test
  void packetsThatHaveArrivedComeTogether() {
    Link link = link(2, LinkFaults.NONE);
    train(link, 0, FAR, 1000, 5, 0, 0);
    long first = link.nextArrival();
    List<Integer> handed = new ArrayList<>();
    Link.Receiver receiver =
        (port, frame, bytes, lent) -> {
          assertNotNull(lent);
          handed.add(lent.packets());
        };
    assertTrue(link.deliver(first, receiver));
    link.carryAll();
    assertFalse(link.deliver(first, receiver));
    assertTrue(link.deliver(first + 180, receiver));
    assertTrue(link.deliver(Long.MAX_VALUE, receiver));
    assertFalse(link.deliver(Long.MAX_VALUE, receiver));
    assertEquals(List.of(1, 2, 2), handed);
  }

  /** Fails if packets that are thrown away still count, or those that came before do twice. */
  @Test
  void discardedPacketsMakeRoom() {
    Link link = link(2, LinkFaults.NONE);
    int room = link.trainRoom(0, 4000);
    train(link, 0, FAR, 4000, room, 0, 0);
    assertFalse(link.hasRoom(0));
    link.deliver(link.nextArrival(), (port, frame, bytes, lent) -> {});
    assertEquals(1, link.trainRoom(0, 4000));
    link.discard(1);
    assertEquals(room, link.trainRoom(0, 4000));
    assertEquals(0, link.inFlight());
  }

  /** Fails if packets go together though the wire does something to each. */
  @Test
  void packetsGoAloneWhereTheWireTreatsEachApart() {
    LinkFaults none = LinkFaults.NONE;
    for (LinkFaults faults :
        List.of(
            none.withLoss(1),
            none.withReorder(1),
            none.withDelay(1),
            none.withDuplicate(1),
            none.withCorrupt(1),
            none.withMark(1))) {
      assertTrue(link(2, faults).trainRoom(0, 4000) < 2, faults.toString());
    }
    Link tapped = new Link(2, 100, 500, none, 1, (time, port, frame, bytes, lost) -> {});
    assertTrue(tapped.trainRoom(0, 4000) < 2);
    Link learning = link(2, none);
    learning.learn();
    assertTrue(learning.trainRoom(0, 4000) < 2);
  }

  /** Fails if bytes are lent that somebody looks at, changes or doubles on their way. */
  @Test
  void whatIsSeenOnTheWireStandsInTheFrame() {
    assertNull(link(2, LinkFaults.NONE.withCorrupt(1)).lend());
    assertNull(link(2, LinkFaults.NONE.withMark(1)).lend());
    assertNull(link(2, LinkFaults.NONE.withDuplicate(1)).lend());
    assertNull(
        new Link(2, 100, 500, LinkFaults.NONE, 1, (time, port, frame, bytes, lost) -> {}).lend());
    Link learning = link(2, LinkFaults.NONE);
    learning.learn();
    assertNull(learning.lend());
    LinkFaults late = LinkFaults.NONE.withLoss(1).withReorder(1).withDelay(1);
    assertNotNull(link(2, late).lend());
  }
}
