package irdma4j.simulator.device;

import irdma4j.hwregs.ControlCqe;
import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.simulator.CardProfile;
import irdma4j.simulator.wire.Payload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A device without engine, wire and transport, and the least of a driver for it: a control ring, an
 * HMC in direct segments, a CCQ. All its structures are built from the layouts here.
 */
final class BareCard implements AutoCloseable {
  static final int SLOTS = 64;
  static final long RING = Iommu.BASE + 0x10_0000;
  static final long CONTEXT = Iommu.BASE + 0x20_0000;
  static final long BUFFER = Iommu.BASE + 0x30_0000;
  static final long CCQ_RING = Iommu.BASE + 0x40_0000;
  static final long CCQ_SHADOW = Iommu.BASE + 0x50_0000;
  static final long HMC = Iommu.BASE + 0x4000_0000L;
  static final int CCQ_ENTRIES = 32;
  static final long CONTROL_CONTEXT = 0x100_0000_ad00L;
  private static final int SEGMENTS = 8;
  private static final long SEGMENT = 2L << 20;

  /** What became of an operation. */
  record Outcome(boolean failed, int major, int minor, int value) {
    boolean is(ControlStatus status) {
      return failed == (status != ControlStatus.OK)
          && major == status.major()
          && minor == status.minor();
    }
  }

  final Arena arena = Arena.ofConfined();
  final HostPages host = new HostPages(arena);
  final List<Integer> interrupts = new ArrayList<>();
  final RecordingQueues queues = new RecordingQueues();
  final Device device;
  final MemorySegment ring = host.map(RING, SLOTS * 64L);
  final MemorySegment context = host.map(CONTEXT, 4096);
  final MemorySegment buffer = host.map(BUFFER, 0x10000);
  final MemorySegment ccq = host.map(CCQ_RING, CCQ_ENTRIES * 32L);
  final MemorySegment ccqShadow = host.map(CCQ_SHADOW, 4096);
  final MemorySegment hmc = host.map(HMC, SEGMENTS * SEGMENT);
  final Map<HmcObject, Long> bases = new EnumMap<>(HmcObject.class);
  private boolean ccqUp;
  private int ccqHead;
  private boolean ccqPolarity = true;
  private int head;
  private boolean polarity = true;
  private long now;

  BareCard() {
    device =
        new Device(
            CardProfile.small(),
            0x02_00_00_00_00_05L,
            host.iommu,
            host.counters,
            interrupts::add,
            new Device.Environment() {
              @Override
              public long now() {
                return now++;
              }

              @Override
              public MemorySegment frameBuffer() {
                throw new AssertionError("no frame is sent here");
              }

              @Override
              public void transmit(MemorySegment frame, int bytes) {}

              @Override
              public boolean hasRoom() {
                return true;
              }

              @Override
              public void attach(long mac) {}
            },
            services -> queues);
  }

  void write(int register, int value) {
    long place = device.mailbox().claim();
    device.mailbox().put(place, register, value);
    run();
  }

  void run() {
    while (device.run()) {
      // until the device rests
    }
  }

  int read(int register) {
    return device.registers().get(register);
  }

  void createControlQueue() {
    LittleEndian.setLong(context, 0, CqpHostContext.SQSIZE.encode(5)); // 64 slots
    LittleEndian.setLong(context, 8, RING);
    LittleEndian.setLong(context, 24, CONTROL_CONTEXT);
    write(Registers.PFPE_CCQPHIGH.offset(), (int) (CONTEXT >>> 32));
    write(Registers.PFPE_CCQPLOW.offset(), (int) CONTEXT);
  }

  /** Control queue and an HMC of 64 QPs, 64 CQs, 1024 stags, 16 ARP entries, all other PBLEs. */
  BareCard up() {
    createControlQueue();
    Map<HmcObject, Long> counts = new EnumMap<>(HmcObject.class);
    counts.put(HmcObject.QP, 64L);
    counts.put(HmcObject.CQ, 64L);
    counts.put(HmcObject.ARP, 16L);
    counts.put(HmcObject.MR, 1024L);
    counts.put(HmcObject.FSIAV, 16L);
    counts.put(HmcObject.FSIMC, 8L);
    counts.put(HmcObject.PBLE, 0x40000L);
    commit(counts);
    for (int i = 0; i < SEGMENTS; i++) {
      backSegment(i);
    }
    return this;
  }

  void backSegment(int index) {
    require(execute(segment(index, (HMC + index * SEGMENT) | 512 << 2 | 1 << 1 | 1)));
  }

