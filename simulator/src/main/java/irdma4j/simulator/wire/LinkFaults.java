package irdma4j.simulator.wire;

/**
 * What the wire does to frames, each a share in percent, 0 to 100, drawn per frame from the link's
 * seed.
 *
 * @param loss frames that never arrive
 * @param duplicate frames that arrive a second time, a little later
 * @param reorder frames that are held back, so that later ones overtake them
 * @param delay frames before which the wire pauses, so that those behind them are late too
 * @param corrupt frames that arrive with one byte changed
 * @param mark frames of a transport that knows ECN which arrive marked as having met congestion
 */
public record LinkFaults(
    double loss, double duplicate, double reorder, double delay, double corrupt, double mark) {
  /** A wire without faults. */
  public static final LinkFaults NONE = new LinkFaults(0, 0, 0, 0, 0, 0);

  /** Checks the shares. */
  public LinkFaults {
    check("loss", loss);
    check("duplicate", duplicate);
    check("reorder", reorder);
    check("delay", delay);
    check("corrupt", corrupt);
    check("mark", mark);
  }

  /** A wire that only loses frames. */
  public static LinkFaults loss(double percent) {
    return NONE.withLoss(percent);
  }

  /** The same with another share of lost frames. */
  public LinkFaults withLoss(double percent) {
    return new LinkFaults(percent, duplicate, reorder, delay, corrupt, mark);
  }

  /** The same with another share of duplicated frames. */
  public LinkFaults withDuplicate(double percent) {
    return new LinkFaults(loss, percent, reorder, delay, corrupt, mark);
  }

  /** The same with another share of overtaken frames. */
  public LinkFaults withReorder(double percent) {
    return new LinkFaults(loss, duplicate, percent, delay, corrupt, mark);
  }

  /** The same with another share of delayed frames. */
  public LinkFaults withDelay(double percent) {
    return new LinkFaults(loss, duplicate, reorder, percent, corrupt, mark);
  }

  /** The same with another share of corrupted frames. */
  public LinkFaults withCorrupt(double percent) {
    return new LinkFaults(loss, duplicate, reorder, delay, percent, mark);
  }

  /** The same with another share of marked frames. */
  public LinkFaults withMark(double percent) {
    return new LinkFaults(loss, duplicate, reorder, delay, corrupt, percent);
  }

  private static void check(String name, double percent) {
    if (!(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException(name + " of " + percent + " %: 0 to 100");
    }
  }
}
