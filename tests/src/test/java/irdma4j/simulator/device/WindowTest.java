package irdma4j.simulator.device;

import static irdma4j.simulator.device.DeviceServices.ACCESS_OK;
import static irdma4j.simulator.device.DeviceServices.LOCAL_READ;
import static irdma4j.simulator.device.DeviceServices.LOCAL_WRITE;
import static irdma4j.simulator.device.DeviceServices.REMOTE_READ;
import static irdma4j.simulator.device.DeviceServices.REMOTE_WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.AeCode;
import irdma4j.hwregs.SqWqe;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.RegisterMr;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Memory windows and regions registered by a work request, through their WQE words. */
final class WindowTest {
  private static final int PAGE = 4096;
  private static final int PD = 5;
  private static final int QP = 12;
  private static final int BIND = 0x10;
  private static final long DATA = Iommu.BASE + 0x8000_0000L;
  private static final long BASE = 0x40_0000L;
  private static final int REGION = 20 << 8 | 3;
  private static final int TYPE_1 = 30 << 8;
  private static final int TYPE_2 = 31 << 8;

  private final BareCard card = new BareCard().up();
  private final MemorySegment host = card.host.map(DATA, 4 * PAGE);

  @BeforeEach
  void makeARegionAndWindows() {
    region(20, 3, LOCAL_READ | LOCAL_WRITE | BIND, true);
    card.require(card.execute(new AllocateMw(PD, 30, true, false)));
    card.require(card.execute(new AllocateMw(PD, 31, false, false)));
  }

  @AfterEach
  void close() {
    card.close();
  }

  private void region(int index, int key, int rights, boolean addressBased) {
    card.require(
        card.execute(
            new RegisterMr(
                addressBased ? BASE : 0,
                4 * PAGE,
                PD,
                key,
                index,
                DATA,
                0,
                0,
                true,
                0,
                0,
                rights,
                false,
                addressBased,
                false,
                false)));
  }

  private int bind(
      int window, int parent, long address, long length, int rights, boolean narrow, boolean va) {
    return card.device.bindWindow(
        address,
        SqWqe.MWSTAG.encode(Integer.toUnsignedLong(window))
            | SqWqe.PARENTMRSTAG.encode(Integer.toUnsignedLong(parent)),
        length,
        SqWqe.STAGRIGHTS.encode(rights)
            | SqWqe.MEMWINDOWTYPE.encode(narrow)
            | SqWqe.VABASEDTO.encode(va),
        PD,
        QP);
  }

  private int check(int stag, long address, long bytes, int rights, int qp) {
    return card.device.checkAccess(stag, address, bytes, rights, PD, qp);
  }

  private static void refused(AeCode expected, int actual) {
    assertEquals(expected, AeCode.of(actual));
  }

  /** A window opens its part of a region to the peer, with the rights that were asked for. */
  @Test
  void aBoundWindowOpensItsPart() {
    int window = TYPE_1 | 7;
    refused(AeCode.AMP_BAD_STAG_KEY, check(window, BASE, 1, REMOTE_READ, QP));
    refused(AeCode.AMP_INVALID_STAG, check(TYPE_1, BASE, 1, REMOTE_READ, QP));
    assertEquals(ACCESS_OK, bind(window, REGION, BASE + PAGE, 2 * PAGE, REMOTE_READ, true, true));
    assertEquals(ACCESS_OK, check(window, BASE + PAGE, 2 * PAGE, REMOTE_READ, QP));
    assertEquals(ACCESS_OK, check(window, BASE + PAGE, 1, REMOTE_READ, QP + 1));
    refused(AeCode.AMP_BOUNDS_VIOLATION, check(window, BASE + PAGE - 1, 1, REMOTE_READ, QP));
    refused(AeCode.AMP_BOUNDS_VIOLATION, check(window, BASE + 3 * PAGE, 1, REMOTE_READ, QP));
    refused(AeCode.AMP_RIGHTS_VIOLATION, check(window, BASE + PAGE, 1, REMOTE_WRITE, QP));
    host.set(ValueLayout.JAVA_BYTE, PAGE + 5, (byte) 99);
    MemorySegment one = card.arena.allocate(1);
    assertTrue(card.device.readRegion(window, BASE + PAGE + 5, one, 0, 1));
    assertEquals(99, one.get(ValueLayout.JAVA_BYTE, 0));
    assertEquals(ACCESS_OK, bind(window, REGION, BASE, 0, 0, true, true), "length 0 closes it");
    refused(AeCode.AMP_INVALID_STAG, check(window, BASE + PAGE, 1, REMOTE_READ, QP));
  }

  /** A window of type 2 is bound to its queue pair, may start at zero, and is bound once. */
  @Test
  void aWindowOfType2() {
    int window = TYPE_2 | 9;
    assertEquals(ACCESS_OK, bind(window, REGION, BASE + PAGE, PAGE, REMOTE_WRITE, false, false));
    assertEquals(ACCESS_OK, check(window, 0, PAGE, REMOTE_WRITE, QP));
    refused(AeCode.AMP_BAD_QP, check(window, 0, PAGE, REMOTE_WRITE, QP + 1));
    MemorySegment one = card.arena.allocate(1);
    one.set(ValueLayout.JAVA_BYTE, 0, (byte) 55);
    assertTrue(card.device.writeRegion(window, 3, BareCard.payload(one), 0, 1));
    assertEquals(55, host.get(ValueLayout.JAVA_BYTE, PAGE + 3));
    refused(
        AeCode.AMP_MWBIND_VALID_STAG,
        bind(TYPE_2 | 10, REGION, BASE, PAGE, REMOTE_READ, false, true));
    assertTrue(card.execute(new DeallocateStag(PD, 20, true)).is(ControlStatus.OBJECT_IN_USE));
    assertEquals(
        AeCode.AMP_INVALIDATE_MR_WITH_BOUND_WINDOWS.code(),
        card.device.invalidateStag(REGION, PD, QP, false));
    assertEquals(ACCESS_OK, card.device.invalidateStag(window, PD, QP, true));
    card.require(card.execute(new DeallocateStag(PD, 20, true)));
  }

