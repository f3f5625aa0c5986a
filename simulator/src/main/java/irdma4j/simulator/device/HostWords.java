package irdma4j.simulator.device;

/** Host memory, as the device reads descriptors in it. */
public interface HostWords {
  /** Reads an aligned 64-bit word with acquire order; 0 after a fault. */
  long readWord(long iova);

  /** Reads a page descriptor, as {@link #readWord}. */
  default long readPageDescriptor(long iova) {
    return readWord(iova);
  }

  /** Reads a PBLE, as {@link #readWord}. */
  default long readPble(long iova) {
    return readWord(iova);
  }

  /** How many accesses were refused so far. */
  long faults();
}
