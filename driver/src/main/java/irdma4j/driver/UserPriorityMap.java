package irdma4j.driver;

import irdma4j.hwregs.cqp.SetUserPriorityMap;
import java.util.List;

/**
 * What the device makes of user priorities.
 *
 * <p>Source: Linux struct irdma_up_info in type.h and irdma_sc_set_up_map in ctrl.c; nothing there
 * calls it, so that what a card does with the map is a belief.
 *
 * @param priorities what each of the eight user priorities becomes, 0 to 7
 * @param fromVlan a packet's priority is that of its VLAN tag
 * @param congestionPriority priority of congestion notifications, 0 to 63, or {@link
 *     #AS_THE_PACKET}
 */
public record UserPriorityMap(List<Integer> priorities, boolean fromVlan, int congestionPriority) {
  /** Congestion notifications have no priority of their own. */
  public static final int AS_THE_PACKET = -1;

  private static final int MAX_CONGESTION_PRIORITY = 63;

  /** Checks the values. */
  public UserPriorityMap {
    priorities = List.copyOf(priorities);
    QualityOfService.eight("user priority", priorities, 0, QualityOfService.PRIORITIES - 1);
    if (congestionPriority < AS_THE_PACKET || congestionPriority > MAX_CONGESTION_PRIORITY) {
      throw new IllegalArgumentException(
          "congestionPriority %d: 0 to %d".formatted(congestionPriority, MAX_CONGESTION_PRIORITY));
    }
  }

  SetUserPriorityMap operation(int hmcFunction) {
    long map = 0;
    for (int i = 0; i < priorities.size(); i++) {
      map |= (long) priorities.get(i) << (Byte.SIZE * i);
    }
    return new SetUserPriorityMap(
        map,
        hmcFunction,
        Math.max(0, congestionPriority),
        congestionPriority != AS_THE_PACKET,
        fromVlan);
  }
}
