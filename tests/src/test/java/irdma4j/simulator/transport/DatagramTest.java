package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.SendQueue;
import irdma4j.driver.ring.SgeList;
import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.RoceContext;
import irdma4j.hwregs.RqWqe;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatagramTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int ALL = DeviceServices.LOCAL_READ | DeviceServices.LOCAL_WRITE;
  private static final int KEY = 0x1234567;

  private final List<byte[]> wire = new ArrayList<>();
  private final SgeList sge = new SgeList();
  private Fabric fabric;
  private FakeFunction a;
  private FakeFunction b;
  private Endpoint near;
  private Endpoint far;

  private void connect(boolean ipv4) {
    wire.clear();
    fabric =
        new Fabric(
            2,
            1 << 20,
            LinkFaults.NONE,
            1,
            (time, from, memory, bytes, dropped) ->
                wire.add(memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE)));
    Endpoint.Settings settings = new Endpoint.Settings();
    settings.type = QpState.TYPE_UD;
    settings.qkey = KEY;
    settings.ipv4 = ipv4;
    Endpoint[] ends = Endpoint.pair(fabric, settings, settings);
    near = ends[0];
    far = ends[1];
    a = fabric.functions[0];
    b = fabric.functions[1];
    a.handles.put(3, handle(ipv4, Endpoint.PD));
  }

  private ManageAddressHandle handle(boolean ipv4, int pd) {
    int high = ipv4 ? 0 : 0xfd000000;
    return new ManageAddressHandle(
        CqpOpcode.CREATE_ADDR_HANDLE,
        3,
        pd,
        a.mac,
        !ipv4,
        0x2005,
        9,
        ipv4 ? 0 : 77,
        33,
        2,
        IpAddress.of(ipv4, (long) high << 32, 0x0a000002),
        IpAddress.of(ipv4, (long) high << 32, 0x0a000001),
        false);
  }

  private FakeFunction.Region region(FakeFunction function, int bytes) {
    return function.register(function.allocate(bytes), bytes, ALL, Endpoint.PD);
  }

  private boolean post(FakeFunction.Region source, int bytes, int handle, int qpn, int key) {
    boolean posted =
        near.send.sendDatagram(
            1,
            SendQueue.SIGNALED | SendQueue.IMMEDIATE | SendQueue.SOLICITED,
            0xcafe,
            handle,
            qpn,
            key,
            sge.set(source.va(), bytes, source.stag()));
    near.send.ring();
    return posted;
  }

  /**
   * A datagram arrives behind 40 bytes that hold the IP header, with its sender, immediate and
   * size. Fails if the header stands elsewhere, the receive's fragments are miscounted, or a byte
   * beside the datagram changes.
   */
  @Property(tries = 200)
  void aDatagramArrivesBehindItsHeader(
      @ForAll boolean ipv4,
      @ForAll @IntRange(max = 1024) int bytes,
      @ForAll @IntRange(max = 60) int cut) {
    connect(ipv4);
    FakeFunction.Region source = region(a, bytes);
    for (int i = 0; i < bytes; i++) {
      a.host.set(ValueLayout.JAVA_BYTE, source.at() + i, (byte) (i + 3));
    }
    FakeFunction.Region room = region(b, 40 + bytes);
    int first = Math.min(cut, 40 + bytes);
    far.receive.receive(
        9,
        sge.clear()
            .add(room.va(), first, room.stag())
            .add(room.va() + first, 40 + bytes - first, room.stag()));
    assertTrue(post(source, bytes, 3, far.qpn, KEY));
    fabric.settle(SECOND);
    assertEquals(1, near.poll().size());
    Endpoint.Done done = far.poll().get(0);
    assertEquals(9, done.wrId());
    assertEquals(40 + bytes, done.bytes());
    assertEquals(near.qpn, done.sourceQpn());
    assertEquals(0xcafe, done.immediate());
    assertEquals(BthOpcode.UD_SEND_ONLY_IMMEDIATE & 0x3f, done.opcode());
    assertTrue(done.solicited());
    assertEquals(-1, a.slice(source.at(), bytes).mismatch(b.slice(room.at() + 40, bytes)));
    byte[] frame = wire.get(0);
    int ipOffset = ipv4 ? 14 : 18;
    for (int i = ipv4 ? 20 : 0; i < 40; i++) {
      byte onWire = frame[ipv4 ? ipOffset + i - 20 : ipOffset + i];
      assertEquals(onWire, b.host.get(ValueLayout.JAVA_BYTE, room.at() + i));
    }
    assertEquals(FakeFunction.CANARY, b.host.get(ValueLayout.JAVA_BYTE, room.at() + 40 + bytes));
    RoceFrame parsed = new RoceFrame();
    assertTrue(parsed.parse(java.lang.foreign.MemorySegment.ofArray(frame), frame.length));
    assertEquals(KEY, parsed.qkey);
    assertEquals(33, parsed.hopLimit);
    assertEquals(9, parsed.trafficClass);
    assertEquals(ipv4 ? RoceFrame.NO_VLAN : 0x2005, parsed.vlanTag);
  }

  /** Fails if a datagram with the wrong Q_Key, or without a receive, does more than vanish. */
  @Test
  void unwantedDatagramsVanish() {
    connect(true);
    FakeFunction.Region source = region(a, 10);
    FakeFunction.Region room = region(b, 100);
    assertTrue(post(source, 10, 3, far.qpn, KEY));
    fabric.settle(SECOND);
    far.receive.receive(9, sge.set(room.va(), 100, room.stag()));
    assertTrue(post(source, 10, 3, far.qpn, KEY + 1));
    fabric.settle(SECOND);
    assertEquals(2, near.poll().size());
    assertEquals(List.of(), far.poll());
    assertEquals(2, b.counters.framesDiscarded);
    assertTrue(post(source, 10, 3, far.qpn, 0x80000000));
    fabric.settle(SECOND);
    assertEquals(1, far.poll().size(), "the queue pair's own Q_Key stands for a controlled one");
    assertEquals(List.of(), b.events);
  }

  /** Fails if the device takes a receive WQE of more fragments than there can be. */
  @Test
  void aReceiveOfTooManyFragmentsIsRefused() {
    connect(true);
    FakeFunction.Region room = region(b, 100);
    far.receive.receive(9, sge.set(room.va(), 100, room.stag()));
    long header = RoceContext.RQADDR.get(far.context, 0) + 24;
    long word = LittleEndian.getLong(b.host, header);
    LittleEndian.setLong(b.host, header, RqWqe.ADDFRAGCNT.insert(word, 13));
    byte[] before = b.slice(room.at(), 100).toArray(ValueLayout.JAVA_BYTE);
    assertTrue(post(region(a, 10), 10, 3, far.qpn, KEY));
    fabric.settle(SECOND);
    assertArrayEquals(before, b.slice(room.at(), 100).toArray(ValueLayout.JAVA_BYTE));
    assertEquals(
        List.of(
            new FakeFunction.Event(
                far.qpn, AeCode.WQE_INVALID_FRAG_DATA.code(), AeSource.RQ.code(), 0)),
        b.events);
    assertEquals(List.of(), far.poll());
  }

  /** Fails if a datagram is sent that must not be, or the reason is another. */
  @ParameterizedTest
  @CsvSource({
    "1025, 3, UDA_XMIT_DGRAM_TOO_LONG",
    "10, 4, INVALID_AH_ENTRY",
    "10, 5, UDA_XMIT_BAD_PD"
  })
  void wrongDatagramsAreNotSent(int bytes, int handle, AeCode code) {
    connect(true);
    a.handles.put(5, handle(true, Endpoint.PD + 1));
    assertTrue(post(region(a, bytes), bytes, handle, far.qpn, KEY));
    fabric.settle(SECOND);
    assertEquals(code.code(), a.events.get(0).code());
    assertEquals(List.of(), wire);
  }
}
