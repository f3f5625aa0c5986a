package irdma4j.uapi;

/**
 * A mapped memory BAR. Each access is one bus access of exactly its width, in program order with
 * the thread's other accesses to this BAR.
 *
 * <p>A write has release order: whatever the thread stored to DMA memory before it is visible to a
 * device that acts on it. A read completes after the thread's earlier writes have reached the
 * device, as on PCI Express, and has acquire order.
 *
 * <p>Offsets are in bytes and aligned to the access; an offset outside the BAR throws {@link
 * IndexOutOfBoundsException}. Safe for use by several threads.
 */
public interface Bar {
  /** The BAR's number, 0 to 5. */
  int index();

  /** Its size in bytes. */
  long size();

  /** Reads a 32-bit register. */
  int read32(long offset);

  /** Writes a 32-bit register. */
  void write32(long offset, int value);

  /** Reads 64 bits at once. */
  long read64(long offset);

  /** Writes 64 bits at once. */
  void write64(long offset, long value);
}
