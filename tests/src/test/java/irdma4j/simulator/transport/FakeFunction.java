package irdma4j.simulator.transport;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.ExtendedCqe;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.simulator.device.CompletionEntry;
import irdma4j.simulator.device.DeviceCounters;
import irdma4j.simulator.device.DeviceServices;
import irdma4j.simulator.device.TrafficCounts;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A function around one queue engine, for tests of the transport alone: host memory is one segment
 * with IOVA = offset, a region is a window into it, completions go to real CQ rings.
 */
final class FakeFunction implements DeviceServices {
  /** What host memory is filled with before anything is put there. */
  static final byte CANARY = (byte) 0xc3;

  /** A registered region: {@code va} is its address, {@code at} its offset in host memory. */
  record Region(int stag, long va, long at, long length, int rights, int pd) {}

  /** An asynchronous event. */
  record Event(int qp, int code, int source, int wqe) {}

  static final class CompletionRingMemory {
    final long at;
    final int size;
    int head;
    int polarity = 1;

    CompletionRingMemory(long at, int size) {
      this.at = at;
      this.size = size;
    }
  }

  final MemorySegment host;
  final RoceEngine engine;
  final DeviceCounters counters = new DeviceCounters();
  final List<Event> events = new ArrayList<>();
  final Map<Integer, Region> regions = new HashMap<>();
  final Map<Integer, CompletionRingMemory> queues = new HashMap<>();
  final Map<Integer, TrafficCounts> traffic = new HashMap<>();
  final Map<Integer, ManageAddressHandle> handles = new HashMap<>();
  long mac;
  long timer = Long.MAX_VALUE;

  /** Runs after the device has written a word of host memory. */
  @Nullable Runnable onHostWordWritten;

  private final Fabric fabric;
  final int port;
  private long free = 64;
  private int nextStag = 0x100;

  FakeFunction(Fabric fabric, int port, long memory) {
    this.fabric = fabric;
    this.port = port;
    this.mac = mac(port);
    this.host = Arena.ofAuto().allocate(memory, 4096);
    host.fill(CANARY);
    this.engine = new RoceEngine(this);
    fabric.link.attach(port, mac);
  }

  /** The MAC address of the function at a port. */
  static long mac(int port) {
    return 0x0200_0000_0010L + port;
  }

  /** Takes host memory with a gap of canaries behind it. */
  long allocate(long bytes) {
    long at = free;
    free = (at + bytes + 64 + 63) & ~63;
    if (free > host.byteSize()) {
      throw new OutOfMemoryError("fake host memory");
    }
    return at;
  }

  MemorySegment zeroed(long bytes) {
    return slice(allocate(bytes), bytes).fill((byte) 0);
  }

  MemorySegment slice(long at, long bytes) {
    return host.asSlice(at, bytes);
  }

  /** Registers memory under an address that is not its offset. */
  Region register(long at, long length, int rights, int pd) {
    int stag = nextStag;
    nextStag += 0x101;
    Region region = new Region(stag, 0x7f00_0000_0000L + at * 3 + 5, at, length, rights, pd);
    regions.put(stag, region);
    return region;
  }

  @Override
  public TrafficCounts traffic(int instance) {
    return traffic.computeIfAbsent(instance, number -> new TrafficCounts());
  }

  @Override
  public long now() {
    return fabric.now;
  }

  @Override
  public boolean readHost(long iova, MemorySegment target, long targetOffset, long bytes) {
    MemorySegment.copy(host, iova, target, targetOffset, bytes);
    return true;
  }

  @Override
  public boolean writeHost(long iova, MemorySegment source, long sourceOffset, long bytes) {
    MemorySegment.copy(source, sourceOffset, host, iova, bytes);
    return true;
  }

  @Override
  public long readHostWord(long iova) {
    return LittleEndian.getLongAcquire(host, iova);
  }

  @Override
  public boolean writeHostWord(long iova, long value) {
    LittleEndian.setLongRelease(host, iova, value);
    Runnable after = onHostWordWritten;
    if (after != null) {
      after.run();
    }
    return true;
  }

  @Override
  public long ringAddress(long base, boolean virtual, long byteOffset) {
    return base + byteOffset;
  }

