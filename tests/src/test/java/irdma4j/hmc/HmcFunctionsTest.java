package irdma4j.hmc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.HmcObject;
import irdma4j.tests.FakePciFunction;
import irdma4j.tests.HmcDevice;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The order in which functions come and go, and what names them. */
class HmcFunctionsTest {
  private static final HmcFunction PHYSICAL = HmcFunction.physical(11);
  private static final HmcLayout LAYOUT =
      new HmcLayout(Map.of(HmcObject.QP, new HmcLayout.Area(0, 64, 512)), 1);

  private final FakePciFunction memory = new FakePciFunction();
  private final HmcFunctions functions =
      new HmcFunctions(memory, owner -> new HmcDevice(memory, 1));

  private HostMemoryCache open(HmcFunction owner) {
    return functions.open(owner, LAYOUT, SegmentType.DIRECT);
  }

  @Test
  void thePhysicalFunctionComesFirst() {
    assertThrows(HmcException.class, () -> open(HmcFunction.virtual(9, 0)));
    assertTrue(functions.functions().isEmpty());
    open(PHYSICAL);
    HmcFunction virtual = HmcFunction.virtual(9, 0);
    HostMemoryCache cache = open(virtual);
    assertEquals(List.of(PHYSICAL, virtual), functions.functions());
    assertEquals(cache, functions.of(virtual));
  }

  @Test
  void noneIsOpenedTwice() {
    open(PHYSICAL);
    open(HmcFunction.virtual(9, 0));
    assertThrows(HmcException.class, () -> open(HmcFunction.physical(4)), "a second one");
    assertThrows(HmcException.class, () -> open(HmcFunction.virtual(11, 1)), "id 11 again");
    assertThrows(HmcException.class, () -> open(HmcFunction.virtual(9, 1)), "id 9 again");
    assertThrows(HmcException.class, () -> open(HmcFunction.virtual(10, 0)), "number 0 again");
    assertEquals(2, functions.functions().size());
  }

  @Test
  void thePhysicalFunctionGoesLast() {
    open(PHYSICAL).create(HmcObject.QP);
    HmcFunction virtual = HmcFunction.virtual(9, 31);
    open(virtual).create(HmcObject.QP);
    assertEquals(2 * HostMemoryCache.SEGMENT_SIZE, memory.dmaUsage().currentBytes());
    assertThrows(HmcException.class, () -> functions.close(PHYSICAL));
    functions.close(virtual);
    assertEquals(HostMemoryCache.SEGMENT_SIZE, memory.dmaUsage().currentBytes());
    assertThrows(HmcException.class, () -> functions.close(virtual));
    assertThrows(HmcException.class, () -> functions.of(virtual));
    open(virtual).create(HmcObject.QP);
    functions.close();
    assertEquals(0, memory.dmaUsage().currentBytes());
    assertTrue(functions.functions().isEmpty());
    functions.close();
  }

  /**
   * The offsets are those of Linux's icrdma_hw.h; that a virtual function's depends on its id and
   * has no partition field, of i40iw_hmc.h in Linux 5.13.
   */
  @Test
  void eachHasARegisterOfItsOwn() {
    assertEquals(0x00520300, PHYSICAL.invalidationRegister());
    assertEquals(0x00528300, HmcFunction.virtual(8, 5).invalidationRegister());
    assertEquals(0x00528304, HmcFunction.virtual(9, 0).invalidationRegister());
    assertEquals(0x0052837c, HmcFunction.virtual(39, 255).invalidationRegister());
    assertEquals(511 << 16 | 1 << 15 | 4095, PHYSICAL.invalidation(4095, 511));
    assertEquals(511 << 16 | 4095, HmcFunction.virtual(9, 0).invalidation(4095, 511));
    assertFalse(PHYSICAL.isVirtual());
    assertTrue(HmcFunction.virtual(9, 0).isVirtual());
  }

  @Test
  void whatHasNoNameIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> HmcFunction.physical(-1));
    assertThrows(IllegalArgumentException.class, () -> HmcFunction.physical(64));
    assertEquals(63, HmcFunction.physical(63).id());
    assertThrows(IllegalArgumentException.class, () -> HmcFunction.virtual(8, 256));
    assertThrows(IllegalArgumentException.class, () -> HmcFunction.virtual(8, -1));
    assertThrows(IllegalArgumentException.class, () -> HmcFunction.virtual(7, 0));
    assertThrows(IllegalArgumentException.class, () -> HmcFunction.virtual(40, 0));
    assertThrows(IllegalArgumentException.class, () -> new HmcFunction(0, -2));
  }

  /** Fails if the message counts the physical function among those that it backs. */
  @Test
  void whatIsBackedIsCounted() {
    open(PHYSICAL);
    open(HmcFunction.virtual(9, 3));
    HmcException refusal = assertThrows(HmcException.class, () -> functions.close(PHYSICAL));
    assertTrue(refusal.getMessage().endsWith("backs 1 virtual functions"), refusal.getMessage());
    assertThrows(IllegalArgumentException.class, () -> new HmcFunction(9, 256));
    assertThrows(IllegalArgumentException.class, () -> new HmcFunction(9, -2));
  }
}
