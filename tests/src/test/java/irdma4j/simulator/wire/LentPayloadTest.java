package irdma4j.simulator.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
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
    Payload lent = link.lend(HEADERS);
    assertNotNull(lent);
    assertTrue(lent.isEmpty());
    memory.asSlice(10, 10).fill((byte) value);
    lent.add(memory, 10, 4);
    lent.add(memory, 14, 6);
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
    assertEquals(List.of("7 at 1", "9 at 1"), arrivals);
  }

  /** Fails if only the first of several copies has the payload. */
  @Test
  void everyPortGetsThePayload() {
    Link link = link(4, LinkFaults.NONE);
    send(link, NOBODY, 7);
    deliver(link);
    assertEquals(List.of("7 at 1", "7 at 2", "7 at 3"), arrivals);
  }

  /** Fails if a frame carries what was lent for one that was not sent, was lost or has arrived. */
  @Test
  void theNextFrameHasItsOwnPayload() {
    Link link = link(2, LinkFaults.NONE);
    send(link, FAR, 7);
    link.deliver(Long.MAX_VALUE, (port, frame, bytes, lent) -> {});
    MemorySegment frame = link.buffer();
    Payload unused = link.lend(HEADERS);
    assertNotNull(unused);
    unused.add(memory, 0, BYTES - HEADERS);
    assertEquals(frame, link.buffer());
    frame.fill((byte) 5);
    BigEndian.set64(frame, 0, FAR << 16);
    link.send(0, frame, BYTES, 0);

    Payload again = link.lend(HEADERS);
    assertNotNull(again);
    again.add(memory, 0, BYTES - HEADERS);
    MemorySegment copied = MemorySegment.ofArray(new byte[BYTES]).fill((byte) 6);
    BigEndian.set64(copied, 0, FAR << 16);
    link.send(0, copied, BYTES, 0);
    deliver(link);
    assertEquals(List.of("5 at 1", "6 at 1"), arrivals);
  }

  /** Fails if a frame that is thrown away leaves its payload to the next one. */
  @Test
  void discardedFramesTakeTheirPayloadAlong() {
    Link link = link(2, LinkFaults.NONE);
    send(link, FAR, 7);
    link.discard(1);
    MemorySegment copied = MemorySegment.ofArray(new byte[BYTES]).fill((byte) 6);
    BigEndian.set64(copied, 0, FAR << 16);
    link.send(0, copied, BYTES, 0);
    deliver(link);
    assertEquals(List.of("6 at 1"), arrivals);
  }

  /** Fails if bytes are lent that somebody looks at, changes or doubles on their way. */
  @Test
  void whatIsSeenOnTheWireStandsInTheFrame() {
    assertNull(link(2, LinkFaults.NONE.withCorrupt(1)).lend(HEADERS));
    assertNull(link(2, LinkFaults.NONE.withMark(1)).lend(HEADERS));
    assertNull(link(2, LinkFaults.NONE.withDuplicate(1)).lend(HEADERS));
    assertNull(
        new Link(2, 100, 500, LinkFaults.NONE, 1, (time, port, frame, bytes, lost) -> {})
            .lend(HEADERS));
    Link learning = link(2, LinkFaults.NONE);
    learning.learn();
    assertNull(learning.lend(HEADERS));
    LinkFaults late = LinkFaults.NONE.withLoss(1).withReorder(1).withDelay(1);
    assertNotNull(link(2, late).lend(HEADERS));
  }
}