  @Override
  public int checkAccess(int stag, long address, long bytes, int rights, int pdId, int qpId) {
    Region region = regions.get(stag);
    if (region == null) {
      return AeCode.AMP_UNALLOCATED_STAG.code();
    }
    if (region.pd() != pdId) {
      return AeCode.AMP_BAD_PD.code();
    }
    if ((region.rights() & rights) != rights) {
      return AeCode.AMP_RIGHTS_VIOLATION.code();
    }
    if (address < region.va() || address + bytes > region.va() + region.length()) {
      return AeCode.AMP_BOUNDS_VIOLATION.code();
    }
    return ACCESS_OK;
  }

  @Override
  public boolean readRegion(
      int stag, long address, MemorySegment target, long targetOffset, long bytes) {
    Region region = regions.get(stag);
    if (region == null) {
      return false;
    }
    MemorySegment.copy(host, region.at() + address - region.va(), target, targetOffset, bytes);
    return true;
  }

  @Override
  public boolean writeRegion(int stag, long address, Payload source, long from, long bytes) {
    Region region = regions.get(stag);
    if (region == null) {
      return false;
    }
    source.copyTo(from, host, region.at() + address - region.va(), bytes);
    return true;
  }

  @Override
  public boolean lendRegion(int stag, long address, Payload payload, long bytes) {
    Region region = regions.get(stag);
    if (region == null) {
      return false;
    }
    payload.add(host, region.at() + address - region.va(), bytes);
    return true;
  }

  @Override
  public int invalidateStag(int stag, int pdId, int qpId, boolean remote) {
    return regions.remove(stag) == null ? AeCode.AMP_UNALLOCATED_STAG.code() : ACCESS_OK;
  }

  @Override
  public void complete(int cqId, CompletionEntry c) {
    counters.completions++;
    CompletionRingMemory ring = queues.get(cqId);
    long at = ring.at + ring.head * 32L;
    int polarity = ring.polarity;
    step(ring);
    long word3 =
        Cqe.WQEIDX.encode(c.wqeIndex)
            | Cqe.ERROR.encode(c.error)
            | Cqe.MAJERR.encode(c.majorError)
            | Cqe.MINERR.encode(c.minorError)
            | Cqe.OP.encode(c.opcode)
            | Cqe.SQ.encode(c.sq)
            | Cqe.SOEVENT.encode(c.solicited)
            | Cqe.STAG.encode(c.stagInvalidated || c.ipv4)
            | Cqe.EXTCQE.encode(c.immediateValid)
            | Cqe.VALID.encode(polarity);
    host.set(ValueLayout.JAVA_LONG, at, c.payloadLength);
    host.set(ValueLayout.JAVA_LONG, at + 8, c.completionContext);
    int low = c.stagInvalidated ? c.invalidatedStag : c.sourceQpn;
    host.set(ValueLayout.JAVA_LONG, at + 16, Integer.toUnsignedLong(low) | Cqe.QPID.encode(c.qpId));
    if (c.immediateValid) {
      long extension = ring.at + ring.head * 32L;
      host.set(ValueLayout.JAVA_LONG, extension, Integer.toUnsignedLong(c.immediate));
      LittleEndian.setLongRelease(
          host,
          extension + 24,
          ExtendedCqe.IMMVALID.encode(1) | ExtendedCqe.VALID.encode(ring.polarity));
      step(ring);
    }
    LittleEndian.setLongRelease(host, at + 24, word3);
  }

  private static void step(CompletionRingMemory ring) {
    if (++ring.head == ring.size) {
      ring.head = 0;
      ring.polarity ^= 1;
    }
  }

  @Override
  public void asyncEvent(
      int qpOrCqId, int aeCode, int aeSource, int wqeIndex, long completionContext) {
    events.add(new Event(qpOrCqId, aeCode, aeSource, wqeIndex));
  }

  @Override
  public long arpMac(int arpIndex) {
    return arpIndex == 0 ? -1 : 0x0200_0000_0010L + arpIndex - 1;
  }

  @Override
  public long portMac() {
    return mac;
  }

  @Override
  public MemorySegment frameBuffer() {
    return fabric.link.buffer();
  }

  @Override
  public void transmit(MemorySegment frame, int bytes, int packets) {
    fabric.link.send(port, frame, bytes, fabric.now);
  }

  @Override
  public boolean transmitReady() {
    return fabric.link.hasRoom(port);
  }

  @Override
  public boolean wireIsPrivate() {
    return fabric.link.isPrivate();
  }

  @Override
  public @Nullable ManageAddressHandle addressHandle(int ahId) {
    return handles.get(ahId);
  }

  @Override
  public void requestTimer(long atNanos) {
    timer = Math.min(timer, atNanos);
  }

  @Override
  public DeviceCounters counters() {
    return counters;
  }
}
