package irdma4j.driver;

import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The device's tree of queue sets: a root, under it the function's virtual station interface, under
 * that a leaf for each traffic class in use. Nodes are there while they have users. Not
 * thread-safe.
 *
 * <p>Source: Linux irdma_ws_add, irdma_ws_remove in ws.c.
 */
final class WorkScheduler {
  private static final int ADD = 0;
  private static final int MODIFY = 1;
  private static final int DELETE = 2;
  private static final int WEIGHTED_ROUND_ROBIN = 1;
  private static final int ROOT = 0;
  private static final int FIRST_NODE = 1;
  private static final int NODES = 1024;

  private record Leaf(int node, int trafficClass, int weight, int handle) {}

  private final ControlQueue control;
  private final QualityOfService quality;
  private final IdPool nodes = new IdPool("scheduler node", FIRST_NODE, NODES);
  // That the device would not take away, with their numbers in use.
  private final List<Leaf> left = new ArrayList<>();
  private final int[] users = new int[QualityOfService.PRIORITIES];
  private final Map<Integer, Leaf> leaves = new TreeMap<>();
  private boolean root;
  private @Nullable Integer vsiNode;

  WorkScheduler(ControlQueue control, QualityOfService quality) {
    this.control = control;
    this.quality = quality;
  }

  /** The queue set of a user priority, which has one user more until {@link #release}. */
  int acquire(int priority) {
    int handle = ensure(priority);
    users[priority]++;
    return handle;
  }

  /** The user priority has one user less; queue sets that nobody uses go. */
  void release(int priority) {
    if (users[priority] == 0) {
      throw new IllegalStateException("user priority " + priority + " has no user");
    }
    users[priority]--;
    removeUnused(priority);
  }

  /** The queue set of a user priority, or 0 if there is none. */
  int handle(int priority) {
    Leaf leaf = leaves.get(trafficClass(priority));
    return leaf == null ? 0 : leaf.handle();
  }

  private int trafficClass(int priority) {
    return quality.trafficClassOfPriority().get(priority);
  }

  /** Makes the queue set of a user priority if there is none; a failure leaves what was there. */
  int ensure(int priority) {
    int trafficClass = trafficClass(priority);
    Leaf known = leaves.get(trafficClass);
    if (known != null) {
      return known.handle();
    }
    try {
      if (!root) {
        execute(ADD, ROOT, ROOT, 1, 0, false, true);
        root = true;
      }
      Integer parent = vsiNode;
      if (parent == null) {
        parent = addNode(ROOT, 1, 0, false).node();
        vsiNode = parent;
      }
      Leaf leaf = addNode(parent, quality.bandwidthOfPriority().get(priority), trafficClass, true);
      leaves.put(trafficClass, leaf);
      quality.queueSets().register(quality.vsi(), trafficClass, leaf.handle());
      try {
        changeLeaf(MODIFY, leaf, true);
      } catch (RuntimeException e) {
        quality.queueSets().unregister(quality.vsi(), trafficClass, leaf.handle());
        throw e;
      }
      return leaf.handle();
    } catch (RuntimeException e) {
      try {
        Leaf half = leaves.get(trafficClass);
        if (half != null) {
          removeLeaf(half, false);
        }
        removeEmptyParents();
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
  }

  private Leaf addNode(int parent, int weight, int trafficClass, boolean leaf) {
    int node = nodes.take();
    try {
      int handle = (int) execute(ADD, node, parent, weight, trafficClass, leaf, !leaf);
      return new Leaf(node, trafficClass, weight, handle);
    } catch (RuntimeException e) {
      nodes.giveBack(node);
      throw e;
    }
  }

  /** Takes a user priority's queue set away unless a priority of its class has a user. */
  void removeUnused(int priority) {
    int trafficClass = trafficClass(priority);
    for (int other = 0; other < users.length; other++) {
      if (users[other] > 0 && trafficClass(other) == trafficClass) {
        return;
      }
    }
    Leaf leaf = leaves.get(trafficClass);
    if (leaf != null) {
      removeLeaf(leaf, true);
      removeEmptyParents();
    }
  }

  private void removeLeaf(Leaf leaf, boolean enabled) {
    leaves.remove(leaf.trafficClass());
    try {
      changeLeaf(DELETE, leaf, enabled);
      nodes.giveBack(leaf.node());
    } catch (ControlQueueException refused) {
      left.add(leaf);
      throw refused;
    } finally {
      if (enabled) {
        quality.queueSets().unregister(quality.vsi(), leaf.trafficClass(), leaf.handle());
      }
    }
  }

  private void removeEmptyParents() {
    if (!leaves.isEmpty()) {
      return;
    }
    while (!left.isEmpty()) {
      changeLeaf(DELETE, left.getFirst(), true);
      nodes.giveBack(left.removeFirst().node());
    }
    Integer node = vsiNode;
    if (node != null) {
      execute(DELETE, node, ROOT, 1, 0, false, true);
      vsiNode = null;
      nodes.giveBack(node);
    }
    if (root) {
      execute(DELETE, ROOT, ROOT, 1, 0, false, true);
      root = false;
    }
  }

  private void changeLeaf(int operation, Leaf leaf, boolean enabled) {
    Integer parent = vsiNode;
    if (parent == null) {
      throw new IllegalStateException("a queue set without its interface");
    }
    execute(operation, leaf.node(), parent, leaf.weight(), leaf.trafficClass(), true, enabled);
  }

  private long execute(
      int operation,
      int node,
      int parent,
      int weight,
      int trafficClass,
      boolean leaf,
      boolean enabled) {
    return control.execute(
        new ManageWorkSchedNode(
            weight,
            quality.vsi(),
            node,
            parent,
            0,
            operation,
            0,
            trafficClass,
            WEIGHTED_ROUND_ROBIN,
            leaf,
            enabled));
  }

  /** Takes all nodes away, whoever uses them. */
  void close() {
    java.util.Arrays.fill(users, 0);
    for (int priority = 0; priority < QualityOfService.PRIORITIES; priority++) {
      removeUnused(priority);
    }
  }
}
