package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.CqpHostContext;
import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.FpmQueryBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.LittleEndian;
import irdma4j.hwregs.Registers;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.StaticHmcPages;
import irdma4j.hwregs.cqp.UpdatePeSds;
import irdma4j.simulator.CardProfile;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the card answers about the HMC functions of virtual functions. */
final class HmcFunctionTableTest {
  private static final int FIRST = 8;
  private static final int PF_MOST = 1;
  private static final int EQUAL = 3;
  private static final long SEGMENT = 2L << 20;
  private static final long DIRECT = 512 << 2 | 1 << 1 | 1;
  private static final long PAGED = 512 << 2 | 1;
  private static final long TABLE = Iommu.BASE + 0x2000_0000;

  private static BareCard card(int virtualFunctions, int profile) {
    BareCard card = new BareCard();
    LittleEndian.setLong(
        card.context,
        16,
        CqpHostContext.ENABLED_VFS.encode(virtualFunctions)
            | CqpHostContext.HMC_PROFILE.encode(profile));
    card.createControlQueue();
    card.commit(Map.of(HmcObject.CQ, 8L));
    card.execute(segment(0, 0, BareCard.HMC + 7 * SEGMENT | DIRECT));
    card.createCcq();
    return card;
  }

  private static BareCard.Outcome manage(BareCard card, int virtualFunction, boolean free) {
    return card.execute(new ManageHmcFunctionTable(virtualFunction, free));
  }

  private static int take(BareCard card, int virtualFunction) {
    BareCard.Outcome outcome = manage(card, virtualFunction, false);
    assertTrue(outcome.is(ControlStatus.OK), outcome.toString());
    return outcome.value();
  }

  private static void assertIs(ControlStatus status, BareCard.Outcome outcome) {
    assertTrue(outcome.is(status), () -> status + " is not " + outcome);
  }

  private static UpdatePeSds segment(int id, int index, long data) {
    return new UpdatePeSds(
        index | 1 << 31 | 1 << 15, data, id, 0, 0, false, 0, 0, false, 0, 0, false);
  }

  private static long segments(BareCard card, int id) {
    assertIs(ControlStatus.OK, card.execute(new QueryFpm(id, BareCard.BUFFER)));
    return FpmQueryBuffer.MAX_PE_SDS.get(card.buffer, 0);
  }

  private static BareCard.Outcome commit(BareCard card, int id, int pairs) {
    card.buffer.asSlice(0, FpmCommitBuffer.SIZE).fill((byte) 0);
    LittleEndian.setLong(card.buffer, HmcObject.QP.commitOffset(), pairs);
    return card.execute(new CommitFpm(id, FpmCommitBuffer.SIZE, BareCard.BUFFER));
  }

  @Test
  void idsAreGivenOutAndTakenBack() {
    try (BareCard card = card(3, EQUAL)) {
      assertEquals(FIRST, take(card, 200));
      assertEquals(FIRST + 1, take(card, 0));
      assertEquals(FIRST + 2, take(card, 255));
      assertIs(ControlStatus.TABLE_FULL, manage(card, 1, false));
      assertIs(ControlStatus.OBJECT_EXISTS, manage(card, 0, false));
      assertIs(ControlStatus.OK, manage(card, 0, true));
      assertIs(ControlStatus.NO_SUCH_OBJECT, manage(card, 0, true));
      assertEquals(FIRST + 1, take(card, 7));
      assertIs(ControlStatus.BAD_PARAMETER, manage(card, 256, false));
      assertIs(ControlStatus.BAD_PARAMETER, manage(card, 256, true));
    }
  }

  @Test
  void noneIsEnabledUnlessTheContextSaysSo() {
    try (BareCard card = card(0, EQUAL)) {
      assertIs(ControlStatus.TABLE_FULL, manage(card, 0, false));
      assertEquals(CardProfile.small().maxSegments(), segments(card, 0));
    }
    try (BareCard card = card(63, EQUAL)) {
      for (int i = 0; i < 32; i++) {
        assertEquals(FIRST + i, take(card, i));
      }
      assertIs(ControlStatus.TABLE_FULL, manage(card, 32, false));
    }
  }

  /** Of 20 segments. */
  @ParameterizedTest
  @CsvSource({
    "1, 1, 5, 15",
    "1, 4, 1, 16",
    "2, 1, 15, 5",
    "2, 4, 3, 8",
    "3, 1, 10, 10",
    "3, 4, 4, 4"
  })
  void segmentsAreSharedByProfile(int profile, int count, int each, int own) {
    try (BareCard card = card(count, profile)) {
      int id = take(card, 9);
      assertEquals(own, segments(card, 0));
      assertEquals(each, segments(card, id));
      assertEquals(0x400L * each / 20, FpmQueryBuffer.MAX_QPS.get(card.buffer, 0));
      assertIs(ControlStatus.OK, card.execute(segment(id, each - 1, BareCard.HMC | DIRECT)));
      assertIs(ControlStatus.BAD_PARAMETER, card.execute(segment(id, each, BareCard.HMC | DIRECT)));
      assertIs(ControlStatus.OK, card.execute(segment(0, own - 1, BareCard.HMC | DIRECT)));
      assertIs(ControlStatus.BAD_PARAMETER, card.execute(segment(0, own, BareCard.HMC | DIRECT)));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, BAD_PARAMETER",
    "7, BAD_PARAMETER",
    "9, NO_SUCH_OBJECT",
    "39, NO_SUCH_OBJECT",
    "40, BAD_PARAMETER",
    "63, BAD_PARAMETER"
  })
  void whatNobodyHasIsRefused(int id, ControlStatus status) {
    try (BareCard card = card(4, EQUAL)) {
      take(card, 0);
      assertIs(status, card.execute(new QueryFpm(id, BareCard.BUFFER)));
      assertIs(status, commit(card, id, 1));
      assertIs(status, card.execute(segment(id, 0, BareCard.HMC | DIRECT)));
      assertIs(status, card.execute(new StaticHmcPages(id)));
      assertEquals(HmcWalk.FAULT, card.device.translate(id, 0));
    }
  }

