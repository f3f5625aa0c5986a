package irdma4j.driver.ring;

import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.QpShadow;
import irdma4j.hwregs.SqOpcode;
import irdma4j.hwregs.SqWqe;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The driver's end of a send queue.
 *
 * <pre>
 *   ring:  | q0 | q1 | ... | q7 | q8 | ...      quanta of 32 bytes, chunks of 8
 *   WQE:   | 0 fragment 0 or immediate | 16 remote address | 24 header, valid bit |  quantum 0
 *          | 32 fragment 1             | 48 fragment 2                            |  quantum 1 ...
 *   inline:| 0 immediate | 8 bytes 0-7 | 16 remote address | 24 header, valid bit |  quantum 0
 *          | 32 bytes 8-38                                         | 63 valid bit |  quantum 1 ...
 * </pre>
 *
 * <p>A WQE never crosses a chunk: NOPs fill the rest. A quantum is new to the device if its valid
 * bit equals the polarity of the round, so the driver keeps the 128 quanta ahead of it looking old.
 *
 * <p>Posting writes the body, then the header with release order, and rings nothing; {@link
 * #ring()} hands a whole chain over. A request that is refused or does not fit writes nothing.
 * Posting allocates nothing and takes no lock. One thread at a time may post; the completion ring
 * moves the tail on the polling thread, which must be the same or be ordered after the post by the
 * caller.
 *
 * <p>Source: Linux drivers/infiniband/hw/irdma/uk.c; the fast registration, ctrl.c.
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

  /** The completion tells the round trip time. */
  public static final int REPORT_RTT = 32;

  private static final int FENCES = SIGNALED | READ_FENCE | LOCAL_FENCE;
  private static final int OUTGOING = FENCES | SOLICITED | IMMEDIATE | REPORT_RTT;

  private static final int CHUNK = 8;
  private static final int CLEAR_AHEAD = 128;
  private static final int HEADER = 24;

  /** Quanta that stay free: the block being written, the block cleared ahead of it, and one. */
  private static final int GAP = 2 * CLEAR_AHEAD + 1;

  private final MemorySegment memory;
  private final MemorySegment[] blocks;
  private final int size;
  private final MemorySegment shadow;
  private final long shadowOffset;
  private final Bar bar;
  private final long doorbell;
  private final int qpId;
  private final int maxFragments;
  private final int maxInline;
  private final DoorbellPolicy policy;
  private final long[] wrIds;
  private final int[] lengths;
  private final byte[] quanta;

  private int head;
  private int tail;
  private int rungHead;
  private int polarity;
  private int connectionWqes;
  private boolean connecting;
  private @Nullable PushPage push;
  private boolean pushing;
  private boolean pushDropped;
  private long pushed;
  private long doorbellsRung;
  private long doorbellsSkipped;
  private long posted;

  /**
   * An empty queue over zeroed memory.
   *
   * @param memory the ring
   * @param size quanta, a power of two, at least 512
   * @param shadow memory that holds the shadow area, which the device writes
   * @param shadowOffset byte offset of the shadow area in it
   * @param bar where the doorbell is
   * @param doorbell byte offset of the doorbell register
   * @param qpId what is written to ring
   * @param maxFragments most fragments of a WQE, 1 to 13
   * @param maxInline most bytes of inline data, 0 to {@link RingSizes#WQE_INLINE}
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
      int maxInline,
      DoorbellPolicy policy) {
    if (Integer.bitCount(size) != 1 || size < 4 * CLEAR_AHEAD) {
      throw new IllegalArgumentException("send queue of " + size + " quanta");
    }
    if (maxFragments < 1 || maxFragments > RingSizes.MAX_FRAGMENTS) {
      throw new IllegalArgumentException("WQEs of " + maxFragments + " fragments");
    }
    if (maxInline < 0 || maxInline > RingSizes.WQE_INLINE) {
      throw new IllegalArgumentException(maxInline + " bytes of inline data");
    }
    this.memory = memory;
    this.size = size;
    this.shadow = shadow;
    this.shadowOffset = shadowOffset;
    this.bar = bar;
    this.doorbell = doorbell;
    this.qpId = qpId;
    this.maxFragments = maxFragments;
    this.maxInline = maxInline;
    this.policy = policy;
    wrIds = new long[size];
    lengths = new int[size];
    quanta = new byte[size];
    blocks = new MemorySegment[size / CLEAR_AHEAD];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = memory.asSlice(base(i * CLEAR_AHEAD), (long) CLEAR_AHEAD * RingSizes.QUANTUM);
    }
  }

  /**
   * Leaves the first WQEs to {@link ConnectionWqes}. To be called before anything is posted.
   *
   * @param count 1, or 3 if the device reports that the queue pair has entered RTS
   */
  public void reserveConnectionWqes(int count) {
    if (head != 0 || posted != 0 || (count != 1 && count != 3)) {
      throw new IllegalStateException(count + " connection WQEs in a queue at " + head);
    }
    place(count, count, 1);
    connectionWqes = count;
    connecting = true;
  }

  /** Sets where the ring stands. */
  void place(int newHead, int newTail, int newPolarity) {
    head = newHead;
    rungHead = newHead;
    tail = newTail;
    polarity = newPolarity;
  }

  /** Sets up to where the device has been told of WQEs. */
  void placeRung(int index) {
    rungHead = index;
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
    checkFlags(flags, OUTGOING);
    return gather(
        wrId,
        sendOpcode(flags, invalidate != 0),
        flags,
        immediate,
        0,
        SqWqe.REMSTAGINV.encode(Integer.toUnsignedLong(invalidate)),
        sges);
  }

  /**
   * Posts a SEND whose payload is copied into the WQE.
   *
   * @param source where the payload is copied from now
   * @param offset byte offset in it
   * @param bytes 0 to the queue's maximum
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
    checkFlags(flags, OUTGOING);
    return inline(
        wrId,
        sendOpcode(flags, invalidate != 0),
        flags,
        immediate,
        0,
        SqWqe.REMSTAGINV.encode(Integer.toUnsignedLong(invalidate)),
        source,
        offset,
        bytes);
  }

  /**
   * Posts a SEND of a UD queue pair.
   *
   * @param addressHandle where to, 17 bits
   * @param destinationQpn the queue pair there, 24 bits
   * @param queueKey its Q_Key
   * @return false if the queue is full; nothing was written then
   * @throws irdma4j.hwregs.FieldRangeException if a value is too wide
   */
  public boolean sendDatagram(
      long wrId,
      int flags,
      int immediate,
      int addressHandle,
      int destinationQpn,
      int queueKey,
      SgeList sges) {
    checkFlags(flags, OUTGOING);
    return gather(
        wrId,
        sendOpcode(flags, false),
        flags,
        immediate,
        destination(destinationQpn, queueKey),
        SqWqe.AHID.encode(addressHandle),
        sges);
  }

  /**
   * Posts a SEND of a UD queue pair whose payload is copied into the WQE.
   *
   * @return false if the queue is full; nothing was written then
   * @throws irdma4j.hwregs.FieldRangeException if a value is too wide
   */
  public boolean sendDatagramInline(
      long wrId,
      int flags,
      int immediate,
      int addressHandle,
      int destinationQpn,
      int queueKey,
      MemorySegment source,
      long offset,
      int bytes) {
    checkFlags(flags, OUTGOING);
    return inline(
        wrId,
        sendOpcode(flags, false),
        flags,
        immediate,
        destination(destinationQpn, queueKey),
        SqWqe.AHID.encode(addressHandle),
        source,
        offset,
        bytes);
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
    checkFlags(flags, OUTGOING);
    return gather(
        wrId,
        writeOpcode(flags),
        flags,
        immediate,
        remoteAddress,
        SqWqe.REMSTAG.encode(Integer.toUnsignedLong(remoteKey)),
        sges);
  }

  /**
   * Posts an RDMA WRITE whose payload is copied into the WQE.
   *
   * @param source where the payload is copied from now
   * @param offset byte offset in it
   * @param bytes 0 to the queue's maximum
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
    checkFlags(flags, OUTGOING);
    return inline(
        wrId,
        writeOpcode(flags),
        flags,
        immediate,
        remoteAddress,
        SqWqe.REMSTAG.encode(Integer.toUnsignedLong(remoteKey)),
        source,
        offset,
        bytes);
  }

  /**
   * Posts an RDMA READ.
   *
   * @param remoteAddress virtual address at the peer
   * @param remoteKey rkey of the peer's region
   * @param sink where the data goes
   * @return false if the queue is full; nothing was written then
   * @throws IllegalArgumentException if immediate data or a solicited event is asked for, or there
   *     are too many entries
   */
  public boolean read(long wrId, int flags, long remoteAddress, int remoteKey, SgeList sink) {
    return read(wrId, SqOpcode.RDMA_READ, flags, remoteAddress, remoteKey, sink);
  }

  /**
   * Posts an RDMA READ that invalidates the stag of its sink when it is done.
   *
   * @return false if the queue is full; nothing was written then
   */
  public boolean readInvalidate(
      long wrId, int flags, long remoteAddress, int remoteKey, SgeList sink) {
    return read(wrId, SqOpcode.RDMA_READ_LOC_INV, flags, remoteAddress, remoteKey, sink);
  }

  private boolean read(
      long wrId, SqOpcode opcode, int flags, long remoteAddress, int remoteKey, SgeList sink) {
    checkFlags(flags, FENCES | REPORT_RTT);
    return gather(
        wrId,
        opcode.code(),
        flags,
        0,
        remoteAddress,
        SqWqe.REMSTAG.encode(Integer.toUnsignedLong(remoteKey)),
        sink);
  }

  /**
   * Posts the binding of a memory window to a part of a region.
   *
   * @param windowStag stag of the window
   * @param regionStag stag of the region
   * @param start first byte: a virtual address, or an offset in the region if not {@code
   *     virtualAddress}
   * @param bytes length of the part
   * @param remoteRead the peer may read
   * @param remoteWrite the peer may write
   * @param virtualAddress the peer addresses the window by virtual addresses
   * @param typeOne the window is of type 1
   * @return false if the queue is full; nothing was written then
   */
  public boolean bindWindow(
      long wrId,
      int flags,
      int windowStag,
      int regionStag,
      long start,
      long bytes,
      boolean remoteRead,
      boolean remoteWrite,
      boolean virtualAddress,
      boolean typeOne) {
    checkFlags(flags, FENCES);
    long word8 =
        SqWqe.MWSTAG.encode(Integer.toUnsignedLong(windowStag))
            | SqWqe.PARENTMRSTAG.encode(Integer.toUnsignedLong(regionStag));
    long header =
        SqWqe.STAGRIGHTS.encode((remoteRead ? 4L : 0) | (remoteWrite ? 8L : 0))
            | SqWqe.VABASEDTO.encode(virtualAddress)
            | SqWqe.MEMWINDOWTYPE.encode(typeOne);
    return single(wrId, SqOpcode.BIND_MW, flags, start, word8, bytes, header);
  }

  /**
   * Posts the registration of memory.
   *
   * @param stagIndex index part of the stag, 24 bits
   * @param stagKey key part of the stag, 8 bits
   * @param rights as in the register operation of the control queue pair, 5 bits
   * @param start virtual address of the first byte, or its offset in the first page if not {@code
   *     virtualAddress}
   * @param bytes length, 41 bits
   * @param virtualAddress work requests name bytes by virtual addresses
   * @param pageSize bytes: 4 KiB, 2 MiB or 1 GiB
   * @param pbleLevel level of the page list: 0 none, 1 one run, 3 root and leaves
   * @param pbleIndex index of the first PBLE, 28 bits; 0 without a page list
   * @param firstPage IOVA of the first page, a multiple of 4 KiB; 0 with a page list
   * @return false if the queue is full; nothing was written then
   * @throws irdma4j.hwregs.FieldRangeException if a value is too wide
   * @throws IllegalArgumentException if the device has no such page size
   */
  public boolean fastRegister(
      long wrId,
      int flags,
      int stagIndex,
      int stagKey,
      int rights,
      long start,
      long bytes,
      boolean virtualAddress,
      long pageSize,
      int pbleLevel,
      int pbleIndex,
      long firstPage) {
    checkFlags(flags, FENCES);
    if ((firstPage & ~SqWqe.PBLADDR.mask()) != 0) {
      throw new IllegalArgumentException("first page at 0x%x".formatted(firstPage));
    }
    int indexHigh = pbleIndex >>> 16;
    long word8 =
        SqWqe.PBLADDR.encode(firstPage >>> SqWqe.PBLADDR.shift())
            | SqWqe.FIRSTPMPBLIDXHI.encode(indexHigh);
    long word16 = SqWqe.STAGLEN.encode(bytes) | SqWqe.FIRSTPMPBLIDXLO.encode(pbleIndex & 0xffffL);
    long header =
        SqWqe.STAGKEY.encode(stagKey)
            | SqWqe.STAGINDEX.encode(stagIndex)
            | SqWqe.LPBLSIZE.encode(pbleLevel)
            | SqWqe.HPAGESIZE.encode(PageSize.of(pageSize).code())
            | SqWqe.STAGRIGHTS.encode(rights)
            | SqWqe.VABASEDTO.encode(virtualAddress);
    return single(wrId, SqOpcode.FAST_REGISTER, flags, start, word8, word16, header);
  }

  /**
   * Posts the invalidation of a stag of one's own.
   *
   * @return false if the queue is full; nothing was written then
   */
  public boolean invalidate(long wrId, int flags, int stag) {
    checkFlags(flags, FENCES);
    long word8 = SqWqe.LOCSTAG.encode(Integer.toUnsignedLong(stag));
    return single(wrId, SqOpcode.LOCAL_INVALIDATE, flags, 0, word8, 0, 0);
  }

  /**
   * Posts a NOP. A flush gives it no completion: the device does not tell it from those that fill a
   * chunk.
   *
   * @return false if the queue is full; nothing was written then
   */
  public boolean nop(long wrId, int flags) {
    checkFlags(flags, FENCES);
    return single(wrId, SqOpcode.NOP, flags, 0, 0, 0, 0);
  }

  /**
   * Hands everything that was posted to the device, ringing the doorbell if the policy says so:
   * once for a whole chain.
   */
  public void ring() {
    int last = head;
    boolean needed;
    if (policy == DoorbellPolicy.ALWAYS) {
      needed = true;
    } else if (last == rungHead) {
      return;
    } else {
      needed = pushDropped || mayBeAsleep(last);
      pushDropped = false;
    }
    rungHead = last;
    if (needed) {
      // A BAR write has release order: the device that acts on it sees the WQEs.
      bar.write32(doorbell, qpId);
      doorbellsRung++;
    } else {
      doorbellsSkipped++;
    }
  }

  /**
   * The device publishes its tail, fences, looks at the next valid bit once more, then sleeps. The
   * mirror of that here: valid bit (in {@link #publish}), full fence, tail. A device that read the
   * old valid bit after its tail was published shows that tail here, and it lies among the new
   * WQEs; any other tail says that the device has still to look at them.
   */
  private boolean mayBeAsleep(int last) {
    VarHandle.fullFence();
    int deviceTail =
        (int) QpShadow.HW_SQ_TAIL.decode(LittleEndian.getLongAcquire(shadow, shadowOffset));
    int mask = size - 1;
    return ((deviceTail - rungHead) & mask) < ((last - rungHead) & mask);
  }

  /** A WQE that was pushed did not arrive, so the device must be told of what is in the ring. */
  void pushDropped() {
    pushDropped = true;
    pushing = false;
  }

  /** From now on, WQEs are also pushed through a page, while the device takes them so. */
  public void usePushPage(PushPage page) {
    push = page;
  }

  /** WQEs pushed so far, those that fill chunks included. */
  public long pushed() {
    return pushed;
  }

  /**
   * Pushes a WQE that is in the ring, unless others before it wait for their completions and were
   * not pushed: then the next ring tells of it.
   */
  private void pushWqe(int index, int count) {
    PushPage page = push;
    if (page == null || (rungHead != tail && !pushing)) {
      return;
    }
    page.push(memory, index, count, qpId);
    rungHead = head;
    pushing = true;
    pushDropped = false;
    pushed++;
  }

  boolean isPushDropped() {
    return pushDropped;
  }

  /** Quanta that can still be posted. */
  public int free() {
    return size - used() - GAP;
  }

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

  int head() {
    return head;
  }

  int tail() {
    return tail;
  }

  int rungHead() {
    return rungHead;
  }

  int polarity() {
    return polarity;
  }

  MemorySegment memory() {
    return memory;
  }

  long wrId(int index) {
    return wrIds[index];
  }

  /** Bytes of the work, modulo 2^32: the device sends no message that is longer. */
  long length(int index) {
    return Integer.toUnsignedLong(lengths[index]);
  }

  int quanta(int index) {
    return quanta[index];
  }

  /** The opcode of the WQE at an index, as it stands in the ring. */
  int opcode(int index) {
    return (int) SqWqe.OPCODE.decode(LittleEndian.getLong(memory, base(index) + HEADER));
  }

  /** The WQE at an index, and all before it, are done. */
  void complete(int index) {
    tail = (index + quanta[index]) & (size - 1);
  }

  /** Whether a completion is of a WQE that set up the connection, which nobody posted. */
  boolean isConnectionWqe(int index) {
    if (!connecting) {
      return false;
    }
    connecting = index + 1 < connectionWqes;
    return index < connectionWqes && head == tail;
  }

  boolean isConnecting() {
    return connecting;
  }

  /** Writes a WQE with fragments; {@code low} are bits of the header that depend on the opcode. */
  boolean gather(
      long wrId, int opcode, int flags, int immediate, long word16, long low, SgeList sges) {
    int count = sges.count();
    if (count > maxFragments) {
      throw new IllegalArgumentException(
          count + " entries: this queue pair was created for " + maxFragments);
    }
    boolean withImmediate = (flags & IMMEDIATE) != 0;
    int fragments = withImmediate ? count + 1 : count;
    // The device takes the fragments beyond the first in pairs: an even count is filled up.
    int additional = fragments & ~1;
    long header =
        low | SqWqe.OPCODE.encode(opcode) | SqWqe.ADDFRAGCNT.encode(additional) | flagBits(flags);
    int index = reserve(wrId, RingSizes.quanta(fragments), sges.bytes());
    if (index < 0) {
      return false;
    }
    long base = base(index);
    LittleEndian.setLong(memory, base + 16, word16);
    int next = 0;
    if (withImmediate) {
      // The second word of the fragment stays as it is: the device does not read it.
      LittleEndian.setLong(memory, base, Integer.toUnsignedLong(immediate));
    } else if (count == 0) {
      fragment(base, 0, 0);
    } else {
      fragment(base, sges.address(0), sges.word(0));
      next = 1;
    }
    long at = base + RingSizes.QUANTUM;
    for (; next < count; next++, at += 16) {
      fragment(at, sges.address(next), sges.word(next));
    }
    if (additional == fragments && fragments != 0) {
      fragment(at, 0, 0);
    }
    publish(base, header);
    pushWqe(index, quanta[index]);
    return true;
  }

  /** Writes a WQE with inline data. */
  boolean inline(
      long wrId,
      int opcode,
      int flags,
      int immediate,
      long word16,
      long low,
      MemorySegment source,
      long offset,
      int bytes) {
    if (bytes < 0 || bytes > maxInline) {
      throw new IllegalArgumentException(
          bytes + " bytes of inline data: this queue pair was created for " + maxInline);
    }
    Objects.checkFromIndexSize(offset, bytes, source.byteSize());
    long header =
        low
            | SqWqe.OPCODE.encode(opcode)
            | SqWqe.INLINEDATAFLAG.encode(1)
            | SqWqe.INLINEDATALEN.encode(bytes)
            | flagBits(flags);
    int index = reserve(wrId, RingSizes.inlineQuanta(bytes), bytes);
    if (index < 0) {
      return false;
    }
    long base = base(index);
    LittleEndian.setLong(memory, base + 16, word16);
    if ((flags & IMMEDIATE) != 0) {
      LittleEndian.setLong(memory, base, Integer.toUnsignedLong(immediate));
    }
    int done = Math.min(bytes, RingSizes.INLINE_FIRST);
    MemorySegment.copy(source, offset, memory, base + 8, done);
    for (long at = base + RingSizes.QUANTUM; done < bytes; at += RingSizes.QUANTUM) {
      int part = Math.min(bytes - done, RingSizes.INLINE_NEXT);
      MemorySegment.copy(source, offset + done, memory, at, part);
      memory.set(ValueLayout.JAVA_BYTE, at + RingSizes.INLINE_NEXT, (byte) (polarity << 7));
      done += part;
    }
    publish(base, header);
    pushWqe(index, quanta[index]);
    return true;
  }

  /** Writes a WQE of one quantum that sends nothing. */
  private boolean single(
      long wrId, SqOpcode opcode, int flags, long word0, long word8, long word16, long low) {
    long header = low | SqWqe.OPCODE.encode(opcode.code()) | flagBits(flags);
    int index = reserve(wrId, 1, 0);
    if (index < 0) {
      return false;
    }
    write(base(index), word0, word8, word16, header);
    pushWqe(index, 1);
    return true;
  }

  private void write(long base, long word0, long word8, long word16, long header) {
    LittleEndian.setLong(memory, base, word0);
    LittleEndian.setLong(memory, base + 8, word8);
    LittleEndian.setLong(memory, base + 16, word16);
    publish(base, header);
  }

  private void fragment(long at, long address, long word) {
    LittleEndian.setLong(memory, at, address);
    LittleEndian.setLong(memory, at + 8, word | SqWqe.FRAG_VALID.encode(polarity));
  }

  /** The valid bit gives the WQE to the device, so everything else must be in memory before it. */
  private void publish(long base, long header) {
    LittleEndian.setLongRelease(memory, base + HEADER, header | SqWqe.VALID.encode(polarity));
  }

  /**
   * Requires flags that the operations on stags take.
   *
   * @throws IllegalArgumentException if there are others
   */
  public static void checkFences(int flags) {
    checkFlags(flags, FENCES);
  }

  private static void checkFlags(int flags, int allowed) {
    if ((flags & ~allowed) != 0) {
      throw new IllegalArgumentException(
          "flags 0x%x: this operation takes 0x%x".formatted(flags, allowed));
    }
  }

  private static int sendOpcode(int flags, boolean invalidates) {
    boolean solicited = (flags & SOLICITED) != 0;
    if (invalidates) {
      return (solicited ? SqOpcode.SEND_SOL_INV : SqOpcode.SEND_INV).code();
    }
    return (solicited ? SqOpcode.SEND_SOL : SqOpcode.SEND).code();
  }

  private static int writeOpcode(int flags) {
    return ((flags & SOLICITED) != 0 ? SqOpcode.RDMA_WRITE_SOL : SqOpcode.RDMA_WRITE).code();
  }

  private static long destination(int qpn, int queueKey) {
    return SqWqe.DESTQKEY.encode(Integer.toUnsignedLong(queueKey))
        | SqWqe.DESTQPN.encode(Integer.toUnsignedLong(qpn));
  }

  private long flagBits(int flags) {
    return SqWqe.PUSHWQE.encode(push != null)
        | SqWqe.SIGCOMPL.encode((flags & SIGNALED) != 0)
        | SqWqe.READFENCE.encode((flags & READ_FENCE) != 0)
        | SqWqe.LOCALFENCE.encode((flags & LOCAL_FENCE) != 0)
        | SqWqe.IMMDATAFLAG.encode((flags & IMMEDIATE) != 0)
        | SqWqe.REPORTRTT.encode((flags & REPORT_RTT) != 0);
  }

  /** Takes quanta for a WQE, or returns -1; NOPs fill a chunk that is too short for it. */
  private int reserve(long wrId, int count, long bytes) {
    int rest = CHUNK - head % CHUNK;
    int padding = count <= rest ? 0 : rest;
    if (count + padding > free()) {
      return -1;
    }
    int first = head;
    for (int i = 0; i < padding; i++) {
      quanta[head] = 1;
      write(base(head), 0, 0, 0, SqWqe.OPCODE.encode(SqOpcode.NOP.code()));
      head = (head + 1) & (size - 1);
    }
    if (padding > 0) {
      pushWqe(first, padding);
    }
    int index = head;
    if (index == 0) {
      polarity ^= 1;
    }
    head = (head + count) & (size - 1);
    wrIds[index] = wrId;
    lengths[index] = (int) bytes;
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
      blocks[next / CLEAR_AHEAD].fill(zeroes ? 0 : (byte) 0xff);
    }
  }

  private static long base(int index) {
    return (long) index * RingSizes.QUANTUM;
  }
}
