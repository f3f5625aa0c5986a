package irdma4j.driver;

import irdma4j.hwregs.cqp.Nop;
import irdma4j.vectors.Json;
import java.util.List;

/** The driver's control queue pair on a scripted card. */
final class Bench {
  private static final long TIMEOUT_NANOS = 10_000_000;

  private Bench() {}

  /** A control queue pair that the card has accepted. */
  static ControlQueue control(ScriptedCard card, int slots) {
    ControlQueue control =
        new ControlQueue(
            card, card.bar(0), DeviceConfig.defaults().controlContext(), slots, TIMEOUT_NANOS);
    control.create();
    return control;
  }

  /** Its completion queue, created on the card. */
  static ControlCompletions completions(ScriptedCard card, ControlQueue control, int entries) {
    ControlCompletions completions =
        new ControlCompletions(card, card.bar(0), control.ring(), entries);
    control.useCompletions(completions);
    control.execute(completions.creation());
    return completions;
  }

  /** Destroys the completion queue. */
  static void destroy(ControlQueue control, ControlCompletions completions) {
    control.useCompletions(null);
    control.execute(completions.destruction());
    completions.close();
  }

  /** Destroys both. */
  static void close(ControlQueue control, ControlCompletions completions) {
    destroy(control, completions);
    control.close();
  }

  /** The slot of the first WQE of a recorded trace. */
  static int firstSlot(List<Json> steps) {
    for (Json step : steps) {
      for (Json event : step.list("events")) {
        if (event.text("op").equals("cqp_wqe")) {
          return event.integer("idx");
        }
      }
    }
    throw new IllegalArgumentException("a trace without a WQE");
  }

  /** Does nothing until the next operation is in a slot, as in a recorded trace. */
  static void skipTo(ControlQueue control, int slot) {
    while (control.ring().nextSlot() != slot) {
      control.execute(new Nop());
    }
  }
}
