package irdma4j.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.AsyncEvent;
import irdma4j.driver.Completion;
import irdma4j.driver.MemoryRegion;
import irdma4j.driver.QueuePair;
import irdma4j.driver.QueuePairConfig;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.Generation;
import irdma4j.hwregs.SqWqe;
import irdma4j.pble.PbleLevels;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** As many fragments as a WQE of GEN_2 may have, and one more. */
class FragmentLimitTest {
  private static final int MOST = Generation.GEN_2.maxFragments();
  private static final int PIECE = 8;

  /**
   * A SEND of every number of fragments arrives, with immediate data too, which takes a place of
   * its own; a header that says more is refused as the WQE's fault. Fails if the device takes a
   * fragment more, or refuses one that Linux's driver would send.
   *
   * @param flipped bits of the number of additional fragments that the device reads otherwise
   */
  @ParameterizedTest
  @CsvSource({
    "1,false,0",
    "2,false,0",
    "12,false,0",
    "13,false,0",
    "1,true,0",
    "12,true,0",
    "13,true,0",
    "13,false,1",
    "13,false,2",
    "13,false,3",
    "13,true,1"
  })
  void fragments(int count, boolean immediate, int flipped) {
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    try {
      DmaMemory source = rdma.a.memory(4096, DmaPlacement.SCATTERED);
      DmaMemory target = rdma.b.memory(4096, DmaPlacement.SCATTERED);
      MemoryRegion from = rdma.a.region(source, PbleLevels.ANY);
      MemoryRegion into = rdma.b.region(target, PbleLevels.ANY);
      QueuePair near =
          rdma.a.domain.createQueuePair(QueuePairConfig.of(rdma.a.queue).withSges(MOST, 1));
      QueuePair far = rdma.b.domain.createQueuePair(QueuePairConfig.of(rdma.b.queue));
      rdma.connect(near, far, 7, 9, 1024);
      List<AsyncEvent> events = new ArrayList<>();
      rdma.a.device.onAsyncEvent(events::add);
      SgeList sges = new SgeList();
      for (int i = 0; i < count; i++) {
        // From the last piece to the first.
        int at = (count - 1 - i) * PIECE;
        source.segment().asSlice(at, PIECE).fill((byte) (i + 1));
        sges.add(from.address() + at, PIECE, from.lkey());
      }
      if (flipped != 0) {
        rdma.simulation.inject(
            0,
            new Fault.CorruptDescriptor(
                Moment.next(Occasion.SEND_WQE), SqWqe.ADDFRAGCNT.encode(flipped)));
      }
      far.postReceive(1, into.lkey(), into.address(), 4096);
      near.postSend(2, sges, QueuePair.SIGNALED | (immediate ? SendQueue.IMMEDIATE : 0), 0x1234, 0);
      near.ring();
      Completion done = rdma.await(rdma.a);
      if (flipped != 0) {
        assertTrue(!done.isSuccess(), done::toString);
        assertEquals(
            List.of(AeCode.WQE_INVALID_FRAG_DATA.code()),
            events.stream().map(AsyncEvent::code).toList());
        return;
      }
      assertTrue(done.isSuccess(), done::toString);
      Completion received = rdma.await(rdma.b);
      assertEquals((long) count * PIECE, received.bytes());
      for (int i = 0; i < count * PIECE; i++) {
        assertEquals((byte) (i / PIECE + 1), target.segment().get(ValueLayout.JAVA_BYTE, i));
      }
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }

  /**
   * Inline data of 101 bytes arrives; a header that says 102 is refused as the WQE's fault. Fails
   * if the device takes a byte more, or sends anything of it.
   *
   * @param flipped bits of the length that the device reads otherwise
   */
  @ParameterizedTest
  @CsvSource({"0", "3"})
  void inlineData(int flipped) {
    RdmaPair rdma = new RdmaPair(3, 0, 1024);
    try {
      DmaMemory source = rdma.a.memory(4096, DmaPlacement.SCATTERED);
      DmaMemory target = rdma.b.memory(4096, DmaPlacement.SCATTERED);
      source.segment().fill((byte) 7);
      MemoryRegion into = rdma.b.region(target, PbleLevels.ANY);
      List<AsyncEvent> events = new ArrayList<>();
      rdma.a.device.onAsyncEvent(events::add);
      if (flipped != 0) {
        assertEquals(102, 101 ^ flipped);
        rdma.simulation.inject(
            0,
            new Fault.CorruptDescriptor(
                Moment.next(Occasion.SEND_WQE), SqWqe.INLINEDATALEN.encode(flipped)));
      }
      rdma.a.pair.postWriteInline(
          2, source.segment(), 0, 101, into.address(), into.rkey(), QueuePair.SIGNALED);
      rdma.a.pair.ring();
      Completion done = rdma.await(rdma.a);
      assertEquals(flipped == 0, done.isSuccess(), done::toString);
      assertEquals(
          flipped == 0 ? List.of() : List.of(AeCode.WQE_INVALID_PARAMETER.code()),
          events.stream().map(AsyncEvent::code).toList());
      for (int i = 0; i < 200; i++) {
        assertEquals(
            flipped == 0 && i < 101 ? 7 : 0, target.segment().get(ValueLayout.JAVA_BYTE, i));
      }
    } finally {
      assertEquals(0, rdma.closeAndBalance());
    }
  }
}
