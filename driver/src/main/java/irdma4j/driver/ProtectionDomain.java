package irdma4j.driver;

import irdma4j.hwregs.PageSize;
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
   * @throws IndexOutOfBoundsException if the range leaves the memory
   * @throws IllegalArgumentException if the length is 0
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
   * @throws IndexOutOfBoundsException if the range leaves the memory
   * @throws IllegalArgumentException if the length is 0 or the address does not fit
   */
  public MemoryRegion registerMemory(
      DmaMemory memory,
      long offset,
      long length,
      long address,
      PbleLevels levels,
      Access... access) {
    requireOpen();
    MemoryRegion region =
        MemoryRegion.register(device, this, memory, offset, length, address, true, levels, access);
    return device.adopt(region, region::release);
  }

  /**
   * Registers a part of memory whose first byte is called 0 in work requests, here and at the peer.
   * No window can be bound to it.
   *
   * @param offset of the first byte
   * @param length bytes, at least 1
   * @param levels as of {@link #registerMemory(DmaMemory, long, long, PbleLevels, Access...)}
   * @throws IndexOutOfBoundsException if the range leaves the memory
   * @throws IllegalArgumentException if the length is 0
   * @throws RdmaException if the device has no room for it
   */
  public MemoryRegion registerZeroBased(
      DmaMemory memory, long offset, long length, PbleLevels levels, Access... access) {
    requireOpen();
    MemoryRegion region =
        MemoryRegion.register(device, this, memory, offset, length, 0, false, levels, access);
    return device.adopt(region, region::release);
  }

  /** Creates a queue pair in state INIT. */
  public QueuePair createQueuePair(QueuePairConfig config) {
    requireOpen();
    QueuePair pair = QueuePair.create(device, this, config);
    return device.adopt(pair, pair.core()::release);
  }

  /**
   * Creates a queue pair for datagrams, ready to send and receive.
   *
   * @param mtu most bytes of a datagram: 256, 512, 1024, 2048 or 4096
   * @param queueKey what senders must give; its highest bit is for keys that only a queue pair of
   *     the same key may send
   */
  public DatagramQueuePair createDatagramQueuePair(QueuePairConfig config, int mtu, int queueKey) {
    requireOpen();
    RcPath.requireMtu(mtu);
    return DatagramQueuePair.createReady(device, this, config, mtu, queueKey);
  }

  /**
   * Creates a queue pair for datagrams in state INIT, so that receives can be posted before
   * anything arrives; otherwise as {@link #createDatagramQueuePair}.
   */
  public DatagramQueuePair createInitialDatagramQueuePair(
      QueuePairConfig config, int mtu, int queueKey) {
    requireOpen();
    RcPath.requireMtu(mtu);
    return DatagramQueuePair.create(device, this, config, mtu, queueKey);
  }

  /**
   * Creates QP 1, the queue pair for general services, through which connections are set up.
   *
   * @throws IllegalStateException if there is one already
   */
  public DatagramQueuePair createGeneralServicesQueuePair(QueuePairConfig config) {
    requireOpen();
    return DatagramQueuePair.createGeneralServices(device, this, config);
  }

  /** Creates an address handle for the datagrams of this domain's queue pairs. */
  public AddressHandle createAddressHandle(DatagramPath path) {
    requireOpen();
    AddressHandle handle = AddressHandle.create(device, this, path);
    return device.adopt(handle, handle::release);
  }

  /** Allocates a memory window, bound to nothing. */
  public MemoryWindow allocateWindow(MemoryWindow.Type type) {
    requireOpen();
    MemoryWindow window = MemoryWindow.allocate(device, this, type);
    return device.adopt(window, window::release);
  }

  /**
   * Allocates a region whose memory is registered by work requests.
   *
   * @param maxPages pages of 4 KiB that a registration can have, at least 1
   */
  public FastRegion allocateFastRegion(int maxPages) {
    return allocateFastRegion(maxPages, PageSize.SIZE_4K.bytes());
  }

  /**
   * Allocates a region whose memory, in pages of a size, is registered by work requests.
   *
   * @param maxPages pages that a registration can have, at least 1
   * @param pageSize bytes of a page: 4 KiB, 2 MiB or 1 GiB
   * @throws IllegalArgumentException if the device has no such page size, or no region is so large
   */
  public FastRegion allocateFastRegion(int maxPages, long pageSize) {
    requireOpen();
    FastRegion region = FastRegion.allocate(device, this, maxPages, PageSize.of(pageSize));
    return device.adopt(region, region::release);
  }

  private void requireOpen() {
    device.requireOpen();
    if (closed) {
      throw new IllegalStateException("the protection domain is closed");
    }
  }

  /**
   * Gives the domain back. Closing twice does nothing.
   *
   * @throws IllegalStateException if something that was made in it is still open; nothing has
   *     changed then
   */
  @Override
  public void close() {
    if (!closed) {
      Dependants.requireNoneOf(this, device.objects().all());
      device.ended(this);
    }
  }

  /** The domain is closed. */
  void release() {
    closed = true;
  }
}
