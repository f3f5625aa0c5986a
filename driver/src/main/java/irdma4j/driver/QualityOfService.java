package irdma4j.driver;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How queue pairs share the port: user priorities map to traffic classes, and each class in use has
 * a queue set with a share of the bandwidth.
 *
 * @param vsi virtual station interface, 0 to 1023
 * @param trafficClassOfPriority traffic class, 0 to 7, of each of the eight user priorities
 * @param bandwidthOfPriority share relative to the others, 1 to 127, of each user priority
 * @param queueSets who else must know of queue sets
 * @param priorityOfDscp user priority of each of the 64 DSCP values, or an empty list: then the
 *     type of service gives it by Linux's rule
 * @param priorityMap what the device makes of user priorities, or null to leave it as it is
 */
public record QualityOfService(
    int vsi,
    List<Integer> trafficClassOfPriority,
    List<Integer> bandwidthOfPriority,
    QueueSets queueSets,
    List<Integer> priorityOfDscp,
    @Nullable UserPriorityMap priorityMap) {
  /** Number of user priorities. */
  public static final int PRIORITIES = 8;

  private static final int DSCPS = 64;
  private static final int ECN_BITS = 2;
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
    priorityOfDscp = List.copyOf(priorityOfDscp);
    range("vsi", vsi, 0, MAX_VSI);
    eight("traffic class", trafficClassOfPriority, 0, CLASSES - 1);
    eight("bandwidth", bandwidthOfPriority, 1, MAX_SHARE);
    if (!priorityOfDscp.isEmpty() && priorityOfDscp.size() != DSCPS) {
      throw new IllegalArgumentException(
          "%d values for DSCP: there are %d".formatted(priorityOfDscp.size(), DSCPS));
    }
    priorityOfDscp.forEach(value -> range("user priority", value, 0, PRIORITIES - 1));
  }

  /** With priorities by Linux's rule, and the device's own map. */
  public QualityOfService(
      int vsi,
      List<Integer> trafficClassOfPriority,
      List<Integer> bandwidthOfPriority,
      QueueSets queueSets) {
    this(vsi, trafficClassOfPriority, bandwidthOfPriority, queueSets, List.of(), null);
  }

  static void eight(String name, List<Integer> values, int low, int high) {
    if (values.size() != PRIORITIES) {
      throw new IllegalArgumentException(
          "%d values of %s: there are eight user priorities".formatted(values.size(), name));
    }
    values.forEach(value -> range(name, value, low, high));
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
   * With user priorities by DSCP, the upper six bits of the type of service or traffic class.
   *
   * @param priorities user priority, 0 to 7, of each of the 64 values
   */
  public QualityOfService withPriorityOfDscp(List<Integer> priorities) {
    return new QualityOfService(
        vsi, trafficClassOfPriority, bandwidthOfPriority, queueSets, priorities, priorityMap);
  }

  /** With a map of user priorities that the device is given when it comes up. */
  public QualityOfService withPriorityMap(UserPriorityMap map) {
    return new QualityOfService(
        vsi, trafficClassOfPriority, bandwidthOfPriority, queueSets, priorityOfDscp, map);
  }

  /**
   * The user priority of a type of service or traffic class.
   *
   * <p>Source: dscp_map of Linux struct irdma_sc_vsi in type.h, irdma_tos2dscp in cm.h.
   */
  int priority(int typeOfService) {
    return priorityOfDscp.isEmpty()
        ? linuxPriority(typeOfService)
        : priorityOfDscp.get(typeOfService >> ECN_BITS & DSCPS - 1);
  }

  /** Source: ip_tos2prio in Linux net/ipv4/route.c. */
  private static int linuxPriority(int typeOfService) {
    return switch (typeOfService >> 3 & 0x3) {
      case 0 -> 0;
      case 1 -> BULK;
      case 2 -> INTERACTIVE;
      default -> INTERACTIVE_BULK;
    };
  }
}
