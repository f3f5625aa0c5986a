package irdma4j.simulator.device;

import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.FpmQueryBuffer;
import irdma4j.hwregs.Generation;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.SegmentDescriptor;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.StaticHmcPages;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.watch.Watch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The HMC functions that a control queue pair may name: the physical function's own, and those that
 * it was given for virtual functions. Each has limits, a layout, segment descriptors and cached
 * page descriptors of its own.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/hmc.h for the first id of a virtual function and
 * user.h for their number. That the lowest free id is given out, and what is refused, is this
 * project's own.
 */
final class HmcFunctionTable {
  private static final int OWN = 0;
  private static final int FIRST_VIRTUAL = Generation.GEN_2.firstVfFunction();
  private static final int MOST_VIRTUAL = Generation.GEN_2.maxVirtualFunctions();
  private static final int PCI_VIRTUAL_FUNCTIONS = 256;
  private static final int SEGMENT_BITS = 21;
  private static final int MEMORY_BUFFER_ENTRIES = 15;

  /**
   * A function.
   *
   * @param virtualFunction whose it is, -1 for the physical function
   * @param share what it may have
   * @param walk what it has
   */
  private record Entry(int virtualFunction, HmcShare share, HmcWalk walk) {}

  private final Device device;
  private final HostWords host;
  private final CardProfile card;
  private Entry own;
  private final @Nullable Entry[] virtual = new @Nullable Entry[MOST_VIRTUAL];
  private final MemorySegment buffer = Arena.ofAuto().allocate(512, 64);
  private int enabled;
  private int profile;
  private int returnValue;

  HmcFunctionTable(Device device, HostWords host, CardProfile card, Watch watch) {
    this.device = device;
    this.host = host;
    this.card = card;
    this.own = new Entry(-1, HmcShare.ofPhysical(card, 0, 0), new HmcWalk(host, card, watch));
  }

  void reset() {
    own.walk.reset();
    begin(0, 0);
  }

  /**
   * A control queue pair comes up, to which no virtual function's HMC function was given yet.
   *
   * @param virtualFunctions how many there may be at once
   * @param sharing the code of the profile by which the card is shared
   */
  void begin(int virtualFunctions, int sharing) {
    enabled = Math.min(virtualFunctions, MOST_VIRTUAL);
    profile = sharing;
    Arrays.fill(virtual, null);
    own = new Entry(-1, HmcShare.ofPhysical(card, profile, enabled), own.walk);
    own.walk.limit(own.share.segments());
  }

  /** The physical function's. */
  HmcWalk own() {
    return own.walk;
  }

  /** Whether an id is the physical function's. */
  static boolean isOwn(int id) {
    return id == OWN;
  }

  /** What an operation returned that gave a function out. */
  int returnValue() {
    return returnValue;
  }

  /** The walk of a function, or null if there is none of this id. */
  @Nullable HmcWalk walk(int id) {
    Entry entry = find(id);
    return entry == null ? null : entry.walk;
  }

  /** Whether one of the functions' segments is backed by the page of an IOVA. */
  boolean isBacking(long iova) {
    boolean backing = own.walk.isBacking(iova);
    for (int i = 0; i < enabled && !backing; i++) {
      Entry entry = virtual[i];
      backing = entry != null && entry.walk.isBacking(iova);
    }
    return backing;
  }

  /**
   * A register of GLHMC_VFPDINV was written.
   *
   * @param index which one
   */
  void invalidate(int index, int value) {
    Entry entry = virtual[index];
    if (entry != null) {
      entry.walk.invalidate(value);
    }
  }

  /** Gives a function to a virtual function, or takes it back. */
  ControlStatus manage(ManageHmcFunctionTable c) {
    returnValue = 0;
    if (c.vfId() >= PCI_VIRTUAL_FUNCTIONS) {
      return ControlStatus.BAD_PARAMETER;
    }
    int index = indexOf(c.vfId());
    if (c.free()) {
      Entry entry = index < 0 ? null : virtual[index];
      if (entry == null) {
        return ControlStatus.NO_SUCH_OBJECT;
      }
      if (entry.walk.hasSegments()) {
        return ControlStatus.OBJECT_IN_USE;
      }
      virtual[index] = null;
      return ControlStatus.OK;
    }
    if (index >= 0) {
      return ControlStatus.OBJECT_EXISTS;
    }
    for (int i = 0; i < enabled; i++) {
      if (virtual[i] == null) {
        HmcShare share = HmcShare.ofVirtual(card, profile, enabled);
        HmcWalk walk = new HmcWalk(host, card, Watch.NONE);
        walk.limit(share.segments());
        virtual[i] = new Entry(c.vfId(), share, walk);
        returnValue = FIRST_VIRTUAL + i;
        return ControlStatus.OK;
      }
    }
    return ControlStatus.TABLE_FULL;
  }

