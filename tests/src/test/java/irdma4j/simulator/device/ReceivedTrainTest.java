package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.simulator.wire.Payload;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A frame that stands for several packets, at the device that receives it. */
class ReceivedTrainTest {
  private static final int PACKETS = 5;

  private final BareCard card = new BareCard();

  private int receive() {
    MemorySegment memory = RoceFrame.allocate(Arena.ofAuto(), RoceFrame.MAX_BYTES);
    RoceFrame frame = new RoceFrame();
    frame.payloadLength = 1024;
    frame.writeHeaders(memory);
    Payload lent = new Payload();
    lent.add(MemorySegment.ofArray(new byte[PACKETS * 1024]), 0, PACKETS * 1024);
    lent.carries(PACKETS);
    card.queues.calls.clear();
    card.device.receive(memory, frame.totalLength, lent);
    return frame.totalLength;
  }

  /** Fails if packets that come in one frame count as one. */
  @Test
  void eachPacketCounts() {
    int bytes = receive();
    assertEquals(List.of("receive " + bytes + " packets 0 and 5"), card.queues.calls);
    assertEquals(PACKETS, card.host.counters.framesReceived);
    assertEquals((long) PACKETS * bytes, card.host.counters.bytesReceived);
  }

  /** Fails if a fault that waits for a packet counts frames, or lets later packets through. */
  @Test
  void aFaultStrikesAtOneOfThem() {
    card.device.inject(
        new Fault.SurpriseRemoval(Moment.next(Occasion.FRAME_RECEIVED).nth(PACKETS + 3)));
    receive();
    assertEquals(PACKETS, card.host.counters.framesReceived);
    int bytes = receive();
    assertEquals(
        List.of("receive " + bytes + " packets 0 and 1", "receive " + bytes + " packets 1 and 1"),
        card.queues.calls);
    assertEquals(PACKETS + 2, card.host.counters.framesReceived);
  }
}