  static UpdatePeSds segment(int index, long data) {
    return new UpdatePeSds(
        index | 1 << 31 | 1 << 15, data, 0, 0, 0, false, 0, 0, false, 0, 0, false);
  }

  Outcome commit(Map<HmcObject, Long> counts) {
    buffer.asSlice(0, FpmCommitBuffer.SIZE).fill((byte) 0);
    counts.forEach((object, count) -> LittleEndian.setLong(buffer, object.commitOffset(), count));
    Outcome outcome = execute(new CommitFpm(0, FpmCommitBuffer.SIZE, BUFFER));
    if (!outcome.failed()) {
      for (HmcObject object : HmcObject.values()) {
        bases.put(object, FpmCommitBuffer.BASE.get(buffer, object.commitOffset()) * 512);
      }
    }
    return outcome;
  }

  void createCcq() {
    require(
        execute(
            new CreateCq(
                0,
                CCQ_ENTRIES,
                0x111,
                16,
                CCQ_RING,
                CCQ_SHADOW,
                0,
                0,
                0,
                0,
                0,
                true,
                false,
                false,
                true,
                false,
                false)));
  }

  /** Puts an operation into the ring and rings. */
  Outcome execute(CqpCommand command) {
    long at = head * 64L;
    long header = command.encode(ring, at);
    boolean ccqCreated = command instanceof CreateCq create && create.cqId() == 0;
    return submit(header, ccqCreated);
  }

  /** Puts 64 bytes into the ring, with the valid bit that the ring's polarity asks for. */
  Outcome executeRaw(MemorySegment wqe) {
    long at = head * 64L;
    MemorySegment.copy(wqe, 0, ring, at, 64);
    return submit(LittleEndian.getLong(wqe, 24) & Long.MAX_VALUE, false);
  }

  private Outcome submit(long header, boolean ccqCreated) {
    int slot = head;
    LittleEndian.setLongRelease(ring, slot * 64L + 24, header | (polarity ? Long.MIN_VALUE : 0));
    head = (head + 1) % SLOTS;
    polarity ^= head == 0;
    write(Registers.PFPE_CQPDB.offset(), head);
    ccqUp |= ccqCreated && device.completions().controlCompletions() != null;
    if (ccqUp && device.completions().controlCompletions() != null) {
      return completion(slot);
    }
    ccqUp = false;
    int tail = read(Registers.PFPE_CQPTAIL.offset());
    if (Registers.CQPTAIL_WQTAIL.decode(tail) != head) {
      throw new AssertionError("the tail is at " + Registers.CQPTAIL_WQTAIL.decode(tail));
    }
    boolean failed = Registers.CQPTAIL_CQP_OP_ERR.isSet(Integer.toUnsignedLong(tail));
    int codes = failed ? read(Registers.PFPE_CQPERRCODES.offset()) : 0;
    return new Outcome(failed, codes >>> 16, codes & 0xffff, 0);
  }

  private Outcome completion(int slot) {
    long at = ccqHead * 32L;
    long header = LittleEndian.getLongAcquire(ccq, at + 24);
    if (ControlCqe.VALID.isSet(header) != ccqPolarity) {
      throw new AssertionError("no completion in entry " + ccqHead);
    }
    if (ControlCqe.WQEIDX.decode(header) != slot
        || LittleEndian.getLong(ccq, at + 8) != CONTROL_CONTEXT) {
      throw new AssertionError("the completion is not that of slot " + slot);
    }
    ccqHead = (ccqHead + 1) % CCQ_ENTRIES;
    ccqPolarity ^= ccqHead == 0;
    LittleEndian.setLong(ccqShadow, 0, ccqHead);
    return new Outcome(
        ControlCqe.ERROR.isSet(header),
        (int) ControlCqe.MAJERR.decode(header),
        (int) ControlCqe.MINERR.decode(header),
        (int) ControlCqe.OPRETVAL.get(ccq, at));
  }

  /** The operation must succeed. */
  int require(Outcome outcome) {
    if (outcome.failed()) {
      throw new AssertionError("refused: " + outcome);
    }
    return outcome.value();
  }

  /** Writes a PBLE straight into the HMC's memory. */
  void pble(long index, long value) {
    LittleEndian.setLong(hmc, bases.get(HmcObject.PBLE) + index * 8, value);
  }

  @Override
  public void close() {
    arena.close();
  }

  /** All of a memory, as a packet would carry it. */
  static Payload payload(MemorySegment memory) {
    Payload payload = new Payload();
    payload.add(memory, 0, memory.byteSize());
    return payload;
  }
}
