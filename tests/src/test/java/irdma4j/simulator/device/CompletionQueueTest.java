package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.AeSource;
import irdma4j.hwregs.Aeqe;
import irdma4j.hwregs.Ceqe;
import irdma4j.hwregs.CqShadow;
import irdma4j.hwregs.Cqe;
import irdma4j.hwregs.ExtendedCqe;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CreateAeq;
import irdma4j.hwregs.cqp.CreateCeq;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.hwregs.cqp.ModifyCq;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Completions, completion events and asynchronous events as they arrive in host memory. */
final class CompletionQueueTest {
  private static final int CQ = 7;
  private static final int ENTRIES = 16;
  private static final long CONTEXT = 0x1234;
  private static final long RING = Iommu.BASE + 0x60_0000;
  private static final long SHADOW = Iommu.BASE + 0x61_0000;
  private static final long CEQ_RING = Iommu.BASE + 0x62_0000;
  private static final long AEQ_RING = Iommu.BASE + 0x63_0000;
  private static final int CEQ_ENTRIES = 3;
  private static final int AEQ_ENTRIES = 4;

  /** A card with a CQ on CEQ 2 (vector 3) and an AEQ (vector 0). */
  private static final class Card implements AutoCloseable {
    final BareCard card = new BareCard().up();
    final MemorySegment ring = card.host.map(RING, 4096);
    final MemorySegment shadow = card.host.map(SHADOW, 4096);
    final MemorySegment ceq = card.host.map(CEQ_RING, 4096);
    final MemorySegment aeq = card.host.map(AEQ_RING, 4096);
    final CompletionEntry entry = new CompletionEntry();
    int consumer;
    boolean polarity = true;
    int armed;
    int completed;

    Card(boolean wide, boolean virtual) {
      if (virtual) {
        card.pble(40, RING);
      }
      card.require(
          card.execute(
              new CreateCq(
                  CQ,
                  ENTRIES,
                  CONTEXT,
                  8,
                  virtual ? 0 : RING,
                  SHADOW,
                  virtual ? 40 : 0,
                  0,
                  0,
                  2,
                  virtual ? 1 : 0,
                  true,
                  virtual,
                  true,
                  true,
                  false,
                  wide)));
      card.require(
          card.execute(new CreateCeq(CEQ_ENTRIES, CEQ_RING, 0, 0, 0, 2, 0, false, false, false)));
      card.require(card.execute(new CreateAeq(AEQ_ENTRIES, AEQ_RING, 0, 0, false)));
      card.write(Registers.GLINT_CEQCTL.offset(2), (int) Registers.CEQCTL_CAUSE_ENA.mask() | 3);
      card.write(Registers.PFINT_AEQCTL.offset(), (int) Registers.CEQCTL_CAUSE_ENA.mask());
      enable(3);
      enable(0);
    }

    void enable(int vector) {
      card.write(
          Registers.GLINT_DYN_CTL.offset(vector),
          (int) (Registers.DYN_CTL_INTENA.mask() | Registers.DYN_CTL_CLEARPBA.mask()));
    }

    /** Another CQ on the same CEQ, armed, with a completion. */
    void armedQueue(int id) {
      long ringAt = RING + 0x10_0000L + id * 0x2000L;
      long shadowAt = ringAt + 0x1000;
      card.host.map(ringAt, 4096);
      MemorySegment itsShadow = card.host.map(shadowAt, 4096);
      card.require(
          card.execute(
              new CreateCq(
                  id, ENTRIES, id, 8, ringAt, shadowAt, 0, 0, 0, 2, 0, true, false, true, true,
                  false, false)));
      LittleEndian.setLong(
          itsShadow, 32, CqShadow.ARM_NEXT.encode(true) | CqShadow.ARM_SEQ_NUM.encode(1));
      card.write(Registers.PFPE_CQARM.offset(), id);
      card.device.complete(id, entry);
    }

