package irdma4j.uapi.vfio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.SystemCallException;
import irdma4j.uapi.linux.Linux;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Whatever is done with a function, and whichever system call the kernel refuses: the exception
 * says which call with what arguments, why, and what to do; what was refused has changed nothing;
 * and when the function is closed nothing is left, and the device is quiet.
 *
 * <p>Fails if an eventfd is not closed when a later one, or enabling, is refused; if memory stays
 * mapped where the IOMMU refuses it; if the first failure of closing ends it; if a descriptor is
 * used after it is closed.
 */
class VfioFailureProperties {
  private static final List<Integer> ERRORS =
      List.of(
          Linux.EPERM(),
          Linux.ENOENT(),
          Linux.EIO(),
          Linux.EBADF(),
          Linux.ENOMEM(),
          Linux.EACCES(),
          Linux.EBUSY(),
          Linux.ENODEV(),
          Linux.EINVAL(),
          Linux.EMFILE(),
          Linux.ENOTTY(),
          Linux.ENOSPC());

  private static Path machine;

  /** Something that is done with an open function. */
  enum Action {
    READ_MAPPED,
    READ_HOLE,
    SECOND_BAR,
    CONFIGURATION,
    BUS_MASTER,
    ALLOCATE,
    FREE,
    ENABLE,
    POLL,
    WAIT,
    DISABLE,
    RESET,
    BUS_RESET,
    MAPPINGS_LEFT
  }

  /** An action with a number that says how many or which. */
  record Step(Action action, int number) {}

  @BeforeContainer
  static void makeMachine() throws IOException {
    machine = MadeUpMachine.in(Files.createTempDirectory("irdma4j"), true);
  }

