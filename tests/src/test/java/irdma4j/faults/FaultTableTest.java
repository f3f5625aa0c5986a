package irdma4j.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.driver.RdmaException;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.SqWqe;
import irdma4j.simulator.Fault;
import irdma4j.simulator.Moment;
import irdma4j.simulator.Occasion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every fault at every stage: the driver ends with a clear error or goes on, nothing is left in DMA
 * memory, and the device comes up again and works. The table is written to {@code
 * target/faults.md}.
 *
 * <p>Fails if any path leaks memory, hangs beyond its patience in virtual time, ends with an
 * exception that is no {@link RdmaException}, does not say what the fault was, passes over a fault
 * that it must notice, or leaves the device so that it does not come up again.
 */
final class FaultTableTest {
  private static final Path REPORT = Path.of("target", "faults.md");
  private static final String TIMEOUT = "did not answer";
  private static final String NO_OCCASION = "has no such occasion";
  private static final Map<String, Map<String, String>> TABLE = new LinkedHashMap<>();

  private static final Set<Occasion> USES_PAGES =
      EnumSet.of(Occasion.PAGE_DESCRIPTOR, Occasion.INVALIDATION);
  private static final FaultTrial trial = new FaultTrial();
  private static final List<String> stages = trial.stages();

  /**
   * A row of the table.
   *
   * @param says what one of the messages of the failure contains; null if there must be none
   * @param harmlessAt stages in which nothing comes of it
   */
  private record Row(String name, Fault fault, @Nullable String says, Set<String> harmlessAt) {
    Row(String name, Fault fault, @Nullable String says) {
      this(name, fault, says, Set.of());
    }
  }

  private static final List<Row> ROWS =
      List.of(
          new Row(
              "control operation fails",
              new Fault.FailControlOperation(
                  Moment.next(Occasion.CONTROL_OPERATION), 0xffff, 0x8123),
              "major 0xffff (error), minor 0x8123"),
          new Row(
              "control operation delayed 1 ms",
              new Fault.DelayControlOperation(Moment.next(Occasion.CONTROL_OPERATION), 1_000_000),
              null),
          new Row(
              "control operation delayed 1 min",
              new Fault.DelayControlOperation(
                  Moment.next(Occasion.CONTROL_OPERATION), 60_000_000_000L),
              TIMEOUT),
          new Row("firmware silent", new Fault.SilentFirmware(Moment.now()), "processors"),
          new Row("interrupt lost", new Fault.DropInterrupt(Moment.next(Occasion.INTERRUPT)), null),
          new Row(
              "interrupt doubled",
              new Fault.DoubleInterrupt(Moment.next(Occasion.INTERRUPT)),
              null),
          new Row(
              "control WQE corrupt",
              new Fault.CorruptDescriptor(Moment.next(Occasion.CONTROL_OPERATION), -1),
              "minor 0x0102"),
          new Row(
              "page descriptor corrupt",
              new Fault.CorruptDescriptor(Moment.next(Occasion.PAGE_DESCRIPTOR), 1),
              "0x"),
          new Row(
              "PBLE corrupt",
              new Fault.CorruptDescriptor(Moment.next(Occasion.PBLE), 1L << 45),
              "0x"),
          new Row(
              "send WQE corrupt",
              // More fragments than a WQE has room for.
              new Fault.CorruptDescriptor(
                  Moment.next(Occasion.SEND_WQE), SqWqe.ADDFRAGCNT.encode(15)),
              "(0x020c)"),
          new Row(
              "stale page descriptor",
              new Fault.SkipInvalidation(Moment.next(Occasion.INVALIDATION)),
              null),
          new Row(
              "control doorbell lost",
              new Fault.LoseDoorbell(Moment.next(Occasion.CONTROL_DOORBELL)),
              TIMEOUT),
          new Row(
              "send doorbell lost",
              new Fault.LoseDoorbell(Moment.next(Occasion.SEND_DOORBELL)),
              "no completion"),
          new Row(
              "arm doorbell lost",
              new Fault.LoseDoorbell(Moment.next(Occasion.ARM_DOORBELL)),
              null),
          new Row(
              "completion queue overflow",
              new Fault.OverflowCompletionQueue(Moment.next(Occasion.COMPLETION)),
              "(0x0203)"),
          new Row(
              "completion event lost",
              new Fault.OverflowEventQueue(Moment.next(Occasion.COMPLETION_EVENT)),
              null),
          new Row(
              "asynchronous event lost",
              new Fault.OverflowEventQueue(Moment.next(Occasion.ASYNC_EVENT)),
              "no sign of the drain's end"),
          new Row(
              "HMC error",
              new Fault.HmcError(Moment.now(), 0x0001_024e),
              "critical error 0x0001024e"),
          new Row("PCI error", new Fault.PciError(Moment.now()), "gone"),
          new Row("surprise removal", new Fault.SurpriseRemoval(Moment.now()), "gone"),
          new Row(
              "removal while frames arrive",
              new Fault.SurpriseRemoval(Moment.next(Occasion.FRAME_RECEIVED).nth(3)),
              "gone"),
          new Row(
              "reset by another",
              new Fault.DeviceReset(Moment.now()),
              "reset",
              // There is nothing yet that it could forget.
              Set.of("bus master", "firmware", "control QP")),
          new Row(
              "reset in the middle of traffic",
              new Fault.DeviceReset(Moment.next(Occasion.FRAME_SENT).nth(3)),
              "reset"));

