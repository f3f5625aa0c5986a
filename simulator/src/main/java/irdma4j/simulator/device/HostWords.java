package irdma4j.simulator.device;

/** Host memory, as the device reads descriptors in it. */
public interface HostWords {
  /** Reads an aligned 64-bit word with acquire order; 0 after a fault. */
  long readWord(long iova);

  /** How many accesses were refused so far. */
  long faults();
}