  @AfterContainer
  static void removeMachine() throws IOException {
    MadeUpMachine.remove(machine);
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.of(Action.values()), Arbitraries.integers().between(0, 5))
        .as(Step::new)
        .list()
        .ofMaxSize(25);
  }

  @Provide
  Arbitrary<VfioOptions.Access> ways() {
    return Arbitraries.of(VfioOptions.Access.GROUP, VfioOptions.Access.CDEV);
  }

  @Provide
  Arbitrary<Integer> errors() {
    return Arbitraries.of(ERRORS);
  }

  private static CardStandIn card() {
    return new CardStandIn()
        .withBar(0, 1 << 20, new Region.Area(0, 0x8000), new Region.Area(0x9000, 0xf7000))
        .withBar(3, 1 << 16);
  }

  private static VfioFunction open(KernelStandIn kernel, VfioOptions.Access way) {
    return VfioFunction.open(
        kernel, CardStandIn.BDF, new VfioOptions(way, VfioOptions.PageSize.SMALL, machine));
  }

  @Property
  void nothingIsLeftWhicheverCallIsRefused(
      @ForAll("ways") VfioOptions.Access way,
      @ForAll("steps") List<Step> steps,
      @ForAll("errors") int errno,
      @ForAll("when") int when) {
    KernelStandIn kernel = new KernelStandIn(card());
    kernel.failAt(when, errno);
    run(kernel, way, steps, errno);
    assertEquals(List.of(), kernel.mistakes());
    assertEquals(KernelStandIn.Balance.ZERO, kernel.balance(), () -> "after " + kernel.failed());
  }

  @Provide
  Arbitrary<Integer> when() {
    return Arbitraries.integers().between(0, 120);
  }

  /** Opens, does everything once, and closes: each call of it is refused by turns. */
  @Property(tries = 30)
  void everyCallOfALifeCanBeRefused(
      @ForAll("ways") VfioOptions.Access way, @ForAll("errors") int errno) {
    List<Step> life = new ArrayList<>();
    for (Action action : Action.values()) {
      life.add(new Step(action, 3));
    }
    life.add(new Step(Action.ENABLE, 2));
    life.add(new Step(Action.ALLOCATE, 2));
    KernelStandIn whole = new KernelStandIn(card());
    run(whole, way, life, errno);
    assertEquals("", whole.failed());
    assertTrue(whole.calls() > 30, whole.calls() + " calls");
    for (int i = 0; i < whole.calls(); i++) {
      KernelStandIn kernel = new KernelStandIn(card());
      kernel.failAt(i, errno);
      run(kernel, way, life, errno);
      assertFalse(kernel.failed().isEmpty(), "call " + i);
      assertEquals(List.of(), kernel.mistakes(), kernel.failed());
      assertEquals(KernelStandIn.Balance.ZERO, kernel.balance(), kernel.failed());
    }
  }

  private static void run(
      KernelStandIn kernel, VfioOptions.Access way, List<Step> steps, int errno) {
    VfioFunction function;
    try {
      function = open(kernel, way);
    } catch (SystemCallException e) {
      assertClear(kernel, e, errno);
      return;
    }
    List<DmaMemory> memories = new ArrayList<>();
    boolean enabled = false;
    for (Step step : steps) {
      KernelStandIn.Balance before = kernel.balance();
      long bytes = function.dmaUsage().currentBytes();
      try {
        enabled = act(function, kernel, step, memories, enabled);
      } catch (SystemCallException e) {
        assertClear(kernel, e, errno);
        if (step.action() == Action.DISABLE) {
          enabled = false;
        } else if (step.action() == Action.READ_HOLE) {
          // The BAR may have been mapped, and then its hole was not read.
          assertEquals(before.descriptors(), kernel.balance().descriptors());
        } else if (step.action() != Action.FREE) {
          assertEquals(before, kernel.balance(), "after " + kernel.failed());
          assertEquals(bytes, function.dmaUsage().currentBytes());
        }
      }
    }
    String failed = kernel.failed();
    try {
      function.close();
      assertEquals(failed, kernel.failed(), "a failure of closing that nobody is told");
    } catch (SystemCallException e) {
      assertClear(kernel, e, errno);
    }
    assertEquals(0, function.dmaUsage().currentBytes());
    int calls = kernel.calls();
    function.close();
    assertEquals(calls, kernel.calls(), "closing twice does something");
  }

  /** Whether interrupts are enabled afterwards. */
  private static boolean act(
      VfioFunction function,
      KernelStandIn kernel,
      Step step,
      List<DmaMemory> memories,
      boolean enabled) {
    int number = step.number();
    switch (step.action()) {
      case READ_MAPPED -> assertEquals(0, function.bar(0).read32(0x9000L + number * 4L));
      case READ_HOLE -> assertEquals(0, function.bar(0).read64(0x8000L + number * 8L));
      case SECOND_BAR -> function.bar(3).write32(number * 4L, number);
      case CONFIGURATION -> assertEquals(0x8086, function.config().vendorId());
      case BUS_MASTER -> function.setBusMaster(number != 0);
      case ALLOCATE -> memories.add(function.allocateDma(1 + number * 5000L, 4096));
      case FREE -> {
        if (!memories.isEmpty()) {
          memories.remove(number % memories.size()).close();
        }
      }
      case ENABLE -> {
        if (!enabled) {
          function.interrupts().enable(1 + number);
          return true;
        }
      }
      case POLL -> {
        if (enabled) {
          function.interrupts().poll(0);
        }
      }
      case WAIT -> {
        if (enabled) {
          kernel.raise(0);
          assertTrue(function.interrupts().await(0, 1_000_000_000));
        }
      }
      case DISABLE -> {
        function.interrupts().disable();
        return false;
      }
      case RESET -> function.reset();
      case BUS_RESET -> function.hotReset();
      case MAPPINGS_LEFT -> assertTrue(function.mappingsLeft() > 0);
    }
    return enabled;
  }

  /** The call with its arguments, its errno by name, and something to do. */
  private static void assertClear(KernelStandIn kernel, SystemCallException e, int errno) {
    assertEquals(kernel.failed(), e.call());
    assertEquals(errno, e.errno());
    assertTrue(e.call().matches("\\w+\\(.*\\)"), e.call());
    String rest = e.getMessage().substring(e.call().length());
    assertTrue(rest.matches("(?s): E[A-Z]+ \\(\\d+\\); .{15,}"), e.getMessage());
  }
}
