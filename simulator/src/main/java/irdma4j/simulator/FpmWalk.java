package irdma4j.simulator;

import irdma4j.simulator.device.HmcWalk;
import irdma4j.simulator.device.HostWords;
import java.util.function.LongUnaryOperator;

/**
 * The simulated device's walk over a Host Memory Cache, without the rest of the device: what a
 * function would find behind an FPM address after the segment descriptors and invalidations that it
 * was given. Tests of allocators ask it.
 *
 * <p>The device reads a page descriptor when it first needs it, valid or not, and believes it until
 * an invalidation names it or its segment descriptor is written again. Not thread-safe.
 */
public final class FpmWalk {
  /** The answer where no memory is. */
  public static final long FAULT = HmcWalk.FAULT;

  private final HmcWalk walk;

  /**
   * A function to which nothing was told.
   *
   * @param segments how many segment descriptors it has
   * @param hostMemory reads the aligned little-endian word at an IOVA; what it throws goes through
   */
  public FpmWalk(int segments, LongUnaryOperator hostMemory) {
    HostWords host =
        new HostWords() {
          @Override
          public long readWord(long iova) {
            return hostMemory.applyAsLong(iova);
          }

          @Override
          public long faults() {
            return 0;
          }
        };
    walk = new HmcWalk(host, segments);
  }

  /**
   * An entry of UPDATE_PE_SDS.
   *
   * @param command the command word
   * @param data the data word
   * @throws IllegalArgumentException if the device would refuse it
   */
  public void update(int command, long data) {
    if (!walk.update(command, data)) {
      throw new IllegalArgumentException("segment descriptor command 0x%x".formatted(command));
    }
  }

  /**
   * A write to PFHMC_PDINV, or to the register of that form of a virtual function.
   *
   * @param value the register's value
   */
  public void invalidate(int value) {
    walk.invalidate(value);
  }

  /** The IOVA behind an FPM address, or {@link #FAULT}. */
  public long translate(long address) {
    return walk.translate(address);
  }
}
