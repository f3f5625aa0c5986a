package irdma4j.tests;

import irdma4j.pble.PbleLevels;

/** A step of {@link PbleTrial}. */
public sealed interface PbleAction {
  /**
   * Takes PBLEs, if the area has so many.
   *
   * @param count how many
   * @param levels which levels are allowed
   */
  record Get(int count, PbleLevels levels) implements PbleAction {}

  /**
   * Gives some of the live ones back.
   *
   * @param which reduced to how many there are
   */
  record Free(int which) implements PbleAction {}

  /**
   * The n-th allocation of memory from now on fails.
   *
   * @param n 1 is the next
   */
  record FailAllocation(int n) implements PbleAction {}

  /**
   * The n-th call to the device from now on fails.
   *
   * @param n 1 is the next
   */
  record FailCall(int n) implements PbleAction {}
}
