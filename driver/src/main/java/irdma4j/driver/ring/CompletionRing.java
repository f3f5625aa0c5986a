package irdma4j.driver.ring;

import irdma4j.driver.Completion;
import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.ExtendedCqe;
import irdma4j.hwregs.FlushCode;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.SqOpcode;
import irdma4j.uapi.Bar;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The driver's end of a completion queue.
 *
 * <pre>
 *   entry:     | 0 bytes received, round trip time | 8 context | 16 queue pair, stag | 24 status, valid bit |
 *   extension: | 0 immediate data                  | 8         | 16 MAC, VLAN        | 24 valid bit         |
 * </pre>
 *
 * <p>An entry is new if its valid bit equals the polarity of the round; the bit is read with
 * acquire before anything else of the entry. An extension takes the next entry, or the upper half
 * of a large one. The head is published in the shadow area after each entry.
 *
 * <p>A flush completion stands for every work request that is still outstanding in its queue: the
 * entry stays at the head and yields them one by one, the first with the reason, the others as
 * flushed by an earlier error. Work that is posted after the flush has no entry of the device any
 * more: once the ring is empty, it is completed as flushed, too ({@link #addFlushed}).
 *
 * <p>Completions of a queue pair that is closed, and those that name work that was never posted,
 * are consumed and dropped.
 *
 * <p>Polling allocates nothing and takes no lock; one thread at a time polls, arms, resizes and
 * forgets.
 *
 * <p>Source: Linux irdma_uk_cq_poll_cmpl and what follows it in uk.c.
 */
public final class CompletionRing {
  private static final int FLUSH_MAJOR = 1;
  private static final int ENTRY_SHIFT = 5;
  private static final int STATUS = 24;
  private static final int SHADOW_HEAD = 0;
  private static final int SHADOW_ARM = 32;
  private static final FlushedQueue[] NONE_FLUSHED = new FlushedQueue[0];

  private final MemorySegment shadow;
  private final long shadowOffset;
  private final int cqId;
  private final Bar bar;
  private final long armDoorbell;
  private final QueueLookup lookup;
  private final boolean largeEntries;
  private final int entryShift;

  private MemorySegment memory;
  private int size;
  private int head;
  private int polarity = 1;
  private @Nullable MemorySegment successor;
  private int successorSize;
  private long polled;
  private long dropped;
  // Replaced as a whole, so that the polling thread needs no lock.
  private volatile FlushedQueue[] flushed = NONE_FLUSHED;

  private record FlushedQueue(QueuePairRings rings, boolean ofSendQueue) {}

  /**
   * An empty queue over zeroed memory.
   *
   * @param memory the ring
   * @param size entries
   * @param largeEntries entries have 64 bytes, not 32, so that an extension needs no entry of its
   *     own
   * @param shadow memory that holds the shadow area, which the driver writes
   * @param shadowOffset byte offset of the shadow area in it
   * @param cqId the queue's number
   * @param bar where the arm doorbell is
   * @param armDoorbell byte offset of that register
   * @param lookup finds the rings that a completion belongs to
   */
  public CompletionRing(
      MemorySegment memory,
      int size,
      boolean largeEntries,
      MemorySegment shadow,
      long shadowOffset,
      int cqId,
      Bar bar,
      long armDoorbell,
      QueueLookup lookup) {
    this.memory = memory;
    this.size = size;
    this.largeEntries = largeEntries;
    this.entryShift = largeEntries ? ENTRY_SHIFT + 1 : ENTRY_SHIFT;
    this.shadow = shadow;
    this.shadowOffset = shadowOffset;
    this.cqId = cqId;
    this.bar = bar;
    this.armDoorbell = armDoorbell;
    this.lookup = lookup;
  }

  /** Sets where the ring stands. */
  void place(int newHead, int newPolarity) {
    head = newHead;
    polarity = newPolarity;
  }

  /**
   * Takes the next completion.
   *
   * @param out filled if there is one
   * @return whether there was one
   */
  public boolean poll(Completion out) {
    while (true) {
      long base = (long) head << entryShift;
      long status = LittleEndian.getLongAcquire(memory, base + STATUS);
      if (Cqe.VALID.decode(status) != polarity) {
        if (successor != null && handOver(successor)) {
          continue;
        }
        // Looked at before the entry: what the device wrote before a flush ended comes first.
        FlushedQueue[] queues = flushed;
        if (queues.length == 0) {
          return false;
        }
        if (isNext()) {
          continue;
        }
        return flushLate(out, queues);
      }
      boolean extended = Cqe.EXTCQE.isSet(status);
      long extension = extended ? extension(base) : 0;
      if (extension < 0) {
        return false;
      }
      if (isFlush(status) && Cqe.MINERR.decode(status) != FlushCode.GENERAL_ERR.code()) {
        // Work after the first is flushed by an earlier error, not for the reason of the first.
        LittleEndian.setLong(
            memory, base + STATUS, Cqe.MINERR.insert(status, FlushCode.GENERAL_ERR.code()));
      }
      long context = LittleEndian.getLong(memory, base + Cqe.COMPCTX.offset());
      QueuePairRings rings = context == 0 ? null : lookup.find(context);
      if (rings == null || rings.isClosed() || !decode(out, base, status, rings)) {
        dropped++;
        advance(extended);
        continue;
      }
      if (extended) {
        decodeExtension(out, extension);
      }
      polled++;
      if (out.status() == Completion.Status.FLUSHED && rings.outstanding(out.isSend()) != 0) {
        park(base, rings.tail(out.isSend()));
      } else {
        advance(extended);
      }
      return true;
    }
  }

  private boolean isNext() {
    long status = LittleEndian.getLongAcquire(memory, ((long) head << entryShift) + STATUS);
    return Cqe.VALID.decode(status) == polarity;
  }

  private boolean flushLate(Completion out, FlushedQueue[] queues) {
    for (FlushedQueue queue : queues) {
      QueuePairRings rings = queue.rings;
      if (rings.isClosed() || rings.outstanding(queue.ofSendQueue) == 0) {
        continue;
      }
      out.begin(0, rings.qpId(), queue.ofSendQueue, false);
      out.fail(Completion.Status.FLUSHED, FLUSH_MAJOR, FlushCode.GENERAL_ERR.code());
      boolean found =
          queue.ofSendQueue
              ? flushSend(out, rings.send())
              : decodeReceive(out, 0, 0, 0, 0, rings.receive());
      if (found) {
        polled++;
        return true;
      }
    }
    return false;
  }

  /** Where the extension of the entry at the head is, or -1 if it is not there yet. */
  private long extension(long base) {
    long at;
    int expected = polarity;
    if (largeEntries) {
      at = base + (1L << ENTRY_SHIFT);
    } else {
      int next = head + 1 == size ? 0 : head + 1;
      at = (long) next << entryShift;
      expected = next == 0 ? polarity ^ 1 : polarity;
    }
    long word = LittleEndian.getLongAcquire(memory, at + STATUS);
    return ExtendedCqe.VALID.decode(word) == expected ? at : -1;
  }

  private static boolean isFlush(long status) {
    return Cqe.ERROR.isSet(status) && Cqe.MAJERR.decode(status) == FLUSH_MAJOR;
  }

  private boolean decode(Completion out, long base, long status, QueuePairRings rings) {
    long word0 = LittleEndian.getLong(memory, base);
    long word2 = LittleEndian.getLong(memory, base + 16);
    boolean ofSendQueue = Cqe.SQ.isSet(status);
    out.begin(
        (int) Cqe.OP.decode(status),
        (int) Cqe.QPID.decode(word2),
        ofSendQueue,
        Cqe.SOEVENT.isSet(status));
    out.transport(
        Cqe.IPV4.isSet(status),
        (int) Cqe.UDSRCQPN.decode(word2),
        (int) Cqe.TCPSEQNUMRTT.decode(word0));
    if (Cqe.ERROR.isSet(status)) {
      out.fail(
          isFlush(status) ? Completion.Status.FLUSHED : Completion.Status.ERROR,
          (int) Cqe.MAJERR.decode(status),
          (int) Cqe.MINERR.decode(status));
    }
    int wqe = (int) Cqe.WQEIDX.decode(status);
    if (ofSendQueue) {
      return decodeSend(out, wqe, Cqe.PSHDROP.isSet(status), rings.send());
    }
    out.withPushDropped(Cqe.PSHDROP.isSet(status));
    return decodeReceive(out, wqe, word0, word2, status, rings.receive());
  }

  private static boolean decodeSend(Completion out, int wqe, boolean pushDropped, SendQueue queue) {
    if (queue.isConnectionWqe(wqe)) {
      return false;
    }
    out.withPushDropped(pushDropped);
    if (pushDropped) {
      queue.pushDropped();
    }
    if (out.status() != Completion.Status.FLUSHED) {
      if (wqe >= queue.size()) {
        return false;
      }
      out.work(queue.wrId(wqe), out.isSuccess() ? queue.length(wqe) : 0);
      queue.complete(wqe);
      return true;
    }
    return flushSend(out, queue);
  }

  private static boolean flushSend(Completion out, SendQueue queue) {
    // NOPs that fill a chunk were never asked for, so they have no completion of their own.
    while (queue.used() != 0) {
      int index = queue.tail();
      int opcode = queue.opcode(index);
      queue.complete(index);
      if (opcode != SqOpcode.NOP.code()) {
        out.flushedOpcode(opcode);
        out.work(queue.wrId(index), queue.length(index));
        if (opcode == SqOpcode.BIND_MW.code() && out.minorError() == FlushCode.PROT_ERR.code()) {
          out.fail(Completion.Status.FLUSHED, FLUSH_MAJOR, FlushCode.MW_BIND_ERR.code());
        }
        return true;
      }
    }
    return false;
  }

  private static boolean decodeReceive(
      Completion out, int wqe, long word0, long word2, long status, ReceiveQueue queue) {
    int index = wqe / queue.multiplier();
    if (!out.isSuccess()) {
      // The device does not say which WQE failed: they complete in order.
      if (queue.used() == 0) {
        return false;
      }
      index = queue.tail();
    } else if (index >= queue.size()) {
      return false;
    }
    out.work(queue.wrId(index), Cqe.PAYLDLEN.decode(word0));
    if (Cqe.STAG.isSet(status)) {
      out.withInvalidated((int) Cqe.INVSTAG.decode(word2));
    }
    queue.complete(index);
    return true;
  }

  private void decodeExtension(Completion out, long extension) {
    long flags = LittleEndian.getLong(memory, extension + STATUS);
    if (ExtendedCqe.IMMVALID.isSet(flags)) {
      out.withImmediate(
          (int) ExtendedCqe.IMMDATALOW32.decode(LittleEndian.getLong(memory, extension)));
    }
    long word2 = LittleEndian.getLong(memory, extension + 16);
    if (ExtendedCqe.UDSMACVALID.isSet(flags)) {
      out.withSourceMac(ExtendedCqe.UDSMAC.decode(word2));
    }
    if (ExtendedCqe.UDVLANVALID.isSet(flags)) {
      out.withVlan((int) ExtendedCqe.UDVLAN.decode(word2));
    }
  }

  /** Leaves a flush completion at the head for the work that follows. */
  private void park(long base, int tail) {
    long word = LittleEndian.getLong(memory, base + STATUS);
    LittleEndian.setLong(memory, base + STATUS, Cqe.WQEIDX.insert(word, tail));
  }

  private void advance(boolean extended) {
    for (int i = extended && !largeEntries ? 2 : 1; i > 0; i--) {
      if (++head == size) {
        head = 0;
        polarity ^= 1;
      }
    }
    publishHead();
  }

  private void publishHead() {
    // The device may use an entry again once it sees the head, so all reads of it come before.
    LittleEndian.setLongRelease(shadow, shadowOffset + SHADOW_HEAD, head);
  }

  /**
   * Goes on in another ring, which the device has been given by a modify operation. Entries that
   * the old ring still holds are taken first; it must stay until {@link #isResizing()} says no.
   *
   * @param newMemory the new ring, zeroed
   * @param newSize its entries
   * @throws IllegalStateException if an earlier resize has not ended
   */
  public void resize(MemorySegment newMemory, int newSize) {
    if (successor != null) {
      throw new IllegalStateException("completion queue " + cqId + " is being resized already");
    }
    successor = newMemory;
    successorSize = newSize;
  }

  /** Whether the ring that {@link #resize} replaced may still hold completions. */
  public boolean isResizing() {
    return successor != null;
  }

  /**
   * The device fills the old ring up to some entry and all later ones go to the new ring. So once
   * the new one has an entry, an entry that the old one does not show now will never come.
   */
  private boolean handOver(MemorySegment next) {
    long first = LittleEndian.getLongAcquire(next, STATUS);
    if (Cqe.VALID.decode(first) != 1) {
      return false;
    }
    long last = LittleEndian.getLongAcquire(memory, ((long) head << entryShift) + STATUS);
    if (Cqe.VALID.decode(last) != polarity) {
      memory = next;
      size = successorSize;
      head = 0;
      polarity = 1;
      successor = null;
      // A head of the old ring would let the device take unread entries of the new one for free.
      publishHead();
      countResized(1);
    }
    return true;
  }

  /** Tells the device how many more rings were left behind; the count wraps at 14 bits. */
  void countResized(int rings) {
    long word = LittleEndian.getLong(shadow, shadowOffset + SHADOW_ARM);
    long select = (CqShadow.SW_CQ_SELECT.decode(word) + rings) & CqShadow.SW_CQ_SELECT.max();
    long kept =
        CqShadow.ARM_SEQ_NUM.mask() | CqShadow.ARM_NEXT_SE.mask() | CqShadow.ARM_NEXT.mask();
    LittleEndian.setLongRelease(
        shadow, shadowOffset + SHADOW_ARM, (word & kept) | CqShadow.SW_CQ_SELECT.encode(select));
  }

  /**
   * Makes the entries of a queue pair that is gone nobody's, so that its context can be used again.
   *
   * @param context the completion context of the queue pair
   */
  public void forget(long context) {
    int at = head;
    int expected = polarity;
    for (int i = 0; i < size; i++) {
      long base = (long) at << entryShift;
      long status = LittleEndian.getLongAcquire(memory, base + STATUS);
      if (Cqe.VALID.decode(status) != expected) {
        return;
      }
      if (LittleEndian.getLong(memory, base + Cqe.COMPCTX.offset()) == context) {
        LittleEndian.setLong(memory, base + Cqe.COMPCTX.offset(), 0);
      }
      if (++at == size) {
        at = 0;
        expected ^= 1;
      }
    }
  }

  /**
   * Asks for an event at the next completion. A completion that came in between raises none, so the
   * caller polls once more afterwards.
   *
   * @param solicitedOnly only for a completion that the peer marked
   */
  public void arm(boolean solicitedOnly) {
    Arming.arm(shadow, shadowOffset, true, !solicitedOnly);
    // A BAR write has release order: the device that acts on it sees the shadow word.
    bar.write32(armDoorbell, cqId);
  }

  /**
   * From now on, what is posted to a queue is completed as flushed when the ring is empty. For a
   * queue whose flush the device has ended.
   *
   * <p>Any thread may call this, and {@link #removeFlushed}, one at a time.
   *
   * @param ofSendQueue whether it is the send queue or the receive queue of the pair
   */
  public void addFlushed(QueuePairRings rings, boolean ofSendQueue) {
    FlushedQueue[] old = flushed;
    FlushedQueue[] next = Arrays.copyOf(old, old.length + 1);
    next[old.length] = new FlushedQueue(rings, ofSendQueue);
    flushed = next;
  }

  /** Ends what {@link #addFlushed} began, for both queues of a pair. */
  public void removeFlushed(QueuePairRings rings) {
    flushed =
        Arrays.stream(flushed).filter(queue -> queue.rings != rings).toArray(FlushedQueue[]::new);
  }

  /** Whether something that no entry of the device stands for is still to be completed. */
  public boolean hasFlushedWork() {
    for (FlushedQueue queue : flushed) {
      if (!queue.rings.isClosed() && queue.rings.outstanding(queue.ofSendQueue) != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether the device has written a completion that was not polled yet. While another thread polls
   * or resizes, the answer may be a moment old.
   *
   * @param solicitedOnly only one that the peer marked, or one with an error, counts
   */
  public boolean hasUnread(boolean solicitedOnly) {
    MemorySegment ring = memory;
    int entries = Math.min(size, (int) (ring.byteSize() >>> entryShift));
    int at = head % entries;
    int expected = polarity;
    for (int i = 0; i < entries; i++) {
      long status = LittleEndian.getLongAcquire(ring, ((long) at << entryShift) + STATUS);
      if (Cqe.VALID.decode(status) != expected) {
        break;
      }
      if (!solicitedOnly || Cqe.SOEVENT.isSet(status) || Cqe.ERROR.isSet(status)) {
        return true;
      }
      for (int slots = Cqe.EXTCQE.isSet(status) && !largeEntries ? 2 : 1; slots > 0; slots--) {
        if (++at == entries) {
          at = 0;
          expected ^= 1;
        }
      }
    }
    MemorySegment next = successor;
    return next != null && Cqe.VALID.decode(LittleEndian.getLongAcquire(next, STATUS)) == 1;
  }

  /** Completions taken so far. */
  public long polled() {
    return polled;
  }

  /** Completions that were consumed but belong to no work that is known. */
  public long dropped() {
    return dropped;
  }

  /** Entries in the ring. */
  public int size() {
    return size;
  }

  int head() {
    return head;
  }

  int polarity() {
    return polarity;
  }
}
