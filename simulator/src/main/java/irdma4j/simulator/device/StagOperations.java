package irdma4j.simulator.device;

import irdma4j.hwregs.PageSize;
import irdma4j.hwregs.cqp.AllocateMw;
import irdma4j.hwregs.cqp.AllocateStag;
import irdma4j.hwregs.cqp.DeallocateStag;
import irdma4j.hwregs.cqp.RegisterMr;

/**
 * The control operations on stags: regions and memory windows. One that cannot be done leaves the
 * device as it was.
 */
final class StagOperations {
  private final StagTable stags;
  private final HmcWalk hmc;

  StagOperations(StagTable stags, HmcWalk hmc) {
    this.stags = stags;
    this.hmc = hmc;
  }

  ControlStatus allocate(AllocateStag c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (entry.state != Stag.FREE || c.stagIndex() == 0) {
      return ControlStatus.STAG_INVALID;
    }
    PageSize pageSize = PageSize.ofCode(c.pageSize());
    if (pageSize == null) {
      return ControlStatus.BAD_PARAMETER;
    }
    entry.state = Stag.INVALID;
    entry.kind = Stag.REGION;
    entry.key = 0;
    entry.pdId = c.pdId();
    entry.rights = c.rights();
    entry.remote = c.remoteAccess();
    entry.addressBased = false;
    entry.level = level(c.pbleLevel());
    entry.pageBits = pageSize.shift();
    entry.address = 0;
    entry.length = 0;
    entry.capacity = c.length();
    entry.physical = 0;
    entry.firstPble = c.firstPbleIndex();
    entry.parent = 0;
    entry.qpId = 0;
    entry.windows = 0;
    return store(c.stagIndex(), entry);
  }

  ControlStatus register(RegisterMr c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (entry.state != Stag.FREE || c.stagIndex() == 0 || !c.isRegion()) {
      return ControlStatus.STAG_INVALID;
    }
    PageSize pageSize = PageSize.ofCode(c.pageSize());
    if (pageSize == null || c.pbleLevel() == 2) {
      return ControlStatus.BAD_PARAMETER;
    }
    boolean inFirstPage = Long.compareUnsigned(c.address(), pageSize.bytes()) < 0;
    if (!c.virtualAddressBased() && !inFirstPage) {
      return ControlStatus.BAD_PARAMETER;
    }
    entry.state = Stag.VALID;
    entry.kind = Stag.REGION;
    entry.key = c.stagKey();
    entry.pdId = c.pdId();
    entry.rights = c.rights();
    entry.remote = c.remoteAccess();
    entry.addressBased = c.virtualAddressBased();
    entry.level = level(c.pbleLevel());
    entry.pageBits = pageSize.shift();
    entry.address = c.address();
    entry.length = c.length();
    entry.physical = c.physicalAddress() & -Iommu.PAGE;
    entry.firstPble = c.firstPbleIndex();
    entry.parent = 0;
    entry.qpId = 0;
    entry.windows = 0;
    if (!pblesCommitted(entry)) {
      entry.state = Stag.FREE;
      return ControlStatus.PBLE_NOT_BACKED;
    }
    return store(c.stagIndex(), entry);
  }

  /** The field's 3 means a root with leaves. */
  private static int level(int field) {
    return field == 3 ? 2 : field;
  }

  private boolean pblesCommitted(Stag entry) {
    if (entry.level == 0 || entry.length == 0) {
      return true;
    }
    long first = entry.addressBased ? entry.address & ((1L << entry.pageBits) - 1) : entry.address;
    long pages = (first + entry.length + (1L << entry.pageBits) - 1) >>> entry.pageBits;
    long entries = entry.level == 1 ? pages : (pages + 511) / 512;
    return hmc.pble(entry.firstPble) != HmcWalk.FAULT
        && hmc.pble(entry.firstPble + entries - 1) != HmcWalk.FAULT;
  }

  ControlStatus allocate(AllocateMw c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    if (entry.state != Stag.FREE || c.stagIndex() == 0) {
      return ControlStatus.STAG_INVALID;
    }
    entry.state = Stag.INVALID;
    entry.kind = c.narrow() ? Stag.WINDOW_TYPE_1 : Stag.WINDOW_TYPE_2;
    entry.key = 0;
    entry.pdId = c.pdId();
    entry.rights = 0;
    entry.remote = true;
    entry.level = 0;
    entry.pageBits = PageSize.SIZE_4K.shift();
    entry.length = 0;
    entry.windows = 0;
    return store(c.stagIndex(), entry);
  }

  ControlStatus deallocate(DeallocateStag c) {
    Stag entry = stags.find(c.stagIndex());
    if (entry == null) {
      return ControlStatus.OBJECT_NOT_BACKED;
    }
    boolean region = entry.kind == Stag.REGION;
    if (entry.state == Stag.FREE || entry.pdId != c.pdId() || region != c.isRegion()) {
      return ControlStatus.STAG_INVALID;
    }
    if (entry.windows > 0) {
      return ControlStatus.OBJECT_IN_USE;
    }
    stags.unbind(entry);
    entry.state = Stag.FREE;
    return store(c.stagIndex(), entry);
  }

  private ControlStatus store(int index, Stag entry) {
    return stags.store(index, entry) ? ControlStatus.OK : ControlStatus.DMA_FAULT;
  }
}