    /** The queue of the CEQE at an index, whose valid bit must be that of its round. */
    long event(int index) {
      long word = LittleEndian.getLong(ceq, index % CEQ_ENTRIES * 8L);
      assertEquals(index / CEQ_ENTRIES % 2 == 0, Ceqe.VALID.isSet(word), "event " + index);
      return Ceqe.CQCTX.decode(word);
    }

    void acknowledge(int id) {
      card.write(Registers.PFPE_CQACK.offset(), id);
    }

    /** Arms as a driver does that has taken the event and read everything. */
    void arm(boolean next, boolean solicited) {
      LittleEndian.setLong(shadow, 0, completed % ENTRIES);
      armUnread(next, solicited);
    }

    /** Arms and leaves the index of what was read as it is. */
    void armUnread(boolean next, boolean solicited) {
      acknowledge(CQ);
      LittleEndian.setLong(
          shadow,
          32,
          CqShadow.ARM_NEXT.encode(next)
              | CqShadow.ARM_NEXT_SE.encode(solicited)
              | CqShadow.ARM_SEQ_NUM.encode(++armed & 3));
      card.write(Registers.PFPE_CQARM.offset(), CQ);
    }

    /** Moves the queue to another ring. */
    void move(int entries, long at) {
      card.require(
          card.execute(
              new ModifyCq(
                  CQ, entries, CONTEXT, 8, at, SHADOW, 0, 0, 0, true, 0, true, false, true, false,
                  false)));
    }

    void complete(int index) {
      entry.wqeIndex = index;
      entry.sq = true;
      completed++;
      card.device.complete(CQ, entry);
    }

    /** The index of the next completion's WQE, or -1 if there is none. */
    int poll() {
      long header = LittleEndian.getLongAcquire(ring, consumer * 32L + 24);
      if (Cqe.VALID.isSet(header) != polarity) {
        return -1;
      }
      consume();
      if (Cqe.EXTCQE.isSet(header)) {
        assertEquals(
            polarity, ExtendedCqe.VALID.isSet(LittleEndian.getLong(ring, consumer * 32L + 24)));
        consume();
      }
      return (int) Cqe.WQEIDX.decode(header);
    }

    private void consume() {
      consumer = (consumer + 1) % ENTRIES;
      polarity ^= consumer == 0;
      LittleEndian.setLong(shadow, 0, consumer);
    }

    @Override
    public void close() {
      card.close();
    }
  }

  /**
   * Whatever the pace of producing and consuming, and wherever immediate data takes a second entry,
   * each completion arrives once and in order until the ring overflows; the overflow is reported
   * once, exactly when the ring is full but for one entry. Fails if polarity flips at the wrong
   * place, or a full ring counts as empty.
   */
  @Property(tries = 300)
  void deliversEachCompletionOnceUntilItOverflows(@ForAll long seed) {
    Random random = new Random(seed);
    boolean virtual = random.nextBoolean();
    try (Card card = new Card(false, virtual)) {
      ArrayDeque<Integer> expected = new ArrayDeque<>();
      ArrayDeque<Integer> slots = new ArrayDeque<>();
      int used = 0;
      boolean overflowed = false;
      for (int i = 0; i < 400; i++) {
        if (random.nextInt(100) < 50 + (i & 64) / 8) {
          card.entry.immediateValid = random.nextInt(4) == 0;
          card.entry.immediate = i;
          int needs = card.entry.immediateValid ? 2 : 1;
          card.complete(i);
          if (overflowed || used + needs >= ENTRIES) {
            overflowed = true;
          } else {
            used += needs;
            expected.add(i);
            slots.add(needs);
          }
        } else {
          int got = card.poll();
          assertEquals(expected.isEmpty() ? -1 : expected.remove(), got);
          used -= got == -1 ? 0 : slots.remove();
        }
        assertEquals(overflowed ? 1 : 0, card.card.host.counters.asyncEvents);
      }
      if (overflowed) {
        long word = LittleEndian.getLong(card.aeq, 8);
        assertEquals(AeCode.CQ_OPERATION_ERROR.code(), Aeqe.AECODE.decode(word));
        assertEquals(AeSource.CQ.code(), Aeqe.AESRC.decode(word));
        assertEquals(CQ, Aeqe.QPCQID_LOW.decode(word));
        assertEquals(CONTEXT, LittleEndian.getLong(card.aeq, 0));
      }
    }
  }

