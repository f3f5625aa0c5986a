package irdma4j.functions;

/** A step of {@link FunctionTrial}; numbers are reduced to what there is. */
sealed interface FunctionAction {
  /** Backs a virtual function. */
  record Back(int virtualFunction, int logQueuePairs) implements FunctionAction {}

  /** Closes a backed function. */
  record Unback(int which) implements FunctionAction {}

  /** Backs PBLEs of a backed function. */
  record Extend(int which, int page, int pages) implements FunctionAction {}

  /** Takes PBLEs back. */
  record Release(int which, int extent) implements FunctionAction {}

  /** The physical function registers memory, which takes PBLEs of its own. */
  record Register(int pages) implements FunctionAction {}

  /** The physical function gives memory up. */
  record Deregister(int which) implements FunctionAction {}

  /**
   * The next action is tried again and again: its first allocation fails, then its second and so
   * on, then its first control operation and so on, until it is left to succeed.
   *
   * @param most how many of each fail at most
   */
  record FailEverywhere(int most) implements FunctionAction {}

  /** The n-th allocation of the next action fails. */
  record FailAllocation(int n) implements FunctionAction {}

  /** The n-th control operation of the next action fails. */
  record FailOperation(int n) implements FunctionAction {}
}
