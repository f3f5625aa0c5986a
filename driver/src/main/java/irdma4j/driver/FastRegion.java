package irdma4j.driver;

import irdma4j.driver.ring.SendQueue;
import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.pble.PbleAllocation;
import irdma4j.pble.PbleException;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import java.util.Objects;

/**
 * A region whose memory is registered by a work request, {@link QueuePair#postFastRegister}, and
 * taken back by an invalidation, without the control queue pair. Its page list is made once, for a
 * number of pages.
 *
 * <p>A registration writes the page list when it is posted, so it is posted only after the
 * completion of the invalidation before it. While it is valid, its memory must stay. The region
 * belongs to its device until closed.
 */
public final class FastRegion implements AutoCloseable {
  private static final long PAGE = PageSize.SIZE_4K.bytes();
  private static final int LEVEL_2_CHUNK = 3;

  private final RdmaDevice device;
  private final int pdId;
  private final int stagIndex;
  private final int maxPages;
  private final PbleAllocation pages;
  private int key;
  private boolean closed;

  private FastRegion(
      RdmaDevice device, int pdId, int stagIndex, int key, int maxPages, PbleAllocation pages) {
    this.device = device;
    this.pdId = pdId;
    this.stagIndex = stagIndex;
    this.key = key;
    this.maxPages = maxPages;
    this.pages = pages;
  }

  static FastRegion allocate(RdmaDevice device, ProtectionDomain pd, int maxPages) {
    if (maxPages < 1) {
      throw new IllegalArgumentException(maxPages + " pages");
    }
    PbleAllocation pages;
    try {
      pages = device.pbles().allocate(maxPages, PbleLevels.ANY);
    } catch (PbleException e) {
      throw new RdmaException(
          "no page list for %d pages: %s".formatted(maxPages, e.getMessage()), e);
    }
    int stagIndex = -1;
    try {
      stagIndex = device.stagIds().take();
      device
          .control()
          .execute(
              new AllocateStag(
                  maxPages * PAGE,
                  pd.id(),
                  stagIndex,
                  0,
                  pages.firstIndex(),
                  true,
                  encodedLevel(pages),
                  PageSize.SIZE_4K.code(),
                  0,
                  true,
                  false,
                  false));
      return new FastRegion(device, pd.id(), stagIndex, device.nextKey(), maxPages, pages);
    } catch (RuntimeException e) {
      if (stagIndex >= 0) {
        device.stagIds().giveBack(stagIndex);
      }
      device.pbles().free(pages);
      throw e;
    }
  }

  private static int encodedLevel(PbleAllocation pages) {
    return pages.level() == 1 ? 1 : LEVEL_2_CHUNK;
  }

  /** Pages of 4 KiB that a registration can have at most. */
  public int maxPages() {
    return maxPages;
  }

  /** The key, for local use and for the peer, as of the last registration that was posted. */
  public int key() {
    return stagIndex << 8 | key;
  }

  boolean register(
      QueuePairCore pair,
      long wrId,
      DmaMemory memory,
      long offset,
      long length,
      int flags,
      Access... access) {
    if (closed) {
      throw new IllegalStateException("the region is closed");
    }
    if (pair.pdId() != pdId) {
      throw new IllegalArgumentException("region and queue pair are of different domains");
    }
    Objects.checkFromIndexSize(offset, length, memory.size());
    if (length == 0) {
      throw new IllegalArgumentException("a region has at least one byte");
    }
    long firstPage = offset / PAGE;
    long pageCount = (offset + length - 1) / PAGE - firstPage + 1;
    if (pageCount > maxPages) {
      throw new IllegalArgumentException(pageCount + " pages: the region takes " + maxPages);
    }
    Rights rights = Rights.of(access);
    int next = (key + 1) & 0xff;
    SendQueue send = pair.send();
    if (send.free() < 1) {
      return false;
    }
    long last = firstPage + pageCount - 1;
    pages.fill(page -> memory.iova(Math.min(firstPage + page, last) * PAGE));
    boolean posted =
        send.fastRegister(
            wrId,
            flags,
            stagIndex,
            next,
            rights.bits(),
            memory.segment().address() + offset,
            length,
            true,
            PAGE,
            encodedLevel(pages),
            pages.firstIndex(),
            0);
    if (posted) {
      key = next;
    }
    return posted;
  }

  int pdId() {
    return pdId;
  }

  /**
   * Gives the region back; the device forgets the key. Closing twice does nothing.
   *
   * @throws ControlQueueException if the device refuses; nothing has changed then
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    device.destroy(
        new DeallocateStag(pdId, stagIndex, true),
        () -> {
          release();
          device.forget(this);
          device.stagIds().giveBack(stagIndex);
          device.pbles().free(pages);
        });
  }

  /** The device has forgotten the region. */
  void release() {
    closed = true;
  }
}
