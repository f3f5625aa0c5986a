package irdma4j.simulator.wire;

/**
 * What the wire does to frames, each a share in percent, 0 to 100, drawn per frame from the link's
 * seed.
 *
 * @param loss frames that never arrive
 * @param duplicate frames that arrive a second time, a little later
 * @param reorder frames that are held back, so that later ones overtake them
 * @param corrupt frames that arrive with one byte changed
 */
public record LinkFaults(double loss, double duplicate, double reorder, double corrupt) {
  /** A wire without faults. */
  public static final LinkFaults NONE = new LinkFaults(0, 0, 0, 0);

  /** Checks the shares. */
  public LinkFaults {
    check("loss", loss);
    check("duplicate", duplicate);
    check("reorder", reorder);
    check("corrupt", corrupt);
  }

  /** A wire that only loses frames. */
  public static LinkFaults loss(double percent) {
    return new LinkFaults(percent, 0, 0, 0);
  }

  private static void check(String name, double percent) {
    if (!(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException(name + " of " + percent + " %: 0 to 100");
    }
  }
}