  @Test
  void eachHasALayoutAndSegmentsOfItsOwn() {
    try (BareCard card = card(2, PF_MOST)) {
      int one = take(card, 5);
      int two = take(card, 6);
      assertIs(ControlStatus.OK, commit(card, one, 16));
      assertIs(ControlStatus.OK, commit(card, two, 64));
      assertIs(ControlStatus.BAD_PARAMETER, commit(card, two, 0x400));
      assertIs(ControlStatus.OK, card.execute(segment(one, 0, BareCard.HMC | DIRECT)));
      assertIs(ControlStatus.OK, card.execute(segment(two, 1, BareCard.HMC + SEGMENT | DIRECT)));
      assertIs(ControlStatus.OK, card.execute(new StaticHmcPages(two)));
      assertEquals(BareCard.HMC + 5, card.device.translate(one, 5));
      assertEquals(HmcWalk.FAULT, card.device.translate(one, SEGMENT));
      assertEquals(HmcWalk.FAULT, card.device.translate(two, 0));
      assertEquals(BareCard.HMC + SEGMENT + 7, card.device.translate(two, SEGMENT + 7));
      assertEquals(HmcWalk.FAULT, card.device.translate(0, SEGMENT));
      assertTrue(card.device.isObjectMemory(BareCard.HMC + SEGMENT));
    }
  }

  /** A function with segments is in use: it is neither laid out anew nor given up. */
  @Test
  void whatHasSegmentsStays() {
    try (BareCard card = card(1, EQUAL)) {
      int id = take(card, 5);
      assertIs(ControlStatus.OK, commit(card, id, 16));
      assertIs(ControlStatus.OK, card.execute(segment(id, 3, BareCard.HMC | DIRECT)));
      assertIs(ControlStatus.OBJECT_IN_USE, manage(card, 5, true));
      assertIs(ControlStatus.OBJECT_IN_USE, commit(card, id, 8));
      assertEquals(BareCard.HMC, card.device.translate(id, 3 * SEGMENT));
      assertIs(ControlStatus.OK, card.execute(segment(id, 3, DIRECT & ~1)));
      assertIs(ControlStatus.OK, commit(card, id, 8));
      assertIs(ControlStatus.OK, manage(card, 5, true));
      assertEquals(HmcWalk.FAULT, card.device.translate(id, 3 * SEGMENT));
    }
  }

  /** Each believes a page descriptor until the register of its own id is written. */
  @Test
  void pagesAreInvalidatedByTheFunctionsOwnRegister() {
    try (BareCard card = card(2, PF_MOST)) {
      MemorySegment table = card.host.map(TABLE, 4096);
      int one = take(card, 0);
      int two = take(card, 1);
      for (int id : new int[] {0, one, two}) {
        assertIs(ControlStatus.OK, card.execute(segment(id, 1, TABLE | PAGED)));
      }
      LittleEndian.setLong(table, 8, BareCard.HMC | 1);
      for (int id : new int[] {0, one, two}) {
        assertEquals(BareCard.HMC, card.device.translate(id, SEGMENT + 4096));
      }
      LittleEndian.setLong(table, 8, BareCard.HMC + 4096 | 1);
      card.write(Registers.GLHMC_VFPDINV.offset() + 4 * (two - FIRST), 1 << 16 | 1);
      assertEquals(BareCard.HMC, card.device.translate(0, SEGMENT + 4096));
      assertEquals(BareCard.HMC, card.device.translate(one, SEGMENT + 4096));
      assertEquals(BareCard.HMC + 4096, card.device.translate(two, SEGMENT + 4096));
      card.write(Registers.GLHMC_VFPDINV.offset() + 4 * (two - FIRST + 1), 1 << 16 | 1);
      card.write(Registers.PFHMC_PDINV.offset(), 1 << 16 | 1);
      assertEquals(BareCard.HMC + 4096, card.device.translate(0, SEGMENT + 4096));
      assertEquals(BareCard.HMC, card.device.translate(one, SEGMENT + 4096));
    }
  }

  @Test
  void aResetTakesAllBack() {
    try (BareCard card = card(2, PF_MOST)) {
      int id = take(card, 0);
      assertIs(ControlStatus.OK, card.execute(segment(id, 0, BareCard.HMC | DIRECT)));
      card.device.reset();
      assertEquals(HmcWalk.FAULT, card.device.translate(id, 0));
    }
  }
}