  /**
   * A queue that is moved to other rings while it is filled and read: each completion arrives once
   * and in order, and the overflow comes exactly when the newest ring is full but for one entry,
   * whatever the driver still reads of the ring before. Fails if the head of one ring is taken for
   * that of another.
   */
  @Property(tries = 300)
  void aRingIsFullByItsOwnEntriesAlone(@ForAll long seed) {
    Random random = new Random(seed);
    try (Card card = new Card(false, false)) {
      MemorySegment read = card.ring;
      MemorySegment filled = card.ring;
      int readEntries = ENTRIES;
      int filledEntries = ENTRIES;
      int unreadBefore = 0;
      int unread = 0;
      int consumer = 0;
      boolean polarity = true;
      int rings = 0;
      int next = 0;
      boolean overflowed = false;
      for (int i = 0; i < 300 && !overflowed; i++) {
        switch (random.nextInt(i % 100 < 60 ? 5 : 9)) {
          case 0 -> {
            if (read == filled && random.nextInt(4) == 0) {
              filledEntries = 8 + random.nextInt(56);
              long at = RING + 0x40_0000L + rings++ * 0x1000L;
              filled = card.card.host.map(at, 4096);
              card.move(filledEntries, at);
              unreadBefore = unread;
              unread = 0;
            }
          }
          case 1, 2 -> {
            if (read != filled && unreadBefore == 0 && unread > 0) {
              read = filled;
              readEntries = filledEntries;
              consumer = 0;
              polarity = true;
              // The head first, as the driver has it.
              LittleEndian.setLong(card.shadow, 0, 0);
              LittleEndian.setLong(card.shadow, 32, CqShadow.SW_CQ_SELECT.encode(rings));
            }
            if (read == filled ? unread > 0 : unreadBefore > 0) {
              long header = LittleEndian.getLongAcquire(read, consumer * 32L + 24);
              assertEquals(polarity, Cqe.VALID.isSet(header));
              assertEquals(next - unread - unreadBefore, Cqe.WQEIDX.decode(header));
              consumer = (consumer + 1) % readEntries;
              polarity ^= consumer == 0;
              LittleEndian.setLong(card.shadow, 0, consumer);
              unread -= read == filled ? 1 : 0;
              unreadBefore -= read == filled ? 0 : 1;
            }
          }
          default -> {
            overflowed = unread + 1 >= filledEntries;
            card.complete(next);
            next += overflowed ? 0 : 1;
            unread += overflowed ? 0 : 1;
          }
        }
        assertEquals(overflowed ? 1 : 0, card.card.host.counters.asyncEvents);
      }
    }
  }

