package irdma4j.driver;

import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.RegisterMr;
import irdma4j.pble.PbleAllocation;
import irdma4j.pble.PbleException;
import irdma4j.pble.PbleLevels;
import irdma4j.uapi.DmaMemory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A memory region: memory that the device may use, by virtual address and key.
 *
 * <p>Its page list is of level 0 (none: the pages are contiguous for the device), 1 (one run of
 * PBLEs) or 2 (a root with leaves). It belongs to its device until closed; the memory must outlive
 * it.
 */
public final class MemoryRegion implements AutoCloseable {
  private static final long PAGE = PageSize.SIZE_4K.bytes();
  private static final int LEVEL_2_CHUNK = 3;

  private final RdmaDevice device;
  private final int pdId;
  private final int stagIndex;
  private final int key;
  private final long address;
  private final boolean addressBased;
  private final long length;
  private final PageSize pageSize;
  private final @Nullable PbleAllocation pages;
  private boolean closed;

  private MemoryRegion(
      RdmaDevice device,
      int pdId,
      int stagIndex,
      int key,
      long address,
      boolean addressBased,
      long length,
      PageSize pageSize,
      @Nullable PbleAllocation pages) {
    this.device = device;
    this.pdId = pdId;
    this.stagIndex = stagIndex;
    this.key = key;
    this.address = address;
    this.addressBased = addressBased;
    this.length = length;
    this.pageSize = pageSize;
    this.pages = pages;
  }

  static MemoryRegion register(
      RdmaDevice device,
      ProtectionDomain pd,
      DmaMemory memory,
      long offset,
      long length,
      long address,
      boolean addressBased,
      PbleLevels levels,
      Access... access) {
    Objects.checkFromIndexSize(offset, length, memory.size());
    if (length == 0) {
      throw new IllegalArgumentException("a region has at least one byte");
    }
    // If its addresses say nothing of it, its IOVA has the same place in a page of any size.
    long place = addressBased ? address : memory.iova(offset);
    if (((place - offset) & (PAGE - 1)) != 0) {
      throw new IllegalArgumentException(
          "address 0x%x and offset 0x%x have different places in a page"
              .formatted(address, offset));
    }
    Rights rights = Rights.of(access);
    RegionPages found = RegionPages.of(memory, offset, length, place);
    if (found.count() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(found.count() + " pages are more than a region can have");
    }
    PbleAllocation pages = null;
    if (!found.contiguous()) {
      try {
        pages = device.pbles().allocate((int) found.count(), levels);
      } catch (PbleException e) {
        throw new RdmaException(
            "no page list for %d pages: %s".formatted(found.count(), e.getMessage()), e);
      }
      pages.fill(found.list());
    }
    // Without a list there are no pages to have a size: the start is named to 4 KiB.
    PageSize pageSize = pages == null ? PageSize.SIZE_4K : found.size();
    int stagIndex = -1;
    try {
      stagIndex = device.stagIds().take();
      int key = device.nextKey();
      device
          .control()
          .execute(
              new RegisterMr(
                  addressBased ? address : place & (pageSize.bytes() - 1),
                  length,
                  pd.id(),
                  key,
                  stagIndex,
                  pages == null ? memory.iova(offset / PAGE * PAGE) : 0,
                  0,
                  pages == null ? 0 : pages.firstIndex(),
                  true,
                  pages == null ? 0 : pages.level() == 1 ? 1 : LEVEL_2_CHUNK,
                  pageSize.code(),
                  rights.bits(),
                  rights.remote(),
                  addressBased,
                  false,
                  false));
      return new MemoryRegion(
          device, pd.id(), stagIndex, key, address, addressBased, length, pageSize, pages);
    } catch (RuntimeException e) {
      if (stagIndex >= 0) {
        device.stagIds().giveBack(stagIndex);
      }
      if (pages != null) {
        device.pbles().free(pages);
      }
      throw e;
    }
  }

  int pdId() {
    return pdId;
  }

  /** The key for local use. */
  public int lkey() {
    return (stagIndex << 8) | key;
  }

  /** The key for the peer; the same number as {@link #lkey()}. */
  public int rkey() {
    return lkey();
  }

  /** Address of the first byte, as work requests call it; 0 if the region is zero-based. */
  public long address() {
    return address;
  }

  boolean isAddressBased() {
    return addressBased;
  }

  /** Length in bytes. */
  public long length() {
    return length;
  }

  /**
   * Bytes of a page of the page list: 4 KiB, or 2 MiB or 1 GiB where the memory's IOVAs and the
   * region's address allow it.
   */
  public long pageSize() {
    return pageSize.bytes();
  }

  /** Level of the page list: 0, 1 or 2. */
  public int pbleLevel() {
    return pages == null ? 0 : pages.level();
  }

  /** PBLEs in use, a root's included. */
  public int pbleCount() {
    return pages == null ? 0 : pages.entries();
  }

  /**
   * Deregisters the region; the device forgets the key. Closing twice does nothing.
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
          if (pages != null) {
            device.pbles().free(pages);
          }
        });
  }

  /** The device has forgotten the region. */
  void release() {
    closed = true;
  }
}
