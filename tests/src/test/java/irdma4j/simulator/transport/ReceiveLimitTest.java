package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.Completion;
import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.Generation;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RoceContext;
import irdma4j.hwregs.RqWqe;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.LinkFaults;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** As many fragments as a receive WQE of GEN_2 may have, and one more. */
class ReceiveLimitTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int MOST = Generation.GEN_2.maxFragments();
  private static final int PIECE = 8;
  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;

  private enum Work {
    SEND,
    WRITE_IMMEDIATE
  }

  /**
   * A message goes into every number of fragments that Linux's driver posts; a header that says
   * more than the device takes, or than the queue's WQEs have room for, is refused when the message
   * comes: the peer hears of an operational error and nothing is written. Fails if the device takes
   * a fragment more or one less.
   *
   * @param room fragments that the queue pair was made for
   * @param count fragments posted
   * @param said additional fragments that the header says, or -1 for what the driver wrote
   */
  @ParameterizedTest
  @CsvSource({
    "13, 1, -1, SEND",
    "13, 2, -1, SEND",
    "13, 12, -1, SEND",
    "13, 13, -1, SEND",
    "13, 13, 12, SEND",
    "13, 13, 13, SEND",
    "13, 13, 14, SEND",
    "13, 13, 15, SEND",
    "13, 13, 13, WRITE_IMMEDIATE",
    "1, 1, 0, SEND",
    "1, 1, 1, SEND",
    "3, 3, 2, SEND",
    "3, 3, 3, SEND",
    "5, 5, 7, SEND"
  })
  void fragments(int room, int count, int said, Work work) {
    Fabric fabric = new Fabric(2, 1 << 20, LinkFaults.NONE, 1, (time, from, memory, n, gone) -> {});
    Endpoint.Settings left = new Endpoint.Settings();
    Endpoint.Settings right = new Endpoint.Settings();
    right.localPsn = left.remotePsn;
    right.remotePsn = left.localPsn;
    right.fragments = room;
    Endpoint[] ends = Endpoint.pair(fabric, left, right);
    FakeFunction a = fabric.functions[0];
    FakeFunction b = fabric.functions[1];
    int bytes = count * PIECE;
    FakeFunction.Region source = a.register(a.allocate(bytes), bytes, ALL, Endpoint.PD);
    FakeFunction.Region target = b.register(b.allocate(bytes), bytes, ALL, Endpoint.PD);
    for (int i = 0; i < bytes; i++) {
      a.host.set(ValueLayout.JAVA_BYTE, source.at() + i, (byte) (i / PIECE + 1));
    }
    SgeList sges = new SgeList();
    for (int i = count - 1; i >= 0; i--) {
      sges.add(target.va() + (long) i * PIECE, PIECE, target.stag());
    }
    assertTrue(ends[1].receive.receive(1, sges));
    int additional = said < 0 ? count & ~1 : said;
    long header = RoceContext.RQADDR.get(ends[1].context, 0) + 24;
    LittleEndian.setLong(
        b.host, header, RqWqe.ADDFRAGCNT.insert(LittleEndian.getLong(b.host, header), additional));
    byte[] before = b.slice(target.at(), bytes).toArray(ValueLayout.JAVA_BYTE);
    SgeList from = new SgeList().set(source.va(), bytes, source.stag());
    assertTrue(
        work == Work.SEND
            ? ends[0].send.send(2, SendQueue.SIGNALED, 0, 0, from)
            : ends[0].send.write(
                2, SendQueue.SIGNALED | SendQueue.IMMEDIATE, 7, target.va(), target.stag(), from));
    ends[0].send.ring();
    fabric.settle(SECOND);
    byte[] after = b.slice(target.at(), bytes).toArray(ValueLayout.JAVA_BYTE);
    if (additional < MOST && additional < 2 * quanta(room) - 1) {
      assertEquals(List.of(), b.events);
      assertEquals(Completion.Status.SUCCESS, ends[0].poll().get(0).status());
      assertEquals(bytes, ends[1].poll().get(0).bytes());
      for (int i = 0; i < bytes; i++) {
        assertEquals((byte) (count - i / PIECE), after[i], "byte " + i);
      }
      return;
    }
    assertArrayEquals(before, after);
    assertEquals(
        List.of(
            new FakeFunction.Event(
                ends[1].qpn, AeCode.WQE_INVALID_FRAG_DATA.code(), AeSource.RQ.code(), 0)),
        b.events);
    assertEquals(
        List.of(AeCode.IB_REMOTE_OP_ERROR.code()),
        a.events.stream().map(FakeFunction.Event::code).toList());
    ends[1].flush(FlushCode.GENERAL_ERR.code(), FlushCode.LOC_QP_OP_ERR.code());
    Endpoint.Done flushed = ends[1].poll().get(0);
    assertEquals(1, flushed.wrId());
    assertEquals(FlushCode.LOC_QP_OP_ERR.code(), flushed.minor());
  }

  private static int quanta(int fragments) {
    return fragments == 1 ? 1 : fragments <= 3 ? 2 : fragments <= 7 ? 4 : 8;
  }
}
