package irdma4j.tests;

import irdma4j.uapi.PciException;

/**
 * Has no memory left at one chosen allocation. For tests that a driver gives back what it has when
 * it is refused more.
 */
public final class FailingAllocation implements FunctionWatcher {
  private final int failing;
  private int allocations;

  /**
   * One that fails.
   *
   * @param failing which allocation, counted from 0; none if negative
   */
  public FailingAllocation(int failing) {
    this.failing = failing;
  }

  /** How many allocations were asked for. */
  public int allocations() {
    return allocations;
  }

  @Override
  public void allocating() {
    if (allocations++ == failing) {
      throw new PciException("out of DMA memory, on purpose, at allocation " + failing);
    }
  }
}
