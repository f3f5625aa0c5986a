package irdma4j.uapi;

/**
 * One PCI function in the hands of a user-space driver: configuration space, BARs, DMA memory,
 * interrupts and reset, whoever provides them.
 *
 * <p>Ownership: whatever is obtained from a function belongs to it and is unusable once the
 * function is closed. {@link #close()} leaves the device quiet first (interrupts off, bus mastering
 * off), then gives back everything, in any state and however often it is called.
 *
 * <p>Threads: BAR accesses, {@link #dmaUsage()} and {@link #clock()} are safe from any thread;
 * everything else is for one thread at a time.
 */
public interface PciFunction extends AutoCloseable {

  /**
   * The address that opens this function, for example {@code sim:0} or {@code pci:0000:3b:00.0}.
   */
  String address();

  /** Configuration space. */
  ConfigSpace config();

  /**
   * A mapped BAR.
   *
   * @param index 0 to 5
   * @throws IllegalArgumentException if the function has no such memory BAR
   */
  Bar bar(int index);

  /**
   * Allocates zeroed memory that the device can reach, until it is closed.
   *
   * @param bytes size, at least 1; rounded up to whole 4 KiB pages
   * @param alignment of the IOVA, a power of two; at least 4096 is always given
   * @param placement whether the IOVAs are one run or a page here and a page there
   * @throws PciException if memory or IOVAs run out; nothing is kept then
   */
  DmaMemory allocateDma(long bytes, long alignment, DmaPlacement placement);

  /** Allocates zeroed memory whose IOVAs are one run. */
  default DmaMemory allocateDma(long bytes, long alignment) {
    return allocateDma(bytes, alignment, DmaPlacement.CONTIGUOUS);
  }

  /** How much DMA memory is allocated now and was at the peak. Usable after {@link #close()}. */
  DmaUsage dmaUsage();

  /** The function's interrupt vectors. */
  Interrupts interrupts();

  /** The time that this device lives in: the driver's only clock and only way to wait. */
  DeviceClock clock();

  /** Lets the device start reads and writes of its own, or forbids it. */
  void setBusMaster(boolean enabled);

  /**
   * Resets the function: it forgets everything it was told. DMA memory stays allocated.
   *
   * @throws PciException if the device has no reset
   */
  void reset();

  @Override
  void close();
}
