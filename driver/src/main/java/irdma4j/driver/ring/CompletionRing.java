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

/**
 * The driver's end of a completion queue.
 *
 * <p>An entry is new if its valid bit equals the polarity of the round; the bit is read with
 * acquire before anything else of the entry. The head is published in the shadow area after each
 * entry.
 *
 * <p>A flush completion stands for every work request that is still outstanding in its queue: the
 * entry stays at the head and yields them one by one, the first with the reason, the others as
 * flushed by an earlier error.
 *
 * <p>Polling allocates nothing and takes no lock; one thread at a time.
 *
 * <p>Source: Linux irdma_uk_cq_poll_cmpl in uk.c.
 */
public final class CompletionRing {
  private static final int FLUSH_MAJOR = 1;
  private static final int ENTRY = 32;
  private static final int SHADOW_HEAD = 0;
  private static final int SHADOW_ARM = 32;

  private final MemorySegment memory;
  private final int size;
  private final MemorySegment shadow;
  private final long shadowOffset;
  private final int cqId;
  private final Bar bar;
  private final long armDoorbell;
  private final QueueLookup lookup;

  private int head;
  private int polarity = 1;
  private long polled;

  /**
   * An empty queue over zeroed memory.
   *
   * @param memory the ring
   * @param size entries
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
      MemorySegment shadow,
      long shadowOffset,
      int cqId,
      Bar bar,
      long armDoorbell,
      QueueLookup lookup) {
    this.memory = memory;
    this.size = size;
    this.shadow = shadow;
    this.shadowOffset = shadowOffset;
    this.cqId = cqId;
    this.bar = bar;
    this.armDoorbell = armDoorbell;
    this.lookup = lookup;
  }

  /**
   * Takes the next completion.
   *
   * @param out filled if there is one
   * @return whether there was one
   */
  public boolean poll(Completion out) {
    while (true) {
      long base = (long) head * ENTRY;
      long word3 = LittleEndian.getLongAcquire(memory, base + 24);
      if (Cqe.VALID.decode(word3) != polarity) {
        return false;
      }
      boolean extended = Cqe.EXTCQE.isSet(word3);
      long extension = 0;
      if (extended) {
        int next = head + 1 == size ? 0 : head + 1;
        extension = (long) next * ENTRY;
        long word = LittleEndian.getLongAcquire(memory, extension + 24);
        int expected = next == 0 ? polarity ^ 1 : polarity;
        if (ExtendedCqe.VALID.decode(word) != expected) {
          return false;
        }
      }
      long context = LittleEndian.getLong(memory, base + 8);
      QueuePairRings rings = lookup.find(context);
      if (rings == null || rings.isClosed()) {
        advance(extended);
        continue;
      }
      if (decode(out, base, word3, rings)) {
        if (extended) {
          decodeExtension(out, extension);
        }
        polled++;
        boolean more =
            out.status() == Completion.Status.FLUSHED
                && (out.isSend() ? rings.send().used() : rings.receive().used()) != 0;
        if (more) {
          park(base, word3, out.isSend() ? rings.send().tail() : rings.receive().tail());
        } else {
          advance(extended);
        }
        return true;
      }
      advance(extended);
    }
  }

  private boolean decode(Completion out, long base, long word3, QueuePairRings rings) {
    long word0 = LittleEndian.getLong(memory, base);
    long word2 = LittleEndian.getLong(memory, base + 16);
    boolean ofSendQueue = Cqe.SQ.isSet(word3);
    out.begin(
        (int) Cqe.OP.decode(word3),
        (int) Cqe.QPID.decode(word2),
        ofSendQueue,
        Cqe.SOEVENT.isSet(word3));
    if (Cqe.ERROR.isSet(word3)) {
      int major = (int) Cqe.MAJERR.decode(word3);
      out.fail(
          major == FLUSH_MAJOR ? Completion.Status.FLUSHED : Completion.Status.ERROR,
          major,
          (int) Cqe.MINERR.decode(word3));
    }
    int wqe = (int) Cqe.WQEIDX.decode(word3);
    return ofSendQueue
        ? decodeSend(out, wqe, rings.send())
        : decodeReceive(out, wqe, word0, word2, word3, rings.receive());
  }

  private static boolean decodeSend(Completion out, int wqe, SendQueue queue) {
    if (out.status() != Completion.Status.FLUSHED) {
      if (wqe >= queue.size()) {
        return false;
      }
      out.work(queue.wrId(wqe), queue.length(wqe));
      queue.complete(wqe);
      return true;
    }
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
      Completion out, int wqe, long word0, long word2, long word3, ReceiveQueue queue) {
    int index = wqe / queue.multiplier();
    if (!out.isSuccess()) {
      if (queue.used() == 0) {
        return false;
      }
      index = queue.tail();
    } else if (index >= queue.size()) {
      return false;
    }
    out.work(queue.wrId(index), Cqe.PAYLDLEN.decode(word0));
    out.datagram(Cqe.IPV4.isSet(word3), (int) Cqe.UDSRCQPN.decode(word2));
    if (Cqe.STAG.isSet(word3)) {
      out.withInvalidated((int) Cqe.INVSTAG.decode(word2));
    }
    queue.complete(index);
    return true;
  }

  private void decodeExtension(Completion out, long extension) {
    long flags = LittleEndian.getLong(memory, extension + 24);
    if (ExtendedCqe.IMMVALID.isSet(flags)) {
      out.withImmediate(
          (int) ExtendedCqe.IMMDATALOW32.decode(LittleEndian.getLong(memory, extension)));
    }
  }

  /** Leaves a flush completion at the head for the work that follows. */
  private void park(long base, long word3, int tail) {
    long word = Cqe.MINERR.insert(word3, FlushCode.GENERAL_ERR.code());
    LittleEndian.setLong(memory, base + 24, Cqe.WQEIDX.insert(word, tail));
  }

  private void advance(boolean extended) {
    for (int i = extended ? 2 : 1; i > 0; i--) {
      if (++head == size) {
        head = 0;
        polarity ^= 1;
      }
    }
    // The device may use the entry again once it sees the head, so all reads of it come before.
    LittleEndian.setLongRelease(shadow, shadowOffset + SHADOW_HEAD, head);
  }

  /**
   * Asks for an event at the next completion. A completion that came in between raises none, so the
   * caller polls once more afterwards.
   *
   * @param solicitedOnly only for a completion that the peer marked
   */
  public void arm(boolean solicitedOnly) {
    long word = LittleEndian.getLong(shadow, shadowOffset + SHADOW_ARM);
    long sequence = (CqShadow.ARM_SEQ_NUM.decode(word) + 1) & 3;
    long armed =
        CqShadow.ARM_SEQ_NUM.encode(sequence)
            | CqShadow.SW_CQ_SELECT.encode(CqShadow.SW_CQ_SELECT.decode(word))
            | CqShadow.ARM_NEXT_SE.encode(1)
            | CqShadow.ARM_NEXT.encode(!solicitedOnly);
    LittleEndian.setLongRelease(shadow, shadowOffset + SHADOW_ARM, armed);
    // The doorbell write orders the shadow word before it.
    bar.write32(armDoorbell, cqId);
  }

  /** Completions taken so far. */
  public long polled() {
    return polled;
  }

  /** Entries in the ring. */
  public int size() {
    return size;
  }
}
