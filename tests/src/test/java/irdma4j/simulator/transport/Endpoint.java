package irdma4j.simulator.transport;

import irdma4j.driver.Completion;
import irdma4j.driver.ring.CompletionRing;
import irdma4j.driver.ring.DoorbellPolicy;
import irdma4j.driver.ring.QueuePairRings;
import irdma4j.driver.ring.ReceiveQueue;
import irdma4j.driver.ring.RingSizes;
import irdma4j.driver.ring.SendQueue;
import irdma4j.hwregs.RoceContext;
import irdma4j.simulator.device.QpAttributes;
import irdma4j.simulator.wire.Icrc;
import irdma4j.simulator.wire.RoceFrame;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A queue pair of a {@link FakeFunction}, posted to and polled with the driver's own rings. */
final class Endpoint {
  static final int PD = 0x12345;
  static final int RTS = 2;
  static final int RTR = 4;
  static final int ERROR = 6;

  /** What one poll returned. */
  record Done(
      long wrId,
      boolean send,
      Completion.Status status,
      int minor,
      int opcode,
      long bytes,
      boolean hasImmediate,
      int immediate,
      boolean solicited,
      int invalidated,
      int sourceQpn) {}

  /** The knobs of a context; the rest follows from the two functions. */
  static final class Settings {
    boolean ipv4 = true;
    int mtu = 1024;
    int vlan = -1;
    int localPsn = 100;
    int remotePsn = 200;
    int retries = 7;
    int rnrRetries = 7;
    int readsOut = 4;

    /** Code of 4, 16, 64, 128 or 256. */
    int readsIn = 1;

    int credits = 0x1e;

    /** How many messages may take a receive before the first acknowledgement. */
    int creditLimit = 0xffff;

    /** Packets that may be out, up to 256. */
    int window = 0x400;

    int type = 3;
    int qkey;
    boolean remoteWrite = true;
    boolean remoteRead = true;
    int timeout = 5;
    int fragments = 13;
    int workRequests = 200;
    int statistics = -1;
    int pkey = 0xffff;
    int trafficClass;
    boolean congestionControl;
  }

  final FakeFunction function;
  final int qpn;
  final SendQueue send;
  final ReceiveQueue receive;
  final CompletionRing completions;
  final MemorySegment context;
  final QpAttributes attributes;
  private final Completion completion = new Completion();
  private final int remotePort;

  Endpoint(FakeFunction function, int qpn, int remotePort, int remoteQpn, Settings s) {
    this.function = function;
    this.qpn = qpn;
    this.remotePort = remotePort;
    int shift = RingSizes.shift(s.fragments, RingSizes.MAX_INLINE);
    int sendQuanta = RingSizes.sendQuanta(s.workRequests, 3);
    int receiveShift = RingSizes.shift(s.fragments, 0);
    int receiveQuanta = RingSizes.receiveQuanta(s.workRequests, receiveShift);
    MemorySegment sq = function.zeroed(sendQuanta * 32L);
    MemorySegment rq = function.zeroed(receiveQuanta * 32L);
    MemorySegment shadow = function.zeroed(64);
    MemorySegment cqShadow = function.zeroed(64);
    int cqEntries = 4096;
    MemorySegment cq = function.zeroed(cqEntries * 32L);
    Bar bar = new DoorbellBar(function);
    send = new SendQueue(sq, sendQuanta, shadow, 0, bar, 0, qpn, 13, 101, DoorbellPolicy.SHADOW);
    receive = new ReceiveQueue(rq, receiveQuanta, receiveShift, s.fragments);
    QueuePairRings rings = new QueuePairRings(qpn, send, receive);
    completions =
        new CompletionRing(
            cq, cqEntries, false, cqShadow, 0, qpn, bar, 4, found -> found == qpn ? rings : null);
    function.queues.put(qpn, new FakeFunction.CompletionRingMemory(offset(cq), cqEntries));
    context = MemorySegment.ofArray(new long[RoceContext.SIZE / 8]);
    set(RoceContext.RQWQESIZE, receiveShift);
    set(RoceContext.PDIDXHI, PD >> 16);
    set(RoceContext.PDIDX, PD & 0xffff);
    set(RoceContext.SQADDR, offset(sq));
    set(RoceContext.RQADDR, offset(rq));
    set(RoceContext.SQSIZE, RingSizes.encoded(sendQuanta));
    set(RoceContext.RQSIZE, RingSizes.encoded(receiveQuanta));
    set(RoceContext.TTL, 64);
    set(RoceContext.SRCPORTNUM, 0xc000 + qpn);
    set(RoceContext.DESTPORTNUM, 4791);
    set(RoceContext.IPV4, s.ipv4 ? 1 : 0);
    if (!s.ipv4) {
      set(RoceContext.LOCAL_IPADDR0, 0xfd000000L);
      set(RoceContext.DESTIPADDR0, 0xfd000000L);
    }
    set(RoceContext.LOCAL_IPADDR3, ip(function.port));
    set(RoceContext.DESTIPADDR3, ip(remotePort));
    set(RoceContext.SNDMSS, s.mtu);
    if (s.vlan >= 0) {
      set(RoceContext.INSERTVLANTAG, 1);
      set(RoceContext.VLANTAG, s.vlan);
    }
    set(RoceContext.ARPIDX, remotePort + 1);
    set(RoceContext.PKEY, s.pkey);
    set(RoceContext.TOS, s.trafficClass);
    set(RoceContext.DCQCNENABLE, s.congestionControl ? 1 : 0);
    set(RoceContext.ACKCREDITS, s.credits);
    set(RoceContext.DESTQP, remoteQpn);
    set(RoceContext.QKEY, Integer.toUnsignedLong(s.qkey));
    set(RoceContext.PSNNXT, s.localPsn);
    set(RoceContext.PSNUNA, s.localPsn);
    set(RoceContext.PSNMAX, s.localPsn);
    set(RoceContext.EPSN, s.remotePsn);
    set(RoceContext.LSN, s.creditLimit);
    set(RoceContext.CWNDROCE, s.window);
    set(RoceContext.REXMIT_THRESH, s.retries);
    set(RoceContext.RNRNAK_THRESH, s.rnrRetries);
    set(RoceContext.RTOMIN, s.timeout);
    set(RoceContext.TXCQNUM, qpn);
    set(RoceContext.RXCQNUM, qpn);
    set(RoceContext.MACADDRESS, function.mac);
    set(RoceContext.ORDSIZE, s.readsOut);
    set(RoceContext.IRDSIZE, s.readsIn);
    set(RoceContext.WRRDRSPOK, s.remoteWrite ? 1 : 0);
    set(RoceContext.RDOK, s.remoteRead ? 1 : 0);
    set(RoceContext.BINDEN, 1);
    set(RoceContext.FASTREGEN, 1);
    set(RoceContext.QPCOMPCTX, qpn);
    if (s.statistics >= 0) {
      set(RoceContext.USESTATSINSTANCE, 1);
      set(RoceContext.STAT_INDEX, s.statistics);
    }
    attributes = new QpAttributes(s.type, false, offset(shadow), 0);
    function.engine.contextWritten(qpn, context, attributes);
    function.engine.stateChanged(qpn, RTR);
    function.engine.stateChanged(qpn, RTS);
    if (shift > 3) {
      throw new IllegalStateException();
    }
  }