  @TestFactory
  Stream<DynamicTest> everyFaultAtEveryStage() {
    return ROWS.stream()
        .flatMap(
            row ->
                stages.stream()
                    .map(
                        stage ->
                            DynamicTest.dynamicTest(
                                row.name() + " at " + stage, () -> cell(row, stage))));
  }

  private static void cell(Row row, String stage) {
    FaultTrial.Outcome outcome =
        trial.run(
            stages,
            stage,
            row.fault(),
            // The others have no use for page descriptors, and many pages take long to allocate.
            USES_PAGES.contains(row.fault().when().occasion())
                ? SegmentType.PAGED
                : SegmentType.DIRECT);
    assertEquals(0, trial.balance(), () -> "memory left: " + outcome);
    RuntimeException failure = outcome.failure();
    if (failure != null) {
      // The driver's, or that of the application here.
      assertInstanceOf(RdmaException.class, failure, outcome::toString);
      assertFalse(failure.getMessage().isBlank());
    }
    String says = row.says();
    if (!outcome.struck() || says == null || row.harmlessAt().contains(stage)) {
      assertEquals(null, failure, "must work");
    } else {
      assertTrue(failure != null, "went unnoticed");
      assertTrue(
          messages(failure).stream().anyMatch(m -> m.contains(says)),
          () -> "'" + says + "' is not in " + messages(failure));
    }
    if (!(row.fault() instanceof Fault.CorruptDescriptor)) {
      assertEquals(0, outcome.dmaFaults(), "the device touched memory that it was not given");
    }
    trial.runWithoutFault();
    assertEquals(0, trial.balance(), "memory left by the second run");
    TABLE.computeIfAbsent(row.name(), name -> new LinkedHashMap<>()).put(stage, cell(outcome));
  }

  private static String cell(FaultTrial.Outcome outcome) {
    RuntimeException failure = outcome.failure();
    if (!outcome.struck()) {
      return NO_OCCASION;
    }
    return failure == null
        ? "works"
        : "%s: %s".formatted(outcome.stage(), failure.getMessage()).replace('|', '/');
  }

  private static List<String> messages(@Nullable Throwable failure) {
    List<String> messages = new ArrayList<>();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      messages.add(String.valueOf(cause.getMessage()));
    }
    return messages;
  }

  @AfterAll
  static void report() throws IOException {
    trial.close();
    StringBuilder text = new StringBuilder("# Faults and stages\n\n| fault | stage | ends |\n");
    text.append("|---|---|---|\n");
    List<String> empty = new ArrayList<>();
    List<String> idle = new ArrayList<>();
    for (Row row : ROWS) {
      Map<String, String> cells = TABLE.getOrDefault(row.name(), Map.of());
      for (String stage : stages) {
        String cell = cells.get(stage);
        if (cell == null) {
          empty.add(row.name() + " at " + stage);
        }
        text.append("| %s | %s | %s |%n".formatted(row.name(), stage, cell));
      }
      if (cells.values().stream().allMatch(NO_OCCASION::equals)) {
        idle.add(row.name());
      }
    }
    Files.createDirectories(REPORT.getParent());
    Files.writeString(REPORT, text);
    assertEquals(List.of(), empty, "cells that are empty");
    assertEquals(List.of(), idle, "faults that never struck");
  }
}
