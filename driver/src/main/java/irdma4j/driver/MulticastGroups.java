package irdma4j.driver;

import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.MulticastContext;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.ManageMulticastGroup;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The device's multicast groups. A group has a number and memory for its members while it has one.
 * Not thread-safe.
 *
 * <p>Source: Linux irdma_attach_mcast, irdma_detach_mcast in verbs.c. A member's UDP port stays 0
 * there.
 */
final class MulticastGroups {
  /** More numbers than this the driver does not use; Linux IRDMA_UDA_MAX_FSI_MGS in uda.h. */
  static final int LIMIT = 4096;

  private static final int FIRST_ID = 1;
  private static final int ANY_PORT = 0;

  private record Key(Gid address, int vlan) {}

  private record Group(Key key, int id, int queueSet, DmaMemory context, MulticastMembers members) {
    /** Writes down the members, which the device reads with the next operation. */
    void encode() {
      MulticastContext.encode(context.segment(), 0, members.list());
    }
  }

  private final PciFunction function;
  private final ControlQueue control;
  private final int hmcFunction;
  private final IdPool ids;
  private final Map<Key, Group> groups = new HashMap<>();

  /**
   * No group yet.
   *
   * @param count groups that the device has room for
   */
  MulticastGroups(PciFunction function, ControlQueue control, int hmcFunction, long count) {
    this.function = function;
    this.control = control;
    this.hmcFunction = hmcFunction;
    this.ids = new IdPool("multicast group", FIRST_ID, (int) Math.min(LIMIT, count));
  }

  /**
   * A queue pair joins a group once more.
   *
   * @throws RdmaException if group or device are full, or the device refuses; nothing has changed
   */
  void attach(Gid address, int vlan, int qpn, int queueSet) {
    Key key = new Key(address, vlan);
    MulticastContext.Member member = new MulticastContext.Member(qpn, ANY_PORT);
    Group known = groups.get(key);
    if (known == null) {
      groups.put(key, create(key, member, queueSet));
    } else if (known.members().join(member)) {
      try {
        tell(CqpOpcode.MODIFY_MCAST_GRP, known);
      } catch (RuntimeException e) {
        known.members().leave(member);
        known.encode();
        throw e;
      }
    }
  }

  private Group create(Key key, MulticastContext.Member member, int queueSet) {
    int id = ids.take();
    DmaMemory context = null;
    try {
      context = function.allocateDma(MulticastContext.SIZE, MulticastContext.SIZE);
      Group group = new Group(key, id, queueSet, context, new MulticastMembers());
      group.members().join(member);
      tell(CqpOpcode.CREATE_MCAST_GRP, group);
      return group;
    } catch (RuntimeException e) {
      release(id, context);
      throw e;
    }
  }

  /**
   * A queue pair leaves a group once.
   *
   * @throws IllegalArgumentException if it is no member
   * @throws RdmaException if the device refuses; the queue pair is still a member
   */
  void detach(Gid address, int vlan, int qpn) {
    MulticastContext.Member member = new MulticastContext.Member(qpn, ANY_PORT);
    Group group = groups.get(new Key(address, vlan));
    if (group == null) {
      throw new IllegalArgumentException(
          "queue pair %d is no member of %s".formatted(qpn, address));
    }
    if (group.members().leave(member)) {
      try {
        tellGone(group);
      } catch (RuntimeException e) {
        group.members().join(member);
        group.encode();
        throw e;
      }
      releaseIfEmpty(group);
    }
  }

  /**
   * A queue pair leaves all its groups; the first failure is thrown.
   *
   * @throws ControlQueueException if the device refuses; the queue pair is still a member there
   * @throws RdmaException if the device does not answer; it is a member of none
   */
  void detachAll(int qpn) {
    MulticastContext.Member member = new MulticastContext.Member(qpn, ANY_PORT);
    Failures failures = new Failures();
    for (Group group : List.copyOf(groups.values())) {
      int joined = group.members().leaveWholly(member);
      if (joined == 0) {
        continue;
      }
      try {
        tellGone(group);
      } catch (RuntimeException e) {
        if (e instanceof ControlQueueException) {
          for (int i = 0; i < joined; i++) {
            group.members().join(member);
          }
          group.encode();
        }
        failures.add(e);
      }
      releaseIfEmpty(group);
    }
    failures.throwFirst();
  }

  /** Gives the memory back; the device was reset. */
  void abandon() {
    groups.values().forEach(group -> group.context().close());
    groups.clear();
  }

  private void tellGone(Group group) {
    tell(
        group.members().isEmpty() ? CqpOpcode.DESTROY_MCAST_GRP : CqpOpcode.MODIFY_MCAST_GRP,
        group);
  }

  private void releaseIfEmpty(Group group) {
    if (group.members().isEmpty()) {
      groups.remove(group.key());
      release(group.id(), group.context());
    }
  }

  private void release(int id, @Nullable DmaMemory context) {
    if (context != null) {
      context.close();
    }
    ids.giveBack(id);
  }

  private void tell(CqpOpcode operation, Group group) {
    group.encode();
    Gid address = group.key().address();
    int vlan = group.key().vlan();
    control.execute(
        new ManageMulticastGroup(
            operation,
            group.id(),
            IpAddress.of(address.isIpv4(), address.high(), address.low()),
            address.multicastMac(),
            vlan != DatagramPath.NO_VLAN,
            Math.max(0, vlan),
            hmcFunction,
            group.queueSet(),
            group.context().iova()));
  }
}
