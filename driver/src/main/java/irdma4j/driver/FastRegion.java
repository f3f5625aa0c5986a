package irdma4j.driver;

import irdma4j.driver.ring.SendQueue;
import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.SqWqe;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.pble.PageList;
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
  private static final int LEVEL_2_CHUNK = 3;

  /** A work request's length has 41 bits. */
  private static final long MOST_BYTES = SqWqe.STAGLEN.max();

  private final RdmaDevice device;
  private final int pdId;
  private final int stagIndex;
  private final int maxPages;
  private final PageSize pageSize;
  private final PbleAllocation pages;
  private int key;
  private boolean closed;

  private FastRegion(
      RdmaDevice device,
      int pdId,
      int stagIndex,
      int key,
      int maxPages,
      PageSize pageSize,
      PbleAllocation pages) {
    this.device = device;
    this.pdId = pdId;
    this.stagIndex = stagIndex;
    this.key = key;
    this.maxPages = maxPages;
    this.pageSize = pageSize;
    this.pages = pages;
  }

  static FastRegion allocate(
      RdmaDevice device, ProtectionDomain pd, int maxPages, PageSize pageSize) {
    if (maxPages < 1 || maxPages > MOST_BYTES / pageSize.bytes()) {
      throw new IllegalArgumentException(
          "%d pages of 0x%x bytes: 1 to %d can be registered"
              .formatted(maxPages, pageSize.bytes(), MOST_BYTES / pageSize.bytes()));
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
                  maxPages * pageSize.bytes(),
                  pd.id(),
                  stagIndex,
                  0,
                  pages.firstIndex(),
                  true,
                  encodedLevel(pages),
                  pageSize.code(),
                  0,
                  true,
                  false,
                  false));
      return new FastRegion(
          device, pd.id(), stagIndex, device.nextKey(), maxPages, pageSize, pages);
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

  /** Pages that a registration can have at most. */
  public int maxPages() {
    return maxPages;
  }

  /** Bytes of a page: 4 KiB, 2 MiB or 1 GiB. */
  public long pageSize() {
    return pageSize.bytes();
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
      long address,
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
    RegionPages.requireFit(memory, offset, length, address, pageSize);
    long count = RegionPages.count(length, address, pageSize);
    if (count > maxPages) {
      throw new IllegalArgumentException(count + " pages: the region takes " + maxPages);
    }
    SendQueue.checkFences(flags);
    Rights rights = Rights.of(access);
    int next = (key + 1) & 0xff;
    SendQueue send = pair.send();
    if (send.free() < 1) {
      return false;
    }
    PageList list = RegionPages.list(memory, offset, address, pageSize);
    pages.fill(page -> list.iova(Math.min(page, count - 1)));
    boolean posted =
        send.fastRegister(
            wrId,
            flags,
            stagIndex,
            next,
            rights.bits(),
            address,
            length,
            true,
            pageSize.bytes(),
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
        this,
        new DeallocateStag(pdId, stagIndex, true),
        () -> {
          device.stagIds().giveBack(stagIndex);
          device.pbles().free(pages);
        });
  }

  /** The device has forgotten the region. */
  void release() {
    closed = true;
  }
}
