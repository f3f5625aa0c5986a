package irdma4j.tests;

import irdma4j.hmc.SegmentType;

/**
 * A step of {@link HmcTrial}. Numbers are reduced to what exists, so that any number is valid and a
 * shrunk sequence stays one.
 */
public sealed interface HmcAction {
  /**
   * Makes objects of a kind.
   *
   * @param kind which, of the layout's kinds
   * @param first from where, as a share of 1/256
   * @param count how many, as a share of 1/256
   * @param type how a segment is backed that is not there yet
   */
  record Create(int kind, int first, int count, SegmentType type) implements HmcAction {}

  /**
   * Removes objects of a kind.
   *
   * @param kind which, of the layout's kinds
   * @param first from which on, as a share of 1/256
   * @param count how many, as a share of 1/256
   */
  record Delete(int kind, int first, int count) implements HmcAction {}

  /**
   * The n-th allocation from now on fails.
   *
   * @param n 1 is the next
   */
  record FailAllocation(int n) implements HmcAction {}

  /**
   * The n-th call to the device from now on fails.
   *
   * @param n 1 is the next
   */
  record FailCall(int n) implements HmcAction {}

  /**
   * The next operation is tried again and again: first its first allocation fails, then its second,
   * and so on, then its first call to the device and so on, until it is left to succeed.
   *
   * @param most how many allocations, and how many calls, fail at most
   */
  record FailEverywhere(int most) implements HmcAction {}

  /**
   * From now on actions are another function's.
   *
   * @param which of the functions
   */
  record Switch(int which) implements HmcAction {}
}
