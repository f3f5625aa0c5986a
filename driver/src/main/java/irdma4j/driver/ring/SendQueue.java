package irdma4j.driver.ring;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The driver's end of a send queue.
 *
 * <pre>
 *   ring:  | q0 | q1 | ... | q7 | q8 | ...      quanta of 32 bytes, chunks of 8
 *   WQE:   | 0 fragment 0 or immediate | 16 remote address | 24 header, valid bit |  quantum 0
 *          | 32 fragment 1             | 48 fragment 2                            |  quantum 1 ...
 * </pre>
 *
 * <p>A WQE never crosses a chunk: NOPs fill the rest. A quantum is new to the device if its valid
 * bit equals the polarity of the round, so the driver keeps the 128 quanta ahead of it looking old.
 *
 * <p>Posting writes the body, then the header with release order, and rings nothing; {@link
 * #ring()} hands a whole chain over. Posting allocates nothing and takes no lock. One thread at a
 * time may post; the completion ring moves the tail on the polling thread, which must be the same
 * or be ordered after the post by the caller.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/uk.c.
 */
public final class SendQueue {
  /** The work is to leave a completion even if it succeeds. */
  public static final int SIGNALED = 1;

  /** Start only after all earlier READs of this queue. */
  public static final int READ_FENCE = 2;

  /** Start only after all earlier work of this queue. */
  public static final int LOCAL_FENCE = 4;

  /** The peer's completion raises a solicited event. */
  public static final int SOLICITED = 8;

  /** The work carries immediate data. */
  public static final int IMMEDIATE = 16;

  private static final int CHUNK = 8;
  private static final int CLEAR_AHEAD = 128;
  private static final int HEADER = 24;

  private final MemorySegment memory;
  private final int size;
  private final MemorySegment shadow;
  private final long shadowOffset;
  private final Bar bar;
  private final long doorbell;
  private final int qpId;
  private final int maxFragments;
  private final DoorbellPolicy policy;
  private final long[] wrIds;
  private final long[] lengths;
  private final byte[] quanta;

  private int head;
  private int tail;
  private int rungHead;
  private int polarity;
  private long doorbellsRung;
  private long doorbellsSkipped;
  private long posted;

  /**
   * An empty queue over zeroed memory.
   *
   * @param memory the ring
   * @param size quanta, a power of two
   * @param shadow memory that holds the shadow area, which the device writes
   * @param shadowOffset byte offset of the shadow area in it
   * @param bar where the doorbell is
   * @param doorbell byte offset of the doorbell register
   * @param qpId what is written to ring
   * @param maxFragments most fragments of a WQE, 1 to 13
   * @param policy when to ring
   */
  public SendQueue(
      MemorySegment memory,
      int size,
      MemorySegment shadow,
      long shadowOffset,
      Bar bar,
      long doorbell,
      int qpId,
      int maxFragments,
      DoorbellPolicy policy) {
    this.memory = memory;
    this.size = size;
    this.shadow = shadow;
    this.shadowOffset = shadowOffset;
    this.bar = bar;
    this.doorbell = doorbell;
    this.qpId = qpId;
    this.maxFragments = maxFragments;
    this.policy = policy;
    wrIds = new long[size];
    lengths = new long[size];
    quanta = new byte[size];
  }

  /**
   * Posts a SEND.
   *
   * @param wrId returned with the completion
   * @param flags of the constants here
   * @param immediate used if IMMEDIATE is set
   * @param invalidate the peer's stag to invalidate, or 0
   * @param sges what to send; none is allowed
   * @return false if the queue is full; nothing was written then
   * @throws IllegalArgumentException if there are too many entries
   */
  public boolean send(long wrId, int flags, int immediate, int invalidate, SgeList sges) {
    boolean solicited = (flags & SOLICITED) != 0;
    SqOpcode opcode =
        invalidate != 0
            ? solicited ? SqOpcode.SEND_SOL_INV : SqOpcode.SEND_INV
            : solicited ? SqOpcode.SEND_SOL : SqOpcode.SEND;
    long body = SqWqe.REMSTAGINV.encode(Integer.toUnsignedLong(invalidate));
    return gather(wrId, flags, opcode, immediate, 0, body, sges);
  }

  /**
   * Posts a SEND of a UD queue pair.
   *
   * @param addressHandle where to
   * @param destinationQpn the queue pair there
   * @param queueKey its Q_Key
   * @return false if the queue is full; nothing was written then
   */
  public boolean sendDatagram(
      long wrId,
      int flags,
      int immediate,
      int addressHandle,
      int destinationQpn,
      int queueKey,
      SgeList sges) {
    SqOpcode opcode = (flags & SOLICITED) != 0 ? SqOpcode.SEND_SOL : SqOpcode.SEND;
    long destination =
        SqWqe.DESTQKEY.encode(Integer.toUnsignedLong(queueKey))
            | SqWqe.DESTQPN.encode(destinationQpn);
    return gather(
        wrId, flags, opcode, immediate, destination, SqWqe.AHID.encode(addressHandle), sges);
  }

  /**
   * Posts an RDMA WRITE.
   *
   * @param remoteAddress virtual address at the peer
   * @param remoteKey rkey of the peer's region
   * @return false if the queue is full; nothing was written then
   */
  public boolean write(
      long wrId, int flags, int immediate, long remoteAddress, int remoteKey, SgeList sges) {
    SqOpcode opcode = (flags & SOLICITED) != 0 ? SqOpcode.RDMA_WRITE_SOL : SqOpcode.RDMA_WRITE;
    long body = SqWqe.REMSTAG.encode(Integer.toUnsignedLong(remoteKey));
    return gather(wrId, flags, opcode, immediate, remoteAddress, body, sges);
  }

  /**
   * Posts an RDMA READ.
   *
   * @param remoteAddress virtual address at the peer
   * @param remoteKey rkey of the peer's region
   * @param sink where the data goes
   * @return false if the queue is full; nothing was written then
   * @throws IllegalArgumentException if immediate data is asked for, or too many entries are given
   */
  public boolean read(long wrId, int flags, long remoteAddress, int remoteKey, SgeList sink) {
    if ((flags & (IMMEDIATE | SOLICITED)) != 0) {
      throw new IllegalArgumentException("a READ has neither immediate data nor a solicited event");
    }
    long body = SqWqe.REMSTAG.encode(Integer.toUnsignedLong(remoteKey));
    return gather(wrId, flags, SqOpcode.RDMA_READ, 0, remoteAddress, body, sink);
  }

  /**
   * Posts an RDMA WRITE whose payload is copied into the WQE.
   *
   * @param source where the payload is copied from now
   * @param offset byte offset in it
   * @param bytes 0 to 101
   * @return false if the queue is full; nothing was written then
   */
  public boolean writeInline(
      long wrId,
      int flags,
      int immediate,
      long remoteAddress,
      int remoteKey,
      MemorySegment source,
      long offset,
      int bytes) {
    SqOpcode opcode = (flags & SOLICITED) != 0 ? SqOpcode.RDMA_WRITE_SOL : SqOpcode.RDMA_WRITE;
    long body = SqWqe.REMSTAG.encode(Integer.toUnsignedLong(remoteKey));
    return inline(wrId, flags, opcode, immediate, remoteAddress, body, source, offset, bytes);
  }

  /**
   * Posts a SEND whose payload is copied into the WQE.
   *
   * @param bytes 0 to 101
   * @return false if the queue is full; nothing was written then
   */
  public boolean sendInline(
      long wrId,
      int flags,
      int immediate,
      int invalidate,
      MemorySegment source,
      long offset,
      int bytes) {
    boolean solicited = (flags & SOLICITED) != 0;
    SqOpcode opcode =
        invalidate != 0
            ? solicited ? SqOpcode.SEND_SOL_INV : SqOpcode.SEND_INV
            : solicited ? SqOpcode.SEND_SOL : SqOpcode.SEND;
    long body = SqWqe.REMSTAGINV.encode(Integer.toUnsignedLong(invalidate));
    return inline(wrId, flags, opcode, immediate, 0, body, source, offset, bytes);
  }

  /**
   * Posts the invalidation of a stag of one's own.
   *
   * @return false if the queue is full; nothing was written then
   */
  public boolean invalidate(long wrId, int flags, int stag) {
    int index = reserve(wrId, 1, 0);
    if (index < 0) {
      return false;
    }
    long base = base(index);
    LittleEndian.setLong(memory, base, 0);
    LittleEndian.setLong(memory, base + 8, SqWqe.LOCSTAG.encode(Integer.toUnsignedLong(stag)));
    LittleEndian.setLong(memory, base + 16, 0);
    publish(base, SqWqe.OPCODE.encode(SqOpcode.LOCAL_INVALIDATE.code()) | flagBits(flags));
    return true;
  }

  /**
   * Posts a NOP.
   *
   * @return false if the queue is full; nothing was written then
   */
  public boolean nop(long wrId, int flags) {
    int index = reserve(wrId, 1, 0);
    if (index < 0) {
      return false;
    }
    writeNop(base(index), SqWqe.SIGCOMPL.encode((flags & SIGNALED) != 0));
    return true;
  }

  /** Hands everything that was posted to the device, ringing the doorbell if the policy says so. */
  public void ring() {
    if (head == rungHead) {
      return;
    }
    if (policy == DoorbellPolicy.ALWAYS || mayBeAsleep()) {
      bar.write32(doorbell, qpId);
      doorbellsRung++;
    } else {
      doorbellsSkipped++;
    }
    rungHead = head;
  }

  /**
   * The device publishes its tail, then looks at the next valid bit once more, then sleeps. The
   * driver's mirror of that: valid bit, full fence, tail. If the tail read here is not yet among
   * the new WQEs, the device has still to look at them.
   */
  private boolean mayBeAsleep() {
    VarHandle.fullFence();
    int deviceTail =
        (int) QpShadow.HW_SQ_TAIL.decode(LittleEndian.getLongAcquire(shadow, shadowOffset));
    if (deviceTail == head) {
      return false;
    }
    return head > rungHead
        ? deviceTail >= rungHead && deviceTail < head
        : deviceTail >= rungHead || deviceTail < head;
  }

  /** Quanta that can still be posted. */
  public int free() {
    return size - used() - (SQ_GAP + 1);
  }

  private static final int SQ_GAP = 256;

  /** Quanta posted and not yet completed. */
  public int used() {
    return (head - tail) & (size - 1);
  }

  /** Times that the doorbell was rung. */
  public long doorbellsRung() {
    return doorbellsRung;
  }

  /** Times that it was not needed. */
  public long doorbellsSkipped() {
    return doorbellsSkipped;
  }

  /** Work requests posted. */
  public long posted() {
    return posted;
  }

  /** Quanta in the ring. */
  public int size() {
    return size;
  }

  long wrId(int index) {
    return wrIds[index];
  }

  long length(int index) {
    return lengths[index];
  }

  int tail() {
    return tail;
  }

  /** The opcode of the WQE at an index, as it stands in the ring. */
  int opcode(int index) {
    return (int) SqWqe.OPCODE.decode(LittleEndian.getLong(memory, base(index) + HEADER));
  }

  /** The WQE at an index, and all before it, are done. */
  void complete(int index) {
    tail = (index + quanta[index]) & (size - 1);
  }

  private boolean gather(
      long wrId, int flags, SqOpcode opcode, int immediate, long word16, long body, SgeList sges) {
    int count = sges.count();
    if (count > maxFragments) {
      throw new IllegalArgumentException(
          count + " entries: this queue pair was created for " + maxFragments);
    }
    boolean withImmediate = (flags & IMMEDIATE) != 0;
    int fragments = withImmediate ? count + 1 : count;
    int index = reserve(wrId, RingSizes.quanta(fragments), sges.bytes());
    if (index < 0) {
      return false;
    }
    long base = base(index);
    LittleEndian.setLong(memory, base + 16, word16);
    int next = 0;
    if (withImmediate) {
      LittleEndian.setLong(memory, base, Integer.toUnsignedLong(immediate));
    } else if (count == 0) {
      emptyFragment(base);
    } else {
      fragment(base, sges, 0);
      next = 1;
    }
    long at = base + 32;
    for (; next < count; next++, at += 16) {
      fragment(at, sges, next);
    }
    int additional = fragments > 1 ? fragments - 1 : 0;
    if (fragments != 0 && (fragments & 1) == 0) {
      // The device takes fragments in pairs: an even count leaves half a quantum to be filled.
      emptyFragment(at);
      additional++;
    }
    publish(
        base,
        body
            | SqWqe.OPCODE.encode(opcode.code())
            | SqWqe.IMMDATAFLAG.encode(withImmediate)
            | SqWqe.ADDFRAGCNT.encode(additional)
            | flagBits(flags));
    return true;
  }

  private boolean inline(
      long wrId,
      int flags,
      SqOpcode opcode,
      int immediate,
      long word16,
      long body,
      MemorySegment source,
      long offset,
      int bytes) {
    if (bytes < 0 || bytes > RingSizes.MAX_INLINE) {
      throw new IllegalArgumentException(
          bytes + " bytes of inline data: 0 to " + RingSizes.MAX_INLINE);
    }
    int index = reserve(wrId, RingSizes.inlineQuanta(bytes), bytes);
    if (index < 0) {
      return false;
    }
    long base = base(index);
    LittleEndian.setLong(memory, base + 16, word16);
    boolean withImmediate = (flags & IMMEDIATE) != 0;
    if (withImmediate) {
      LittleEndian.setLong(memory, base, Integer.toUnsignedLong(immediate));
    }
    int first = Math.min(bytes, 8);
    MemorySegment.copy(source, offset, memory, base + 8, first);
    long at = base + 32;
    for (int done = first; done < bytes; at += 32) {
      int part = Math.min(bytes - done, 31);
      MemorySegment.copy(source, offset + done, memory, at, part);
      // The last byte of each further quantum is its valid bit.
      memory.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at + 31, (byte) (polarity << 7));
      done += part;
    }
    publish(
        base,
        body
            | SqWqe.OPCODE.encode(opcode.code())
            | SqWqe.IMMDATAFLAG.encode(withImmediate)
            | SqWqe.INLINEDATAFLAG.encode(1)
            | SqWqe.INLINEDATALEN.encode(bytes)
            | flagBits(flags));
    return true;
  }

  private static long flagBits(int flags) {
    return SqWqe.SIGCOMPL.encode((flags & SIGNALED) != 0)
        | SqWqe.READFENCE.encode((flags & READ_FENCE) != 0)
        | SqWqe.LOCALFENCE.encode((flags & LOCAL_FENCE) != 0);
  }

  private void fragment(long at, SgeList sges, int entry) {
    LittleEndian.setLong(memory, at, sges.address(entry));
    LittleEndian.setLong(
        memory,
        at + 8,
        SqWqe.FRAG_STAG.encode(Integer.toUnsignedLong(sges.key(entry)))
            | SqWqe.FRAG_LEN.encode(sges.length(entry))
            | SqWqe.FRAG_VALID.encode(polarity));
  }

  private void emptyFragment(long at) {
    LittleEndian.setLong(memory, at, 0);
    LittleEndian.setLong(memory, at + 8, SqWqe.FRAG_VALID.encode(polarity));
  }

  private void writeNop(long base, long flags) {
    LittleEndian.setLong(memory, base, 0);
    LittleEndian.setLong(memory, base + 8, 0);
    LittleEndian.setLong(memory, base + 16, 0);
    publish(base, SqWqe.OPCODE.encode(SqOpcode.NOP.code()) | flags);
  }

  /** The valid bit gives the WQE to the device, so everything else must be in memory before it. */
  private void publish(long base, long header) {
    LittleEndian.setLongRelease(memory, base + HEADER, header | SqWqe.VALID.encode(polarity));
  }

  /** Takes quanta for a WQE, or returns -1; NOPs fill a chunk that is too short for it. */
  private int reserve(long wrId, int count, long bytes) {
    int padding = CHUNK - head % CHUNK;
    if (count <= padding) {
      padding = 0;
    }
    if (count + padding > free()) {
      return -1;
    }
    for (int i = 0; i < padding; i++) {
      // In a ring that was never used, the device starts at index 0 and needs no padding there.
      quanta[head] = 1;
      writeNop(base(head), 0);
      head = (head + 1) & (size - 1);
    }
    int index = head;
    if (index == 0) {
      polarity ^= 1;
    }
    head = (head + count) & (size - 1);
    wrIds[index] = wrId;
    lengths[index] = bytes;
    quanta[index] = (byte) count;
    posted++;
    clearAhead(index);
    return index;
  }

  /** Makes the next block look like an older round, so that nothing stale in it passes for new. */
  private void clearAhead(int index) {
    if (index % CLEAR_AHEAD == 0) {
      int next = (index + CLEAR_AHEAD) & (size - 1);
      boolean zeroes = (polarity == 1) == (next != 0);
      memory
          .asSlice(base(next), (long) CLEAR_AHEAD * RingSizes.QUANTUM)
          .fill(zeroes ? 0 : (byte) 0xff);
    }
  }

  private static long base(int index) {
    return (long) index * RingSizes.QUANTUM;
  }
}
