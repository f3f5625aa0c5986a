package irdma4j.simulator.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.Registers;
import irdma4j.simulator.watch.Watch;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** From event queues to MSI-X messages: throttles, masks, and that no event is forgotten. */
final class InterruptControllerProperties {
  private static final int VECTOR = 2;
  private static final int CAUSES = 3;

  private long now = 1_000_000_000;
  private long lastMessage = Long.MIN_VALUE / 2;
  private int messages;
  private boolean enabled;
  private final RegisterFile registers = new RegisterFile(Device.BAR_BYTES);
  private final int[] intervalMicros = new int[3];
  private int rateMicros;

  /** Causes since the last message, and the earliest time at which one of them may be answered. */
  private int waiting;

  private long allowedAt;

  private final InterruptController controller =
      new InterruptController(
          registers,
          new DeviceCounters(),
          4,
          this::message,
          () -> now,
          occasion -> null,
          Watch.NONE);

  private void message(int vector) {
    assertEquals(VECTOR, vector);
    assertTrue(waiting > 0, "a message without a cause");
    assertTrue(enabled, "a message of a vector that is off");
    assertTrue(now >= allowedAt, "a message before its throttle allows it");
    assertTrue(now - lastMessage >= rateMicros * 1000L, "faster than the rate limit");
    lastMessage = now;
    messages++;
    waiting = 0;
    enabled = false;
  }

  private void enable(int index, int micros) {
    enabled = true;
    registers.set(
        Registers.GLINT_DYN_CTL.offset(VECTOR),
        (int)
            (Registers.DYN_CTL_INTENA.mask()
                | Registers.DYN_CTL_ITR_INDX.encode(index)
                | Registers.DYN_CTL_INTERVAL.encode(micros / 2)));
    if (index < 3) {
      intervalMicros[index] = micros / 2 * 2;
    }
    controller.controlWritten(VECTOR);
  }

  private void cause(int index) {
    int named =
        (int) Registers.CEQCTL_ITR_INDX.decode(registers.get(Registers.GLINT_CEQCTL.offset(index)));
    long allowed = named == 3 ? Long.MIN_VALUE : lastMessage + intervalMicros[named] * 1000L;
    allowedAt = waiting == 0 ? allowed : Math.min(allowedAt, allowed);
    waiting++;
    controller.cause(Registers.GLINT_CEQCTL.offset(index));
  }

  private void pass(long nanos) {
    long end = now + nanos;
    while (controller.timerAt() <= end) {
      now = Math.max(now, controller.timerAt());
      controller.timer();
    }
    now = end;
  }

  /**
   * A message comes only for a cause, only while the vector is on, never before the throttle of one
   * of its causes and the rate limit allow it, and then at once: once the vector is on and time has
   * passed, no cause waits. Fails if a kept event is dropped, a throttle is counted in other units,
   * one cause's throttle is obeyed by another, or a message comes while the vector is masked.
   */
  @Property(tries = 500)
  void messagesObeyThrottlesAndMasksAndNoneIsLost(@ForAll long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < CAUSES; i++) {
      registers.set(
          Registers.GLINT_CEQCTL.offset(i),
          (int)
              (Registers.CEQCTL_CAUSE_ENA.mask()
                  | Registers.CEQCTL_MSIX_INDX.encode(VECTOR)
                  | Registers.CEQCTL_ITR_INDX.encode(random.nextInt(4))));
    }
    if (random.nextBoolean()) {
      rateMicros = 4 * random.nextInt(64);
      registers.set(
          Registers.GLINT_RATE.offset(VECTOR),
          (int) (Registers.RATE_INTRL_ENA.mask() | Registers.RATE_INTERVAL.encode(rateMicros / 4)));
    }
    for (int step = 0; step < 60; step++) {
      switch (random.nextInt(5)) {
        case 0, 1 -> cause(random.nextInt(CAUSES));
        case 2 -> enable(random.nextInt(4), random.nextInt(200));
        case 3 -> {
          registers.set(Registers.GLINT_DYN_CTL.offset(VECTOR), 0);
          intervalMicros[0] = 0;
          enabled = false;
          controller.controlWritten(VECTOR);
        }
        default -> pass(random.nextInt(100_000));
      }
    }
    int before = messages;
    boolean waits = waiting > 0;
    enable(3, 0);
    pass(10_000_000);
    assertEquals(0, waiting, "a cause is forgotten");
    assertEquals(before + (waits ? 1 : 0), messages);
    // Without a throttle and long after the last message, one comes at once.
    registers.set(
        Registers.GLINT_CEQCTL.offset(0),
        (int)
            (Registers.CEQCTL_CAUSE_ENA.mask()
                | Registers.CEQCTL_MSIX_INDX.encode(VECTOR)
                | Registers.CEQCTL_ITR_INDX.encode(3)));
    enable(3, 0);
    cause(0);
    assertEquals(0, waiting);
  }
}
