package irdma4j.driver;

import java.util.List;

/**
 * How queue pairs share the port: user priorities map to traffic classes, and each class in use has
 * a queue set with a share of the bandwidth.
 *
 * @param vsi virtual station interface, 0 to 1023
 * @param trafficClassOfPriority traffic class, 0 to 7, of each of the eight user priorities
 * @param bandwidthOfPriority share relative to the others, 1 to 127, of each user priority
 * @param queueSets who else must know of queue sets
 */
public record QualityOfService(
    int vsi,
    List<Integer> trafficClassOfPriority,
    List<Integer> bandwidthOfPriority,
    QueueSets queueSets) {
  /** Number of user priorities. */
  public static final int PRIORITIES = 8;

  private static final int CLASSES = 8;
  private static final int MAX_VSI = 1023;
  private static final int MAX_SHARE = 127;
  private static final int BULK = 2;
  private static final int INTERACTIVE_BULK = 4;
  private static final int INTERACTIVE = 6;

  /** Checks the values. */
  public QualityOfService {
    trafficClassOfPriority = List.copyOf(trafficClassOfPriority);
    bandwidthOfPriority = List.copyOf(bandwidthOfPriority);
    range("vsi", vsi, 0, MAX_VSI);
    if (trafficClassOfPriority.size() != PRIORITIES || bandwidthOfPriority.size() != PRIORITIES) {
      throw new IllegalArgumentException("there are eight user priorities");
    }
    trafficClassOfPriority.forEach(value -> range("traffic class", value, 0, CLASSES - 1));
    bandwidthOfPriority.forEach(value -> range("bandwidth", value, 1, MAX_SHARE));
  }

  private static void range(String name, int value, int low, int high) {
    if (value < low || value > high) {
      throw new IllegalArgumentException("%s %d: %d to %d".formatted(name, value, low, high));
    }
  }

  /** One traffic class for everything. */
  public static QualityOfService single(int vsi) {
    List<Integer> zeros = List.of(0, 0, 0, 0, 0, 0, 0, 0);
    return new QualityOfService(vsi, zeros, List.of(1, 1, 1, 1, 1, 1, 1, 1), QueueSets.none());
  }

  /**
   * The user priority of a type of service or traffic class, by Linux's rule.
   *
   * <p>Source: ip_tos2prio in Linux net/ipv4/route.c.
   */
  static int priority(int typeOfService) {
    return switch (typeOfService >> 3 & 0x3) {
      case 0 -> 0;
      case 1 -> BULK;
      case 2 -> INTERACTIVE;
      default -> INTERACTIVE_BULK;
    };
  }
}
