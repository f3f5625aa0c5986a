package irdma4j.driver;

import irdma4j.hwregs.MulticastContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The members of a multicast group, each with how often it joined. Not thread-safe.
 *
 * <p>Source of the rules: Linux irdma_sc_add_mcast_grp and irdma_sc_del_mcast_grp in uda.c.
 */
final class MulticastMembers {
  private final Map<MulticastContext.Member, Integer> users = new LinkedHashMap<>();

  /**
   * A member joins once more.
   *
   * @return whether it is new, so that the device must be told
   * @throws RdmaException if the group is full
   */
  boolean join(MulticastContext.Member member) {
    if (!users.containsKey(member) && users.size() == MulticastContext.MEMBERS) {
      throw new RdmaException(
          "the multicast group has %d members already".formatted(MulticastContext.MEMBERS));
    }
    return users.merge(member, 1, Integer::sum) == 1;
  }

  /**
   * A member leaves once.
   *
   * @return whether it is gone, so that the device must be told
   * @throws IllegalArgumentException if it is no member
   */
  boolean leave(MulticastContext.Member member) {
    if (!users.containsKey(member)) {
      throw new IllegalArgumentException(
          "queue pair %d at port %d is no member".formatted(member.qpId(), member.port()));
    }
    return users.compute(member, (same, count) -> count == 1 ? null : count - 1) == null;
  }

  /**
   * A member leaves as often as it joined.
   *
   * @return how often that was; if not 0, the device must be told
   */
  int leaveWholly(MulticastContext.Member member) {
    Integer count = users.remove(member);
    return count == null ? 0 : count;
  }

  /** Whether nobody is a member. */
  boolean isEmpty() {
    return users.isEmpty();
  }

  /** Who is a member, in the order of joining. */
  List<MulticastContext.Member> list() {
    return List.copyOf(users.keySet());
  }

  /** How often a member joined and did not leave. */
  int users(MulticastContext.Member member) {
    return users.getOrDefault(member, 0);
  }
}
