package irdma4j.tests;

import irdma4j.uapi.Bar;
import irdma4j.uapi.ConfigSpace;
import irdma4j.uapi.DeviceClock;
import irdma4j.uapi.DmaMemory;
import irdma4j.uapi.DmaPlacement;
import irdma4j.uapi.DmaUsage;
import irdma4j.uapi.Interrupts;
import irdma4j.uapi.PciException;
import irdma4j.uapi.PciFunction;

/**
 * A function that has no memory left at one chosen allocation, and otherwise is the function behind
 * it. For tests that a driver gives back what it has when it is refused more.
 *
 * <p>Threads: as the function behind it.
 */
public final class FailingFunction implements PciFunction {
  private final PciFunction function;
  private final int failing;
  private int allocations;

  /**
   * Wraps a function.
   *
   * @param function the function behind it; closed with this one
   * @param failing which allocation fails, counted from 0; none if negative
   */
  public FailingFunction(PciFunction function, int failing) {
    this.function = function;
    this.failing = failing;
  }

  /** How many allocations were asked for. */
  public int allocations() {
    return allocations;
  }

  @Override
  public DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement) {
    if (allocations++ == failing) {
      throw new PciException("out of DMA memory, on purpose, at allocation " + failing);
    }
    return function.allocateDma(bytes, alignment, placement);
  }

  @Override
  public String address() {
    return function.address();
  }

  @Override
  public ConfigSpace config() {
    return function.config();
  }

  @Override
  public Bar bar(int index) {
    return function.bar(index);
  }

  @Override
  public DmaUsage dmaUsage() {
    return function.dmaUsage();
  }

  @Override
  public Interrupts interrupts() {
    return function.interrupts();
  }

  @Override
  public DeviceClock clock() {
    return function.clock();
  }

  @Override
  public void setBusMaster(boolean enabled) {
    function.setBusMaster(enabled);
  }

  @Override
  public void reset() {
    function.reset();
  }

  @Override
  public void close() {
    function.close();
  }
}
