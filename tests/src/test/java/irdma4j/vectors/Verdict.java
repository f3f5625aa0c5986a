package irdma4j.vectors;

/**
 * What the product did with a case; a difference without a reason is an assertion error instead.
 */
public sealed interface Verdict {
  /** It did the same. */
  Verdict PASSED = new Passed();

  /** It did the same. */
  record Passed() implements Verdict {}

  /**
   * It refused the input before it wrote anything.
   *
   * @param rule which rule the input breaks
   */
  record Refused(String rule) implements Verdict {}

  /**
   * It is right and the real code is not, or the two mean the same by different bytes.
   *
   * @param reason why
   */
  record Departed(String reason) implements Verdict {}
}
