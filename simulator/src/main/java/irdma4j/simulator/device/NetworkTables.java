package irdma4j.simulator.device;

import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.cqp.AddArp;
import irdma4j.hwregs.cqp.AddLocalMac;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.DeleteArp;
import irdma4j.hwregs.cqp.DeleteLocalMac;
import irdma4j.hwregs.cqp.ManageAddressHandle;
import irdma4j.hwregs.cqp.ManageApbvt;
import irdma4j.hwregs.cqp.ManageQuadHash;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the device knows of the network: neighbours, own addresses, address handles, multicast
 * groups, and which packets belong to RDMA.
 */
final class NetworkTables {
  /** No entry. */
  static final long FREE = -1;

  private static final int LOCAL_MACS = 64;
  private static final int REMOVE = 0;
  private static final int ADD = 1;
  private static final int CHANGE = 2;

  private final Device device;
  private final HmcWalk hmc;
  private final long[] arp;
  private final long[] localMacs = new long[LOCAL_MACS];
  private final boolean[] localMacTaken = new boolean[LOCAL_MACS];
  private final Map<Integer, ManageAddressHandle> addressHandles = new HashMap<>();
  private final MulticastTable multicast;
  private final BitSet ports = new BitSet();
  private final Set<ManageQuadHash> hashEntries = new HashSet<>();

  NetworkTables(Device device, HmcWalk hmc, int arpEntries) {
    this.device = device;
    this.hmc = hmc;
    this.multicast = new MulticastTable(device, hmc);
    this.arp = new long[arpEntries];
    reset();
  }

  void reset() {
    Arrays.fill(arp, FREE);
    Arrays.fill(localMacs, FREE);
    Arrays.fill(localMacTaken, false);
    addressHandles.clear();
    multicast.reset();
    ports.clear();
    hashEntries.clear();
  }

  long arpMac(int index) {
    return index >= 0 && index < arp.length ? arp[index] : FREE;
  }

  @Nullable ManageAddressHandle addressHandle(int id) {
    return addressHandles.get(id);
  }

  MulticastTable multicast() {
    return multicast;
  }

  ControlStatus addArp(AddArp c) {
    if (c.index() >= Math.min(arp.length, hmc.count(HmcObject.ARP))) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    arp[c.index()] = c.valid() ? c.macAddress() : FREE;
    return ControlStatus.OK;
  }

  ControlStatus deleteArp(DeleteArp c) {
    if (arpMac(c.index()) == FREE) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    arp[c.index()] = FREE;
    return ControlStatus.OK;
  }

  /** Takes a free entry of the local MAC table; -1 if there is none. */
  int takeLocalMac() {
    for (int i = 0; i < LOCAL_MACS; i++) {
      if (!localMacTaken[i]) {
        localMacTaken[i] = true;
        return i;
      }
    }
    return -1;
  }

  ControlStatus addLocalMac(AddLocalMac c) {
    if (!localMacTaken[c.index()]) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    localMacs[c.index()] = c.macAddress();
    device.setPortMac(c.macAddress());
    return ControlStatus.OK;
  }

  ControlStatus deleteLocalMac(DeleteLocalMac c) {
    if (!localMacTaken[c.index()]) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    if (localMacs[c.index()] == device.portMac()) {
      device.forgetPortMac();
    }
    localMacs[c.index()] = FREE;
    localMacTaken[c.index()] = false;
    return ControlStatus.OK;
  }

  ControlStatus manageAddressHandle(ManageAddressHandle c) {
    boolean known = addressHandles.containsKey(c.id());
    if (c.opcode() == CqpOpcode.CREATE_ADDR_HANDLE) {
      if (known) {
        return ControlStatus.OBJECT_EXISTS;
      }
      if (c.id() >= hmc.count(HmcObject.FSIAV)) {
        return ControlStatus.OBJECT_NOT_BACKED;
      }
    } else if (!known) {
      return ControlStatus.NO_SUCH_OBJECT;
    }
    if (c.opcode() == CqpOpcode.DESTROY_ADDR_HANDLE) {
      addressHandles.remove(c.id());
    } else {
      addressHandles.put(c.id(), c);
    }
    return ControlStatus.OK;
  }

  ControlStatus managePort(ManageApbvt c) {
    if (ports.get(c.port()) == c.add()) {
      return c.add() ? ControlStatus.OBJECT_EXISTS : ControlStatus.NO_SUCH_OBJECT;
    }
    ports.set(c.port(), c.add());
    return ControlStatus.OK;
  }

  ControlStatus manageHash(ManageQuadHash c) {
    ManageQuadHash key = keyOf(c);
    boolean known = hashEntries.contains(key);
    return switch (c.manage()) {
      case ADD -> {
        hashEntries.add(key);
        yield known ? ControlStatus.OBJECT_EXISTS : ControlStatus.OK;
      }
      case REMOVE -> hashEntries.remove(key) ? ControlStatus.OK : ControlStatus.NO_SUCH_OBJECT;
      case CHANGE -> known ? ControlStatus.OK : ControlStatus.NO_SUCH_OBJECT;
      default -> ControlStatus.BAD_PARAMETER;
    };
  }

  /** The packet's addresses and ports, without what is to be done and who gets the packets. */
  private static ManageQuadHash keyOf(ManageQuadHash c) {
    return new ManageQuadHash(
        0,
        c.destinationPort(),
        c.sourcePort(),
        0,
        0,
        c.vlanId(),
        c.source3(),
        c.source2(),
        c.source1(),
        c.source0(),
        c.destination3(),
        c.destination2(),
        c.destination1(),
        c.destination0(),
        c.entryType(),
        c.vlanValid(),
        c.ipv4(),
        0);
  }
}
