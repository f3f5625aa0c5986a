package irdma4j.tests;

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
   */
  record Create(int kind, int first, int count) implements HmcAction {}

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
}
