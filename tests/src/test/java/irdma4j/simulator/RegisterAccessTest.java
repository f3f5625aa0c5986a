package irdma4j.simulator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.Registers;
import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.PciFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** BAR 0 and configuration space as a driver sees them. */
final class RegisterAccessTest {
  private static final int REGISTER = Registers.VSIQF_PE_CTL1.offset();

  private static Simulation simulation(boolean stepped) {
    Simulation.Builder builder = Simulation.builder().functions(1).seed(3);
    return stepped ? builder.stepped().build() : builder.threaded().build();
  }

  /**
   * A read sees every write before it, however many writes wait. Fails if a read does not wait for
   * the mailbox, or the mailbox loses or reorders writes when it is full.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aReadComesAfterEarlierWrites(boolean stepped) {
    try (Simulation simulation = simulation(stepped)) {
      Bar bar = simulation.function(0).bar(0);
      for (int i = 1; i < 20_000; i++) {
        bar.write32(REGISTER, i);
        if (i % 7 == 0 || i % 4999 == 0) {
          assertEquals(i, bar.read32(REGISTER));
        }
      }
      assertEquals(19_999, bar.read32(REGISTER));
    }
  }

  /** Threads that write to one function do not lose or mix one another's writes. */
  @Test
  void severalThreadsWrite() throws ExecutionException, InterruptedException {
    try (Simulation simulation = simulation(false);
        ExecutorService threads = Executors.newFixedThreadPool(4)) {
      Bar bar = simulation.function(0).bar(0);
      List<Future<Boolean>> done = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        int register = Registers.VSIQF_PE_CTL1.offset(t);
        int thread = t;
        done.add(
            threads.submit(
                () -> {
                  boolean right = true;
                  for (int i = 0; i < 20_000; i++) {
                    bar.write32(register, thread << 24 | i);
                    if (i % 97 == 0) {
                      right &= bar.read32(register) == (thread << 24 | i);
                    }
                  }
                  return right;
                }));
      }
      for (Future<Boolean> future : done) {
        assertTrue(future.get());
      }
    }
  }

  /** Unknown offsets read 0, writes there do nothing, and both are remembered. */
  @Test
  void unknownRegistersAreRemembered() {
    try (Simulation simulation = simulation(true)) {
      Bar bar = simulation.function(0).bar(0);
      assertEquals(0, bar.read32(0x1230));
      bar.write32(0x4560, 7);
      assertEquals(0, bar.read32(0x4560));
      bar.write32(Registers.GLPE_CPUSTATUS0.offset(), 0);
      assertEquals(Registers.CPUSTATUS_RUNNING, bar.read32(Registers.GLPE_CPUSTATUS0.offset()));
      assertArrayEquals(new int[] {0x1230, 0x4560}, simulation.unknownRegisters(0));
    }
  }

  /** 64 bits are two registers, the lower first. */
  @Test
  void wideAccesses() {
    try (Simulation simulation = simulation(true)) {
      Bar bar = simulation.function(0).bar(0);
      bar.write64(REGISTER, 0x1111_2222_3333_4444L);
      assertEquals(0x3333_4444, bar.read32(REGISTER));
      assertEquals(0x1111_2222, bar.read32(REGISTER + 4L));
      assertEquals(0x1111_2222_3333_4444L, bar.read64(REGISTER));
    }
  }

  /** Offsets outside, and misaligned ones, are the caller's mistake. */
  @Test
  void refusesOffsetsOutside() {
    try (Simulation simulation = simulation(true)) {
      Bar bar = simulation.function(0).bar(0);
      assertThrows(IndexOutOfBoundsException.class, () -> bar.read32(bar.size()));
      assertThrows(IndexOutOfBoundsException.class, () -> bar.read32(-4));
      assertThrows(IndexOutOfBoundsException.class, () -> bar.write32(2, 0));
      assertThrows(IndexOutOfBoundsException.class, () -> bar.read64(bar.size() - 4));
      assertThrows(IllegalArgumentException.class, () -> simulation.function(0).bar(1));
    }
  }

  /**
   * The ids, the class, the size of BAR 0 and the MSI-X capability, found as software finds them.
   */
  @Test
  void configurationSpaceIsAnE810s() {
    try (Simulation simulation = simulation(true)) {
      PciFunction function = simulation.function(0);
      ConfigSpace config = function.config();
      assertEquals(0x8086, config.vendorId());
      assertEquals(0x1592, config.deviceId());
      assertEquals(0x020000, config.read32(0x08) >>> 8);
      int low = config.read32(0x10);
      assertEquals(0x4, low & 0x6, "64 bits wide");
      config.write32(0x10, -1);
      assertEquals(function.bar(0).size(), -(config.read32(0x10) & ~0xfL) & 0xffff_ffffL);
      config.write32(0x10, low);
      assertEquals(low, config.read32(0x10));
      int capability = config.read8(0x34);
      while (config.read8(capability) != 0x11) {
        capability = config.read8(capability + 1);
        assertTrue(capability != 0, "no MSI-X capability");
      }
      assertEquals(function.interrupts().count() - 1, config.read16(capability + 2) & 0x7ff);
      assertEquals(0, config.read16(0x04) & 4);
      function.setBusMaster(true);
      assertEquals(4, config.read16(0x04) & 4);
    }
  }

  /** A closed function answers no access any more. */
  @Test
  void aClosedFunctionIsClosed() {
    Simulation simulation = simulation(false);
    Bar bar = simulation.function(0).bar(0);
    simulation.close();
    simulation.close();
    assertThrows(IllegalStateException.class, () -> bar.read32(0));
    assertThrows(IllegalStateException.class, () -> bar.write32(0, 0));
  }
}