  /** Every value of a completion stands in its field. */
  @Test
  void writesAllFields() {
    try (Card card = new Card(false, false)) {
      CompletionEntry entry = card.entry;
      entry.opcode = 0x2a;
      entry.qpId = 0x3_1234;
      entry.completionContext = 0x1122_3344_5566_7788L;
      entry.wqeIndex = 0x7fff;
      entry.payloadLength = -1;
      entry.error = true;
      entry.majorError = 0xabcd;
      entry.minorError = 0x1234;
      entry.solicited = true;
      entry.immediateValid = true;
      entry.immediate = -2;
      entry.stagInvalidated = true;
      entry.invalidatedStag = 0x8899_aabb;
      card.card.device.complete(CQ, entry);
      assertEquals(0xffff_ffffL, LittleEndian.getLong(card.ring, 0));
      assertEquals(0x1122_3344_5566_7788L, LittleEndian.getLong(card.ring, 8));
      assertEquals(0x3_1234_8899_aabbL, LittleEndian.getLong(card.ring, 16));
      assertEquals(
          1L << 63
              | 0x2aL << 56
              | 1L << 55
              | 1L << 54
              | 1L << 53
              | 1L << 50
              | 0x7fffL << 32
              | 0xabcd_1234L,
          LittleEndian.getLong(card.ring, 24));
      assertEquals(0xffff_fffeL, LittleEndian.getLong(card.ring, 32));
      assertEquals(3L << 62, LittleEndian.getLong(card.ring, 56));
    }
  }

  /** In a queue of 64-byte entries the second half carries the immediate data. */
  @Test
  void wideEntriesHoldTheSecondHalf() {
    try (Card card = new Card(true, false)) {
      card.complete(1);
      card.entry.immediateValid = true;
      card.entry.immediate = 5;
      card.complete(2);
      assertEquals(1, Cqe.WQEIDX.get(card.ring, 0));
      assertEquals(2, Cqe.WQEIDX.get(card.ring, 64));
      assertEquals(5, LittleEndian.getLong(card.ring, 96));
      assertEquals(1, ExtendedCqe.IMMVALID.get(card.ring, 96));
      assertEquals(2, Cqe.VALID.get(card.ring, 0) + Cqe.VALID.get(card.ring, 64));
    }
  }

  /** An event comes for the first completion after arming, once, and not without arming. */
  @Test
  void raisesOneEventForEachArming() {
    try (Card card = new Card(false, false)) {
      card.complete(1);
      assertEquals(0, card.card.host.counters.completionEvents);
      card.arm(true, false);
      assertEquals(0, card.card.host.counters.completionEvents, "not for what was read before");
      card.complete(2);
      card.complete(3);
      assertEquals(1, card.card.host.counters.completionEvents);
      assertEquals(1L << 63 | CONTEXT, LittleEndian.getLong(card.ceq, 0));
      assertEquals(List.of(3), card.card.interrupts);
      // The same request again, with the sequence number that was seen already.
      card.card.write(Registers.PFPE_CQARM.offset(), CQ);
      card.complete(4);
      assertEquals(1, card.card.host.counters.completionEvents);
    }
  }

  /** Armed for solicited events only, others pass; an error counts as solicited. */
  @Test
  void armedForSolicitedEvents() {
    try (Card card = new Card(false, false)) {
      card.arm(false, true);
      card.complete(1);
      assertEquals(0, card.card.host.counters.completionEvents);
      card.entry.solicited = true;
      card.complete(2);
      assertEquals(1, card.card.host.counters.completionEvents);
      card.entry.solicited = false;
      card.entry.error = true;
      card.arm(false, true);
      card.complete(3);
      assertEquals(2, card.card.host.counters.completionEvents);
    }
  }

  /**
   * A completion that comes after the driver's last look and before its doorbell is told at once,
   * and an unsolicited one only to who asked for any.
   */
  @Test
  void armingTellsOfWhatTheDriverHasNotRead() {
    try (Card card = new Card(false, false)) {
      card.complete(1);
      card.armUnread(false, true);
      assertEquals(0, card.card.host.counters.completionEvents);
      card.armUnread(true, false);
      assertEquals(1, card.card.host.counters.completionEvents);
      card.complete(2);
      assertEquals(1, card.card.host.counters.completionEvents, "asked once, told once");
      card.arm(true, false);
      assertEquals(1, card.card.host.counters.completionEvents, "all was read");
      card.entry.solicited = true;
      card.complete(3);
      assertEquals(2, card.card.host.counters.completionEvents);
      card.entry.solicited = false;
      card.complete(4);
      card.armUnread(false, true);
      assertEquals(3, card.card.host.counters.completionEvents, "one of two was solicited");
    }
  }

