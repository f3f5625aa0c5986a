package irdma4j.simulator.transport;

/** Arithmetic of packet sequence numbers, which wrap at 2^24. */
final class Psn {
  static final int MASK = 0xffffff;

  private Psn() {}

  static int add(int psn, int count) {
    return (psn + count) & MASK;
  }

  /** How far {@code to} lies behind {@code from}: -2^23 to 2^23 - 1. */
  static int distance(int from, int to) {
    return (to - from) << 8 >> 8;
  }
}
