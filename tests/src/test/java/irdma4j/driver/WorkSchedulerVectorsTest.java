package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import irdma4j.vectors.Json;
import irdma4j.vectors.Vector;
import irdma4j.vectors.VectorSuite;
import irdma4j.vectors.Verdict;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which nodes the scheduler's tree gets, in which order, and when they go. */
class WorkSchedulerVectorsTest {
  private static final int FIRST_HANDLE = 0x30;
  private static final int FIRST_SHARE = 10;

  @Test
  void ws() {
    VectorSuite.run("ws", WorkSchedulerVectorsTest::judge);
  }

  private static Verdict judge(Vector vector) {
    if (!vector.function().equals("irdma_ws_add_remove")) {
      throw new IllegalArgumentException("unknown function");
    }
    List<String> told = new ArrayList<>();
    List<Integer> classes =
        vector.in().list("up2tc").stream().map(value -> (int) value.number()).toList();
    QueueSets queueSets =
        new QueueSets() {
          @Override
          public void register(int vsi, int trafficClass, int handle) {
            told.add("register_qset %d %d".formatted(trafficClass, handle));
            assertEquals(vector.in().integer("vsi_idx"), vsi);
          }

          @Override
          public void unregister(int vsi, int trafficClass, int handle) {
            told.add("unregister_qset %d %d".formatted(trafficClass, handle));
          }
        };
    QualityOfService quality =
        new QualityOfService(
            vector.in().integer("vsi_idx"),
            classes,
            classes.stream().map(trafficClass -> FIRST_SHARE + trafficClass).toList(),
            queueSets);
    try (ScriptedCard card = new ScriptedCard()) {
      ControlQueue control = Bench.control(card, 64);
      ControlCompletions completions = Bench.completions(card, control, 64);
      int[] added = {0};
      card.answerValue(
          command -> command instanceof ManageWorkSchedNode ? FIRST_HANDLE + added[0] : 0);
      WorkScheduler scheduler = new WorkScheduler(control, quality);
      List<Json> steps = vector.out().list("steps");
      Bench.skipTo(control, Bench.firstSlot(steps));
      card.take();
      for (Json step : steps) {
        int priority = (int) step.number("up");
        if (step.text("op").equals("add")) {
          assertEquals("OK", step.text("ret"));
          added[0]++;
          scheduler.ensure(priority);
          List<Json> handles = step.list("qs_handles");
          for (int i = 0; i < handles.size(); i++) {
            assertEquals(handles.get(i).number(), scheduler.handle(i), "priority " + i);
          }
        } else {
          scheduler.removeUnused(priority);
        }
        List<Json> events = step.has("events") ? step.list("events") : List.of();
        new RecordedTrace().compare(RecordedTrace.events(events), card.take());
        assertEquals(told(events), told);
        told.clear();
      }
      Bench.close(control, completions);
      assertEquals(0, card.dmaUsage().currentBytes());
    }
    return Verdict.PASSED;
  }

  private static List<String> told(List<Json> events) {
    return events.stream()
        .filter(event -> event.text("op").endsWith("register_qset"))
        .map(
            event ->
                "%s %d %d"
                    .formatted(event.text("op"), event.number("tc"), event.number("qs_handle")))
        .toList();
  }
}
