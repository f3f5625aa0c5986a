package irdma4j.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import irdma4j.hwregs.cqp.CqpCommand;
import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

/**
 * The card's tree has a leaf for each traffic class that has users, a node above them while there
 * is a leaf, and nothing once nobody uses it, whichever operation fails in the middle.
 *
 * <p>Fails if a node stays behind, a node goes while it has users, a number is used twice, or the
 * LAN side is told of a queue set that is not there.
 */
class WorkSchedulerProperties {
  private static final int PRIORITIES = QualityOfService.PRIORITIES;

  /** Takes or gives back a user of a priority; the nth operation of it fails, or none. */
  record Step(boolean acquire, int priority, int failing) {}

  @Provide
  static Arbitrary<Step> steps() {
    return Combinators.combine(
            Arbitraries.of(true, true, false),
            Arbitraries.integers().between(0, PRIORITIES - 1),
            Arbitraries.frequency(
                net.jqwik.api.Tuple.of(3, 0),
                net.jqwik.api.Tuple.of(1, 1),
                net.jqwik.api.Tuple.of(1, 2),
                net.jqwik.api.Tuple.of(1, 3),
                net.jqwik.api.Tuple.of(1, 4)))
        .as(Step::new);
  }

  /** What stands in the card's tree, from the WQEs that it did. */
  private static final class Tree {
    private final Map<Integer, ManageWorkSchedNode> nodes = new TreeMap<>();

    void follow(List<ScriptedCard.Event> events, int failing) {
      int count = 0;
      for (ScriptedCard.Event event : events) {
        if (event instanceof ScriptedCard.Event.Wqe(int slot, String hex)) {
          MemorySegment wqe = MemorySegment.ofArray(new long[8]);
          byte[] bytes = HexFormat.of().parseHex(hex);
          MemorySegment.copy(bytes, 0, wqe, ValueLayout.JAVA_BYTE, 0, bytes.length);
          count++;
          if (count != failing && CqpCommand.decode(wqe, 0) instanceof ManageWorkSchedNode node) {
            apply(node);
          }
        }
      }
    }

    private void apply(ManageWorkSchedNode node) {
      switch (node.operation()) {
        case 0 -> {
          assertTrue(nodes.putIfAbsent(node.nodeId(), node) == null, "twice: " + node);
          assertTrue(node.nodeId() == 0 || nodes.containsKey(node.parentId()), "no parent");
        }
        case 1 -> assertTrue(nodes.containsKey(node.nodeId()), "not there: " + node);
        default -> assertTrue(nodes.remove(node.nodeId()) != null, "not there: " + node);
      }
    }

    Set<Integer> classes() {
      Set<Integer> classes = new TreeSet<>();
      nodes.values().stream()
          .filter(ManageWorkSchedNode::leaf)
          .forEach(node -> classes.add(node.trafficClass()));
      return classes;
    }

    int size() {
      return nodes.size();
    }
  }

  @Property(tries = 1000)
  void leavesAreThereWhileTheyHaveUsers(
      @ForAll @Size(PRIORITIES) List<@net.jqwik.api.constraints.IntRange(max = 3) Integer> classes,
      @ForAll("steps") Step first,
      @ForAll @Size(max = 40) List<@net.jqwik.api.From("steps") Step> steps) {
    Set<String> registered = new TreeSet<>();
    QueueSets queueSets =
        new QueueSets() {
          @Override
          public void register(int vsi, int trafficClass, int handle) {
            assertTrue(registered.add(trafficClass + "/" + handle));
          }

          @Override
          public void unregister(int vsi, int trafficClass, int handle) {
            assertTrue(registered.remove(trafficClass + "/" + handle));
          }
        };
    QualityOfService quality =
        new QualityOfService(9, classes, List.of(1, 1, 1, 1, 1, 1, 1, 1), queueSets);
    try (ScriptedCard card = new ScriptedCard()) {
      ControlQueue control = Bench.control(card, 64);
      ControlCompletions completions = Bench.completions(card, control, 128);
      int[] handles = {100};
      card.answerValue(command -> ++handles[0]);
      WorkScheduler scheduler = new WorkScheduler(control, quality);
      Tree tree = new Tree();
      int[] users = new int[PRIORITIES];
      card.take();
      List<Step> all = new ArrayList<>(steps);
      all.addFirst(first);
      for (Step step : all) {
        run(step, card, scheduler, users);
        tree.follow(card.take(), step.acquire() ? step.failing() : 0);
        Set<Integer> used = new TreeSet<>();
        for (int priority = 0; priority < PRIORITIES; priority++) {
          if (users[priority] > 0) {
            used.add(classes.get(priority));
            assertTrue(scheduler.handle(priority) > 100);
          }
        }
        assertEquals(used, tree.classes());
        assertEquals(used.isEmpty() ? 0 : used.size() + 2, tree.size());
        assertEquals(used.size(), registered.size());
      }
      scheduler.close();
      tree.follow(card.take(), 0);
      assertEquals(0, tree.size());
      assertEquals(Set.of(), registered);
      Bench.close(control, completions);
    }
  }

  private static void run(Step step, ScriptedCard card, WorkScheduler scheduler, int[] users) {
    int priority = step.priority();
    if (!step.acquire()) {
      if (users[priority] == 0) {
        assertThrows(IllegalStateException.class, () -> scheduler.release(priority));
      } else {
        users[priority]--;
        scheduler.release(priority);
      }
      return;
    }
    card.failOnce(step.failing(), new ScriptedCard.Failure(0xffff, 0x8001));
    try {
      scheduler.acquire(priority);
      users[priority]++;
    } catch (ControlQueueException e) {
      assertEquals(0x8001, e.minor());
    }
    card.failOnce(0, new ScriptedCard.Failure(0, 0));
  }
}
