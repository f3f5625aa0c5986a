package irdma4j.simulator.device;

import irdma4j.hwregs.cqp.ManageWorkSchedNode;
import irdma4j.hwregs.cqp.SetUserPriorityMap;
import java.util.HashMap;
import java.util.Map;

/** Nodes of the work scheduler and the map of priorities. They are kept; nothing goes by them. */
final class SchedulerTables {
  private static final int ADD = 0;
  private static final int CHANGE = 1;
  private static final int DELETE = 2;

  private final Map<Integer, Integer> parentOfNode = new HashMap<>();
  private long priorityMap;
  private int returnValue;

  void reset() {
    parentOfNode.clear();
    priorityMap = 0;
  }

  /** What the last operation returned. */
  int returnValue() {
    return returnValue;
  }

  /** The map of user priorities, one byte for each. */
  long priorityMap() {
    return priorityMap;
  }

  /** The first node is the root; every other node has a parent that is there. */
  ControlStatus manageNode(ManageWorkSchedNode c) {
    returnValue = 0;
    boolean known = parentOfNode.containsKey(c.nodeId());
    switch (c.operation()) {
      case ADD -> {
        if (known) {
          return ControlStatus.OBJECT_EXISTS;
        }
        if (!parentOfNode.isEmpty() && !parentOfNode.containsKey(c.parentId())) {
          return ControlStatus.NO_SUCH_OBJECT;
        }
        parentOfNode.put(c.nodeId(), parentOfNode.isEmpty() ? -1 : c.parentId());
        returnValue = c.leaf() ? c.nodeId() : 0;
        return ControlStatus.OK;
      }
      case CHANGE -> {
        returnValue = c.leaf() ? c.nodeId() : 0;
        return known ? ControlStatus.OK : ControlStatus.NO_SUCH_OBJECT;
      }
      case DELETE -> {
        if (parentOfNode.containsValue(c.nodeId())) {
          return ControlStatus.OBJECT_IN_USE;
        }
        return parentOfNode.remove(c.nodeId()) == null
            ? ControlStatus.NO_SUCH_OBJECT
            : ControlStatus.OK;
      }
      default -> {
        return ControlStatus.BAD_PARAMETER;
      }
    }
  }

  ControlStatus setPriorityMap(SetUserPriorityMap c) {
    priorityMap = c.map();
    return ControlStatus.OK;
  }
}
