package irdma4j.driver;

import irdma4j.hwregs.IpAddress;
import irdma4j.hwregs.cqp.CqpOpcode;
import irdma4j.hwregs.cqp.ManageAddressHandle;

/**
 * Where datagrams go. It belongs to its device until closed; work that names it must be done by
 * then.
 */
public final class AddressHandle implements AutoCloseable {
  private final RdmaDevice device;
  private final ArpEntry arp;
  private final ManageAddressHandle creation;
  private boolean closed;

  private AddressHandle(RdmaDevice device, ArpEntry arp, ManageAddressHandle creation) {
    this.device = device;
    this.arp = arp;
    this.creation = creation;
  }

  static AddressHandle create(RdmaDevice device, ProtectionDomain pd, DatagramPath path) {
    int id = device.addressHandleIds().take();
    ArpEntry arp = null;
    try {
      arp = device.arp().resolve(path.remoteGid(), path.remoteMac());
      ManageAddressHandle creation =
          new ManageAddressHandle(
              CqpOpcode.CREATE_ADDR_HANDLE,
              id,
              pd.id(),
              device.macAddress(),
              path.vlan() >= 0,
              Math.max(0, path.vlan()),
              path.trafficClass(),
              path.flowLabel(),
              path.hopLimit(),
              arp.index(),
              address(path.remoteGid()),
              address(path.localGid()),
              // A group's members may be here, too; Linux irdma_setup_ah in verbs.c.
              path.remoteGid().isMulticast() || path.remoteMac() == device.macAddress());
      device.control().execute(creation);
      return new AddressHandle(device, arp, creation);
    } catch (RuntimeException e) {
      if (arp != null) {
        device.arp().release(arp);
      }
      device.addressHandleIds().giveBack(id);
      throw e;
    }
  }

  private static IpAddress address(Gid gid) {
    return IpAddress.of(gid.isIpv4(), gid.high(), gid.low());
  }

  /** The handle's number, 17 bits. */
  public int id() {
    return creation.id();
  }

  int pdId() {
    return creation.pdId();
  }

  /**
   * Gives the handle back. Closing twice does nothing.
   *
   * @throws ControlQueueException if the device refuses; nothing has changed then
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    ManageAddressHandle c = creation;
    device.destroy(
        this,
        new ManageAddressHandle(
            CqpOpcode.DESTROY_ADDR_HANDLE,
            c.id(),
            c.pdId(),
            c.macAddress(),
            c.insertVlan(),
            c.vlanTag(),
            c.trafficClass(),
            c.flowLabel(),
            c.hopLimit(),
            c.arpIndex(),
            c.destination(),
            c.source(),
            c.loopback()),
        () -> {
          device.addressHandleIds().giveBack(id());
          device.arp().release(arp);
        });
  }

  /** The device has forgotten the handle. */
  void release() {
    closed = true;
  }
}