  /**
   * A full CEQ loses nothing: events wait for an acknowledgement and then come by turns, so that no
   * queue waits for ever. Fails if one is dropped, or the lowest number always goes first.
   */
  @Test
  void aFullEventQueueWaits() {
    try (Card card = new Card(false, false)) {
      for (int id = 20; id < 20 + CEQ_ENTRIES + 2; id++) {
        card.armedQueue(id);
      }
      assertEquals(CEQ_ENTRIES, card.card.host.counters.completionEvents);
      for (int i = 0; i < CEQ_ENTRIES; i++) {
        assertEquals(20 + i, card.event(i));
      }
      card.acknowledge(20);
      assertEquals(20 + CEQ_ENTRIES, card.event(CEQ_ENTRIES));
      card.acknowledge(20);
      assertEquals(CEQ_ENTRIES + 1, card.card.host.counters.completionEvents, "acknowledged once");
      card.arm(true, false);
      card.complete(1);
      card.acknowledge(21);
      assertEquals(21 + CEQ_ENTRIES, card.event(CEQ_ENTRIES + 1), "by turns");
      card.acknowledge(22);
      assertEquals(CONTEXT, card.event(CEQ_ENTRIES + 2));
    }
  }

  /** A queue has one event at a time: the next one comes when the last is acknowledged. */
  @Test
  void aQueueHasOneEventUntilItIsAcknowledged() {
    try (Card card = new Card(false, false)) {
      card.armedQueue(20);
      card.card.device.complete(20, card.entry);
      card.acknowledge(20);
      assertEquals(1, card.card.host.counters.completionEvents, "asked once");
      card.arm(true, false);
      card.complete(1);
      LittleEndian.setLong(
          card.shadow, 32, CqShadow.ARM_NEXT.encode(true) | CqShadow.ARM_SEQ_NUM.encode(3));
      card.card.write(Registers.PFPE_CQARM.offset(), CQ);
      assertEquals(2, card.card.host.counters.completionEvents, "not acknowledged");
      card.acknowledge(CQ);
      assertEquals(3, card.card.host.counters.completionEvents);
      assertEquals(CONTEXT, card.event(2));
    }
  }

  /**
   * A destroyed queue gives its place in the CEQ to those that wait, since its event is never
   * acknowledged. Fails if the place is lost, or given twice.
   */
  @Test
  void aDestroyedQueueLeavesItsPlace() {
    try (Card card = new Card(false, false)) {
      for (int id = 20; id < 22 + CEQ_ENTRIES; id++) {
        card.armedQueue(id);
      }
      card.card.require(
          card.card.execute(
              new DestroyCq(20, ENTRIES, 20, 0, 0, 2, 0, false, true, true, false, false)));
      assertEquals(20 + CEQ_ENTRIES, card.event(CEQ_ENTRIES));
      card.card.require(
          card.card.execute(
              new DestroyCq(
                  21 + CEQ_ENTRIES, ENTRIES, 21, 0, 0, 2, 0, false, true, true, false, false)));
      card.acknowledge(20);
      card.acknowledge(21);
      assertEquals(CEQ_ENTRIES + 1, card.card.host.counters.completionEvents);
    }
  }

