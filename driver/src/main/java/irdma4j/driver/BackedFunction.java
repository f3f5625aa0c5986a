package irdma4j.driver;

import irdma4j.hmc.Extent;
import irdma4j.hmc.FpmLimits;
import irdma4j.hmc.HmcFunction;
import irdma4j.hmc.HmcFunctions;
import irdma4j.hmc.HmcPlan;
import irdma4j.hmc.HmcRequest;
import irdma4j.hmc.HmcView;
import irdma4j.hmc.HostMemoryCache;
import irdma4j.hwregs.cqp.ManageHmcFunctionTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Host Memory Cache of a virtual function, kept by its physical function: an HMC function of
 * the device's, with limits, a layout and a segment table of its own. All objects are backed but
 * PBLEs, which come as the virtual function's driver asks for them.
 *
 * <p>For the thread that uses its {@link RdmaDevice}, which closes it.
 *
 * <p>Source: i40iw_virtchnl.c, i40iw_ctrl.c and i40iw_hmc.c of Linux 5.13, the last one whose
 * physical function backs virtual ones.
 */
public final class BackedFunction implements AutoCloseable {
  private final RdmaDevice device;
  private final HmcFunctions caches;
  private final int virtualFunction;
  private final List<Extent> extents = new ArrayList<>();
  private @Nullable HmcFunction owner;
  private @Nullable HmcPlan plan;
  private @Nullable HostMemoryCache cache;
  private boolean closed;

  private BackedFunction(RdmaDevice device, HmcFunctions caches, int virtualFunction) {
    this.device = device;
    this.caches = caches;
    this.virtualFunction = virtualFunction;
  }

  static BackedFunction back(
      RdmaDevice device, HmcFunctions caches, int virtualFunction, HmcRequest request) {
    requireFree(device, virtualFunction);
    BackedFunction backed = new BackedFunction(device, caches, virtualFunction);
    long id = device.control().execute(new ManageHmcFunctionTable(virtualFunction, false));
    try {
      backed.come(id, request);
    } catch (RuntimeException e) {
      try {
        backed.go();
      } catch (RuntimeException alsoFailed) {
        e.addSuppressed(alsoFailed);
        // The device still knows of it, so that it is in the way until the device is closed.
        device.adopt(backed, backed::abandon);
      }
      throw e;
    }
    return device.adopt(backed, backed::abandon);
  }

  private static void requireFree(RdmaDevice device, int virtualFunction) {
    HmcFunction.requireVirtualIndex(virtualFunction);
    int most = device.config().virtualFunctions();
    int others = 0;
    for (AutoCloseable child : device.objects().all()) {
      if (child instanceof BackedFunction other) {
        others++;
        if (other.virtualFunction == virtualFunction) {
          throw new IllegalStateException("virtual function " + virtualFunction + " is backed");
        }
      }
    }
    if (others >= most) {
      throw new IllegalStateException(
          "the device was brought up to back %d virtual functions, and backs %d"
              .formatted(most, others));
    }
  }

  private void come(long id, HmcRequest request) {
    HmcFunction function = named(id);
    DeviceConfig config = device.config();
    FunctionMemory memory = memory(function);
    FpmLimits limits = memory.query();
    HmcPlan counts = config.sizing().plan(limits, request);
    HostMemoryCache opened = memory.commit(limits, counts, config.segmentType());
    owner = function;
    plan = counts;
    cache = opened;
    memory.createObjects(opened);
  }

  private HmcFunction named(long id) {
    HmcFunction function;
    try {
      function = HmcFunction.virtual(Math.toIntExact(id), virtualFunction);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new RdmaException(
          "the device gave HMC function 0x%x to virtual function %d, and there is none such"
              .formatted(id, virtualFunction),
          e);
    }
    for (HmcFunction other : caches.functions()) {
      if (other.id() == function.id()) {
        throw new RdmaException(
            "the device gave HMC function %d to virtual function %d and to another one"
                .formatted(id, virtualFunction));
      }
    }
    return function;
  }

  private FunctionMemory memory(HmcFunction function) {
    return new FunctionMemory(device.function(), device.control(), caches, function);
  }

  private void go() {
    HmcFunction function = owner;
    HostMemoryCache kept = cache;
    if (function != null && kept != null) {
      List.copyOf(extents).forEach(this::release);
      memory(function).deleteObjects(kept);
    }
    device.control().execute(new ManageHmcFunctionTable(virtualFunction, true));
    if (function != null) {
      caches.close(function);
    }
  }

  /** Its number among the virtual functions of the physical one. */
  public int virtualFunction() {
    return virtualFunction;
  }

  /** What the device calls its Host Memory Cache, 8 to 39. */
  public int hmcFunction() {
    return present(owner).id();
  }

  /** How many objects of each kind it has, and what was given up for that. */
  public HmcPlan plan() {
    return present(plan);
  }

  /** What is in its Host Memory Cache; not to be asked after {@link #close}. */
  public HmcView hmcView() {
    return present(cache);
  }

  /**
   * Backs PBLEs for the virtual function's driver, which says where.
   *
   * @param address FPM address in its PBLE area, a multiple of 4096
   * @param pages how many pages of 4 KiB, all in one segment
   * @return the memory, until {@link #release} or {@link #close}
   * @throws irdma4j.hmc.HmcException if the pages are no part of the PBLE area or in use
   */
  public Extent extend(long address, int pages) {
    requireOpen();
    Extent extent = present(cache).extend(address, pages);
    extents.add(extent);
    return extent;
  }

  /**
   * Takes PBLEs back.
   *
   * @throws irdma4j.hmc.HmcException if they were taken back before
   */
  public void release(Extent extent) {
    requireOpen();
    present(cache).release(extent);
    extents.remove(extent);
  }

  /**
   * Takes everything back, and then gives the HMC function back to the device. If the device
   * refuses, what it refused to let go of stays, and it can be closed again. Closing twice does
   * nothing.
   *
   * @throws RdmaException if the device refuses, or does not answer
   */
  @Override
  public void close() {
    if (!closed) {
      go();
      device.objects().ended(this);
    }
  }

  /** The device has forgotten the function. */
  private void abandon() {
    closed = true;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("virtual function " + virtualFunction + " was given up");
    }
  }

  private static <T> T present(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("this part of the function is not up");
    }
    return part;
  }
}
