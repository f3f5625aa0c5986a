package irdma4j.simulator.device;

import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.MulticastContext;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.ManageMulticastGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The multicast groups: by number for the control queue pair, by address for packets. The members
 * are read when an operation names them, and kept in the group's object in the HMC.
 */
final class MulticastTable {
  private static final int BUCKETS = 256;

  private final Device device;
  private final HmcWalk hmc;
  private final MemorySegment context = Arena.ofAuto().allocate(MulticastContext.SIZE, 64);
  private final Map<Integer, MulticastGroup> byId = new HashMap<>();
  private final @Nullable MulticastGroup[] byAddress = new @Nullable MulticastGroup[BUCKETS];

  MulticastTable(Device device, HmcWalk hmc) {
    this.device = device;
    this.hmc = hmc;
  }

  void reset() {
    byId.clear();
    Arrays.fill(byAddress, null);
  }

  /** The group that a packet is for, or null; allocates nothing. */
  @Nullable MulticastGroup find(long mac, boolean ipv4, long ipHigh, long ipLow, int vlanTag) {
    MulticastGroup group = byAddress[bucket(ipLow)];
    while (group != null && !group.takes(mac, ipv4, ipHigh, ipLow, vlanTag)) {
      group = group.next;
    }
    return group;
  }

  ControlStatus manage(ManageMulticastGroup c) {
    MulticastGroup known = byId.get(c.id());
    if (c.opcode() == CqpOpcode.CREATE_MCAST_GRP) {
      if (known != null) {
        return ControlStatus.OBJECT_EXISTS;
      }
    } else if (known == null) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    long object = hmc.object(HmcObject.FSIMC, c.id());
    if (object == HmcWalk.FAULT) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    boolean destroyed = c.opcode() == CqpOpcode.DESTROY_MCAST_GRP;
    if (destroyed) {
      context.fill((byte) 0);
    } else if (!device.readHost(c.contextAddress(), context, 0, MulticastContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    if (!device.writeHost(object, context, 0, MulticastContext.SIZE)) {
      return ControlStatus.DMA_FAULT;
    }
    if (known != null) {
      remove(known);
    }
    if (!destroyed) {
      add(new MulticastGroup(c, MulticastContext.decode(context, 0)));
    }
    return ControlStatus.OK;
  }

  private void add(MulticastGroup group) {
    int bucket = bucket(group.ipLow());
    group.next = byAddress[bucket];
    byAddress[bucket] = group;
    byId.put(group.id, group);
  }

  private void remove(MulticastGroup group) {
    byId.remove(group.id);
    int bucket = bucket(group.ipLow());
    MulticastGroup at = byAddress[bucket];
    if (at == group) {
      byAddress[bucket] = group.next;
      return;
    }
    while (at != null) {
      if (at.next == group) {
        at.next = group.next;
        return;
      }
      at = at.next;
    }
  }

  private static int bucket(long ipLow) {
    return Long.hashCode(ipLow * 0x9e37_79b9_7f4a_7c15L) & BUCKETS - 1;
  }
}
