package irdma4j.driver;

import irdma4j.driver.ring.SendQueue;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.DeallocateStag;

/**
 * A memory window: a key for the peer that can be bound to a part of a region, and taken back,
 * without the control queue pair.
 *
 * <p>A window of type 1 belongs to the protection domain and is bound anew while bound. One of type
 * 2 belongs to the queue pair that bound it, and is invalidated before it is bound again. It
 * belongs to its device until closed.
 */
public final class MemoryWindow implements AutoCloseable {
  /** The types of windows. */
  public enum Type {
    /** Of the protection domain. */
    ONE,
    /** Of the queue pair that binds it. */
    TWO
  }

  private final RdmaDevice device;
  private final int pdId;
  private final int stagIndex;
  private final Type type;
  private int key;
  private boolean closed;

  private MemoryWindow(RdmaDevice device, int pdId, int stagIndex, int key, Type type) {
    this.device = device;
    this.pdId = pdId;
    this.stagIndex = stagIndex;
    this.key = key;
    this.type = type;
  }

  static MemoryWindow allocate(RdmaDevice device, ProtectionDomain pd, Type type) {
    int stagIndex = device.stagIds().take();
    try {
      boolean narrow = type == Type.ONE;
      device.control().execute(new AllocateMw(pd.id(), stagIndex, narrow, narrow));
      return new MemoryWindow(device, pd.id(), stagIndex, device.nextKey(), type);
    } catch (RuntimeException e) {
      device.stagIds().giveBack(stagIndex);
      throw e;
    }
  }

  /** The window's type. */
  public Type type() {
    return type;
  }

  /** The key for the peer, as of the last bind that was posted. */
  public int rkey() {
    return stagIndex << 8 | key;
  }

  boolean bind(
      QueuePairCore pair,
      long wrId,
      MemoryRegion region,
      long address,
      long length,
      int flags,
      boolean virtualAddress,
      Access... access) {
    if (closed) {
      throw new IllegalStateException("the window is closed");
    }
    if (pair.pdId() != pdId || region.pdId() != pdId) {
      throw new IllegalArgumentException("window, region and queue pair are of different domains");
    }
    if (type == Type.ONE && !virtualAddress) {
      throw new IllegalArgumentException("only a window of type 2 can be addressed from 0 on");
    }
    if (!region.isAddressBased()) {
      throw new IllegalArgumentException("no window can be bound to a region that begins at 0");
    }
    long offset = address - region.address();
    if (length < 0
        || (length == 0 && type == Type.TWO)
        || offset < 0
        || length > region.length()
        || offset > region.length() - length) {
      throw new IllegalArgumentException(
          "%d bytes at 0x%x are not in the region of %d bytes at 0x%x"
              .formatted(length, address, region.length(), region.address()));
    }
    boolean read = false;
    boolean write = false;
    for (Access right : access) {
      switch (right) {
        case REMOTE_READ -> read = true;
        case REMOTE_WRITE -> write = true;
        default -> throw new IllegalArgumentException("a window gives no right " + right);
      }
    }
    int next = (key + 1) & 0xff;
    SendQueue send = pair.send();
    boolean posted =
        send.bindWindow(
            wrId,
            flags,
            stagIndex << 8 | next,
            region.lkey(),
            address,
            length,
            read,
            write,
            virtualAddress,
            type == Type.ONE);
    if (posted) {
      key = next;
    }
    return posted;
  }

  int pdId() {
    return pdId;
  }

  /**
   * Gives the window back; the device forgets the key. Closing twice does nothing.
   *
   * @throws ControlQueueException if the device refuses; nothing has changed then
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    device.destroy(
        this,
        new DeallocateStag(pdId, stagIndex, false),
        () -> device.stagIds().giveBack(stagIndex));
  }

  /** The device has forgotten the window. */
  void release() {
    closed = true;
  }
}
