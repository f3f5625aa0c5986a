package irdma4j.driver;

import irdma4j.hmc.FpmLimits;
import irdma4j.hmc.HmcFunction;
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
  private final int hmcFunction;

  /**
   * Nothing is asked yet.
   *
   * @param hmcFunction HMC function id
   */
  FunctionMemory(PciFunction function, ControlQueue control, int hmcFunction) {
    this.function = function;
    this.control = control;
    this.hmcFunction = hmcFunction;
  }

  /** What the function may have. */
  FpmLimits query() {
    try (DmaMemory buffer = function.allocateDma(FpmQueryBuffer.SIZE, BUFFER_ALIGNMENT)) {
      control.execute(new QueryFpm(hmcFunction, buffer.iova()));
      return FpmLimits.parse(buffer.segment());
    }
  }

  /** Takes what is planned; nothing is backed yet. */
  HostMemoryCache commit(FpmLimits limits, HmcPlan plan, SegmentType type) {
    try (DmaMemory buffer = function.allocateDma(FpmCommitBuffer.SIZE, BUFFER_ALIGNMENT)) {
      plan.encode(buffer.segment());
      control.execute(new CommitFpm(hmcFunction, FpmCommitBuffer.SIZE, buffer.iova()));
      HmcLayout layout = HmcLayout.parse(buffer.segment(), plan, limits);
      return new HostMemoryCache(
          function, control.programmer(HmcFunction.physical(hmcFunction)), layout, type);
    }
  }

  /** Backs all objects but PBLEs; if that fails, none is. */
  void createObjects(HostMemoryCache cache) {
    try {
      for (HmcObject kind : HmcObject.values()) {
        if (kind != HmcObject.PBLE && cache.layout().of(kind).count() != 0) {
          cache.create(kind);
        }
      }
      control.execute(new StaticHmcPages(hmcFunction));
    } catch (RuntimeException e) {
      try {
        deleteObjects(cache);
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
  }

  /** Takes all objects' memory back. */
  void deleteObjects(HostMemoryCache cache) {
    try {
      for (HmcObject kind : HmcObject.values()) {
        cache.delete(kind);
      }
    } finally {
      cache.close();
    }
  }
}
