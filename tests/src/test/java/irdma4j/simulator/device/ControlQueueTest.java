package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.RoceContext;
import irdma4j.hwregs.cqp.AddArp;
import irdma4j.hwregs.cqp.AddLocalMac;
import irdma4j.hwregs.cqp.AllocateLocalMac;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.CreateCq;
import irdma4j.hwregs.cqp.CreateQp;
import irdma4j.hwregs.cqp.DeleteArp;
import irdma4j.hwregs.cqp.DestroyCq;
import irdma4j.hwregs.cqp.DestroyQp;
import irdma4j.hwregs.cqp.FlushWqes;
import irdma4j.hwregs.cqp.GatherStats;
import irdma4j.hwregs.cqp.ManageApbvt;
import irdma4j.hwregs.cqp.ManageMulticastGroup;
import irdma4j.hwregs.cqp.ManagePushPage;
import irdma4j.hwregs.cqp.ManageQuadHash;
import irdma4j.hwregs.cqp.ManageStats;
import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import irdma4j.hwregs.cqp.ModifyCq;
import irdma4j.hwregs.cqp.ModifyQp;
import irdma4j.hwregs.cqp.Nop;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.QueryRdmaFeatures;
import irdma4j.hwregs.cqp.SetUserPriorityMap;
import irdma4j.hwregs.cqp.UploadContext;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class ControlQueueTest {
  private static final long UNMAPPED = Iommu.BASE + 0x7000_0000L;
  private static final long CONTEXT = BareCard.BUFFER + 0x1000;
  private static final long SHADOW = BareCard.BUFFER + 0x2000;
  private static final int ROCE_RC = 3;

  private static CreateCq cq(int id) {
    return new CreateCq(
        id,
        16,
        id * 3L,
        8,
        BareCard.BUFFER + 0x4000,
        SHADOW,
        0,
        0,
        0,
        0,
        0,
        true,
        false,
        false,
        false,
        false,
        false);
  }

  private static CreateQp qp(int id, long context) {
    return new CreateQp(
        id, ROCE_RC, context, SHADOW, false, true, true, true, true, true, false, 1);
  }

  private static ModifyQp modify(int id, boolean cqs, boolean arp, int state) {
    return new ModifyQp(
        id, ROCE_RC, CONTEXT, SHADOW, false, 0, 0, false, true, false, cqs, false, false, false,
        false, 0, false, arp, state);
  }

  /** The host context decides: a wrong ring size or an address that is not mapped is refused. */
  @Test
  void acceptsAHostContextOrSaysError() {
    try (BareCard card = new BareCard()) {
      int status = Registers.PFPE_CCQPSTATUS.offset();
      assertEquals(0, card.read(status));
      card.createControlQueue();
      assertEquals(1, card.read(status));
      card.write(Registers.PFPE_CCQPHIGH.offset(), 0);
      card.write(Registers.PFPE_CCQPLOW.offset(), 0);
      assertEquals(0, card.read(status));
      CqpHostContext.SQSIZE.set(card.context, 0, 12);
      card.write(Registers.PFPE_CCQPHIGH.offset(), (int) (BareCard.CONTEXT >>> 32));
      card.write(Registers.PFPE_CCQPLOW.offset(), (int) BareCard.CONTEXT);
      assertEquals(1 << 31, card.read(status));
      card.write(Registers.PFPE_CCQPHIGH.offset(), (int) (UNMAPPED >>> 32));
      card.write(Registers.PFPE_CCQPLOW.offset(), (int) UNMAPPED);
      assertEquals(1 << 31, card.read(status));
      assertEquals(1, card.host.counters.dmaFaults);
    }
  }

  /** Fails if the tail's error bit is still there while the next operation is on its way. */
  @Test
  void anErrorIsThatOfTheLastOperationAlone() {
    try (BareCard card = new BareCard().up()) {
      assertTrue(card.execute(new QueryFpm(0, UNMAPPED)).is(ControlStatus.DMA_FAULT));
      assertTrue(failed(card));
      card.device.inject(new Fault.SilentFirmware(Moment.now()));
      assertThrows(AssertionError.class, () -> card.execute(new Nop()), "it is executed");
      assertFalse(failed(card));
    }
  }

  private static boolean failed(BareCard card) {
    int tail = card.read(Registers.PFPE_CQPTAIL.offset());
    return Registers.CQPTAIL_CQP_OP_ERR.isSet(Integer.toUnsignedLong(tail));
  }

  /** Fails if the fault does nothing, or strikes twice. */
  @Test
  void anInvalidationThatIsSkippedLeavesTheOldPage() {
    try (BareCard card = new BareCard().up()) {
      int last = 7;
      long table = Iommu.BASE + 0x6000_0000L;
      long before = Iommu.BASE + 0x6001_0000L;
      long after = Iommu.BASE + 0x6002_0000L;
      MemorySegment entries = card.host.map(table, 4096);
      HostPages.word(entries, 0, before | 1);
      card.require(card.execute(BareCard.segment(last, table | 512 << 2 | 1)));
      long address = (long) last << 21;
      assertEquals(before, card.device.translate(0, address));
      HostPages.word(entries, 0, after | 1);
      card.device.inject(new Fault.SkipInvalidation(Moment.next(Occasion.INVALIDATION)));
      int invalidation =
          (int) (Registers.PDINV_PMSDIDX.encode(last) | Registers.PDINV_PMSDPARTSEL.encode(1));
      card.write(Registers.PFHMC_PDINV.offset(), invalidation);
      assertEquals(before, card.device.translate(0, address));
      card.write(Registers.PFHMC_PDINV.offset(), invalidation);
      assertEquals(after, card.device.translate(0, address));
    }
  }

  /**
   * Operations run in order round the ring, by tail before the CCQ is there and by completion
   * after. Fails if the polarity does not flip at the ring's or the CCQ's end.
   */
  @Test
  void goesRoundTheRings() {
    try (BareCard card = new BareCard().up()) {
      for (int i = 0; i < 3 * BareCard.SLOTS; i++) {
        card.require(card.execute(new Nop()));
      }
      card.createCcq();
      for (int i = 0; i < 3 * BareCard.SLOTS; i++) {
        card.require(card.execute(new Nop()));
      }
      card.require(
          card.execute(
              new DestroyCq(
                  0, BareCard.CCQ_ENTRIES, 0, 0, 0, 0, 0, false, false, false, false, false)));
      card.require(card.execute(new Nop()));
    }
  }

  /** A WQE whose valid bit is not the ring's polarity ends the queue: nothing of it is done. */
  @Test
  void stopsAtAWqeThatIsNotValid() {
    try (BareCard card = new BareCard()) {
      card.createControlQueue();
      card.write(Registers.PFPE_CQPDB.offset(), 1);
      assertEquals(0, card.host.counters.controlOperations);
      assertTrue(
          Registers.CQPTAIL_CQP_OP_ERR.isSet(
              Integer.toUnsignedLong(card.read(Registers.PFPE_CQPTAIL.offset()))));
      assertEquals(1 << 31, card.read(Registers.PFPE_CCQPSTATUS.offset()));
    }
  }

  /** An error says why, before the CCQ by the registers, after by the completion. */
  @Test
  void refusesWithACode() {
    try (BareCard card = new BareCard().up()) {
      assertTrue(card.execute(new QueryFpm(0, UNMAPPED)).is(ControlStatus.DMA_FAULT));
      assertTrue(card.execute(new QueryFpm(1, BareCard.BUFFER)).is(ControlStatus.BAD_PARAMETER));
      assertTrue(card.execute(new Nop()).is(ControlStatus.OK), "the error bit goes away");
      card.createCcq();
      assertTrue(card.execute(new QueryFpm(0, UNMAPPED)).is(ControlStatus.DMA_FAULT));
      assertTrue(card.execute(cq(64)).is(ControlStatus.OBJECT_NOT_BACKED));
      assertTrue(card.execute(cq(0)).is(ControlStatus.OBJECT_EXISTS));
      assertTrue(card.execute(new DeleteArp(3)).is(ControlStatus.NO_SUCH_OBJECT));
      assertTrue(
          card.execute(new AddArp(0, 1, 16, true, true)).is(ControlStatus.OBJECT_NOT_BACKED));
      RoceContext.TXCQNUM.set(card.buffer, 0x1000, 9);
      assertTrue(card.execute(qp(5, CONTEXT)).is(ControlStatus.NO_SUCH_OBJECT), "no such CQs");
      assertTrue(card.execute(BareCard.segment(20, 1)).is(ControlStatus.BAD_PARAMETER));
    }
  }

  /**
   * A page of the HMC that is mapped nowhere: what is written there is lost, so that the operation
   * has failed. Fails if it succeeds all the same, or has changed something, so that the next one
   * is another.
   */
  @Test
  void anOperationWhoseMemoryIsNotThereFails() {
    try (BareCard card = new BareCard().up()) {
      RoceContext.TXCQNUM.set(card.buffer, 0x1000, 1);
      RoceContext.RXCQNUM.set(card.buffer, 0x1000, 1);
      card.require(card.execute(cq(1)));
      card.require(card.execute(qp(9, CONTEXT)));
      card.require(card.execute(new AllocateMw(5, 8, true, false)));
      for (HmcObject object : List.of(HmcObject.CQ, HmcObject.QP, HmcObject.MR)) {
        long at = BareCard.HMC + card.bases.get(object);
        card.host.iommu.unmap(
            (int) ((at + (object == HmcObject.QP ? 9 * 512 : 0) - Iommu.BASE) >>> 12));
      }
      card.backSegment(0);
      List<String> before = List.copyOf(card.queues.calls);
      for (int time = 0; time < 2; time++) {
        for (CqpCommand command :
            List.of(
                cq(2),
                new ModifyCq(
                    1,
                    32,
                    3,
                    8,
                    BareCard.BUFFER + 0x4000,
                    SHADOW,
                    0,
                    0,
                    0,
                    true,
                    0,
                    true,
                    false,
                    false,
                    false,
                    false),
                qp(10, CONTEXT),
                modify(9, true, true, 2),
                new DestroyQp(9, ROCE_RC, CONTEXT, SHADOW, false, false),
                // The event needs what stands in the queue pair's object.
                new FlushWqes(0, 0, 4, 1, 3, 1, 9, true, false, false, false),
                new AllocateMw(5, 9, true, false),
                new AllocateStag(4096, 5, 9, 0, 0, true, 0, 0, 1, true, false, false))) {
          BareCard.Outcome outcome = card.execute(command);
          assertTrue(outcome.is(ControlStatus.DMA_FAULT), () -> command + ": " + outcome);
        }
      }
      assertEquals(before, card.queues.calls);
    }
  }

  /**
   * Whatever 64 bytes stand in the ring, the device answers once and lives on: random ones, and
   * every WQE of Linux's driver with addresses that lead nowhere. Fails on any exception, hang or
   * missing completion.
   */
  @Property(tries = 60)
  void answersAnyWqe(@ForAll long seed) {
    Random random = new Random(seed);
    List<String> vectors = Vectors.lines("cqp_wqe.jsonl.gz", "\"wqe\":\"");
    try (BareCard card = new BareCard().up()) {
      card.createCcq();
      MemorySegment wqe = card.arena.allocate(64);
      for (int i = 0; i < 200; i++) {
        byte[] bytes = new byte[64];
        random.nextBytes(bytes);
        if (random.nextBoolean()) {
          bytes = Vectors.bytes(vectors.get(random.nextInt(vectors.size())), "wqe");
        } else if (random.nextBoolean()) {
          for (int word = 0; word < 64; word += 8) {
            if (word != 24) {
              LittleEndian.setLong(wqe, word, BareCard.BUFFER + 8L * random.nextInt(1000));
            }
          }
          wqe.asSlice(24, 8).copyFrom(MemorySegment.ofArray(bytes).asSlice(24, 8));
          bytes = wqe.toArray(ValueLayout.JAVA_BYTE);
        }
        int opcode = bytes[28] & 0x3f;
        if (opcode == 0x05 || opcode == 0x21 || opcode == 0x1f || opcode == 0x04) {
          continue; // may take the CCQ or its memory away
        }
        wqe.copyFrom(MemorySegment.ofArray(bytes));
        long before = card.host.counters.controlOperations;
        card.executeRaw(wqe);
        assertEquals(before + 1, card.host.counters.controlOperations);
      }
      card.require(card.execute(new Nop()));
    }
  }

  /** Commit: bases in units of 512 bytes, one kind after another, and no more than the card has. */
  @Test
  void commitsWhatFits() {
    try (BareCard card = new BareCard()) {
      card.createControlQueue();
      assertTrue(
          card.commit(Map.of(HmcObject.PBLE, 20L * 262_144 + 1))
              .is(ControlStatus.TOO_MANY_SEGMENTS));
      assertTrue(card.commit(Map.of(HmcObject.QP, 1025L)).is(ControlStatus.BAD_PARAMETER));
      assertTrue(
          card.execute(new CommitFpm(0, 175, BareCard.BUFFER)).is(ControlStatus.BAD_PARAMETER));
      card.require(card.commit(Map.of(HmcObject.QP, 3L, HmcObject.CQ, 9L, HmcObject.MR, 5L)));
      assertEquals(0, card.bases.get(HmcObject.QP));
      assertEquals(3 * 512, card.bases.get(HmcObject.CQ));
      assertEquals(3 * 512 + 1024, card.bases.get(HmcObject.APBVT));
      assertEquals(3 * 512 + 1024 + 8192, card.bases.get(HmcObject.MR));
      assertEquals(3 * 512 + 1024 + 8192 + 512, card.bases.get(HmcObject.PBLE));
    }
  }

  /** Objects without memory behind them are refused; a page taken away is a fault at once. */
  @Test
  void refusesObjectsWithoutMemory() {
    try (BareCard card = new BareCard()) {
      card.createControlQueue();
      card.commit(Map.of(HmcObject.QP, 4L, HmcObject.CQ, 64L));
      assertTrue(card.execute(cq(3)).is(ControlStatus.OBJECT_NOT_BACKED));
      card.backSegment(0);
      card.require(card.execute(cq(3)));
      card.require(card.execute(BareCard.segment(0, 512 << 2 | 1 << 1)));
      assertTrue(card.execute(cq(4)).is(ControlStatus.OBJECT_NOT_BACKED));
    }
  }

  /** A queue pair's context goes into its HMC object, and MODIFY takes the parts declared valid. */
  @Test
  void keepsQueuePairsInTheHmc() {
    try (BareCard card = new BareCard().up()) {
      card.require(card.execute(cq(1)));
      card.require(card.execute(cq(2)));
      long at = 0x1000;
      for (int i = 0; i < RoceContext.SIZE; i += 8) {
        LittleEndian.setLong(card.buffer, at + i, 0x0101_0101_0101_0101L * (i / 8));
      }
      RoceContext.TXCQNUM.set(card.buffer, at, 1);
      RoceContext.RXCQNUM.set(card.buffer, at, 1);
      RoceContext.ARPIDX.set(card.buffer, at, 7);
      card.require(card.execute(qp(9, CONTEXT)));
      long object = card.bases.get(HmcObject.QP) + 9 * 512;
      assertEquals(
          -1,
          card.hmc
              .asSlice(object, RoceContext.SIZE)
              .mismatch(card.buffer.asSlice(at, RoceContext.SIZE)));
      assertEquals(List.of("context 9 type 3", "state 9 1"), card.queues.calls);
      assertTrue(card.execute(qp(9, CONTEXT)).is(ControlStatus.OBJECT_EXISTS));

      RoceContext.TXCQNUM.set(card.buffer, at, 2);
      RoceContext.ARPIDX.set(card.buffer, at, 8);
      RoceContext.TTL.set(card.buffer, at, 99);
      card.require(card.execute(modify(9, false, true, 4)));
      assertEquals(1, RoceContext.TXCQNUM.get(card.hmc, object), "not declared valid");
      assertEquals(8, RoceContext.ARPIDX.get(card.hmc, object));
      assertEquals(99, RoceContext.TTL.get(card.hmc, object));
      card.require(card.execute(modify(9, true, true, 0)));
      assertEquals(2, RoceContext.TXCQNUM.get(card.hmc, object));
      assertEquals("context 9 type 3", card.queues.calls.getLast());

      long copy = 0x3000;
      card.require(
          card.execute(new UploadContext(BareCard.BUFFER + copy, 9, ROCE_RC, false, false)));
      assertEquals(2, RoceContext.TXCQNUM.get(card.buffer, copy));
      card.require(card.execute(new FlushWqes(0, 0, 4, 1, 3, 1, 9, false, true, true, false)));
      assertEquals("flush 9 true 3 false 4", card.queues.calls.getLast());
      card.require(card.execute(new DestroyQp(9, ROCE_RC, CONTEXT, SHADOW, false, false)));
      assertEquals("destroyed 9", card.queues.calls.getLast());
      assertEquals(0, LittleEndian.getLong(card.hmc, object + 8));
      assertTrue(card.execute(modify(9, true, true, 2)).is(ControlStatus.NO_SUCH_OBJECT));
    }
  }

  /** The features fit the buffer that was given, and count themselves. */
  @Test
  void tellsItsFeatures() {
    try (BareCard card = new BareCard().up()) {
      card.buffer.asSlice(0, 64).fill((byte) 0x55);
      card.require(card.execute(new QueryRdmaFeatures(BareCard.BUFFER, 16)));
      assertEquals(3, LittleEndian.getLong(card.buffer, 0) >>> 32);
      assertEquals(1, LittleEndian.getLong(card.buffer, 8) >>> 48);
      assertEquals(0x5555_5555_5555_5555L, LittleEndian.getLong(card.buffer, 16));
    }
  }

  /** The local MAC table gives numbers and runs out; the port listens to what was added. */
  @Test
  void managesLocalMacs() {
    try (BareCard card = new BareCard().up()) {
      card.createCcq();
      int first = card.require(card.execute(new AllocateLocalMac()));
      int second = card.require(card.execute(new AllocateLocalMac()));
      assertNotEquals(first, second);
      assertTrue(card.execute(new AddLocalMac(1, 63)).is(ControlStatus.NO_SUCH_OBJECT));
      card.require(card.execute(new AddLocalMac(0x0200_0000_0077L, second)));
      assertEquals(0x0200_0000_0077L, card.device.portMac());
      for (int i = 2; i < 64; i++) {
        card.require(card.execute(new AllocateLocalMac()));
      }
      assertTrue(card.execute(new AllocateLocalMac()).is(ControlStatus.TABLE_FULL));
    }
  }

  private static ManageWorkSchedNode node(int id, int parent, int operation, boolean leaf) {
    return new ManageWorkSchedNode(1, 0, id, parent, 0, operation, 0, 0, 1, leaf, true);
  }

  /**
   * The scheduler's tree: a parent first, its children gone first, a leaf returns its queue set.
   */
  @Test
  void keepsATreeOfSchedulerNodes() {
    try (BareCard card = new BareCard().up()) {
      card.createCcq();
      card.require(card.execute(node(1, 0, 0, false)));
      assertTrue(card.execute(node(1, 0, 0, false)).is(ControlStatus.OBJECT_EXISTS));
      assertTrue(card.execute(node(2, 9, 0, false)).is(ControlStatus.NO_SUCH_OBJECT));
      int first = card.require(card.execute(node(2, 1, 0, true)));
      int second = card.require(card.execute(node(3, 1, 0, true)));
      assertNotEquals(first, second);
      card.require(card.execute(node(3, 1, 1, true)));
      assertTrue(card.execute(node(1, 0, 2, false)).is(ControlStatus.OBJECT_IN_USE));
      card.require(card.execute(node(2, 1, 2, true)));
      card.require(card.execute(node(3, 1, 2, true)));
      card.require(card.execute(node(1, 0, 2, false)));
      assertTrue(card.execute(node(1, 0, 1, false)).is(ControlStatus.NO_SUCH_OBJECT));
    }
  }

  /** The map of user priorities is kept as it was given, the last one given, until a reset. */
  @Test
  void keepsTheMapOfPriorities() {
    SchedulerTables tables = new SchedulerTables();
    for (long map : new long[] {0x0706_0504_0302_0100L, 0x0001_0203_0405_0607L}) {
      assertEquals(
          ControlStatus.OK, tables.setPriorityMap(new SetUserPriorityMap(map, 0, 6, true, false)));
      assertEquals(map, tables.priorityMap());
    }
    tables.reset();
    assertEquals(0, tables.priorityMap());
  }

  /** Statistics instances and push pages are handed out once and taken back. */
  @Test
  void handsOutInstancesAndPages() {
    try (BareCard card = new BareCard().up()) {
      card.createCcq();
      int first = card.require(card.execute(new ManageStats(0, 0, false, true)));
      int second = card.require(card.execute(new ManageStats(0, 0, false, true)));
      assertNotEquals(first, second);
      card.require(card.execute(new GatherStats(BareCard.BUFFER, 0, second, false, true)));
      card.require(card.execute(new ManageStats(0, second, false, false)));
      assertTrue(
          card.execute(new GatherStats(BareCard.BUFFER, 0, second, false, true))
              .is(ControlStatus.NO_SUCH_OBJECT));
      int page = card.require(card.execute(new ManagePushPage(0, 0, 0, false)));
      assertNotEquals(page, card.require(card.execute(new ManagePushPage(0, 0, 0, false))));
      card.require(card.execute(new ManagePushPage(0, page, 0, true)));
      assertTrue(
          card.execute(new ManagePushPage(0, page, 0, true)).is(ControlStatus.NO_SUCH_OBJECT));
    }
  }

  private static ManageMulticastGroup group(int id, long members) {
    return new ManageMulticastGroup(
        CqpOpcode.CREATE_MCAST_GRP,
        id,
        IpAddress.ipv4(0xe000_0001),
        0x0100_5e00_0001L,
        false,
        0,
        0,
        0,
        members);
  }

  /** Groups, ports and hash entries are there once, and only what is there can go. */
  @Test
  void keepsGroupsPortsAndHashEntries() {
    try (BareCard card = new BareCard().up()) {
      card.require(card.execute(group(3, BareCard.BUFFER)));
      assertTrue(card.execute(group(3, BareCard.BUFFER)).is(ControlStatus.OBJECT_EXISTS));
      assertTrue(card.execute(group(8, BareCard.BUFFER)).is(ControlStatus.OBJECT_NOT_BACKED));
      assertTrue(card.execute(group(4, UNMAPPED)).is(ControlStatus.DMA_FAULT));
      card.require(card.execute(new ManageApbvt(4791, true)));
      assertTrue(card.execute(new ManageApbvt(4791, true)).is(ControlStatus.OBJECT_EXISTS));
      card.require(card.execute(new ManageApbvt(4791, false)));
      assertTrue(card.execute(new ManageApbvt(4791, false)).is(ControlStatus.NO_SUCH_OBJECT));
      card.require(card.execute(hash(7, 1)));
      assertTrue(card.execute(hash(9, 1)).is(ControlStatus.OBJECT_EXISTS));
      card.require(card.execute(hash(9, 2)));
      card.require(card.execute(hash(9, 0)));
      assertTrue(card.execute(hash(9, 0)).is(ControlStatus.NO_SUCH_OBJECT));
    }
  }

  private static ManageQuadHash hash(int qpn, int action) {
    return new ManageQuadHash(
        0x0200_0000_0001L,
        4791,
        0,
        qpn,
        0,
        0,
        0,
        0,
        0,
        0,
        0x0a00_0001,
        0,
        0,
        0,
        6,
        false,
        true,
        action);
  }

  /** After a reset the device is as new: no queue, no objects, no memory. */
  @Test
  void forgetsEverythingAtReset() {
    try (BareCard card = new BareCard().up()) {
      card.require(card.execute(cq(1)));
      card.require(card.execute(new AddArp(0, 5, 3, true, true)));
      assertEquals(5, card.device.arpMac(3));
      card.device.reset();
      assertEquals(0, card.read(Registers.PFPE_CCQPSTATUS.offset()));
      assertEquals(-1, card.device.arpMac(3));
      assertEquals(-1, card.device.objectAddress(HmcObject.CQ, 1));
      assertEquals(Registers.CPUSTATUS_RUNNING, card.read(Registers.GLPE_CPUSTATUS0.offset()));
      long before = card.host.counters.controlOperations;
      card.write(Registers.PFPE_CQPDB.offset(), 5);
      assertEquals(before, card.host.counters.controlOperations);
      assertFalse(card.queues.calls.isEmpty());
      assertEquals("reset", card.queues.calls.getLast());
    }
  }
}