  ControlStatus query(QueryFpm c) {
    Entry entry = find(c.hmcFunction());
    if (entry == null) {
      return unknown(c.hmcFunction());
    }
    HmcShare share = entry.share;
    MemorySegment answer = buffer.asSlice(0, FpmQueryBuffer.SIZE).fill((byte) 0);
    FpmQueryBuffer.MAX_PE_SDS.set(answer, 0, share.segments());
    for (HmcObject object : HmcObject.values()) {
      if (object.maximum() != null) {
        object.maximum().set(answer, 0, share.limit(object));
      }
      if (object.logSize() != null) {
        object.logSize().set(answer, 0, Integer.numberOfTrailingZeros(card.objectBytes(object)));
      }
    }
    FpmQueryBuffer.XFBLOCKSIZE.set(answer, 0, card.xfBlock());
    FpmQueryBuffer.Q1BLOCKSIZE.set(answer, 0, card.q1Block());
    FpmQueryBuffer.RRFBLOCKSIZE.set(answer, 0, card.rrfBlock());
    FpmQueryBuffer.OOISCFBLOCKSIZE.set(answer, 0, card.ooiscBlock());
    FpmQueryBuffer.MAX_CEQS.set(answer, 0, card.maxCeqs());
    FpmQueryBuffer.HTMULTIPLIER.set(answer, 0, card.hashMultiplier());
    FpmQueryBuffer.TIMERBUCKET.set(answer, 0, card.timerBucket());
    return write(c.bufferAddress(), FpmQueryBuffer.SIZE);
  }

  ControlStatus commit(CommitFpm c) {
    Entry entry = find(c.hmcFunction());
    if (entry == null) {
      return unknown(c.hmcFunction());
    }
    if (c.bufferLength() != FpmCommitBuffer.SIZE) {
      return ControlStatus.BAD_PARAMETER;
    }
    if (entry.virtualFunction >= 0 && entry.walk.hasSegments()) {
      return ControlStatus.OBJECT_IN_USE;
    }
    if (!device.readHost(c.bufferAddress(), buffer, 0, FpmCommitBuffer.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    HmcObject[] objects = HmcObject.values();
    long[] counts = new long[HmcWalk.IDS];
    long[] bases = new long[HmcWalk.IDS];
    long end = 0;
    for (HmcObject object : objects) {
      if (object != HmcObject.PBLE) {
        end = place(object, counts, bases, end);
      }
    }
    end = place(HmcObject.PBLE, counts, bases, end);
    if ((end + (1L << SEGMENT_BITS) - 1) >>> SEGMENT_BITS > entry.share.segments()) {
      return ControlStatus.TOO_MANY_SEGMENTS;
    }
    for (HmcObject object : objects) {
      // The driver may give PBLEs the segments that are left over, beyond their limit.
      if (object != HmcObject.PBLE && counts[object.id()] > entry.share.limit(object)) {
        return ControlStatus.BAD_PARAMETER;
      }
    }
    buffer.asSlice(0, FpmCommitBuffer.SIZE).fill((byte) 0);
    for (HmcObject object : objects) {
      int i = object.id();
      entry.walk.place(object, bases[i], counts[i]);
      FpmCommitBuffer.COUNT.set(buffer, object.commitOffset(), counts[i]);
      FpmCommitBuffer.BASE.set(buffer, object.commitOffset(), bases[i] / FpmCommitBuffer.BASE_UNIT);
    }
    return write(c.bufferAddress(), FpmCommitBuffer.SIZE);
  }

  private long place(HmcObject object, long[] counts, long[] bases, long end) {
    long count =
        object.isCommitted() ? FpmCommitBuffer.COUNT.get(buffer, object.commitOffset()) : 1;
    long base =
        (end + FpmCommitBuffer.BASE_UNIT - 1)
            / FpmCommitBuffer.BASE_UNIT
            * FpmCommitBuffer.BASE_UNIT;
    counts[object.id()] = count;
    bases[object.id()] = base;
    return base + count * card.objectBytes(object);
  }

  ControlStatus update(UpdatePeSds c) {
    HmcWalk walk = walk(c.hmcFunction());
    if (walk == null) {
      return unknown(c.hmcFunction());
    }
    int inMemory = c.bufferEntries();
    if (inMemory > MEMORY_BUFFER_ENTRIES) {
      return ControlStatus.BAD_PARAMETER;
    }
    if (inMemory > 0
        && !device.readHost(
            c.bufferAddress() << 7, buffer, 0, (long) inMemory * SegmentDescriptor.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    boolean known = c.skipFirst() || walk.update(c.command0(), c.data0());
    known = known && (!c.entry1() || walk.update(c.command1(), c.data1()));
    known = known && (!c.entry2() || walk.update(c.command2(), c.data2()));
    for (int i = 0; i < inMemory && known; i++) {
      long at = (long) i * SegmentDescriptor.SIZE;
      known =
          walk.update((int) LittleEndian.getLong(buffer, at), LittleEndian.getLong(buffer, at + 8));
    }
    return known ? ControlStatus.OK : ControlStatus.BAD_PARAMETER;
  }

  ControlStatus pagesAllocated(StaticHmcPages c) {
    return find(c.hmcFunction()) == null ? unknown(c.hmcFunction()) : ControlStatus.OK;
  }

  private @Nullable Entry find(int id) {
    if (id == OWN) {
      return own;
    }
    return id >= FIRST_VIRTUAL && id < FIRST_VIRTUAL + MOST_VIRTUAL
        ? virtual[id - FIRST_VIRTUAL]
        : null;
  }

  /** Why there is nothing to be done to a function: it is free, or no such id exists. */
  private static ControlStatus unknown(int id) {
    return id >= FIRST_VIRTUAL && id < FIRST_VIRTUAL + MOST_VIRTUAL
        ? ControlStatus.NO_SUCH_OBJECT
        : ControlStatus.BAD_PARAMETER;
  }

  private int indexOf(int virtualFunction) {
    for (int i = 0; i < enabled; i++) {
      Entry entry = virtual[i];
      if (entry != null && entry.virtualFunction == virtualFunction) {
        return i;
      }
    }
    return -1;
  }

  private ControlStatus write(long address, long bytes) {
    return device.writeHost(address, buffer, 0, bytes) ? ControlStatus.OK : ControlStatus.DMA_FAULT;
  }
}