  /** Each way in which a binding is refused. */
  @Test
  void refusesBindings() {
    int window = TYPE_1 | 7;
    region(21, 4, LOCAL_READ | BIND, true);
    region(22, 5, LOCAL_READ | LOCAL_WRITE, true);
    region(23, 6, LOCAL_READ | BIND, false);
    refused(
        AeCode.AMP_MWBIND_INVALID_BOUNDS,
        bind(window, REGION, BASE + PAGE, 3 * PAGE + 1, REMOTE_READ, true, true));
    refused(
        AeCode.AMP_MWBIND_INVALID_BOUNDS,
        bind(window, REGION, BASE - 1, 2, REMOTE_READ, true, true));
    refused(
        AeCode.AMP_MWBIND_INVALID_BOUNDS,
        bind(window, REGION, BASE + 1, -1, REMOTE_READ, true, true));
    refused(
        AeCode.AMP_MWBIND_INVALID_RIGHTS,
        bind(window, 21 << 8 | 4, BASE, 1, REMOTE_WRITE, true, true));
    refused(
        AeCode.AMP_MWBIND_BIND_DISABLED,
        bind(window, 22 << 8 | 5, BASE, 1, REMOTE_READ, true, true));
    refused(
        AeCode.AMP_MWBIND_TO_ZERO_BASED_STAG,
        bind(window, 23 << 8 | 6, 0, 1, REMOTE_READ, true, true));
    refused(AeCode.AMP_BAD_STAG_KEY, bind(window, REGION ^ 1, BASE, 1, REMOTE_READ, true, true));
    refused(AeCode.AMP_MWBIND_TO_MW_STAG, bind(window, TYPE_2, BASE, 1, REMOTE_READ, true, true));
    refused(
        AeCode.AMP_MWBIND_TO_INVALID_PARENT,
        bind(window, 99 << 8, BASE, 1, REMOTE_READ, true, true));
    refused(AeCode.AMP_MWBIND_OF_MR_STAG, bind(REGION, REGION, BASE, 1, REMOTE_READ, true, true));
    refused(AeCode.AMP_MWBIND_WRONG_TYPE, bind(window, REGION, BASE, 1, 4, false, true));
    refused(AeCode.AMP_MWBIND_ZERO_BASED_TYPE1_MW, bind(window, REGION, BASE, 1, 4, true, false));
  }

  private int fastRegister(int index, long address, long length, int rights, int firstPble) {
    return card.device.fastRegister(
        address,
        SqWqe.FIRSTPMPBLIDXHI.encode(firstPble >>> 16),
        SqWqe.STAGLEN.encode(length) | SqWqe.FIRSTPMPBLIDXLO.encode(firstPble & 0xffff),
        SqWqe.STAGKEY.encode(0x5a)
            | SqWqe.STAGINDEX.encode(index)
            | SqWqe.LPBLSIZE.encode(1)
            | SqWqe.STAGRIGHTS.encode(rights)
            | SqWqe.VABASEDTO.mask(),
        PD,
        QP);
  }

  /** A stag is registered by a work request once, within what was allocated, until invalidated. */
  @Test
  void registersByWorkRequest() {
    card.require(
        card.execute(new AllocateStag(2 * PAGE, PD, 40, 0, 0, true, 1, 0, 15, true, false, false)));
    int pbles = 0x2_0008;
    card.pble(pbles, DATA + 3 * PAGE);
    card.pble(pbles + 1, DATA + PAGE);
    refused(AeCode.AMP_FASTREG_INVALID_LENGTH, fastRegister(40, BASE, 2 * PAGE + 1, 15, pbles));
    refused(AeCode.AMP_FASTREG_MW_STAG, fastRegister(30, BASE, PAGE, 15, pbles));
    refused(AeCode.AMP_UNALLOCATED_STAG, fastRegister(41, BASE, PAGE, 15, pbles));
    assertEquals(ACCESS_OK, fastRegister(40, BASE, 2 * PAGE, 15, pbles));
    refused(AeCode.AMP_FASTREG_VALID_STAG, fastRegister(40, BASE, PAGE, 15, pbles));
    int stag = 40 << 8 | 0x5a;
    assertEquals(ACCESS_OK, check(stag, BASE, 2 * PAGE, REMOTE_WRITE, QP));
    MemorySegment two = card.arena.allocate(2);
    two.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
    two.set(ValueLayout.JAVA_BYTE, 1, (byte) 2);
    assertTrue(card.device.writeRegion(stag, BASE + PAGE - 1, BareCard.payload(two), 0, 2));
    assertEquals(1, host.get(ValueLayout.JAVA_BYTE, 4 * PAGE - 1));
    assertEquals(2, host.get(ValueLayout.JAVA_BYTE, PAGE));
    assertEquals(ACCESS_OK, card.device.invalidateStag(stag, PD, QP, false));
    assertEquals(ACCESS_OK, fastRegister(40, BASE, PAGE, 15, pbles));
  }
}