  /** An event that finds no room by a fault is lost; the next asynchronous one says so. */
  @Test
  void eventsAreLostByFaults() {
    try (Card card = new Card(false, false)) {
      card.card.device.inject(new Fault.OverflowEventQueue(Moment.next(Occasion.COMPLETION_EVENT)));
      card.arm(true, false);
      card.complete(1);
      assertEquals(0, card.card.host.counters.completionEvents);
      card.complete(2);
      assertEquals(0, card.card.host.counters.completionEvents, "the request is used up");
      card.arm(true, false);
      card.complete(3);
      assertEquals(1, card.card.host.counters.completionEvents);
      card.card.device.inject(new Fault.OverflowEventQueue(Moment.next(Occasion.ASYNC_EVENT)));
      int code = AeCode.AMP_BAD_PD.code();
      card.card.device.asyncEvent(1, code, AeSource.SQ.code(), 9, 77);
      assertEquals(0, card.card.host.counters.asyncEvents);
      card.card.device.asyncEvent(1, code, AeSource.SQ.code(), 9, 77);
      assertTrue(Aeqe.OVERFLOW.isSet(LittleEndian.getLong(card.aeq, 8)));
    }
  }

  /** A vector that is off keeps its event; being enabled with CLEARPBA does not lose it. */
  @Test
  void aDisabledVectorKeepsItsEvent() {
    try (Card card = new Card(false, false)) {
      card.arm(true, false);
      card.complete(1);
      assertEquals(1, card.card.interrupts.size());
      card.arm(true, false);
      card.complete(2);
      assertEquals(1, card.card.interrupts.size(), "the first message turned the vector off");
      card.enable(3);
      assertEquals(2, card.card.interrupts.size());
      card.enable(3);
      assertEquals(2, card.card.interrupts.size());
      card.card.write(Registers.GLINT_CEQCTL.offset(2), 3);
      card.arm(true, false);
      card.complete(3);
      assertEquals(2, card.card.interrupts.size(), "the cause is off");
    }
  }

  /**
   * AEQEs go round with their polarity; a full AEQ marks the next event as the first after loss.
   */
  @Test
  void asyncEventsTellOfLostOnes() {
    try (Card card = new Card(false, false)) {
      int code = AeCode.AMP_BAD_PD.code();
      for (int i = 0; i < AEQ_ENTRIES + 2; i++) {
        card.card.device.asyncEvent(0x4_0001, code, AeSource.SQ.code(), 9, 77);
      }
      assertEquals(AEQ_ENTRIES, card.card.host.counters.asyncEvents);
      assertEquals(77, LittleEndian.getLong(card.aeq, 0));
      long word = LittleEndian.getLong(card.aeq, 8);
      assertEquals(1, Aeqe.QPCQID_LOW.decode(word));
      assertEquals(1, Aeqe.QPCQID_HI.decode(word));
      assertEquals(9, Aeqe.WQDESCIDX.decode(word));
      assertEquals(code, Aeqe.AECODE.decode(word));
      assertFalse(Aeqe.OVERFLOW.isSet(word));
      assertTrue(Aeqe.VALID.isSet(word));
      card.card.write(Registers.PFPE_AEQALLOC.offset(), 2);
      card.card.device.asyncEvent(1, code, AeSource.SQ.code(), 9, 77);
      card.card.device.asyncEvent(1, code, AeSource.SQ.code(), 9, 77);
      word = LittleEndian.getLong(card.aeq, 8);
      assertTrue(Aeqe.OVERFLOW.isSet(word));
      assertFalse(Aeqe.VALID.isSet(word));
      assertFalse(Aeqe.OVERFLOW.isSet(LittleEndian.getLong(card.aeq, 24)));
    }
  }

  /** A resized queue goes on at the start of its new ring. */
  @Test
  void goesOnInANewRing() {
    try (Card card = new Card(false, false)) {
      for (int i = 0; i < 5; i++) {
        card.complete(i);
        card.poll();
      }
      long newRing = Iommu.BASE + 0x66_0000;
      MemorySegment memory = card.card.host.map(newRing, 4096);
      card.move(32, newRing);
      for (int i = 0; i < 26; i++) {
        card.complete(i);
        assertEquals(i, Cqe.WQEIDX.get(memory, i * 32L));
        assertEquals(1, Cqe.VALID.get(memory, i * 32L));
      }
      assertEquals(0, card.card.host.counters.asyncEvents);
    }
  }
}
