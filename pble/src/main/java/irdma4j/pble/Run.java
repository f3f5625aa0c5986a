package irdma4j.pble;

/**
 * PBLEs in a row.
 *
 * @param chunk where they lie
 * @param unit first unit in the chunk
 * @param count PBLEs asked for; whole units are used
 */
record Run(Chunk chunk, int unit, int count) {
  /** PBLEs of a unit: 64 bytes. */
  static final int UNIT = 8;

  int units() {
    return units(count);
  }

  int index() {
    return chunk.firstIndex() + unit * UNIT;
  }

  long offset() {
    return (long) unit * UNIT * 8;
  }

  static int units(int count) {
    return (count + UNIT - 1) / UNIT;
  }
}
