package irdma4j.driver;

import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;

/**
 * A protection domain: regions and queue pairs of one domain may be used together.
 *
 * <p>It belongs to its device; close what was made in it first.
 */
public final class ProtectionDomain implements AutoCloseable {
  private final RdmaDevice device;
  private final int id;
  private boolean closed;

  ProtectionDomain(RdmaDevice device, int id) {
    this.device = device;
    this.id = id;
  }

  int id() {
    return id;
  }

  RdmaDevice device() {
    return device;
  }

  /**
   * Registers memory, so that the device may use it in the ways given.
   *
   * @param memory of this device's function; it must outlive the region
   * @param access the rights beyond the owner's right to read
   */
  public MemoryRegion registerMemory(DmaMemory memory, Access... access) {
    return registerMemory(memory, 0, memory.size(), PbleLevels.ANY, access);
  }

  /**
   * Registers a part of memory.
   *
   * @param offset first byte
   * @param length bytes, at least 1
   * @param levels which levels of page list are allowed where the pages are not contiguous for the
   *     device
   * @throws IllegalArgumentException if the range leaves the memory
   * @throws RdmaException if the device has no room for it
   */
  public MemoryRegion registerMemory(
      DmaMemory memory, long offset, long length, PbleLevels levels, Access... access) {
    return registerMemory(
        memory, offset, length, memory.segment().address() + offset, levels, access);
  }

  /**
   * Registers a part of memory under addresses of the caller's choice, not those of the process.
   *
   * @param address what the first byte is called in work requests, here and at the peer; it has the
   *     same place in a 4 KiB page as the byte
   * @throws IllegalArgumentException if the range leaves the memory, or the address does not fit
   */
  public MemoryRegion registerMemory(
      DmaMemory memory,
      long offset,
      long length,
      long address,
      PbleLevels levels,
      Access... access) {
    requireOpen();
    return device.adopt(
        MemoryRegion.register(device, this, memory, offset, length, address, levels, access));
  }

  /** Creates a queue pair in state INIT. */
  public QueuePair createQueuePair(QueuePairConfig config) {
    requireOpen();
    return device.adopt(QueuePair.create(device, this, config));
  }

  private void requireOpen() {
    device.requireOpen();
    if (closed) {
      throw new IllegalStateException("the protection domain is closed");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      device.closed(this, id);
    }
  }
}
