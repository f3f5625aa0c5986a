package irdma4j.driver;

import irdma4j.hwregs.cqp.AddArp;
import irdma4j.hwregs.cqp.DeleteArp;
import java.util.HashMap;
import java.util.Map;

/** The device's ARP table: one entry for each peer address in use. Not thread-safe. */
final class ArpTable {
  private static final int REACHABLE_MILLIS = 0xffff;

  private record Use(ArpEntry entry, int users) {}

  private final ControlQueue control;
  private final IdPool ids;
  private final Map<Gid, Use> uses = new HashMap<>();

  ArpTable(ControlQueue control, int entries) {
    this.control = control;
    this.ids = new IdPool("ARP entry", 1, entries);
  }

  /** The entry of an address, made if there is none. */
  ArpEntry resolve(Gid gid, long macAddress) {
    Use use = uses.get(gid);
    if (use != null && use.users() == 0 && use.entry().macAddress() != macAddress) {
      remove(use.entry());
      use = null;
    }
    if (use != null) {
      if (use.entry().macAddress() != macAddress) {
        throw new RdmaException(
            "%s has MAC address %012x in the ARP table, not %012x"
                .formatted(gid, use.entry().macAddress(), macAddress));
      }
      uses.put(gid, new Use(use.entry(), use.users() + 1));
      return use.entry();
    }
    int index = ids.take();
    try {
      control.execute(new AddArp(REACHABLE_MILLIS, macAddress, index, true, true));
    } catch (RuntimeException e) {
      ids.giveBack(index);
      throw e;
    }
    ArpEntry entry = new ArpEntry(index, gid, macAddress);
    uses.put(gid, new Use(entry, 1));
    return entry;
  }

  /** The entry has one user less; the last takes it out of the table. */
  void release(ArpEntry entry) {
    Use use = uses.get(entry.gid());
    if (use == null) {
      return;
    }
    if (use.users() > 1) {
      uses.put(entry.gid(), new Use(entry, use.users() - 1));
      return;
    }
    // If the device keeps it, it waits here for its next user.
    uses.put(entry.gid(), new Use(entry, 0));
    remove(entry);
  }

  private void remove(ArpEntry entry) {
    control.execute(new DeleteArp(entry.index()));
    uses.remove(entry.gid());
    ids.giveBack(entry.index());
  }
}
