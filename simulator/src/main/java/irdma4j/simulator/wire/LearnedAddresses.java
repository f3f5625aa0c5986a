package irdma4j.simulator.wire;

import java.util.Arrays;

/**
 * From which port a MAC address was last heard. A fixed number of places, found by hash; where two
 * addresses have one place the later one has it, and frames to the other are flooded.
 */
final class LearnedAddresses {
  private static final int PLACES = 4096;
  private static final long FREE = -1;
  private static final long GROUP_BIT = 1L << 40;

  private final long[] address = new long[PLACES];
  private final int[] port = new int[PLACES];

  LearnedAddresses() {
    Arrays.fill(address, FREE);
  }

  void heard(long mac, int from) {
    if ((mac & GROUP_BIT) == 0) {
      int place = place(mac);
      address[place] = mac;
      port[place] = from;
    }
  }

  /** The port, or -1 if the address is not known. */
  int portOf(long mac) {
    int place = place(mac);
    return address[place] == mac ? port[place] : -1;
  }

  private static int place(long mac) {
    long mixed = mac * 0x9e37_79b9_7f4a_7c15L;
    return (int) (mixed >>> 52);
  }
}
