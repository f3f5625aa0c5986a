package irdma4j.driver;

import irdma4j.hmc.FpmLimits;
import irdma4j.hmc.HmcFunction;
import irdma4j.hmc.HmcFunctions;
import irdma4j.hmc.HmcLayout;
import irdma4j.hmc.HmcPlan;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hmc.SegmentType;
import irdma4j.hwregs.FpmCommitBuffer;
import irdma4j.hwregs.FpmQueryBuffer;
import irdma4j.hwregs.HmcObject;
import irdma4j.hwregs.cqp.CommitFpm;
import irdma4j.hwregs.cqp.QueryFpm;
import irdma4j.hwregs.cqp.StaticHmcPages;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.PciFunction;

/**
 * How a function comes by its HMC: it asks what it may have, says what it takes, and backs it.
 *
 * <p>Source: Linux irdma_cfg_fpm_val in ctrl.c and irdma_create_hmc_objs in hw.c.
 */
final class FunctionMemory {
  private static final int BUFFER_ALIGNMENT = 512;

  private final PciFunction function;
  private final ControlQueue control;
  private final HmcFunctions caches;
  private final HmcFunction owner;

  /**
   * Nothing is asked yet.
   *
   * @param caches where its cache is to be
   * @param owner the function, or a virtual one that it backs
   */
  FunctionMemory(
      PciFunction function, ControlQueue control, HmcFunctions caches, HmcFunction owner) {
    this.function = function;
    this.control = control;
    this.caches = caches;
    this.owner = owner;
  }

  /** What the function may have. */
  FpmLimits query() {
    try (DmaMemory buffer = function.allocateDma(FpmQueryBuffer.SIZE, BUFFER_ALIGNMENT)) {
      control.execute(new QueryFpm(owner.id(), buffer.iova()));
      return FpmLimits.parse(buffer.segment());
    }
  }

  /** Takes what is planned; nothing is backed yet. */
  HostMemoryCache commit(FpmLimits limits, HmcPlan plan, SegmentType type) {
    try (DmaMemory buffer = function.allocateDma(FpmCommitBuffer.SIZE, BUFFER_ALIGNMENT)) {
      plan.encode(buffer.segment());
      control.execute(new CommitFpm(owner.id(), FpmCommitBuffer.SIZE, buffer.iova()));
      return caches.open(owner, HmcLayout.parse(buffer.segment(), plan, limits), type);
    }
  }

  /** Backs all objects but PBLEs; if that fails, it deletes them again. */
  void createObjects(HostMemoryCache cache) {
    try {
      for (HmcObject kind : HmcObject.values()) {
        if (kind != HmcObject.PBLE && cache.layout().of(kind).count() != 0) {
          cache.create(kind);
        }
      }
      control.execute(new StaticHmcPages(owner.id()));
    } catch (RuntimeException e) {
      try {
        deleteObjects(cache);
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
  }

  /** Takes all objects' memory back; what the device would not let go of stays. */
  void deleteObjects(HostMemoryCache cache) {
    for (HmcObject kind : HmcObject.values()) {
      cache.delete(kind);
    }
  }
}