  private void set(irdma4j.hwregs.Field field, long value) {
    field.set(context, 0, value);
  }

  private long offset(MemorySegment slice) {
    return slice.address() - function.host.address();
  }

  /** Two connected queue pairs, the first on function 0 and the second on function 1. */
  static Endpoint[] pair(Fabric fabric, Settings first, Settings second) {
    return new Endpoint[] {
      new Endpoint(fabric.functions[0], 5, 1, 9, first),
      new Endpoint(fabric.functions[1], 9, 0, 5, second)
    };
  }

  /** What the device keeps of the queue pair: for what no context sets. */
  QpState state() {
    return Objects.requireNonNull(function.engine.find(qpn));
  }

  /** All completions that are there. */
  List<Done> poll() {
    List<Done> done = new ArrayList<>();
    while (completions.poll(completion)) {
      done.add(
          new Done(
              completion.wrId(),
              completion.isSend(),
              completion.status(),
              completion.minorError(),
              completion.opcode(),
              completion.bytes(),
              completion.hasImmediate(),
              completion.immediate(),
              completion.isSolicited(),
              completion.hasInvalidatedKey() ? completion.invalidatedKey() : 0,
              completion.sourceQpn()));
    }
    return done;
  }

  /** What the driver does after an event: error state, then flush with its code. */
  void flush(int sqMinor, int rqMinor) {
    function.engine.stateChanged(qpn, ERROR);
    function.engine.flush(qpn, true, 1, sqMinor, true, 1, rqMinor);
  }

  private record DoorbellBar(FakeFunction function) implements Bar {
    @Override
    public int index() {
      return 0;
    }

    @Override
    public long size() {
      return 4096;
    }

    @Override
    public int read32(long offset) {
      return 0;
    }

    @Override
    public void write32(long offset, int value) {
      if (offset == 0) {
        function.engine.doorbell(value);
      }
    }

    @Override
    public long read64(long offset) {
      return 0;
    }

    @Override
    public void write64(long offset, long value) {}
  }

  private static long ip(int port) {
    return 0x0a000001L + port;
  }

  /** A packet made by hand, as the peer would send it over IPv4. */
  RoceFrame fromPeer(int opcode, int psn) {
    RoceFrame frame = new RoceFrame();
    frame.destinationMac = function.mac;
    frame.sourceMac = FakeFunction.mac(remotePort);
    frame.sourceIpLow = ip(remotePort);
    frame.destinationIpLow = ip(function.port);
    frame.udpSource = 0xc123;
    frame.opcode = opcode;
    frame.destinationQp = qpn;
    frame.psn = psn;
    return frame;
  }

  /** The bytes of a packet made by hand. */
  static MemorySegment sealed(RoceFrame frame, byte... payload) {
    frame.payloadLength = payload.length;
    MemorySegment memory = MemorySegment.ofArray(new byte[RoceFrame.MAX_BYTES]);
    frame.writeHeaders(memory);
    MemorySegment.copy(
        payload, 0, memory, ValueLayout.JAVA_BYTE, frame.payloadOffset, payload.length);
    return memory.asSlice(0, frame.seal(memory, new Icrc()));
  }

  /** Takes the IPv4 addresses of another path. */
  void addresses(long local, long remote) {
    set(RoceContext.LOCAL_IPADDR3, local);
    set(RoceContext.DESTIPADDR3, remote);
    function.engine.contextWritten(qpn, context, attributes);
  }

  /** Delivers the bytes of a packet. */
  void receive(MemorySegment sealed) {
    function.engine.receive(sealed, (int) sealed.byteSize(), null);
  }
}
