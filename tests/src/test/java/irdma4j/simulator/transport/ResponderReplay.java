package irdma4j.simulator.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.ring.SgeList;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.wire.BthOpcode;
import irdma4j.simulator.wire.Capture;
import irdma4j.simulator.wire.LinkFaults;
import irdma4j.simulator.wire.RoceFrame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A responder that is set up as the one of a capture was, and is given its requests. */
final class ResponderReplay {
  /** What is behind the keys of a capture's requests. */
  enum Memory {
    /** Every region is as the requester says. */
    FITS,
    /** No such stag. */
    ABSENT,
    /** One byte short, receives too. */
    SHORT,
    /** Without remote rights. */
    CLOSED
  }

  private static final int ALL =
      DeviceServices.LOCAL_READ
          | DeviceServices.LOCAL_WRITE
          | DeviceServices.REMOTE_READ
          | DeviceServices.REMOTE_WRITE;
  private static final int MTU = 1024;
  private static final int RECEIVE_BYTES = 8 << 10;

  final List<CapturedAnswer> answers = new ArrayList<>();
  final FakeFunction function;
  final Endpoint end;
  private final CapturedConversation conversation;
  private final Fabric fabric;
  private final Memory kind;
  private final RoceFrame frame = new RoceFrame();
  private final List<FakeFunction.Region> receives = new ArrayList<>();

  /** For each stag, the bytes that WRITEs have reached. */
  private final Map<Integer, BitSet> written = new HashMap<>();

  private int receivesLate;

  ResponderReplay(CapturedConversation conversation, Memory kind, int receivesLate) {
    this.conversation = conversation;
    this.kind = kind;
    this.receivesLate = receivesLate;
    fabric =
        Fabric.shown(
            8 << 20,
            LinkFaults.NONE,
            (time, from, sent, memory) -> answers.add(CapturedAnswer.of(sent, memory)));
    function = fabric.functions[0];
    RoceFrame request = conversation.firstRequest;
    function.mac = request.destinationMac;
    Endpoint.Settings settings = new Endpoint.Settings();
    settings.credits = Aeth.CREDITS_UNLIMITED;
    settings.remotePsn = request.psn;
    settings.readsIn = 4;
    int peer = conversation.firstAnswer.destinationQp;
    end = new Endpoint(function, request.destinationQp, 1, peer, settings);
    end.addresses(request.destinationIpLow, request.sourceIpLow);
    openRegions();
  }

  /** Regions as the RETHs name them. */
  private void openRegions() {
    for (Capture.Packet packet : conversation.requests) {
      frame.parse(packet.segment(), packet.bytes().length);
      if (!BthOpcode.hasReth(frame.opcode) || frame.dmaLength == 0 || kind == Memory.ABSENT) {
        continue;
      }
      int rights = kind == Memory.CLOSED ? DeviceServices.LOCAL_READ : ALL;
      long low = frame.remoteAddress;
      long high = low + (kind == Memory.SHORT ? frame.dmaLength - 1 : frame.dmaLength);
      FakeFunction.Region old = function.regions.get(frame.remoteKey);
      if (old != null) {
        low = Math.min(low, old.va());
        high = Math.max(high, old.va() + old.length());
      }
      long at = function.allocate(high - low);
      int key = frame.remoteKey;
      function.regions.put(
          key, new FakeFunction.Region(key, low, at, high - low, rights, Endpoint.PD));
    }
  }

  /**
   * Gives it all requests.
   *
   * @param standIns whether a WRITE without bytes takes an atomic's place
   */
  void run(boolean standIns) {
    for (Capture.Packet packet : conversation.requests) {
      MemorySegment memory = packet.segment();
      assertTrue(frame.parse(memory, packet.bytes().length));
      prepare();
      if (standIns && BthOpcode.hasAtomic(frame.opcode)) {
        frame.opcode = BthOpcode.WRITE_ONLY;
        frame.dmaLength = 0;
        memory = Endpoint.sealed(frame);
      }
      end.receive(memory);
      fabric.settle(1_000_000_000);
    }
  }

  /** Puts in place what the request in hand needs. */
  private void prepare() {
    if (CapturedConversation.takesReceive(frame.opcode) && receivesLate-- <= 0) {
      int bytes = kind == Memory.SHORT ? frame.payloadLength - 1 : RECEIVE_BYTES;
      FakeFunction.Region room =
          function.register(function.allocate(bytes), bytes, ALL, Endpoint.PD);
      int number = receives.size();
      receives.add(room);
      assertTrue(end.receive.receive(number, new SgeList().set(room.va(), bytes, room.stag())));
    }
    if (BthOpcode.hasIeth(frame.opcode)) {
      int key = frame.invalidateKey;
      function.regions.put(key, new FakeFunction.Region(key, 0, 0, 1, ALL, Endpoint.PD));
    }
    FakeFunction.Region region = function.regions.get(frame.remoteKey);
    if (BthOpcode.hasReth(frame.opcode) && region != null) {
      if (frame.opcode == BthOpcode.READ_REQUEST) {
        fill(region);
      } else {
        int from = (int) (frame.remoteAddress - region.va());
        written(region).set(from, from + frame.dmaLength);
      }
    }
  }

  private BitSet written(FakeFunction.Region region) {
    return written.computeIfAbsent(region.stag(), stag -> new BitSet());
  }

  /** Puts what soft-RoCE returned for a READ where it will find it, unless WRITEs must have. */
  private void fill(FakeFunction.Region region) {
    RoceFrame f = new RoceFrame();
    for (Capture.Packet packet : conversation.responses) {
      f.parse(packet.segment(), packet.bytes().length);
      long offset = Psn.distance(frame.psn, f.psn) * (long) MTU;
      if (offset < 0 || offset >= frame.dmaLength) {
        continue;
      }
      int from = (int) (frame.remoteAddress + offset - region.va());
      for (int i = 0; i < f.payloadLength; i++) {
        if (!written(region).get(from + i)) {
          byte value = packet.segment().get(ValueLayout.JAVA_BYTE, f.payloadOffset + i);
          function.host.set(ValueLayout.JAVA_BYTE, region.at() + from + i, value);
        }
      }
    }
  }

  /** Each SEND has arrived once, in order and whole; nothing else has taken a receive. */
  void checkReceives(String name) {
    List<Endpoint.Done> done = end.poll();
    List<byte[]> sends = conversation.sends();
    int next = 0;
    for (int i = 0; i < done.size(); i++) {
      assertEquals(i, done.get(i).wrId(), name);
      if (done.get(i).opcode() <= BthOpcode.SEND_ONLY_IMMEDIATE
          || done.get(i).opcode() >= BthOpcode.SEND_LAST_INVALIDATE) {
        byte[] expected = sends.get(next++);
        byte[] actual =
            function
                .slice(receives.get(i).at(), done.get(i).bytes())
                .toArray(ValueLayout.JAVA_BYTE);
        assertArrayEquals(expected, actual, name);
      }
    }
    assertEquals(sends.size(), next, name);
    assertEquals(List.of(), function.events, name);
  }
}
